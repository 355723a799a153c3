// Package rollback does what OCM's enhancement 229 adds to ManifestWorkReplicaSets: revisions in ControllerRevisions, AbortAll, and undo. Its
// types are the enhancement's. The README beside it has the departures, each with its reason, and what a maintainer has to write.
//
// A controller calls it in this order, for each reconcile of a set:
//
//	turn, err := keeper.Begin(ctx, set, last)  // nil: come again soon
//	set = turn.Set                             // with the template that clusters get now
//	result, err := turn.Plan(ref, groups, works, reports, now, opts) // in place of rollout.Plan, for each placement
//	stored, err := turn.Abort(ctx)             // true: carry nothing out, come again soon
//	...                                        // each work that is written goes through turn.Mark
//	if turn.SetStatus(set, progress, now) {    // in place of status.SetReplicaSetStatus
//		err = turn.Update(ctx, client, set)    // in place of an update, which would drop the fields that its Go type lacks
//	}
//
// A nil Keeper makes turns that do nothing of it.
package rollback
