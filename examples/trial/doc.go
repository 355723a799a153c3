// SPDX-License-Identifier: Apache-2.0

// Package trial proves that a rollout controller breaks nothing on a running hub. Its own tests run a controller that
// does what this library's documentation says. The tests of examples/controllers/works run the controller there, as it is
// shipped. Everything happens in virtual time (package sim): each world has an API server to itself, which is Kubernetes' own code with OCM's
// definitions. A seed decides everything, so that each play of it is the same in every byte, on any machine and at any load.
//
//	go test                                       10 worlds of each kind, each duty, each invariant: some minutes of a core
//	go test -run TestRollouts -rollouts=1000      a thousand rollouts
//	go test -run TestDays                         worlds that last for days
//	go test -run FromTraces -traces               each duty, also of add-ons and towards clusters that left, judged by its traces alone
//	go test -run TestRollouts -rollouts=1 -seed=7 -history   one rollout again, and all that the API server showed of it
//	go test -run TestRollouts -rollouts=1 -seed=7 -without='step 2,cluster c03'   the same without some of its parts
//	go test -run TestRollouts -rollouts=1 -seed=7 -logs DIR  the same, with all messages and writes in a file, to compare two plays
//
// Half of the worlds of a kind are the same in each run, and half are new each day; the log has their seeds. A world that breaks something is
// made smaller: whatever it can break the same invariant without is left out, such as steps, clusters and faults, in up to -shrink=200 more plays. The
// log tells the smallest in at most 30 lines, with the command that plays it again, and with a line for testdata/stories of the tested package,
// played in each run. The first world of each kind, or N with -twice=N, is played a second time, where selects take other cases if several are
// ready, and a difference is an error.
//
// Two tests need a real API server, and real time: what the judge makes of the audit log of one, and a program of another process, in any language:
//
//	go test -run TestAuditLogOfAHub
//	go test -run TestForeign -foreign='PROGRAM -kubeconfig'   it is judged by its traces alone; -kind says of what: judge/OCM.md
//
// The same flags go with the controllers, in examples/controllers:
//
//	go test ./works -run TestProof
//	go test ./works -run TestProof/Rollouts -rollouts=1000 -v -timeout=0
//	go test ./policies -run TestProof/Trials -rollouts=100 -v -timeout=0   100 rollouts of policies in two passes
//	go test ./policies -run TestProof/EachDuty                             the duties that can be tampered with from outside
//	go test ./policies -run TestProof/EachDuty -traces                     the same, judged by their traces alone; so it goes with any controller: two minutes of a core
//
// To put your controller on trial, see README.md: say in a [Subject] how a process of it runs and what its status says, and call
// [Hub.Rollouts] and [Hub.EachDuty]. A [Process] has what it may use: a network, caches, a lease, and the duty to ignore.
//
// # The actors
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
//     Where groups have a size, each cluster that leaves moves others up, into the group before.
//     With some seeds the set follows two placements, each with its strategy. With some scheduling is disabled, and another
//     controller writes the decisions, so that the Placement's status is not written.
//   - Agents (agent.go) are quick, slow, tardy, silent, hanging, failing, recovering or flapping, and may draw anew with
//     each generation. With some seeds all answer a tenth of a second before their deadline. Their conditions have times of whole seconds, which stay where only the generation changes.
//   - The script (world.go, script.go) changes the template and the size of groups, lets clusters join, leave, return, and move
//     from one placement to the other, while works with finalizers still terminate, and crashes the controller. In the end the
//     agents heal, with most seeds.
//
// # What is observed
//
// The observer (observer.go, judge.go, ending.go, exposed.go) does not use this library. It replays all writes in the order of their
// resourceVersions, at the moments at which they were stored. A start is a write that gives a cluster's work another
// version of the template, which the payload shows.
//
// A controller cannot know what its caches have not shown, and may know what is older than the API server's truth. So a start
// breaks an invariant only if it breaks the same one in two worlds at once: in the truth just before the write, and in the known
// world. The known world is what the caches showed when the reconcile began, with all that the process had read from the API
// server until it sent the write, with all writes of the controller itself, also before a crash and where the answer was lost, and with all writes of
// earlier processes from before it began. If the decisions are
// partially observed in the known world, nothing may start, and any fault in the truth counts. The known world is judged both at
// the time when the reconcile began and when the write was sent: a plan cannot foresee what only time breaks in between, in a
// long list.
//
// Times of conditions count from their transition or, if that is later, from when the write of the version was sent. There
// is a grace of 1.5 s in favour of the controller, since conditions have whole seconds. If the network held the write
// back, times may also count from when it arrived.
//
//   - Partially observed: nothing starts unless the PlacementDecisions are the ones that the Placement's status names, in groups of
//     the same index and name, with as many clusters in each group and together as it counts.
//   - Selected: a start is on a selected cluster.
//   - Mandatory, order: when a cluster starts, each cluster of the mandatory groups before its own has succeeded and
//     soaked; under ProgressivePerGroup, each of the groups before has or has failed or timed out.
//   - Budget: when a cluster starts, no group (ProgressivePerGroup), no mandatory group, and not all clusters together
//     (Progressive) have more failures than tolerated.
//   - Concurrency: under Progressive, outside the mandatory groups, no more clusters than MaxConcurrency have the version and
//     are in flight, failed within their deadline, or soaking, the one that starts included.
//   - Soak, deadline: the same, where only a soak that had not ended forbade the start, or only a deadline that had passed
//     by at least a third, but not wholly.
//   - Version: a write does not carry an older version than the caches already showed when it was sent, or than a process before
//     had written when this one began.
//   - Kept: no work of a cluster is deleted that is selected or, while decisions are partially observed, is selected
//     before and afterwards. Nor is a work of a cluster deleted that was in no decision for less than the 2 s that the controller
//     waits, apart from the delay of caches. Of two works one may go.
//   - Once: no work is created for a cluster that has one that isn't being deleted.
//   - Late: no cluster that might start in the truth waits for longer than 5 s plus the delays of caches and network, while
//     no other starts: one that does takes the place of those behind.
//   - Payload: a work carries what the user wrote into the set, and the spec of the set is the user's.
//   - Left behind, status, stuck: once nothing has happened for longer than soak, deadline and the slowest agent take, no
//     cluster may be able to start, and none may have a work without being selected. The conditions are about the present
//     generation, and say that the rollout is over where it is. Where it is not, their message names at least one cluster
//     that is waited for.
//
// The clusters of several placements are judged separately: each belongs to the first placement that selects it, and
// while one is partially observed, nothing starts in the placements behind it. A cluster that moves from one to the other stays
// selected, so that the same invariants say that its work is neither deleted nor made anew. It may count in both: the one before may
// wait for it also where it is done, or timed out, by the other one.
//
// A world ends at one moment, and what comes later is not judged: agents go on, and no process answers them.
//
// The figures also count the starts that broke an invariant only in the truth, which no controller can know before its
// caches show it, and those that only a soak from the first answer would have forbidden. The times of conditions do not tell
// when an agent answered a version first: a controller has to note it (status.WorkState has Now for that).
//
// # What happens to each owner sooner or later
//
// When the story of a rollout is over and judged, its aftermath begins (aftermath.go). It is the same in each world of Rollouts, CutOff and Untold,
// and takes some ten virtual minutes:
//
//   - Others write beside the controller: a condition and an annotation of the set, and works that are no set's. All of it stays.
//   - A new version comes, and an admission forbids the works of the first cluster that gets it, for four minutes. Meanwhile the status is about the
//     present generation, is not complete, and names the cluster. Afterwards the cluster gets the version within a minute.
//   - The API server is away for five minutes, and the rollout goes on within a minute.
//   - A cluster fails and is deselected where no failure is tolerated. No other starts until its ManagedCluster is deleted, and then one does.
//   - The owner is deleted, and with some seeds the process dies meanwhile. The works go, and a finalizer holds the owner until then. With some seeds
//     the owner comes again at once, its caches show that late, and no selected cluster loses its work. Where the subject makes Events, one says
//     that a mandatory group of the new owner is nowhere.
//
// In all of the world the observer also judges when the controller looks (looks.go):
//
//   - Looks: at most 60 in a minute, and three more for each event that its caches show and each write, also while the API server is away.
//   - Heard: what the caches show of decisions, Placements, works, the generation and what a person wrote is looked at within 5 s.
//   - Again: a look that failed is followed by another one within a minute.
//   - One look at a time, and none that writes by a process that has not asked for the lease.
//
// A violation says what its cause may be (causes.go): with which own write that the caches did not show the start would have been forbidden, which record
// no annotation of the owner has, which look was the last.
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
// # The rollback
//
// A second controller (back_test.go) is what a reader of rollout's page would write for the failureStrategy AbortAll. It
// keeps its revisions in the set's status, as the message of a condition, since today's API has no field for them. Its worlds
// (back.go) roll out a first version to its end, and then one that some agents fail, answer late or never. It is taken back
// because of a breach or because a person asks. The controller dies at any write, from the new template to the last cluster
// that is rolled back. Leaders are cut off. Clusters join, leave and return on the way. Agents take the version before as they
// like. And a third version may come before all went back, and be taken back, too. In addition the observer judges
// (judge_back.go):
//
//   - Stored: a version is written only where the set's status says that clusters get it. So the aborted time is stored
//     before the first cluster is rolled back, and a new revision before anything of it is written.
//   - Taken back: no cluster gets a version that is taken back, as far as the process could know.
//   - Aborted: the time is when it was written, and stays as it is until another version is wanted.
//   - Mending: while a cluster waits to go back, a cluster that never had the version gets nothing.
//   - Untouched: no work is written again that has its version. So each object is rolled back once.
//   - Order, concurrency: groups roll back last first; no more clusters are in their rollback than MaxConcurrency.
//   - Leavers: a deselected cluster with the version that is taken back is on its way from the abort on, until its deadline has passed or its
//     object is gone. A cluster that went back and was deselected before it was done counts like any other, and so does its failure for those that joined.
//   - Went back: in the end no selected cluster has the version, clusters that joined have the version before, unless it
//     breaches their budget, and the conditions say how many clusters went back, of how many.
//
// The conditions are only about the rollback. So if the version before fails on a cluster that joined, they do not say that
// other joined clusters wait for it.
//
// This found an error in the documentation, which stored a new revision even if its template could not be kept. Then
// no cluster could go back.
//
// # Trials: add-ons, and policies in two passes
//
// A [Delivery] is something else than ManifestWorks that a controller rolls out: [OfAddOns], for which a controller of the tests
// stands (addon_test.go), and [OfPolicies], which the controller policies of examples/controllers rolls out. Both are under
// OCM's published definitions. In a trial (trial.go) a version works, fails, is met with silence, or kills the agents of 0 to
// 100% of the clusters, before or after they have reported. The scheduler drops those with dead agents. A person deselects
// clusters, also such that are not done, deletes clusters with all that is in their namespaces, and ignores clusters on the
// owner. Agents come back. Add-ons with a finalizer hang in deletion where the agent is dead; others, and all replicated
// policies, are gone at once. Caches, network and crashes are as everywhere here.
//
// The checker (invariants.go, snapshot.go, invariants_waits.go) judges a start, a deletion and a claim in the truth and in the known world,
// as the observer does. Beside the invariants that are the same, it judges:
//
//   - Deselected: a cluster that is not selected counts in limits, budgets and groups while its object says that it has the version
//     and is not done, also where the object is being deleted. Of an object that is gone there lasts a failure that a process
//     knew of before, and a start without an answer if the object was gone at once when the controller deleted it. It lasts
//     until an operator ignores the cluster, another version is wanted, or the cluster has the version again. A failure that
//     lasts keeps its slot where there is no deadline.
//   - Bound: of a version that works nowhere no more clusters get it than MaxFailures and MaxConcurrency together, and the
//     mandatory groups, under Progressive, without those that a person took out.
//   - Called: nothing is called complete, or becomes known to work, while a cluster that counts is not done.
//   - Prompt: a cluster that is not selected any more loses the workload after the grace. So no policy stays enforced there.
//   - Ignored: an ignored cluster blocks no other. The invariants about being late and left behind say so.
//   - Passes: a policy is enforced only where the cluster had the version with inform, and while no other selected cluster is
//     enforced with another version.
//   - Shown: where no version so far did anything but work, no cluster of a policy is shown as Failed. What a person changed in a replica is
//     written back. In some trials all replicas lose their stamps, as if OCM's propagator had written them, and another process begins:
//     then none is written anew, and the root keeps its compliance.
//
// The policies have one to five templates of ConfigurationPolicies, other policies, and Gatekeeper's kinds, which answer one after the other.
// Some wait for others, and are Pending. Only a ConfigurationPolicy says something of each content. A version edits one thing alone: a
// spec, annotations, what a template waits for, ignorePending, an action, a name, a kind, the order, or which templates there are. One that does
// not work is bad in one template.
//
// [TrialDuties] are the duties towards clusters that left. The controller of the tests has a switch for each of them. Towards
// the controller policies they are tampered with from outside.
//
// # Cut off
//
// In some worlds (cutoff.go) versions cut clusters off: agents stop answering some time after they got a version, before or
// after their answer. Some come back by themselves, some with the next version, and some never. An agent that is cut off
// (lines.go) takes nothing, so its work stays while it is deleted. When its lease is over, the schedulers drop its cluster,
// and take it back when the agent lives. They also exchange clusters for a moment, and clusters come to other groups. A
// person ignores clusters by an annotation of the set, or deletes them, and then their works are gone at once.
//
// A cluster that left counts (judge_left.go) in the group where it was, until its object is gone without a failure, it is
// done, an operator ignores it, or another version is wanted. In the known world that is the group where the process saw it last
// while the decisions were complete, or the processes before it. A failure counts also when its object is gone, if the controller
// deleted the object knowing of it, or had long enough to note it. Where a controller need not know what the history tells,
// the observer reads it in favour of the controller. In addition it judges:
//
//   - Exposed: no more clusters have a version and are not done with it than package rollout/exposure says of the strategy and the
//     greatest groups that there were, wherever the clusters went.
//   - Leavers: a start that only deselected clusters forbade.
//   - Done: nothing is called complete while a cluster that left is in flight, nor succeeded while one has failed.
//   - Removed: a deselected cluster loses its work promptly, also while the rollout is stopped. The work may hang in its deletion. The time
//     begins anew with a process, and where the decisions are partially observed, in truth or in what a process sees.
//   - Stuck: if only deselected clusters block others, the message names one of them.
//
// The first of these worlds is the smallest case: 20 clusters, one at a time, no failure tolerated, and a version that cuts
// off each cluster that gets it. The library once let it reach all 20. It has to stop at the first.
//
//	go test -run TestCutOff -rollouts=100          100 rollouts that cut clusters off
//	go test ./works -run TestProof/CutOff$         the same with the controller works
//
// # People
//
// In some worlds (people.go) a user freezes clusters for a while, unfreezes them, and allows some; no other may start then. A
// validator says yes, no, late or nothing, or something of yesterday's version, and each cluster has a value of its own. A cluster that
// has no verdict is in flight, and one that was found bad has failed. In addition the observer judges (judge_people.go):
//
//   - Frozen, allowed: no cluster starts that is frozen, or not allowed for this version.
//   - Verdict: no verdict stands in a work that was not given, and none counts for another version.
//   - Value: a work has the value of its cluster and version.
//
// # Days
//
// In some worlds (days.go) soaks and deadlines take hours, as agents do. The API server is away for minutes or hours, and the machine of the process is
// suspended. The clocks of some clusters leap by up to an hour, to and fro, so that conditions have times of yesterday or of the future. Being
// late while the server or the process is away is no fault. A write during which the server went away is the process's, if it was carried out.
// No zone is read: all times are instants, so no day has 23 hours.
//
// # Versions of clusters
//
// In some worlds (values.go) people give some clusters a number of replicas of their own, and later a greater one. So the version of a
// cluster is the template's and this number, which the payload shows. A new number is rolled out like a template, to these clusters alone,
// within all limits. In addition no work is written again that has its version.
//
//	go test -run TestValues -rollouts=100          100 rollouts in which clusters have versions of their own
//	go test -run TestEachDutyOfValues              each duty there
//
// A cluster that moves to another group while it counts stays in the group before. It is not known in which of them a process saw it when it started,
// so no start is a fault that only one of the two forbids (moves.go).
//
// # Figures
//
// rollout/SAFETY.md has what the long runs printed, with their commands.
//
// Rollouts and trials are also judged from their traces alone (trace.go), by package judge, which sees no caches: nothing may be broken where
// each write may be as far behind the truth as it was. That is the lag of what the process knew of each object then (lagging.go), rounded up to
// 250 ms, 500 ms, 1 s and so on; the log says how great the lags were. Worlds that take versions back, have people or versions of clusters are
// not among them. The
// figures of the last long ones stand in rollout/SAFETY.md, too.
//
// A duty that is ignored is broken in a trace, with three gaps. Three duties are suspicious at most, since a late view explains what their lack does: to
// plan with one's own writes, to read what got no answer, and to look first at what the process before wrote. A failure without an object is broken
// as well: worlds in which clusters may be deleted have ManagedClusters, and traces have them, too.
// The duties of the rollback and towards people are not tested from traces: the page of package judge says what it does not judge.
//
// A trial does not report a cluster as waiting for nothing if it waits for one in flight with a vanished group, or while a process may
// wait for a write of its own that no cache shows, since another client removed the object first.
//
// # That it would be found
//
// [Hub.Untold] plays the worlds that are bent towards each duty with a subject that is told to ignore none. It breaks nothing there. A controller that forgets a duty
// and does not say so is found: [Hub.Find] plays these worlds until one is broken. TestTampers of examples/controllers/placed has such authors.
//
// [Hub.EachDuty] runs the controller with one duty of the documentation ignored (duties.go), in worlds where that may matter,
// until the observer finds a broken invariant that is expected of this duty. It does the same for each part of a strategy.
// The controller of the tests has a switch for each duty. The controller in examples/controllers/works has none: what it
// reads, writes and remembers is tampered with from outside.
package trial
