// SPDX-License-Identifier: Apache-2.0

// Package passes rolls a policy out to the clusters that it is bound to in two passes: first on all clusters with inform, then
// with its action on one cluster or group after the other.
//
//	                      inform                 enforce, or unset
//	All                   to all as it is        to all as it is
//	Progressive           to all as it is        to all as inform, then one cluster after the other as it is
//	ProgressivePerGroup   to all as it is        to all as inform, then one group after the other as it is
//
// OCM rewrote the document that this package follows in November 2024. Package progressive follows the new document, where waiting
// clusters keep the version before, enforced, and is the default for new users.
//
// After a first pass all clusters have the same version, and waiting clusters report what enforcing it would change.
// The replicated policies are the state of the rollout: the rollout has started a cluster if its replica has this version and the
// root's action. If a write fails or the controller restarts between two calls, the next call continues from the replicas.
//
// Another version starts again with inform on all clusters, even where an earlier version was in flight. A cluster that joins
// later goes through both passes alone, and the root is Progressing until it is done.
//
// A version may itself be the reason that its cluster is deselected: it cuts the agent off, the hub taints the cluster, and the
// scheduler drops it. A deselected cluster with the version that is not done with it therefore counts like any other: it takes its
// slot, times out, and is in the budget. Its replica is deleted all the same, since no policy stays enforced where it is not bound,
// so the root policy keeps a record of deselected clusters. Such a cluster that never answers counts as in flight until its
// deadline, and then as failed. Without a deadline it keeps its slot until an operator decides.
//
// # What the caller does
//
//  1. Resolve which clusters the policy is bound to, with package override, and keep the Resolution until its inputs change.
//  2. Read the root policy's record with status.RecordsOf, by the empty name. Read the existing replicated policies with
//     ReplicaOf, each with its templates, its managed fields and its status. On a hub that OCM's propagator wrote, Adopt each
//     first. If a replica has another spec than you wrote, set Edited: its answers then count anew. Other labels
//     and annotations are no edit: write them back, and do not set Edited for them, or a failed cluster may start anew. If
//     clusters are validated, set the Verdict of each replica; see below.
//     A stale cache shows a replica as it was before your last write, so a started cluster seems to wait. Read your own writes:
//     wait for the cache, or overlay the written objects.
//  3. Call Propagate, with RemoveAfter and the Remembered of the Propagation before. In Ignored name the clusters that an
//     operator ignores, and recorded clusters without a ManagedCluster.
//  4. Note the record of the Propagation in the root policy. If that changed the root policy, write it, and reconcile again
//     once you read that write back. Users write the root policy too, so write with its resourceVersion.
//     A nil Resolution deletes nothing: delete the replicas of a deleted root yourself, after a live read that it does not exist.
//  5. Write the replicas, in the order of Writes. Create or update the object with its action, its version and
//     the time in one write: Stamp notes the last two in annotations. Then set the rollout status. Read the answer back: if it lacks the
//     rollout status, the policy API of this hub drops it and the strategy, as OCM's of today does. All clusters are then enforced at
//     once: warn, and skip VerbUpdateStatus from then on, for which each call asks again. If the update of an enforced replica to inform
//     fails, write no replica that enforces. Delete the replicas in Removed. The next call asks again for each write that was not done.
//  6. Set the root policy's status, and write it if it changed. For events, Changes says what is new since the previous call, and
//     Edited which replicas were edited by hand. Explain says why a cluster waits, or what a cluster in flight still has to do.
//  7. Reconcile when something changes, including the replicated policies that you have written, and after RecheckAfter.
//     After a failed write requeue within a minute, with a backoff that doubles: writes.Pace of package rollout/writes says when.
//     controller-runtime ignores RequeueAfter when Reconcile returns an error, so log the error and return RequeueAfter alone.
//
// In code, where again logs an error and returns ctrl.Result{RequeueAfter: pace.After(err, times...)}, nil, and pace is the
// writes.Pace of this policy:
//
//	records, err := status.RecordsOf(root)
//	if err != nil {
//		return again(err) // an unreadable record must not count as empty
//	}
//	var replicas []passes.Replica
//	for _, object := range replicated {
//		replicas = append(replicas, passes.ReplicaOf(object.Policy, object.Status))
//	}
//	p, err := passes.Propagate(resolution, version, records[""], replicas, time.Now(), rollout.Options{
//		RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last.Remembered(), Ignored: ignored,
//	})
//	if err != nil {
//		return again(err)
//	}
//	last = p // for the next reconcile
//	if changed, err := (status.Records{"": p.Record}).Note(root); err != nil {
//		return again(err)
//	} else if changed {
//		return again(update(root)) // its event leads here again
//	}
//	var notRolledBack bool
//	for _, cluster := range p.Writes() {
//		if notRolledBack && cluster.Action != policyv1.Inform {
//			break
//		}
//		switch cluster.Verb {
//		case passes.VerbCreate, passes.VerbUpdate:
//			object := replicaFor(cluster.Name, cluster.Action)
//			p.Stamp(object, cluster, time.Now())
//			failed := write(object, cluster.RolloutStatus)
//			notRolledBack = notRolledBack || failed != nil && cluster.Verb == passes.VerbUpdate
//			err = errors.Join(err, failed)
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
//	return again(err, p.RecheckAfter)
//
// A webhook that checks a root policy calls Validate.
//
// A cluster may comply and still have to be validated, by a test, a service mesh or an operator. Then read the verdict from each
// replicated policy, with status.VerdictOf:
//
//	replica := passes.ReplicaOf(object.Policy, object.Status)
//	verdict, err := status.VerdictOf(object.Policy, replica.Cluster, time.Now())
//	if err != nil {
//		return again(err)
//	}
//	replica.Verdict = &verdict
//
// If the verdict's NoteOn changes a copy of the object, an operator wrote the verdict without a time: write that copy, and
// reconcile again. Don't copy the annotation from the root policy: it would validate all clusters. Begin to validate together with
// another version: with the present one, clusters that are done would be past their deadline at once.
//
// Each function here depends on its arguments alone, changes none of them, and can be called from many goroutines at once.
//
// # Differences from OCM's documents
//
// DEPARTURES.md of package override lists them for all packages about policies, with the reasons, and what is left out.
package passes
