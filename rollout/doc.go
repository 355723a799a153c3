// Package rollout answers who gets the workload next, and why the others wait.
//
// [Plan] takes what a controller has at hand — the strategy of its API object, the decision groups, what
// it observed on each cluster, and the time — and returns what may happen now. It starts nothing itself,
// holds nothing, and reads no clock: the same input gives the same result, in whatever order it comes.
//
// # The duties of a controller
//
// Limits hold on a running hub only if what you pass in is true. So take these steps, in this order, each time something
// changes. Each is there because rollouts went wrong without it on a real API server.
//
//  1. Read the groups together with their Placement, by [grouping.Read], whenever one of the PlacementDecisions or
//     the status of the Placement changes. A scheduler writes its decisions one after the other. In between, a canary
//     group that is not filled yet looks like an empty one, and an empty cache looks like a selection of nobody.
//     Groups that know their Placement know when they are incomplete; then nothing starts and nobody is removed.
//
//  2. Name the version of the workload that is wanted, such as a hash of its template. Make a [status.Report] for each
//     cluster that has an object of the workload, by [status.FromManifestWork] or its like, and say which version is
//     wanted. A cluster whose object has another version waits for its turn again. A cluster whose object has the wanted
//     version is in flight since that was written, even while its agent is silent, and can time out.
//
//  3. Read your own writes. A cache shows a write late. A plan made from it misses the clusters that were just
//     started, and starts others in their place. So until the cache shows a write, plan with the object that the
//     write returned. client-go has a cache for this: hand what Create or Update returned to Mutation of a
//     tools/cache.MutationCache, and list through it. Or note the resourceVersion that the write returned and don't
//     plan for this owner before the cache has it. Where the answer to a write was lost, or the cache does not show
//     the write for long, read the object from the API server: it may be gone since. What must last stands in the
//     objects, not in memory: a controller restarts. When a process begins to act, read the owners and their objects from
//     the API server once, and take them for your own writes. A replica that waited for its lease has had caches all
//     along. They need not show yet what the leader before it wrote last, nor the template that it wrote.
//
//  4. Give a cluster one object, under a name that follows from the owner. Generated names and a cache that lags make
//     two. All of their reports go into Plan, which counts the worst and warns; delete the surplus objects.
//
//  5. Call Plan, with [RemoveAfter] and the result of the call before. A scheduler that rewrites its decisions can show a
//     cluster nowhere for a moment, with all counts as they should be. Without RemoveAfter the cluster's workload would
//     be deleted then, and created anew a moment later.
//
//  6. Carry out what it says. Delete the workload of each cluster in Removed. Apply it to each in Start, and keep
//     it up to date on each in InFlight. Do nothing for the others. Before each write look at the owner's generation
//     again, and plan anew if it has moved: a list may be long. With the write that carries the version, and not with
//     another, note in the object the version and the time of the write, not of the plan: [status.Stamp], or for
//     those in Start, where failed ones are tried again, [status.StampAttempt].
//
//  7. Set the status of the owner from [Result.Summary], and make events of the Warnings. If you keep reports, report
//     TimeOut from now on for each cluster in TimedOut; otherwise TimedOut lists the same clusters each time: use
//     [Result.Changes] for events.
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
// A webhook calls [Validate]. [NewPlanner] with the zero strategy and nil groups checks options alone, where a user writes
// those, too. Its errors name the option: groupOrder[prod].
//
// # How a rollout goes
//
// A rollout is a sequence of stages, each of one or more groups, that have to be complete one after the
// other. Every strategy is one such sequence:
//
//	All                  {all groups at once, any failure tolerated}
//	Progressive          {mandatory group} {mandatory group} … {all others, MaxConcurrency at a time}
//	ProgressivePerGroup  {mandatory group} {mandatory group} … {group} {group} …
//
// The first stage that is not complete is the only one that starts clusters. A stage is complete when
// each of its clusters succeeded and soaked, is skipped, or failed, and no more failed than its budget
// allows: none in a mandatory group, MaxFailures elsewhere. More failures than that, in whichever stage, are a breach:
// then nothing starts anywhere. Under Progressive the budget also holds over all clusters together.
// The result's [Schedule] shows the stages with their limits as counts.
//
// Clusters in flight — Progressing, Failed within their deadline, or soaking — are in the result wherever
// they are: they have the workload, and changes to it must reach them.
//
// A percentage in MaxConcurrency is a share of the clusters outside the mandatory groups. A percentage in MaxFailures
// is a share of the group's clusters, or under Progressive of all selected clusters. A Progressive strategy without
// MaxConcurrency goes by the clustersPerDecisionGroup of the Placement, and without that starts all at once.
//
// # What may surprise
//
// A Failed cluster that is tolerated keeps its slot until its progress deadline, since it may yet recover;
// [FailedFreesSlot] gives the slot to the next. Without a progressDeadline it keeps the slot for ever, and so does a
// cluster that is Progressing for ever, or a silent one: set a deadline.
//
// Under Progressive with mandatory groups, MaxConcurrency does not hold in those: each starts as a whole, and clusters
// in flight there take no slot of the others. Their failures count towards MaxFailures of all, and stop the rollout on
// their own as well.
//
// A report without any time has no deadline and no soak that ends. The result warns of such clusters.
//
// A soak runs from the write of the version where the object does not say when it succeeded with it. The time of a condition
// stays the same where the condition is as it was before and only observes the new version. So a cluster
// whose agent answers after 3 minutes that all is well has then soaked for 3 minutes. Let minSuccessTime
// be longer than agents take to answer.
//
// A breach or a timeout ends when its clusters are reported otherwise, for instance because they get a new version, or
// when a later [Attempt] is wanted. Nothing else has to be reset.
//
// # Beyond the API's strategy
//
// Options, which combine, pause a rollout ([Paused]), hold groups back until a window or an approval ([Closed]),
// start clusters in another order ([Order]) or groups in one ([GroupOrder]), bound those in flight within a group ([MaxConcurrencyPerGroup]), let
// failed clusters give up their slot ([FailedFreesSlot]), and bound how many are removed at once ([MaxRemoved]) and
// how soon ([RemoveAfter]). They leave clusters out of the count ([Uncounted]) and failures out of the budgets
// ([FailedBefore]), and try again what failed ([Attempt]). They start gently ([Ramp]), bound the starts within a span of
// time ([MaxStarts]), and wait after each group ([WaitBetweenGroups]). The first two of these hold under All as well; an
// option that has no effect under a type is warned of.
//
// A cluster that is not counted gets the workload like any other, once its group's turn has come, and nobody waits for it:
// it takes no slot, its failure stops nothing, and the rollout is complete without it. Name those that are known to be
// unreachable or to hibernate, which would otherwise keep their slots and time out one after the other. The summary says how many there
// are. Of a mandatory group in which no cluster is left that counts, the result warns.
//
// A later attempt lets clusters that failed wait for their turn again, with the same version. Package status says what the
// controller writes then.
//
// With GroupOrder groups need not go one after the other: each starts when those that it comes after are complete, so that
// two regions can each go through staging before production, side by side, or approvals alone decide. What is said here
// of the first stage that is not complete is then true of each stage all of whose predecessors are. An explanation names all groups
// that are waited for.
//
// A workload that follows several placements joins their groups with [grouping.Join], or where each has a strategy of its
// own takes them apart with [grouping.Apart] and plans each. All and Progressive pool joined groups;
// ProgressivePerGroup goes through the groups of the first placement before the groups of the next. A mandatory group, given by its name or index, then means such a group of each placement.
//
// # Before it begins
//
// [Expose] says of a strategy over groups, before anything starts, how many clusters can get a version that does not work on them,
// how many are in flight at a time, and how long it takes, for each stage and in all; and it warns of a strategy that protects
// nothing. With MaxConcurrency 10 and MaxFailures 2 these are twelve clusters: two that failed and are tolerated, and
// ten in flight when the next one fails. A canary does not change that, as a version may work on it and nowhere else; but
// a version that works nowhere gets no further. [Limit] answers the other way round: which limits keep a rollout
// within bounds.
//
// # The way back
//
// A rollout that failed is taken back by [Revert]: whoever has the failed version gets the one before it again. It is done
// all at once, which is the fastest cure and takes the failed clusters first, then those that got it last; or within a
// strategy's limits. ProgressivePerGroup takes a failed cluster of an early group among the last. Who never had it is not
// touched. A failure on the way back stops nobody, unless the caller says so. What a controller has to remember, it keeps in
// the owner's status as [status.Revisions], whose names follow OCM's enhancement 229 (failureStrategy: AbortAll). Its duties
// are those above, and these:
//
//  1. Keep the template of the current revision, as long as clusters may have to go back to it. Store a new update
//     revision before anything is written of it, and not before its template is kept.
//
//  2. Store the aborted time before the first cluster goes back, by the clock that stamps the works, and read it back
//     as every write of your own. It tells who went back from who never had the version. A controller that crashes in
//     between finds the breach again, or the time. Where a person asks for it, for instance by an annotation, the
//     controller stores the time, too: the person's clock may be another.
//
//  3. As long as it is stored, write the version before, and no other. Stamp each work with the version and the time of the
//     write, as ever: a cluster is written once, however often the controller starts anew, and one whose write of the
//     failed version arrives late goes back then. Where failed clusters are ever tried again, those in Start get the attempt
//     that the owner wants on the way back, too ([status.StampAttempt]): if Revert is given [Attempt], a cluster that fails
//     with an attempt below it is started again at every call, and no budget stops that.
//
//  4. Where Revert neither starts nor holds anyone, Plan with the version before: it goes to clusters that joined
//     meanwhile or have a third version.
//
//  5. Set a progressDeadline, for the rollout and for the way back. Without one a cluster that failed, or never answers, is
//     in flight for ever, even where its failure was there before. So the rollout never completes: a first revision never
//     becomes the current one, and then nothing can be aborted. And the conditions never say that the way back ended. The
//     zero strategy has no deadline: write one of type All with it. Pass RemoveAfter and Uncounted as for the rollout;
//     [Revert] says what other options do.
//
//  6. Begin anew where the template changes. Whoever writes the older template instead of aborting gets the same writes from
//     Plan with that version, in another order, within the budgets, and together with clusters that never had a workload.
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
// A controller that hears of one cluster at a time keeps a [Planner], which gives the same answers in about a
// microsecond each. The duties are the same, except that it need not read its own writes: it calls [Planner.Applied]
// after each of them.
//
// # Where it departs from OCM's present helper
//
// OCM's helper (open-cluster-management.io/sdk-go, pkg/apis/cluster/v1alpha1) starts clusters over MaxConcurrency,
// overlooks failures of clusters behind the one it stopped at, tolerates no failure where the budget is above the
// number of clusters, starts the next group while one of the present group is still in flight, and loses groups where
// indexes have gaps. Here limits hold, percentages are rounded up in integers, nonsense such as "NaN%" is an error,
// and several reports of a cluster count once. The file rollout/RULES.md of the repository has all rules, and a table of
// the differences.
//
// The API's documentation of MinSuccessTime speaks of the time from the start of each rollout; as in OCM's
// helper it runs from the cluster's success, and from when the present version was applied if that is later.
package rollout
