// SPDX-License-Identifier: Apache-2.0

// Package hubs proves that an engine of rollout/shares holds the limits of one rollout over many hubs. Each rollout has three simulated API
// servers in virtual time (package sim): two hubs, and a coordinator hub. The tests of examples/controllers/works run the shipped controllers on them:
//
//	go -C examples/controllers test ./works -run TestHubs/Rollouts                                 4 rollouts
//	go -C examples/controllers test ./works -run TestHubs/Rollouts -hub-rollouts=100 -v -timeout=0  100 of them
//	go -C examples/controllers test ./works -run TestHubs/Rollback -v                                a version that fails is taken back on both hubs
//	go -C examples/controllers test ./works -run TestHubs/EachDuty -v                               each duty left out
//	go -C examples/controllers test ./works -run TestHubs/Rollouts -hub-rollouts=1 -hub-seed=7      one rollout again
//
// A seed decides everything, so the same seed is the same rollout in every byte.
//
// # What happens
//
//   - The network between a hub and the coordinator hub (network.go) delays requests and watches, loses requests and answers, delivers
//     writes twice, the second time later, and cuts hubs off for up to five seconds, one or both.
//   - Processes end at any moment, of hubs and of the coordinator hub. What they have sent arrives all the same, late.
//   - The clocks of hubs differ from that of the coordinator hub by up to ClockError.
//   - Clusters join. Other versions come while one is rolled out, on one hub after the other. Limits are lowered and raised. Accounts are
//     deleted. A hub is cut off until its shares have expired, and a person writes what is on it; then it comes back.
//   - Agents are quick, slow, silent, failing or recovering. In the end all are well, nothing is cut off, and the rollout has to end.
//
// # What is observed
//
// The judge (judge.go) sees the ManifestWorks of both hubs when they are stored, and what agents say. It reads no account. Over both
// hubs, and for each version, at no moment may there be
//
//   - more clusters in flight than MaxConcurrency, or
//   - more exposed than MaxConcurrency and MaxFailures together.
//
// A percentage is of all clusters that there are in the end. The judge never counts a cluster too long: judge.go says how.
//
// # The duties
//
// An engine has these duties. Each has a scene (scenes.go) in which the limits do not hold without it: a few clusters, and a network that
// loses or holds just the message that matters. EachDuty has the subject leave out one after the other, and repeats the scene until the
// observer finds a violation. An engine that keeps the duty goes through the same scene without one, and ends.
//
//	on a hub
//	  start nothing without shares
//	  start nothing by a report that the account does not show   all such reports are lost
//	  start nothing once the shares have expired                 a person paused a hub that is cut off, and looks
//	  start nothing by an old plan                               the same, and each start takes most of a second
//	  wait for the writes of the process before                  a process ends while a start is on its way
//	  keep the shares of clusters in flight                      a hub has all shares in flight, and clusters join the other
//	  keep the shares of failures                                the same with a failure
//	on the coordinator hub
//	  count what is taken                                        half of a hub's shares are asked back
//	  remember what was sent                                     a grant arrives after its connection broke
//	  begin with a write to each account                         a grant arrives after its process ended
//	  keep an account that holds shares                          a user deletes the account of a hub that is cut off
//
// What else an engine has to do is not seen in the limits. Where a write is not on top of what was read, the definition of accounts still
// refuses a number that is older. A rollout that never gives its shares back does not end, which Rollouts finds. A cluster that moves is
// ignored by an operator, and no engine does that: the search of rollout/shares has it.
package hubs
