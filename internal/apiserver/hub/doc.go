// Package hub proves, in its tests, that a rollout controller that does what this library's documentation says breaks
// nothing on a running hub. Everything happens on a real API server with OCM's definitions, which many rollouts share.
//
//	go test                                       20 rollouts, each duty, each invariant: about two minutes on two cores
//	go test -short                                20 rollouts, half a minute
//	go test -run TestRollouts -rollouts=200       200 rollouts, three to four minutes; -at-once says how many at a time
//	go test -run TestRollouts -rollouts=1 -seed=7 -history   one rollout again, and all that the API server showed of it
//
// A seed decides what is drawn: clusters, groups, strategy, script, agents, delays. When things happen is up to the
// clock, so a seed shows the like of a rollout rather than the same.
//
// # Who takes part
//
//   - The controller (controller_test.go) is what a reader of README and of the pages of rollout and status writes for
//     ManifestWorkReplicaSets: list, plan, write, set status, with the generated client and listers.
//   - Its caches (lag_test.go) show each object's events in order, but late, and out of order between objects, and with
//     some seeds without managed fields. Its network (transport_test.go) is slow and breaks, before a write and after,
//     when the answer is lost. It crashes at any write and starts anew with a fresh list and no memory.
//   - The scheduler (scheduler_test.go) writes decisions as OCM's does: PlacementDecisions without their status, then with
//     it, one after the other or with several writers; then those too many go; then the Placement's status.
//   - Agents (agent_test.go) are quick, slow, tardy, silent, hanging, failing, recovering or flapping, and may draw anew with
//     each generation. Their conditions have times of whole seconds, which stay where only the generation changes.
//   - The script (world_test.go) changes the template and the size of groups, lets clusters join, leave and return, while
//     works with finalizers still terminate, and crashes the controller. In the end the agents heal, with most seeds.
//
// # What is observed
//
// The observer (observer_test.go) knows nothing of this library. It replays all events of the watches in the order of
// their resourceVersions, which one etcd gives to all kinds. A start is a write that gives a cluster's work another
// version of the template than it had, told by the payload.
//
// A controller cannot know what its caches have not shown, and may know what is older than the API server's truth. So a
// start breaks an invariant only if it does so in two worlds at once: in the truth just before the write, and in the world
// as known, which is what the caches showed when the reconcile began, brought up to date with all that the controller
// itself has written, also before a crash and where the answer was lost. If the decisions are half written in the
// known world, nothing may start by it, and any fault in the truth counts. The known world is judged at two times, when
// the reconcile began and when the write was sent: what only time broke in between, in a long list, could not be planned for.
//
// Times of conditions count from the later of their transition and the moment at which the write of the version was sent,
// with a grace of 1.5 s in favour of the controller, since conditions have whole seconds.
//
//   - Half written: the PlacementDecisions are those that the Placement's status names, in the same groups, with as many
//     clusters together as it counts; else nothing starts.
//   - Selected: a start is on a selected cluster.
//   - Mandatory, order: when a cluster starts, each cluster of the mandatory groups before its own has succeeded and
//     soaked; under ProgressivePerGroup, each of the groups before has or has failed or timed out.
//   - Budget: when a cluster starts, no group (ProgressivePerGroup), no mandatory group, and not all clusters together
//     (Progressive) have more failures than tolerated.
//   - Concurrency: under Progressive, outside the mandatory groups, no more clusters than MaxConcurrency have the version and
//     are in flight, failed within their deadline, or soaking, the one that starts included.
//   - Soak, deadline: the same, where nothing else forbade the start than a soak that had not ended, or a deadline of which
//     at least a third, but not all, had passed.
//   - Version: a write does not carry a version that the caches already showed to be replaced when it was sent.
//   - Kept: no work is deleted whose cluster is selected; while decisions are half written, one that is selected before
//     and afterwards. Neither is one whose cluster was in no decision for less than 2 s, for which the controller waits, without
//     what caches cost. Of two works one may go.
//   - Once: no work is created for a cluster that has one that isn't being deleted.
//   - Late: no cluster that might start in the truth waits for longer than 5 s and what caches and network cost.
//   - Left behind, status, stuck: when nothing has happened for longer than soak, deadline and the slowest agent take,
//     no cluster might start, none has a work without being selected, the conditions are about the present generation and
//     say that it is over where it is; where it isn't, their message names at least one of the clusters that are waited for.
//
// # That it would be found
//
// TestEachDuty runs the controller with one duty of the documentation ignored (duties_test.go), each in worlds where it
// may matter, until the observer finds one of the invariants broken that are expected of it. TestEachInvariant does the
// same for what a strategy says.
package hub
