// Package passes rolls a policy out to the clusters that it is bound to: first everywhere with inform, then with its
// action on one cluster or group after the other.
//
//	                      inform                 enforce, or unset
//	All                   to all as it is        to all as it is
//	Progressive           to all as it is        to all as inform, then one cluster after the other as it is
//	ProgressivePerGroup   to all as it is        to all as inform, then one group after the other as it is
//
// After a first pass all clusters have the same version, and waiting clusters report what enforcing it would change.
// Nothing is stored except the replicated policies: if one has this version and the root's action, the rollout has
// started its cluster. So if a write fails or the controller dies between two calls, the next call goes on from what is
// there.
//
// Another version starts again with inform everywhere, even where an earlier one was in flight. A cluster that joins
// later goes through both passes alone, and the root is Progressing until it is done. A cluster that leaves is
// forgotten.
//
// # What the caller does
//
//  1. Resolve where the policy goes, with package override, and keep the Resolution until its inputs change.
//  2. Read the existing replicated policies with ReplicaOf, and call Propagate, with RemoveAfter and the previous
//     Propagation. A cache that lags shows a replica as it was before the last write, so a started cluster seems to wait.
//     So read what you wrote: wait for the cache, or put the written objects over it.
//  3. Write what has to be written. Create or update the object with its action, its version and the time in one write:
//     Stamp notes the last two in annotations. Then set the rollout status. Delete what has to go. The next call asks
//     again for whatever was not written.
//  4. Set the root policy's status, and write it if it changed. Changes says what is new since the previous call, for
//     events. Explain says why a cluster waits.
//  5. Come back when something changes, including the replicated policies that you have written, or after RecheckAfter.
//
// In code:
//
//	var replicas []passes.Replica
//	for _, object := range replicated {
//		replicas = append(replicas, passes.ReplicaOf(object.Policy, object.Status))
//	}
//	p, err := passes.Propagate(resolution, version, replicas, time.Now(), passes.RemoveAfter(time.Minute, last))
//	if err != nil {
//		return err
//	}
//	last = p // for the next reconcile
//	for _, cluster := range p.Clusters {
//		switch cluster.Verb {
//		case passes.VerbCreate, passes.VerbUpdate:
//			object := replicaFor(cluster.Name, cluster.Action)
//			p.Stamp(object, cluster, time.Now())
//			err = errors.Join(err, write(object, cluster.RolloutStatus))
//		case passes.VerbUpdateStatus:
//			err = errors.Join(err, setStatus(cluster.Name, cluster.RolloutStatus))
//		}
//	}
//	for _, cluster := range p.Removed {
//		err = errors.Join(err, remove(cluster))
//	}
//	if p.SetStatus(&rootStatus) {
//		err = errors.Join(err, setRootStatus(rootStatus))
//	}
//	return ctrl.Result{RequeueAfter: p.RecheckAfter}, err
//
// A webhook that checks a root policy calls Validate.
//
// Everything here is a function of its arguments, changes none of them, and can be called from many goroutines at once.
//
// # Where it departs from the design document
//
// The design document is "Policy placement strategy". Its tables and user stories are scenes among the tests
// (testdata/scenes/strategies.txt, statuses.txt and design_document.txt).
//
//   - Progressive without maxConcurrency takes one cluster at a time, as the document's goals say. Where the groups know
//     the clustersPerDecisionGroup of their Placement, it takes that many, as the API documents.
//   - Several placements are rolled out one after the other, in the order of the bindings' names. The clusters of a
//     PlacementRule, which has no decision groups, are one group. The document leaves the order open.
//   - Clusters that a set excludes are in no group, so no rollout waits for them and no percentage counts them.
//   - A policy without a remediationAction may enforce, since its templates decide. So a progressive rollout holds it at
//     inform first. The document only mentions enforce.
//   - A cluster goes through one pass in a call. So the call after a first pass asks for the starts, and only the call
//     after that for nothing. Both passes in one call would enforce a version on clusters that never had it with inform.
//   - A policy that informs is Progressing until the cluster reports on this version. A report on an earlier version
//     counts for nothing, neither in the rollout nor in the root's status.
//   - Where an override enforces a policy that informs, its status on that cluster is judged as if the policy enforced:
//     it is Failed where the cluster does not comply.
//   - A policy that informs has no deadline under a progressive strategy, since it is rolled out as if it had no
//     strategy.
//   - TimeOut is shown on clusters and makes the root Failed. If such a cluster reports after all, its report counts.
package passes
