// Package hub proves that a rollout controller breaks nothing on a running hub: in its tests one that does what this
// library's documentation says, and in those of examples/controllers/works the one that is there, as it is shipped.
// Everything happens on a real API server with OCM's definitions, which many rollouts share.
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
// A seed decides what is drawn: clusters, groups, strategy, script, agents, delays. When things happen is up to the
// clock, so a seed shows the like of a rollout rather than the same.
//
// To prove another controller, say in a [Subject] how a process of it runs and what its status says, and call
// [Hub.Rollouts] and [Hub.EachDuty]. A [Process] has what it may use: a network, caches, a lease, and the duty to ignore.
//
// # Who takes part
//
//   - The controller. The one of the tests (controller_test.go) is what a reader of README and of the pages of rollout and
//     status writes for ManifestWorkReplicaSets: list, plan, write, set status, with the generated client and listers.
//   - Its caches (lag.go) show each object's events in order, but late, and out of order between objects, and with
//     some seeds without managed fields. Its network (transport.go) is slow and breaks, before a write and after, when
//     the answer is lost. It crashes at any write, and a new process starts with no memory, and with some seeds with caches
//     that are behind, as the first list of an API server in a group of them may be.
//   - With some seeds there are two processes that contend for a lease (lock.go), by client-go's leader election. A
//     standby has had its caches all along. The leader is cut off from the lease while the network holds back one of its
//     writes, which comes to the server when another process leads.
//   - The scheduler (scheduler.go) writes decisions as OCM's does: PlacementDecisions without their status, then with
//     it, one after the other or with several writers; then those too many go; then the Placement's status. With some seeds
//     the set follows two placements, each with its strategy.
//   - Agents (agent.go) are quick, slow, tardy, silent, hanging, failing, recovering or flapping, and may draw anew with
//     each generation. Their conditions have times of whole seconds, which stay where only the generation changes.
//   - The script (world.go, script.go) changes the template and the size of groups, lets clusters join, leave, return, and move
//     from one placement to the other, while works with finalizers still terminate, and crashes the controller. In the end the
//     agents heal, with most seeds.
//
// # What is observed
//
// The observer (observer.go, judge.go, ending.go) knows nothing of this library. It replays all events of the watches in the order of
// their resourceVersions, which one etcd gives to all kinds. A start is a write that gives a cluster's work another
// version of the template than it had, told by the payload.
//
// A controller cannot know what its caches have not shown, and may know what is older than the API server's truth. So a
// start breaks an invariant only if it does so in two worlds at once: in the truth just before the write, and in the world
// as known, which is what the caches showed when the reconcile began, brought up to date with all that the controller
// itself has written, also before a crash and where the answer was lost, and that the processes before it had written when it
// began. If the decisions are half written in the
// known world, nothing may start by it, and any fault in the truth counts. The known world is judged at two times, when
// the reconcile began and when the write was sent: what only time broke in between, in a long list, could not be planned for.
//
// Times of conditions count from the later of their transition and the moment at which the write of the version was sent,
// with a grace of 1.5 s in favour of the controller, since conditions have whole seconds. Of a write that the network held
// back they may also count from when it came.
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
//   - Version: a write does not carry a version that the caches already showed to be replaced when it was sent, or that a
//     process before had replaced when this one began.
//   - Kept: no work is deleted whose cluster is selected; while decisions are half written, one that is selected before
//     and afterwards. Neither is one whose cluster was in no decision for less than 2 s, for which the controller waits, without
//     what caches cost. Of two works one may go.
//   - Once: no work is created for a cluster that has one that isn't being deleted.
//   - Late: no cluster that might start in the truth waits for longer than 5 s and what caches and network cost.
//   - Left behind, status, stuck: when nothing has happened for longer than soak, deadline and the slowest agent take,
//     no cluster might start, none has a work without being selected, the conditions are about the present generation and
//     say that it is over where it is; where it isn't, their message names at least one of the clusters that are waited for.
//
// The clusters of several placements are judged apart: each belongs to the first that selects it, and as long as one is
// half written, nothing starts of those behind it. A cluster that moves from one to the other stays selected, so that the
// same invariants say that its work is neither deleted nor made anew.
//
// The figures also count the starts that broke an invariant in the truth alone: what no controller can know before its
// caches show it.
//
// # While two act
//
// Leader election does not exclude that two processes act for a moment: who has lost the lease may have a write on its
// way. [Hub.TwoAct] has two of them act all the time, each unaware of the other. What holds then: nothing starts that
// the process could know to be forbidden, no work is made twice, none is overwritten that changed since it was read, and
// none deleted that was made anew since. This rests on one name for a cluster's work, and on the resourceVersion or UID that each write carries. What does
// not hold: limits are kept by each for itself, so that twice MaxConcurrency may be in flight, and a breach that one has
// not seen yet stops only the other.
//
// # The way back
//
// A second controller (back_test.go) is what a reader of rollout's page writes whose failureStrategy is AbortAll. Its
// revisions stand in the set's status; today's API has no field for them, so they are the message of a condition. Its worlds (back.go)
// roll out a first version to its end, and then one that some agents fail, answer late or never. It is taken back because
// of a breach or because a person asks. The controller dies at any write from the new template to the last that went back;
// leaders are cut off; clusters join, leave and return in mid-way; agents take the version before as they like; and a third
// version may come before all went back, and be taken back, too. Beside what is said above, the observer judges (judge_back.go):
//
//   - Stored: a version is written only where the set's status says that clusters get it. So the aborted time stands there before
//     the first goes back, and a new revision before anything is written of it.
//   - Taken back: nobody gets a version that is taken back, as far as the process could know.
//   - Aborted: the time is when it was written, and stays as it is until another version is wanted.
//   - Mending: while a cluster waits to go back, none that never had the version gets anything.
//   - Untouched: no work is written again that has its version. So each holder goes back once.
//   - Order, concurrency: groups go back last first; no more clusters are on their way back than MaxConcurrency.
//   - Went back: in the end no selected cluster has the version, those that joined have the one before, unless it breaches their
//     budget, and the conditions say how many went back, of how many.
//
// The conditions are about the way back alone. So they do not name whom clusters wait for that joined, where the version before
// fails on one of them.
//
// It found an error in the documentation, which stored a new revision also where its template could not be kept. Then nobody could go back.
//
// # Figures
//
// The controller works, `go test ./works -run TestProof/Rollouts -rollouts=1000 -at-once=50 -blocks=10` on two cores that had nothing else to
// do: ten of ten blocks green in six minutes, with at most 0.7 GB. 1,000 rollouts of 1,601 versions, of which 911 came to their end and
// 89 stood still for a reason that their status gives; 76,001 events, 1,820 processes that acted, 820 restarts; 33,348 writes, 1,172 of them
// without an answer and 223 held back; 11,554 starts and 448 removals; no violation. 306 starts were wrong by what no cache showed yet. On a machine that
// has ten times as much to do it takes 25 minutes. Each duty and each invariant was found, most of them in the first rollout.
//
// The way back, `go test -run TestWayBack -rollouts=150 -at-once=40`, on two cores that had ten times as much to do: 150 rollouts of
// 338 versions, 443 processes that acted, 293 restarts; 6,027 writes, 239 of them without an answer and 42 held back; 2,217 starts; no
// violation. Each of its twelve duties and limits was found, most of them in the first rollout, the slowest in the fifth.
//
// # That it would be found
//
// [Hub.EachDuty] runs the controller with one duty of the documentation ignored (duties.go), each in worlds where it may
// matter, until the observer finds one of the invariants broken that are expected of it. It does the same for what a
// strategy says. The controller of the tests has a switch for each duty. That of examples/controllers/works has none: what it
// reads, writes and remembers is tampered with from outside.
package hub
