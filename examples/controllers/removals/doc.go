// SPDX-License-Identifier: Apache-2.0

// Package removals deletes the works of a deleted ManifestWorkReplicaSet in the reverse order of the rollout, as many at a
// time as a flag or an annotation of the set allows. The order is that of rollout.Removals: first clusters whose group is
// unknown, then the groups from the last to the first, with the mandatory ones at the end. kubectl cohort removals prints
// the order in advance.
//
// A controller calls it in each reconcile of a set that is being deleted:
//
//	if order.InOrder(set) {
//		...                        // wait until the caches show all writes, those of the process before, too
//	}
//	next, err := order.Next(ctx, removals.Deleted{Set: set, Works: works, ...})
//	...                                // delete each of next.Delete
//	err = next.Tell(ctx, client, teller, set, stored, now)
//	if err != nil || !next.Last {      // requeue: no event tells that a ManagedCluster is gone
//	}
//	...                                // remove the finalizer
//
// # What is waited for
//
//   - The bound is for each placementRef: a set with three of them may have three times as many works in deletion.
//   - A work that hangs in deletion counts towards the bound, since its agent may only be slow. An operator ignores the
//     cluster with the annotation ignore of the set, or by deleting its ManagedCluster. Then the work does not count, and
//     is not awaited.
//   - The set stays until its last work is gone, under any cascadeDeletionPolicy. With Background it does not wait for
//     works of ignored clusters, once these are being deleted.
//   - While the decisions of a placement are partially observed, nothing is deleted, since the groups are unknown. A
//     Placement that is deleted or being deleted is not awaited: its clusters have no known group, and come first.
//     Therefore delete a Placement after its sets.
//   - The group of a deselected cluster is that of the set's record, if it is there. No state is kept in memory, so a
//     restart changes nothing.
//   - With an unreadable input, such as the annotation itself or a strategy, nothing is deleted, and the condition has its
//     path. The annotation remove-at-most: "0" deletes all at once, whatever else is wrong.
package removals
