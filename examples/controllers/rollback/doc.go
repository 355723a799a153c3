// SPDX-License-Identifier: Apache-2.0

// Package rollback implements OCM's enhancement 229 for ManifestWorkReplicaSets: revisions in ControllerRevisions,
// AbortAll, and undo. Its types are the enhancement's. The README has the departures, each with its reason, and the text
// that a maintainer has to write.
//
// A controller calls it in this order in each reconcile of a set:
//
//	turn, err := keeper.Begin(ctx, set, last)  // nil: requeue soon
//	set = turn.Set                             // with the template that clusters get now
//	result, err := turn.Plan(ref, groups, works, reports, now, opts) // in place of rollout.Plan, for each placement
//	stored, err := turn.Abort(ctx)             // true: make no writes, requeue soon
//	...                                        // each work that is written goes through turn.Mark
//	if turn.SetStatus(set, progress, now) {    // in place of status.SetReplicaSetStatus
//		err = turn.Update(ctx, client, set)    // in place of an update, which would drop the fields that its Go type lacks
//	}
//
// With a nil Keeper all of these behave as if there was no enhancement.
package rollback
