// SPDX-License-Identifier: Apache-2.0

// Package rollout decides which clusters get the workload next, and says why each other cluster waits.
//
// [Plan] takes the strategy of the owner (the API object of the rollout), the decision groups, the reports of the clusters
// and the time. It returns what may happen now. Plan starts nothing, keeps nothing and reads no clock. The same input in
// any order gives the same result.
//
// # The duties of a controller
//
// The limits hold on a running hub only if the input is true. Run one process at a time by leader election, reconcile an
// owner in one goroutine at a time, and take these steps in each reconcile.
//
//  1. Read the decision groups together with their Placement, by [grouping.Read]. Reconcile on each event of the informers
//     for PlacementDecisions and for the Placement, also for its status. A scheduler writes its decisions one by one: until
//     all are written, a canary group can look empty. The Placement lets Read detect partially observed decisions. Then
//     nothing starts and nothing is removed.
//
//  2. Name the wanted version of the workload, such as a hash of its template. Make a [status.Report] of each object of the
//     workload with [status.FromManifestWork] or its like. On a hub with objects from before your controller stamped them,
//     pass each through [status.Adopt] first: otherwise every cluster counts as outdated. Take the objects from duty 3. A
//     cluster whose object carries another version waits for its turn again. Once its object carries the wanted version, a
//     cluster is in flight from the time of that write and can time out, even before the agent reports. Report also objects
//     that have a deletionTimestamp: a disconnected agent never removes its finalizer.
//
//  3. Overlay your own writes on the informer caches, those of the owner too, because caches lag behind. Own in package
//     rollout/writes does so. Tell Own the result of each write, and take the objects from Own. Do a live read of each
//     object that Own reports as uncertain: the response to a write was lost, or the cache has lacked the write for long.
//     No watch event may follow, so requeue after Own.RecheckAfter. When a process starts to act or gets the lease, list
//     the owners and their objects live once, and hand them to Own: the caches may lack writes of the process before.
//     Store in the objects what has to survive a restart.
//
//  4. Give a cluster one object, under the name that the steps of duty 6 give. The object names its owner (writes.Owner),
//     because owners of two kinds may have one name. If a cluster has two objects, pass the reports of both to Plan. Plan
//     counts the worse one and warns, and the steps delete the surplus object. The steps do not touch objects of another
//     owner: warn of them.
//
//  5. Call Plan with four fields of its [Options] set. RemoveAfter and Previous, the previous result, keep the workload of
//     a cluster which a scheduler omits for a moment. Keep a previous result for each owner and each of its plans.
//     StoredRecord has the record of the owner, and Ignored has the clusters that a user ignores: see "Deselected clusters"
//     below.
//
//  6. Do what the result says. First update the record in the owner, if Record has changed; on a resourceVersion conflict
//     return and requeue. Then apply the same result through writes.StepsOf: delete the workload of the clusters in Removed,
//     delete surplus objects, and apply the workload to the clusters in InFlight and Start. Do not touch the other clusters,
//     except that the steps record the first answer of a deselected cluster that counts. If the object of a cluster in
//     Start is still being deleted, create the new object once the old one is gone. The cluster counts as in flight until
//     then, without a deadline; if its agent is dead, a user has to ignore the cluster. Before each write the steps check the owner, and stop if another version is wanted. In the write that carries the version,
//     store the version, the attempt that the result has for the cluster, and the time of the write (not of the plan).
//     writes.Work makes such an object and says whether anything changes.
//
//  7. Set the status of the owner from [Result.Summary]. Emit events from [Result.Changes], which reports each change and
//     each warning once. If you store reports, store TimeOut for each cluster in TimedOut.
//
//  8. Requeue after RecheckAfter, also if a write failed, and retry the write within a minute: writes.Pace says when.
//     controller-runtime ignores RequeueAfter when Reconcile returns an error. Its exponential backoff grows to a quarter
//     of an hour, so one write that always fails would delay every deadline and soak.
//
//  9. When the owner has a deletionTimestamp, start nothing more and delete its objects; a finalizer on the owner gives
//     time for that. The garbage collector deletes objects in other namespaces only if the owner is cluster-scoped. Do a
//     live read of the owner and a live list of its objects first: a cache may be empty, or lack a new object. If a new
//     owner has the same name, objects of the old one may still be terminating. Report them: their clusters start once the
//     objects are gone.
//
// Package placer does all of them.
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
// and soaked, is skipped, or failed, and no more failed than are tolerated: none in a mandatory group, MaxFailures
// elsewhere. More failures in any stage are a breach: then nothing starts anywhere. Under Progressive MaxFailures also
// holds over all clusters together. The result's [Schedule] shows the stages with their limits as counts.
//
// Clusters in flight are Progressing, Validating, Failed within their deadline, or soaking. The result has them from every stage:
// they have the workload, and changes to it must reach them.
//
// A percentage in MaxConcurrency is a share of the clusters outside the mandatory groups. A percentage in MaxFailures
// is a share of the group's clusters; under Progressive, of all selected clusters. A Progressive strategy without
// MaxConcurrency uses the clustersPerDecisionGroup of the Placement. If that is unset, too, all start at once.
//
// # Pitfalls
//
// Set a progressDeadline. Without one, a failed cluster within maxFailures stays in flight for ever, since it may recover,
// and so does a silent one. The deadline runs from the last reported transition, or from the write of the version if that
// is later, so a failure restarts it. With FailedFreesSlot a failed cluster makes room for another at once.
//
// A ManifestWork is done only if conditionRules in its template set the condition Progressing. Otherwise the cluster stays
// in flight or times out, and the result warns. Add rules, or let Available count ([status.WorkState].AvailableSucceeds).
//
// Under Progressive, MaxConcurrency does not limit mandatory groups. Each starts as a whole, and does not count against
// the limit of the others. Any failure in it stops the rollout.
//
// A report without any time has no deadline, and its soak never ends. The result warns.
//
// A soak may run from the write of the version instead of the success: a condition keeps its time if only its
// observedGeneration changes. Then a cluster whose agent responds late has soaked already. A controller that records the
// first response ([status.WorkState].Now) soaks from that response. Without Now, set a minSuccessTime that is longer than
// agents take to respond. With Now, record each response (package writes does so for clusters in flight or deselected).
// Until the first response is recorded, every reconcile restarts the soak, and WaitBetweenGroups never elapses.
//
// If a cluster has to be validated after it succeeded (OCM's enhancement 231), status.Judge makes the reports. The cluster
// is in flight until the verdict. Its deadline restarts with the success, and its soak starts with the positive verdict.
//
// A breach or a timeout ends if its clusters are reported otherwise, or if another version or a later attempt is wanted.
// New decision groups end no breach.
//
// # Beyond the API's strategy
//
// [Options] have more: a pause, gates, freezes, an allowlist, other orders, slower starts, limits on starts and removals,
// ignored clusters, another attempt, and a hub's shares of common limits. The page of each field says what it does. The
// zero Options add nothing. Any fields can be set together, and the result warns of a field without effect. Package
// rollout/approvals reads users' decisions from annotations.
//
// [Result.WouldStart] says what opening a gate would start. [Removals] says which clusters lose the workload next when all
// of it is removed.
//
// # Values per cluster
//
// A template may have values for each cluster. Then the version of a cluster is a hash of what the cluster is to have, and
// its report is made with that version. A new value is a new version of that cluster alone: the cluster waits for its
// turn, and the others stay done. Give [StoredRecord] the version of the template, so that a failure counts until the
// template changes. If values change without the owner's generation, compare them again before each write.
//
// # Several placements
//
// If one strategy applies to all placements of a workload, join their groups with [grouping.Join]. All and Progressive pool
// joined groups. ProgressivePerGroup rolls out one placement after the other. A mandatory group then means that group of
// each placement.
//
// If each placement has its own strategy, split the groups with [grouping.Apart] and call Plan for each part. Give each
// plan the reports of all clusters, about the version that its part wants, and its record ([status.Records.Of]). Store the
// records of all parts before you remove a cluster: the last part removes clusters that the record of another part must have.
//
// # Deselected clusters
//
// A version may cause a cluster to be deselected. It kills the agent, after five minutes the hub taints the cluster, and
// the scheduler drops it. If the cluster stopped counting then, the next cluster would start, and the version would reach
// the whole fleet without a failure. A cluster with the version therefore counts, selected or not. [Next].Deselected has
// the deselected clusters that count.
//
// A failure counts until the cluster recovers, another version or attempt is wanted, or a user ignores the cluster: by its
// name in Ignored, or by deleting its ManagedCluster. The page of [StoredRecord] says what the controller does for that.
// Set its field AtOnce if deletion is immediate (no finalizer), as for add-ons without a pre-delete hook.
//
// # Blast radius
//
// Package rollout/exposure computes the blast radius of a bad version (the most clusters that have it and are not done with it, at a time) and the duration
// of a rollout. It finds limits that keep both within bounds.
//
// # Rollback
//
// [Revert] rolls a failed rollout back: the clusters with the failed version get the version before it again. Under All
// they do so at once; another strategy limits the rollback. A cluster which never had the failed version is not touched.
// Package rollout/rollback has the duties and the code.
//
// # Incremental planning
//
// A controller that gets one changed cluster at a time can keep a [Planner], which gives the same answers in about a
// microsecond. The duties are the same, except that the controller need not overlay its own writes: it calls
// [Planner.Applied] after each write.
//
// # Differences from OCM's helper
//
// OCM's helper (open-cluster-management.io/sdk-go, pkg/apis/cluster/v1alpha1) starts more clusters than MaxConcurrency
// allows, and overlooks failures. rollout/RULES.md has the table.
//
// The API documents MinSuccessTime as the time from the start of each rollout. Here it runs from the cluster's success, or
// from the write of the version if that is later. The documents continue when a cluster timed out. Here a timeout is a
// failure, and stops the rollout at maxFailures 0.
package rollout
