// Package rollout answers who gets the workload next, and why the others wait.
//
// [Plan] takes what a controller has at hand: the strategy of its API object, the decision groups, what it observed on
// each cluster, and the time. It returns what may happen now. It starts nothing itself, keeps nothing, and reads no
// clock. The same input gives the same result, in whatever order it comes.
//
// # The duties of a controller
//
// Limits hold on a running hub only if what you pass in is true. So take these steps, in this order, each time something
// changes. Without any one of them, rollouts went wrong on a real API server.
//
//  1. Read the groups together with their Placement, by [grouping.Read], whenever one of the PlacementDecisions or the
//     status of the Placement changes. A scheduler writes its decisions one after the other. In between, a canary group
//     that is not filled yet looks like an empty one, and an empty cache looks like a selection of nobody. Groups that
//     were read with their Placement can tell that they are incomplete; then nothing starts and nobody is removed.
//
//  2. Name the version of the workload that is wanted, such as a hash of its template. Make a [status.Report] for each
//     cluster that has an object of the workload, with [status.FromManifestWork] or its like, and pass it the wanted
//     version. A cluster whose object has another version waits for its turn again. A cluster whose object has the
//     wanted version is in flight from the time of that write, even while its agent is silent, and can time out.
//
//  3. Read your own writes. A cache shows a write late. A plan from a late cache misses the clusters that were just
//     started, and starts others in their place. So until the cache shows a write, plan with the object that the write
//     returned. client-go has a cache for this: hand what Create or Update returned to Mutation of a
//     tools/cache.MutationCache, and list through it. Or note the resourceVersion that the write returned and don't plan
//     for this owner before the cache has it. Where the answer to a write was lost, or the cache does not show the write
//     for long, read the object from the API server: it may be gone since. Keep what must last in the objects, not in
//     memory: a controller restarts. When a process begins to act, read the owners and their objects from the API server
//     once, and treat them as your own writes. This goes for a replica that waited for its lease, too: its caches may
//     not show yet what the last leader wrote, nor the template that it used.
//
//  4. Give a cluster one object, under a name that follows from the owner. Generated names and a cache that lags make
//     two. Pass all of their reports to Plan, which counts the worst and warns, and delete the surplus objects.
//
//  5. Call Plan, with [RemoveAfter] and the previous result. A scheduler that rewrites its decisions can leave a cluster
//     out for a moment while all counts are right. Without RemoveAfter the cluster's workload would be deleted then, and
//     created again a moment later. With it the workload stays, but for that moment the cluster counts for no limit:
//     RemoveAfter says what follows.
//
//  6. Carry out what it says. Delete the workload of each cluster in Removed. Apply it to each in Start, and keep it up
//     to date on each in InFlight. Do nothing for the others. Before each write look at the owner's generation again,
//     and plan anew if it has moved, since going through a long list takes time. In the same write that carries the
//     version, note in the object the version and the time of the write (not of the plan). [status.Stamp] does so.
//     Where failed clusters are tried again, use [status.StampAttempt] for those in Start.
//
//  7. Set the status of the owner from [Result.Summary], and make events of the Warnings. If you keep reports, report
//     TimeOut from now on for each cluster in TimedOut. If you don't, TimedOut lists the same clusters each time, so
//     use [Result.Changes] for events.
//
//  8. Come back when one of the objects changes, or after RecheckAfter.
//
// In code, for a ManifestWorkReplicaSet with one placement. The methods of the controller that read and write are yours:
//
//	// reconcile brings the next clusters on their way, and says when to come back.
//	func (c *controller) reconcile(ctx context.Context, owner *workv1alpha1.ManifestWorkReplicaSet) (time.Duration, error) {
//		ref := owner.Spec.PlacementRefs[0]
//		placement, decisions, err := c.getPlacement(owner.Namespace, ref.Name)
//		if err != nil {
//			return 0, err
//		}
//		groups, err := grouping.Read(placement, decisions)
//		if err != nil {
//			return 0, err
//		}
//
//		version := hashOf(owner.Spec.ManifestWorkTemplate)
//		var reports []status.Report
//		for _, work := range c.listWorks(owner) { // which shows what this controller wrote
//			if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version}); ok {
//				reports = append(reports, report)
//			}
//		}
//
//		result, err := rollout.Plan(ref.RolloutStrategy, groups, reports, c.now(), rollout.RemoveAfter(time.Minute, c.last))
//		if err != nil {
//			return 0, err // names the field of the strategy
//		}
//		c.last = result
//
//		for _, cluster := range result.Removed {
//			err = errors.Join(err, c.deleteWork(ctx, owner, cluster)) // one that refuses must not hold up the others
//		}
//		for _, cluster := range slices.Concat(result.InFlight, result.Start) {
//			if c.getGeneration(owner) != owner.Generation {
//				return time.Millisecond, err // another version is wanted by now: plan anew
//			}
//			work := c.getWork(owner, cluster.Name) // as it is, or a new one under the cluster's one name
//			status.Stamp(work, version, c.now())   // keeps the time where the work has the version
//			work.Spec = owner.Spec.ManifestWorkTemplate
//			err = errors.Join(err, c.applyWork(ctx, work)) // creates or updates it, unless nothing changes
//		}
//
//		for _, warning := range result.Warnings {
//			c.event(owner, string(warning.Type), warning.String())
//		}
//		owner = owner.DeepCopy()
//		if status.SetConditions(&owner.Status.Conditions, result.Summary(), owner.Generation, c.now()) {
//			err = errors.Join(err, c.updateStatus(ctx, owner))
//		}
//		return result.RecheckAfter, err
//	}
//
// A webhook calls [Validate]. Where users write options, too, [NewPlanner] with the zero strategy and nil groups checks
// them alone. Its errors name the option: groupOrder[prod]. Its example puts them under the path of a field.
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
// Clusters in flight are Progressing, Failed within their deadline, or soaking. The result has them from every stage:
// they have the workload, and changes to it must reach them.
//
// A percentage in MaxConcurrency is a share of the clusters outside the mandatory groups. A percentage in MaxFailures
// is a share of the group's clusters; under Progressive, of all selected clusters. A Progressive strategy without
// MaxConcurrency uses the clustersPerDecisionGroup of the Placement. If that is unset, too, all start at once.
//
// # What may surprise
//
// A tolerated Failed cluster keeps its slot until its progress deadline, since it may yet recover; [FailedFreesSlot]
// gives the slot to the next. Without a progressDeadline it keeps the slot for ever. So does a silent cluster, and one
// that stays Progressing. So set a deadline.
//
// The deadline runs from the last transition that was reported, or from the write of the version if that is later. So a
// failure begins it anew. With a deadline of 10 minutes, a cluster that fails 25 seconds after its start times out 10 minutes
// after the failure.
//
// Under Progressive, MaxConcurrency does not limit mandatory groups: each starts as a whole, and its clusters in flight
// take no slot from the others. Its failures count towards the MaxFailures of all clusters, and any one stops the
// rollout by itself.
//
// A report without any time has no deadline, and its soak never ends. The result warns of such clusters.
//
// A soak may run from the write of the version instead of the success with it. A condition's time stays the same where the
// condition is as it was before and only observes the new version; then the object does not say when the cluster succeeded
// with it. So a cluster whose agent answers after 3 minutes that all is well has already soaked for 3 minutes. Let
// minSuccessTime be longer than agents take to answer.
//
// A breach or a timeout ends when its clusters are reported otherwise, for instance because they get a new version. It
// also ends when a later [Attempt] is wanted. Nothing else has to be reset.
//
// # Beyond the API's strategy
//
// Options can be combined:
//
//   - [Paused] starts nothing; [Closed] holds a group back until a window or an approval.
//   - [Order] starts clusters in another order, and [GroupOrder] starts groups in another order.
//   - [MaxConcurrencyPerGroup] bounds the clusters in flight within a group. With [FailedFreesSlot], failed clusters give up
//     their slot.
//   - [MaxRemoved] bounds how many clusters are removed at once, and [RemoveAfter] how soon.
//   - [Uncounted] leaves clusters out of the count, and [FailedBefore] leaves failures out of the budgets.
//   - [Attempt] tries failed clusters again.
//   - [Ramp] starts gently, [MaxStarts] bounds the starts within a span of time, and [WaitBetweenGroups] waits after each
//     group. Ramp and MaxStarts hold under All as well.
//
// The result warns of an option that has no effect under the strategy's type.
//
// A cluster that is not counted gets the workload like any other once its group's turn has come, but nobody waits for it. It
// takes no slot, its failure stops nothing, and the rollout is complete without it. Name clusters that are known to be
// unreachable or to hibernate: otherwise they would keep their slots and time out one after the other. The summary says how
// many there are. The result warns of a mandatory group in which no cluster counts.
//
// With a later attempt, failed clusters wait for their turn again, with the same version. Package status says what the
// controller writes then.
//
// With GroupOrder groups need not go one after the other: each starts when its predecessors are complete. So two regions can
// each go through staging before production, side by side; or approvals alone decide. Then every stage that is not complete
// and whose predecessors are complete starts clusters, not only the first. An explanation names all groups that are waited
// for.
//
// # Several placements
//
// Where one strategy goes for all placements of a workload, join their groups with [grouping.Join]. All and Progressive pool
// joined groups. ProgressivePerGroup goes through the groups of one placement, then of the next. The name or index of a
// mandatory group then means such a group of each placement.
//
// Where each placement has a strategy of its own, take the groups apart with [grouping.Apart], make a plan of each part, and
// divide the reports among the plans:
//
//   - A plan gets the reports of the clusters that its groups select. Make them about the version that its part wants.
//   - The last plan also gets the reports of the clusters that no part selects. While any part is incomplete the last one is,
//     too, and so it removes nobody.
//
// Don't give all reports to each plan: each would remove the clusters of the others. Don't give the clusters that no part
// selects to an earlier plan either. Where a later part is incomplete, such as after a restart, its clusters are among them,
// and a complete earlier part removes them. The example of Plan with several placements divides the reports.
//
// With a [Planner] for each part: when the groups have changed, give each planner its part by SetGroups first. Then, for each
// cluster that now belongs to another part, call Forget in the old planner and Report in the new one, about the version of
// the new part. Only then ask for what is next. A planner that keeps the report would remove the cluster.
//
// # Before it begins
//
// [Expose] works out, before anything starts, how many clusters can get a version that does not work on them. It says how
// many are in flight at a time, and how long the rollout takes, for each stage and in all. It warns of a strategy that
// protects nothing. With MaxConcurrency 10 and MaxFailures 2, twelve clusters can get such a version: two that failed and are
// tolerated, and ten in flight when the next one fails. A canary does not change that, as a version may work on the canary
// and nowhere else. But a version that works nowhere gets no further than the canary. [Limit] answers the reverse question:
// which limits keep a rollout within bounds.
//
// # The way back
//
// [Revert] takes a failed rollout back: clusters that have the failed version get the version before it again. Under All
// they go back at once, which is the fastest cure. Another strategy limits the way back. Then failed clusters go first,
// followed by those that got the failed version last; but ProgressivePerGroup goes group by group, and takes a failed
// cluster of an early group among the last. A cluster that never had the failed version is not touched. A failure on the way
// back stops nobody, unless the caller says so. The controller keeps what it has to remember in the owner's status as
// [status.Revisions]. Its names follow OCM's enhancement 229 (failureStrategy: AbortAll). The duties are those above, and
// these:
//
//  1. Keep the template of the current revision as long as clusters may have to go back to it. For a new update
//     revision, first keep its template, then store the revision, and only then write anything of it to a cluster.
//
//  2. Store the aborted time before the first cluster goes back. Take it from the clock that stamps the works, and read
//     it back like every write of your own. It tells clusters that went back from those that never had the version. A
//     controller that crashes in between finds either the breach again or the stored time. Where a person asks for the
//     way back, for instance by an annotation, let the controller store the time, too: the person's clock may differ.
//
//  3. As long as that time is stored, write the version before, and no other. Stamp each work with the version and the time
//     of the write, as always. So each cluster is written once, however often the controller restarts, and a cluster where
//     the failed version arrives late goes back as well. Where failed clusters are tried again, stamp those in Start with
//     the attempt that the owner wants on the way back, too ([status.StampAttempt]). Otherwise, if Revert is given
//     [Attempt], a cluster that fails with a lower attempt is started again at every call, and no budget stops that.
//
//  4. Where Revert neither starts nor holds anyone, Plan with the version before: that brings it to clusters that
//     joined meanwhile or have a third version.
//
//  5. Set a progressDeadline, for the rollout and for the way back. Without one, a cluster that failed or never answers is
//     in flight for ever, even with [FailedBefore]. So the rollout never completes: a first revision never becomes the
//     current one, and then nothing can be aborted. And the conditions never say that the way back ended. The zero strategy
//     has no deadline: use one of type All that sets it. Pass RemoveAfter and Uncounted as for the rollout; [Revert] says
//     what other options do.
//
//  6. Begin anew where the template changes. If the owner gets the older template back instead of being aborted, Plan with
//     that version asks for the same writes, but in another order, within the budgets, and together with clusters that never
//     had a workload.
//
// In code:
//
//	// plan says what may happen to the works of an owner, which get the template of r.Target(). It says nothing where it stored
//	// what has to stand there first. Otherwise the caller carries out the result, keeps it in c.last, and stores the owner's
//	// status if that has changed. It stamps the works in InFlight by status.Stamp, and those in Start by status.StampAttempt.
//	func (c *aborter) plan(ctx context.Context, owner *app, groups *grouping.Groups) (*rollout.Result, error) {
//		r := &owner.revisions
//		if r.Want(hashOf(owner.template)) {
//			// First the template is kept under the name of its revision. Where that fails, nothing may name the revision.
//			if err := c.keepTemplate(ctx, owner); err != nil {
//				return nil, err
//			}
//			return nil, c.updateStatus(ctx, owner)
//		}
//		update, current := c.reports(owner, r.UpdateRevision), c.reports(owner, r.CurrentRevision)
//		removal := rollout.RemoveAfter(time.Minute, c.last) // and Uncounted, where the rollout has it
//		if r.AbortedTime == nil {
//			result, err := rollout.Plan(owner.strategy, groups, update, c.now(), removal)
//			if err == nil && (owner.abort || result.Breach != nil) && r.Abort(c.now()) {
//				return nil, c.updateStatus(ctx, owner) // stored before anything goes back
//			}
//			if err == nil {
//				r.Complete(result.Summary())
//				status.SetRevisionConditions(&owner.status, *r, result.Summary(), owner.Generation, c.now())
//			}
//			return result, err
//		}
//		abort := rollout.Abort{Time: r.AbortedTime.Time, Failed: update, Before: current}
//		result, err := rollout.Revert(owner.strategy, groups, abort, c.now(), removal)
//		if err != nil {
//			return nil, err
//		}
//		// The conditions are Revert's in any case: Plan counts those that never had the failed version, too.
//		status.SetRevisionConditions(&owner.status, *r, result.Summary(), owner.Generation, c.now())
//		if len(result.Start)+len(result.Holds()) > 0 {
//			return result, nil
//		}
//		return rollout.Plan(owner.strategy, groups, current, c.now(), removal) // who joined gets what all others have
//	}
//
// # A change at a time
//
// A controller that hears of one cluster at a time can keep a [Planner], which gives the same answers in about a
// microsecond each. The duties are the same, except that it need not read its own writes: it calls [Planner.Applied]
// after each.
//
// # Where it departs from OCM's present helper
//
// OCM's helper (open-cluster-management.io/sdk-go, pkg/apis/cluster/v1alpha1) starts clusters over MaxConcurrency, and
// overlooks failures of clusters behind the one it stopped at. It tolerates no failure where the budget is above the
// number of clusters. It starts the next group while a cluster of the present group is still in flight, and loses groups
// where indexes have gaps. Here limits hold, percentages are rounded up in integers, a value such as "NaN%" is an error,
// and several reports of a cluster count once. The file rollout/RULES.md has all rules and a table of the differences.
//
// The API documents MinSuccessTime as the time from the start of each rollout. Here it runs, as in OCM's helper, from
// the cluster's success, or from when the present version was applied if that is later.
package rollout
