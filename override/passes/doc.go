// Package passes rolls a policy out to the clusters that it is bound to: first everywhere with inform, then with its
// action on one cluster or group after the other.
//
//	                      inform                 enforce, or unset
//	All                   to all as it is        to all as it is
//	Progressive           to all as it is        to all as inform, then one cluster after the other as it is
//	ProgressivePerGroup   to all as it is        to all as inform, then one group after the other as it is
//
// OCM rewrote the document that this follows in November 2024. Package progressive follows the new one, where waiting clusters keep the
// version before, enforced, and is the default for new users.
//
// After a first pass all clusters have the same version, and waiting clusters report what enforcing it would change.
// Nothing is stored except the replicated policies: if one has this version and the root's action, the rollout has
// started its cluster. So if a write fails or the controller dies between two calls, the next call goes on from what is
// there.
//
// Another version starts again with inform everywhere, even where an earlier one was in flight. A cluster that joins
// later goes through both passes alone, and the root is Progressing until it is done.
//
// The version may be what makes a cluster leave: it cuts the agent off, the hub taints the cluster, and the scheduler drops it.
// So a cluster that left with the version, and is not done with it, counts like any other: it takes its slot, times out, and is in
// the budget. Its replica is deleted all the same, since no policy stays enforced where the policy is not bound. So the root policy
// keeps a record of what these replicas told. A cluster that left in flight and never answers counts until its deadline as in
// flight, and then as failed; without a deadline it keeps its slot until a person decides.
//
// # What the caller does
//
//  1. Resolve where the policy goes, with package override, and keep the Resolution until its inputs change.
//  2. Read the root policy's record with status.RecordsOf, by the empty name, and the existing replicated policies with
//     ReplicaOf, each with its templates, its managed fields and its status. On a hub that OCM's propagator wrote, Adopt each first. Where
//     a replica has other labels, annotations or another spec than you would write, though of this version, set Edited. Call Propagate, with RemoveAfter and what the Propagation before remembered. In Uncounted name the clusters that a
//     person gave up. Clusters of the record whose ManagedCluster was deleted are given up, too. Where clusters are validated, set
//     the Verdict of each replica; see below. A cache that lags shows a replica as it was before the last write, so a started
//     cluster seems to wait. So read what you wrote: wait for the cache, or put the written objects over it.
//  3. Note the record of the Propagation in the root policy, and where that changed it, write the root policy, and begin anew
//     once you read that write back. Users write the root policy too, so write with its resourceVersion.
//     A root that is gone has nothing to resolve, and a nil Resolution deletes nothing. Delete its replicas yourself, once the API
//     server says that it is gone.
//  4. Write what has to be written, in the order of Writes. Create or update the object with its action, its version and
//     the time in one write: Stamp notes the last two in annotations. Then set the rollout status. Where the update of an
//     enforced replica to inform fails, write none that enforces. Delete what has to go. The next call asks again for
//     whatever was not written.
//  5. Set the root policy's status, and write it if it changed. Changes says what is new since the previous call, and
//     Edited which replicas somebody has changed, for events. Explain says why a cluster waits, or what one in flight has told.
//  6. Come back when something changes, including the replicated policies that you have written, or after RecheckAfter.
//     Where something failed, come back within a minute, too, and after pauses that double: writes.Pace of package
//     rollout/writes says when. controller-runtime ignores RequeueAfter beside an error. So log the error and return
//     RequeueAfter alone.
//
// In code:
//
//	records, err := status.RecordsOf(root)
//	if err != nil {
//		return err // it must not be taken for empty
//	}
//	var replicas []passes.Replica
//	for _, object := range replicated {
//		replicas = append(replicas, passes.ReplicaOf(object.Policy, object.Status))
//	}
//	p, err := passes.Propagate(resolution, version, records[""], replicas, time.Now(), rollout.Options{
//		RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last.Remembered(), Uncounted: givenUp,
//	})
//	if err != nil {
//		return err
//	}
//	last = p // for the next reconcile
//	if changed, err := (status.Records{"": p.Record}).Note(root); err != nil {
//		return err
//	} else if changed {
//		return update(root) // its event leads here again
//	}
//	var notTakenBack bool
//	for _, cluster := range p.Writes() {
//		if notTakenBack && cluster.Action != policyv1.Inform {
//			break
//		}
//		switch cluster.Verb {
//		case passes.VerbCreate, passes.VerbUpdate:
//			object := replicaFor(cluster.Name, cluster.Action)
//			p.Stamp(object, cluster, time.Now())
//			failed := write(object, cluster.RolloutStatus)
//			notTakenBack = notTakenBack || failed != nil && cluster.Verb == passes.VerbUpdate
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
//	if err != nil {
//		log.FromContext(ctx).Error(err, "not everything was written")
//	}
//	return ctrl.Result{RequeueAfter: pace.After(err, p.RecheckAfter)}, nil // pace is a writes.Pace of this policy
//
// A webhook that checks a root policy calls Validate.
//
// A cluster may comply and still have to be found good, by a test, a mesh or a person. Then read the verdict from each replicated
// policy, with status.VerdictOf:
//
//	replica := passes.ReplicaOf(object.Policy, object.Status)
//	verdict, err := status.VerdictOf(object.Policy, replica.Cluster, time.Now())
//	if err != nil {
//		return err
//	}
//	replica.Verdict = &verdict
//
// Where its NoteOn changes a copy of the object, a person wrote it without a time: write that copy, and begin anew. Don't copy
// the annotation from the root policy, which would find all clusters good. Begin to validate with another version: clusters that are
// done would be past their deadline at once.
//
// Everything here is a function of its arguments, changes none of them, and can be called from many goroutines at once.
//
// # Where it departs from the documents
//
// One page has it for all packages of policies, with the reasons, and with what is left out: DEPARTURES.md of package override.
package passes
