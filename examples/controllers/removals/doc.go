// Package removals has the works of a deleted ManifestWorkReplicaSet go in the reverse order of the rollout, so many at a time as a flag or an
// annotation of the set allows. The order is that of rollout.Removals: first clusters of which nobody knows the group, then the groups from the
// last to the first, the mandatory ones at the end. kubectl cohort removals prints it before.
//
// A controller calls it for each look at a set that is being deleted:
//
//	if order.InOrder(set) {
//		...                        // wait until the caches show all writes, those of the process before, too
//	}
//	next, err := order.Next(ctx, removals.Deleted{Set: set, Works: works, ...})
//	...                                // delete each of next.Delete
//	err = next.Tell(ctx, client, teller, set, stored, now)
//	if err != nil || !next.Last {      // come back: no event tells that a ManagedCluster is gone
//	}
//	...                                // take the finalizer off
//
// # What is waited for
//
//   - The bound is of each placementRef: of a set with three, each has as many on their way out.
//   - A work that hangs in deletion holds its place, as its agent may only be slow. A person gives the cluster up by the annotation give-up of the
//     set, or by deleting its ManagedCluster. Then it holds no place, and nobody waits for it.
//   - The set stays until its last work is gone, whatever its cascadeDeletionPolicy says. With Background it does not wait for works of clusters
//     that are given up, once these works are being deleted.
//   - While the decisions of a placement are half written, nobody goes. Nobody would know who is in which group. A Placement that is gone, or is
//     being deleted, is not waited for: its clusters are of an unknown group, and go first. So delete a Placement after its sets.
//   - The group of a cluster that left is that of the set's record, if that has it. Nothing is kept in memory, so a restart changes nothing.
//   - What nobody can read, such as the annotation itself or a strategy, removes nobody. The condition says where it stands. The annotation
//     remove-at-most: "0" removes all at once, whatever else is wrong.
package removals
