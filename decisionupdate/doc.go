// Package decisionupdate plans how the stored PlacementDecisions of a placement become the desired ones
// without a cluster vanishing on the way, and carries the plan out.
//
// A placement's clusters are spread over several PlacementDecisions. When the selection changes, clusters move
// from one object to another. Written one after the other, as the scheduling controller does today, an object may lose
// a cluster before another has gained it. For that moment the cluster is in none, and whoever keeps something
// for each selected cluster (the add-on manager, for one) deletes it and creates it again
// (open-cluster-management-io/ocm issue 1346).
//
// # What the caller does
//
//  1. List the placement's PlacementDecisions. The list must be at least as new as the caller's own last write: ask the
//     API server, or wait until the informer has caught up with [Report.Stored]. A plan made from an older list may
//     remove a cluster from the one object that still has it.
//  2. Build the desired objects with their labels and status.decisions.
//  3. Call [New]. It is a pure function; it reads both lists and keeps parts of them in the plan.
//  4. Log or emit [Plan.Warnings] and [Plan.OverLimit], before anything is written.
//  5. Carry the plan out with [Applier.Apply], or by hand: all writes of a step, in any order, then the next step.
//  6. After an error, or a restart, begin again at 1. Nothing has to be remembered or undone.
//
// In the place of the scheduling controller's bind:
//
//	strategy := decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}
//	plan, err := decisionupdate.New(stored, desired, strategy, decisionupdate.MaxSteps(10))
//	if err != nil {
//		return err
//	}
//	for _, w := range plan.Warnings {
//		logger.Info("a cluster may be seen in a wrong group", "warning", w)
//	}
//	client := clusterClient.ClusterV1beta1().PlacementDecisions(placement.Namespace)
//	report, err := decisionupdate.Applier{Client: client, Parallel: 4}.Apply(ctx, plan)
//
// # What a plan promises
//
// With RollingUpdate, after every prefix of the plan's API requests, whatever their order and overlap within a step:
//
//   - a cluster that is stored and desired stands in some object (D5);
//   - a cluster that is neither never appears, and one that leaves doesn't come back (D6);
//   - a cluster's group is its stored or its desired one (D6), except as Plan.Warnings say (D7);
//   - a new plan, towards the same or another desired state, keeps the same promises (D8).
//
// With All none of the first holds, as today; it is there because it is the API's default.
//
// # How few writes
//
// A cluster that moves has to be written where it goes before it is removed where it was. So the objects that clusters move to
// come first, and most objects are written once, with what they shall have in the end. Only where that order runs in a circle, or is longer than [MaxSteps] allows,
// is an object written twice: first with the arriving clusters added (a surge), later with its final content.
//
// Which objects to surge so that they are fewest is the feedback vertex problem, which has no fast exact solution. The plan
// has the fewest writes wherever no more than 12 objects hang together by moves, and also for chains and circles of any length. Among
// plans of as few writes it then takes one that goes least over 100, then one with fewest steps. Beyond 12 objects it is a good plan and not always the best; it never
// writes an object more than twice, so never more than surge-and-finalize would. "Fewest" is among
// plans in which a cluster only ever stands in its stored and its desired objects; a cluster that is stored in several
// objects (after a crash) is held by one of them, which is picked before the count.
//
// A chain of n objects takes n writes in n steps, and n + ⌈(n-s)/(s-1)⌉ within s steps.
//
// The number of writes, which a test keeps true:
//
//	                                          All   SurgeAndFinalize   MaxSteps(10)   default
//	shift: 1000 full objects, one more first 1001               2001           1112      1001
//
// # Labels and status
//
// An API server writes an object's labels and its status in two requests: an update of the object ignores the
// status, an update of the status ignores the labels, and a create drops the status. Between the two, a stored
// object that changes its group shows clusters in a group where they don't belong. [Write.Parts] says which comes first: the
// labels when the group's index rises, the status when it falls. So the object shows the higher of its two indexes meanwhile, and a
// rollout that follows the groups starts no cluster early because of it. Each object and cluster concerned is
// in Plan.Warnings. Steady names, which keep each object in its group, have no such moment: prefer them.
//
// A created object is seen without clusters first. That is harmless: nothing leaves another object before the status is written, too.
//
// # Where this departs from the design document
//
//   - The document's two phases write nearly every object twice. They are here as [SurgeAndFinalize]; the default writes an object
//     twice only where it must.
//   - A surge adds only the clusters that have to be there early, and drops those that nobody waits for. That keeps it small: no surge of the default
//     is larger than the document's.
//   - The document changes labels while it surges. Here they change with the first or the last write, as told above.
//   - The document relaxes the limit of 100 clusters for every write. Here more than 100 desired clusters in one object is an error, and
//     only a surge may go over.
//   - Other labels of stored objects, and all else in their metadata, are kept.
package decisionupdate
