// Package rollout answers who gets the workload next, and why the others wait.
//
// [Plan] takes what a controller has at hand — the strategy of its API object, the decision groups, what
// it observed on each cluster, and the time — and returns what may happen now. It starts nothing itself,
// holds nothing, and reads no clock: the same input gives the same result, in whatever order it comes.
//
// The duties of a controller, in order, each time something changes:
//
//  1. Keep the [grouping.Groups] of its placement, read again when a PlacementDecision changes.
//  2. Make a [status.Report] of each cluster that has the workload's object, in any order.
//  3. Call Plan.
//  4. Delete the workload of each cluster in Removed; apply it to each in Start; keep it up to date on
//     each in InFlight. Do nothing for the others.
//  5. Report TimeOut of each in TimedOut from now on, if it keeps statuses; otherwise they are listed again.
//  6. Come back when a report changes, or after RecheckAfter. The deadline of a started cluster counts once
//     it is reported with the time of its transition; the zero time means that the time is not known.
//
// In code:
//
//	result, err := rollout.Plan(replicaSet.Spec.PlacementRefs[0].RolloutStrategy, groups, reports, time.Now())
//	if err != nil {
//		return err // names the field of the strategy, or the cluster with two reports
//	}
//	for _, cluster := range slices.Concat(result.InFlight, result.Start) {
//		err = errors.Join(err, apply(ctx, cluster.Name))
//	}
//	for _, cluster := range result.Removed {
//		err = errors.Join(err, remove(ctx, cluster))
//	}
//	log.Info(result.Summary().String(), "waiting", result.Waiting())
//	return ctrl.Result{RequeueAfter: result.RecheckAfter}, err
//
// A webhook calls [Validate]. [NewPlanner] with nil groups checks the options, too.
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
// allows: none in a mandatory group, MaxFailures elsewhere. More failures than that are a breach, on
// which nothing starts any more. Under Progressive the budget also holds over all clusters together.
// The result's [Schedule] shows the stages with their limits as counts.
//
// Clusters in flight — Progressing, Failed within their deadline, or soaking — are in the result wherever
// they are: they have the workload, and changes to it must reach them.
//
// Percentages of MaxConcurrency are of the clusters outside the mandatory groups; those of MaxFailures are
// of the group, or under Progressive of all selected clusters.
//
// # Beyond the API's strategy
//
// Options, which combine, pause a rollout ([Paused]), hold a group back until a window or an approval
// ([Closed]), start clusters in another order ([Order]), bound those in flight within a group
// ([MaxConcurrencyPerGroup]), let failed clusters give up their slot ([FailedFreesSlot]), and take the
// concurrency from the Placement ([DefaultMaxConcurrency]).
//
// A workload that follows several placements joins their groups with [grouping.Join]. All and Progressive
// pool them; ProgressivePerGroup goes through those of the first placement before those of the next (R26). A
// mandatory group, by its name or index, is then one of each placement.
//
// # A change at a time
//
// A controller that is told of one cluster after the other keeps a [Planner], which answers the same in
// about a microsecond.
//
// # Where it departs from the design document and from OCM's present helper
//
// The rules are R1 to R26 of the specification. OCM's helper (open-cluster-management.io/sdk-go,
// pkg/apis/cluster/v1alpha1) starts clusters over MaxConcurrency, overlooks failures of clusters behind the
// one it stopped at, reads a budget above the number of clusters as none, starts the next group while one
// of the present group is still in flight, and loses groups where indexes have gaps. Here limits hold
// (R10, R11, R12, R15), percentages are rounded up in integers (R16), and nonsense such as "NaN%" or two
// reports for a cluster are errors (R1, R16).
//
// The API's documentation of MinSuccessTime speaks of the time from the start of each rollout; as in OCM's
// helper it runs from the cluster's success (R5).
package rollout
