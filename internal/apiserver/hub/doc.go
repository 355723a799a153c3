// Package hub proves that a rollout controller breaks nothing on a running hub. Its own tests run a controller that
// does what this library's documentation says. The tests of examples/controllers/works run the controller there, as it is
// shipped. Everything happens on a real API server with OCM's definitions, which many rollouts share.
//
//	go test                                       20 rollouts, 20 that are taken back, each duty, each invariant: some minutes
//	go test -short                                20 rollouts, and 10 that are taken back: half a minute
//	go test -run TestRollouts -rollouts=200       200 rollouts, three to four minutes; -at-once says how many at a time
//	go test -run WayBack -rollouts=100            100 rollouts that are taken back, and each duty of the way back
//	go test -run TestRollouts -rollouts=1 -seed=7 -history   one rollout again, and all that the API server showed of it
//
// The same flags go with the controller works, in examples/controllers:
//
//	go test ./works -run TestProof -short                    20 rollouts, about a minute
//	go test ./works -run TestProof                           also two that act at once, each duty, each invariant: some minutes
//	go test ./works -run TestProof/Rollouts -rollouts=1000 -at-once=50 -blocks=10 -v -timeout=0   a thousand, counted in ten blocks: six minutes
//
// A seed decides what is drawn: clusters, groups, strategy, script, agents, delays. The clock decides when things
// happen, so a seed repeats a rollout only roughly.
//
// To prove another controller, say in a [Subject] how a process of it runs and what its status says, and call
// [Hub.Rollouts] and [Hub.EachDuty]. A [Process] has what it may use: a network, caches, a lease, and the duty to ignore.
//
// # Who takes part
//
//   - The controller. The controller of the tests (controller_test.go) is what a reader of README and of the pages of
//     rollout and status would write for ManifestWorkReplicaSets: list, plan, write, set status, with the generated client
//     and listers.
//   - Its caches (lag.go) show each object's events in order, but late, and out of order between objects, and with some
//     seeds without managed fields. Its network (transport.go) is slow, and breaks before a write, or after it, so that the
//     answer is lost. The controller crashes at any write. A new process starts without memory and, with some seeds, with
//     caches that are behind, as the first list from one of several API servers may be.
//   - With some seeds there are two processes that contend for a lease (lock.go), by client-go's leader election. A
//     standby has had its caches all along. The leader is cut off from the lease while the network holds back one of its
//     writes, which comes to the server when another process leads.
//   - The scheduler (scheduler.go) writes decisions as OCM's does: PlacementDecisions without their status, then with it,
//     one after the other or with several writers; then it deletes surplus ones; then it writes the Placement's status.
//     With some seeds the set follows two placements, each with its strategy.
//   - Agents (agent.go) are quick, slow, tardy, silent, hanging, failing, recovering or flapping, and may draw anew with
//     each generation. Their conditions have times of whole seconds, which stay where only the generation changes.
//   - The script (world.go, script.go) changes the template and the size of groups, lets clusters join, leave, return, and move
//     from one placement to the other, while works with finalizers still terminate, and crashes the controller. In the end the
//     agents heal, with most seeds.
//
// # What is observed
//
// The observer (observer.go, judge.go, ending.go) does not use this library. It replays all events of the watches in the
// order of their resourceVersions, which one etcd gives to all kinds. A start is a write that gives a cluster's work another
// version of the template, which the payload shows.
//
// A controller cannot know what its caches have not shown, and may know what is older than the API server's truth. So a start
// breaks an invariant only if it does so in two worlds at once: in the truth just before the write, and in the known world.
// The known world is what the caches showed when the reconcile began, with all writes of the controller itself, also before a
// crash and where the answer was lost, and with all writes of earlier processes from before it began. If the decisions are
// half written in the known world, nothing may start, and any fault in the truth counts. The known world is judged both at
// the time when the reconcile began and when the write was sent: a plan cannot foresee what only time breaks in between, in a
// long list.
//
// Times of conditions count from their transition or, if that is later, from when the write of the version was sent. There
// is a grace of 1.5 s in favour of the controller, since conditions have whole seconds. If the network held the write
// back, times may also count from when it arrived.
//
//   - Half written: nothing starts unless the PlacementDecisions are the ones that the Placement's status names, in the
//     same groups, with as many clusters together as it counts.
//   - Selected: a start is on a selected cluster.
//   - Mandatory, order: when a cluster starts, each cluster of the mandatory groups before its own has succeeded and
//     soaked; under ProgressivePerGroup, each of the groups before has or has failed or timed out.
//   - Budget: when a cluster starts, no group (ProgressivePerGroup), no mandatory group, and not all clusters together
//     (Progressive) have more failures than tolerated.
//   - Concurrency: under Progressive, outside the mandatory groups, no more clusters than MaxConcurrency have the version and
//     are in flight, failed within their deadline, or soaking, the one that starts included.
//   - Soak, deadline: the same, where only a soak that had not ended forbade the start, or only a deadline that had passed
//     by at least a third, but not wholly.
//   - Version: a write does not carry a version that the caches already showed to be replaced when it was sent, or that a
//     process before had replaced when this one began.
//   - Kept: no work is deleted whose cluster is selected or, while decisions are half written, whose cluster is selected
//     before and afterwards. Nor is a work deleted whose cluster was in no decision for less than the 2 s that the controller
//     waits, apart from the delay of caches. Of two works one may go.
//   - Once: no work is created for a cluster that has one that isn't being deleted.
//   - Late: no cluster that might start in the truth waits for longer than 5 s plus the delays of caches and network.
//   - Left behind, status, stuck: once nothing has happened for longer than soak, deadline and the slowest agent take, no
//     cluster may be able to start, and none may have a work without being selected. The conditions are about the present
//     generation, and say that the rollout is over where it is. Where it is not, their message names at least one cluster
//     that is waited for.
//
// The clusters of several placements are judged separately: each belongs to the first placement that selects it, and
// while one is half written, nothing starts in the placements behind it. A cluster that moves from one to the other stays
// selected, so that the same invariants say that its work is neither deleted nor made anew.
//
// The figures also count the starts that broke an invariant only in the truth, which no controller can know before its
// caches show it.
//
// # While two act
//
// Leader election does not exclude that two processes act for a moment: a process that has lost the lease may have a write on
// its way. [Hub.TwoAct] has two of them act all the time, each unaware of the other. The following still holds: nothing
// starts that the process could know to be forbidden, no work is made twice, none is overwritten that changed since it was
// read, and none is deleted that was made anew since. This rests on one name for a cluster's work, and on the resourceVersion
// or UID that each write carries. But each process keeps limits only for itself, so twice MaxConcurrency may be in flight,
// and a breach that one process has not seen yet stops only the other.
//
// # The way back
//
// A second controller (back_test.go) is what a reader of rollout's page would write for the failureStrategy AbortAll. It
// keeps its revisions in the set's status, as the message of a condition, since today's API has no field for them. Its worlds
// (back.go) roll out a first version to its end, and then one that some agents fail, answer late or never. It is taken back
// because of a breach or because a person asks. The controller dies at any write, from the new template to the last cluster
// that goes back. Leaders are cut off. Clusters join, leave and return on the way. Agents take the version before as they
// like. And a third version may come before all went back, and be taken back, too. In addition the observer judges
// (judge_back.go):
//
//   - Stored: a version is written only where the set's status says that clusters get it. So the aborted time is stored
//     before the first cluster goes back, and a new revision before anything of it is written.
//   - Taken back: nobody gets a version that is taken back, as far as the process could know.
//   - Aborted: the time is when it was written, and stays as it is until another version is wanted.
//   - Mending: while a cluster waits to go back, a cluster that never had the version gets nothing.
//   - Untouched: no work is written again that has its version. So each holder goes back once.
//   - Order, concurrency: groups go back last first; no more clusters are on their way back than MaxConcurrency.
//   - Went back: in the end no selected cluster has the version, clusters that joined have the version before, unless it
//     breaches their budget, and the conditions say how many clusters went back, of how many.
//
// The conditions are only about the way back. So if the version before fails on a cluster that joined, they do not say that
// other joined clusters wait for it.
//
// This found an error in the documentation, which stored a new revision even if its template could not be kept. Then
// nobody could go back.
//
// # Figures
//
// The controller works, `go test ./works -run TestProof/Rollouts -rollouts=1000 -at-once=50 -blocks=10` on two cores that had
// nothing else to do: ten of ten blocks green in six minutes, with at most 0.7 GB. There were 1,000 rollouts of 1,601
// versions; 911 rollouts ended and 89 stood still for a reason that their status gives. There were 76,001 events, 1,820
// processes that acted and 820 restarts; 33,348 writes, 1,172 of them without an answer and 223 held back; 11,554 starts and
// 448 removals; no violation. 306 starts were wrong by what no cache showed yet. On a machine with ten times the load it
// takes 25 minutes. Each duty and each invariant was found, most of them in the first rollout.
//
// The way back, `go test -run TestWayBack -rollouts=150 -at-once=40`, on two cores with ten times the load: 150 rollouts of
// 338 versions, 443 processes that acted, 293 restarts. There were 6,027 writes, 239 of them without an answer and 42 held
// back; 2,217 starts; no violation. Each of its twelve duties and limits was found, most of them in the first rollout, the
// slowest in the fifth.
//
// # That it would be found
//
// [Hub.EachDuty] runs the controller with one duty of the documentation ignored (duties.go), in worlds where that may matter,
// until the observer finds a broken invariant that is expected of this duty. It does the same for each part of a strategy.
// The controller of the tests has a switch for each duty. The controller in examples/controllers/works has none: what it
// reads, writes and remembers is tampered with from outside.
package hub
