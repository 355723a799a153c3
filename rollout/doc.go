// Package rollout answers who gets the workload next, and why the others wait.
//
// [Plan] takes what a controller has at hand: the strategy of its API object, the decision groups, what it observed on each
// cluster, and the time. It returns what may happen now. It starts nothing, keeps nothing, and reads no clock. The same input
// in any order gives the same result.
//
// # The duties of a controller
//
// Limits hold on a running hub only if what you pass in is true. So let one process act at a time, by leader election, look at
// an owner in one goroutine at a time, and take these steps each time something changes.
//
//  1. Read the groups together with their Placement, by [grouping.Read], whenever a PlacementDecision or the
//     status of the Placement changes. A scheduler writes its decisions one after the other. In between, a canary group
//     that is not filled yet looks like an empty one, and an empty cache looks like a selection of nobody. Groups that
//     were read with their Placement can tell that they are incomplete; then nothing starts and nobody is removed.
//
//  2. Name the version of the workload that is wanted, such as a hash of its template. Then make a [status.Report] of each
//     object of the workload, with [status.FromManifestWork] or its like and the wanted version. Take the objects that duty 3
//     gives, so do that first. A cluster whose object has another version waits for its turn again. One whose object has the
//     wanted version is in flight from that write on, even while its agent is silent, and can time out. Report objects
//     that are being deleted, too: an agent that was cut off never lets go of its object.
//
//  3. Plan with your own writes, those of the owner too: caches show them late. Package rollout/writes has Own for them.
//     Tell it the answer to each write, and take the objects from it. Read those that it is unsure of from the API
//     server: an answer was lost, or the cache has not shown the object for long. No event need come of that, so look again
//     after Own.RecheckAfter. The caches may also lack what the process before has written. So when a process begins to act
//     or gets its lease, it lists the owners and their objects from the API server, once in its life, and hands them to
//     Own. Keep what must last in the objects, not in memory: a controller restarts.
//
//  4. Give a cluster one object, under the name that the steps of duty 6 give, which notes its owner (writes.Owner): owners of
//     two kinds may have one name. Where there are two objects, pass the reports of both to Plan, which counts the worst and
//     warns; the steps delete the surplus object. They leave alone what is another's: warn of it.
//
//  5. Call Plan, with four fields of its [Options] set. RemoveAfter and Previous, the previous result: a scheduler that
//     rewrites its decisions can leave a cluster out for a moment while all counts are right, and the cluster must keep its
//     workload. Keep a previous result for each owner and each of its plans. Memory with the record of the owner, and
//     Ignored with the clusters that a person gave up: see "Who left" below.
//
//  6. Carry out what it says. First store Record in the owner, if it has changed. Then go on with the same result, through
//     writes.StepsOf: the workload of clusters in Removed goes, surplus objects go, and clusters in InFlight and Start get the
//     workload. Do nothing for the others. A cluster in Start whose object is still being deleted gets the workload once that
//     is gone. It holds its slot until then, without a deadline: if its agent is dead, a person has to give it up. Before each
//     write the steps ask for the owner, and end where another version is wanted. In the write that carries the version, note
//     the version, the attempt that the result has for the cluster, and the time of the write (not of the plan). writes.Work
//     makes such an object, and says whether anything changes.
//
//  7. Set the status of the owner from [Result.Summary]. Make events of [Result.Changes], which tells each thing once, also
//     each warning. If you keep reports, report TimeOut from now on for each cluster in TimedOut.
//
//  8. Come back when one of the objects changes, or after RecheckAfter. Do so also where a write failed, and try again
//     within a minute: writes.Pace says when. controller-runtime ignores RequeueAfter beside an error, and its own pause
//     doubles up to a quarter of an hour: one cluster that always refuses would make all other deadlines and soaks late.
//
//  9. When the owner is deleted, start nothing more, and delete its objects. The garbage collector finds those in other
//     namespaces only where the owner itself has no namespace. Ask the API server whether the owner is really gone, and which
//     objects there are: a cache may be empty, or lack what you have just created. If a new owner gets the same name,
//     objects of the one before may still be terminating: report them, and their clusters start once they are gone.
//
// Package placer does all of them; examples/controllers/small is without it.
//
// A webhook calls [Validate], and [Options.Validate] where users write options, too.
//
// # How a rollout goes
//
// A rollout is a sequence of stages, which are completed one after the other. A stage has one or more groups. Every
// strategy is such a sequence:
//
//	All                  {all groups at once, any failure tolerated}
//	Progressive          {mandatory group} {mandatory group} … {all others, MaxConcurrency at a time}
//	ProgressivePerGroup  {mandatory group} {mandatory group} … {group} {group} …
//
// Only the first stage that is not complete starts clusters. A stage is complete when each of its clusters succeeded
// and soaked, is skipped, or failed, and no more failed than its budget allows: none in a mandatory group, MaxFailures
// elsewhere. More failures in any stage are a breach: then nothing starts anywhere. Under Progressive the budget also
// holds over all clusters together. The result's [Schedule] shows the stages with their limits as counts.
//
// Clusters in flight are Progressing, Validating, Failed within their deadline, or soaking. The result has them from every stage:
// they have the workload, and changes to it must reach them.
//
// A percentage in MaxConcurrency is a share of the clusters outside the mandatory groups. A percentage in MaxFailures
// is a share of the group's clusters; under Progressive, of all selected clusters. A Progressive strategy without
// MaxConcurrency uses the clustersPerDecisionGroup of the Placement. If that is unset, too, all start at once.
//
// # What may surprise
//
// Set a progressDeadline. Without one a tolerated Failed cluster keeps its slot for ever, since it may yet recover, and so does
// a silent one. The deadline runs from the last transition that was reported, or from the write of the version if that is
// later. So a failure begins it anew. With FailedFreesSlot the slot is free at once.
//
// A ManifestWork is done only where conditionRules in its template give the condition Progressing. Without them it keeps its slot, or
// times out, and the result warns. Add rules, or let Available count ([status.WorkState].AvailableSucceeds).
//
// Under Progressive, MaxConcurrency does not limit mandatory groups: each starts as a whole and takes no slot from the others.
// Any failure in it stops the rollout.
//
// A report without any time has no deadline, and its soak never ends. The result warns.
//
// A soak may run from the write of the version instead of the success with it: the time of a condition stays the same where the
// condition only observes the new version. So a cluster whose agent answers late has soaked
// already. A controller that notes the first answer ([status.WorkState].Now) soaks from that. Without it, let
// minSuccessTime be longer than agents take to answer. If you pass Now, note each answer (package writes notes those of clusters in
// flight or left). Until then each reading begins the soak anew, and WaitBetweenGroups never ends.
//
// Where a cluster has to be validated after it succeeded (OCM's enhancement 231), status.Judge makes the reports. The cluster is
// in flight until the verdict, its deadline begins anew with the success, and its soak begins with the yes.
//
// A breach or a timeout ends when its clusters are reported otherwise, or another version or a later attempt is wanted. A new
// cut ends no breach.
//
// # Beyond the API's strategy
//
// [Options] have more: a pause, gates and holds, other orders, gentler starts, limits on starts and removals, clusters and
// failures that do not count, another attempt, a hub's part of shared limits. The page of each field says what it does. The zero
// Options add nothing, any fields can be set together, and the result warns of one that has no effect. Package rollout/approvals
// reads from annotations what people decide.
//
// [Result.WouldStart] says what an approval of a gate would do, and [Removals] who loses the workload next when all of
// it goes.
//
// # Values per cluster
//
// A template may have values for each cluster. Let the version of a cluster be a hash of what it is to have, and make its report
// with that. A new value is then a new version of that cluster alone: it waits for its turn, and the others stay done. Give
// [StoredRecord] the version of the template, so that a failure counts until that changes. Values that change without the
// owner's generation are to be looked at again before each write.
//
// # Several placements
//
// Where one strategy goes for all placements of a workload, join their groups with [grouping.Join]. All and Progressive pool
// joined groups. ProgressivePerGroup goes through one placement after the other. A mandatory group then means such a group
// of each.
//
// Where each placement has a strategy of its own, take the groups apart with [grouping.Apart], and make a plan of each part.
// Give every plan the reports of all clusters, about the version that its part wants, and a record of its own. Store the records
// of all parts before you remove anyone: the last part removes clusters that another one has to remember.
//
// # Who left
//
// A version may be what makes a cluster leave. It kills the agent; after five minutes the hub taints the cluster, and the
// scheduler drops it. If the cluster stopped counting then, the next one would start, and such a version would go over the
// whole fleet without a failure. So who has the version counts, selected or not. [Next].Left has these clusters, and the
// sentences call them "a (left)".
//
// A failure counts until the cluster recovers, another version or attempt is wanted, or a person gives the cluster up: by its
// name in Ignored, or by deleting its ManagedCluster. The page of [StoredRecord] says what the controller does for that. Its field
// AtOnce says how objects go: set it for add-ons without a pre-delete hook.
//
// # Before it begins
//
// Package rollout/exposure works out how far a bad version can get and how long a rollout takes, and finds limits that keep it
// within bounds.
//
// # The way back
//
// [Revert] takes a failed rollout back: clusters that have the failed version get the version before it again. Under All
// they go back at once; another strategy limits the way back. A cluster that never had the failed version is not touched.
// Package rollout/rollback has the duties and the code.
//
// # A change at a time
//
// A controller that hears of one cluster at a time can keep a [Planner], which gives the same answers in about a microsecond. The
// duties are the same, except that it need not read its own writes: it calls [Planner.Applied] after each.
//
// # Where it departs from OCM's present helper
//
// OCM's helper (open-cluster-management.io/sdk-go, pkg/apis/cluster/v1alpha1) starts clusters over MaxConcurrency, and overlooks
// failures. rollout/RULES.md has the table.
//
// The API documents MinSuccessTime as the time from the start of each rollout. Here it runs from the
// cluster's success, or from the write of the version if that is later. The documents go on when a cluster "timed out". Here that is a
// failure, and stops at maxFailures 0.
package rollout
