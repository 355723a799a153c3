// Package hubs proves that an engine of rollout/rights holds the limits of one rollout over many hubs. It runs three API servers on one
// machine: two hubs, and a hub of hubs. The tests of examples/controllers/works run the shipped controllers on them:
//
//	go -C examples/controllers test ./works -run TestHubs/Rollouts -short                          4 rollouts, half a minute
//	go -C examples/controllers test ./works -run TestHubs/Rollouts -hub-rollouts=100 -v -timeout=0  100 of them
//	go -C examples/controllers test ./works -run TestHubs/EachDuty -v                               hubs that start without rights are found
//	go -C examples/controllers test ./works -run TestHubs/Rollouts -hub-rollouts=1 -hub-seed=7      one rollout again
//
// A seed decides what is drawn. The clock decides when things happen, so a seed repeats a rollout only roughly.
//
// # What happens
//
//   - The network between a hub and the hub of hubs (network.go) delays requests and watches, loses requests and answers, delivers
//     writes twice, the second time later, and cuts hubs off for up to five seconds, one or both.
//   - Processes end at any moment, of hubs and of the hub of hubs. What they have sent arrives all the same, late.
//   - The clocks of hubs differ from that of the hub of hubs by up to ClockError.
//   - Clusters join. Other versions come while one is rolled out, on one hub after the other. Limits are lowered and raised. Accounts are
//     deleted. A hub is cut off until its rights have expired, and a person writes what is on it; then it comes back.
//   - Agents are quick, slow, silent, failing or recovering. In the end all are well, nothing is cut off, and the rollout has to end.
//
// # What is observed
//
// The judge (judge.go) sees the ManifestWorks of both hubs by watches of its own, and what agents say. It reads no account. Over both
// hubs, and for each version, at no moment may there be
//
//   - more clusters in flight than MaxConcurrency, or
//   - more exposed than MaxConcurrency and MaxFailures together.
//
// A percentage is of all clusters that there are in the end. The judge never counts a cluster too long: judge.go says how.
package hubs
