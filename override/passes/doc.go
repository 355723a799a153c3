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
// # Where it departs from the design document
//
// Package override has the departures about bindings, and package dependency those about templates and dependencies.
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
//   - The document has lastEvaluatedGeneration in the status of replicated policies. The policy API never got it. So stamps tell which
//     templates have answered. A cluster may still report on the content before, until the write has arrived. In two passes that is
//     harmless: a cluster is enforced once its status tells that the first pass has arrived, so what it says after that is about this
//     version. This relies on OCM's status sync, which writes with the resourceVersion that it has read, and on controllers that say
//     nothing of a content longer than a round trip after they got another one. A cluster that gives no sign is enforced after five
//     minutes, or the progressDeadline; a report of the content before, made still later, would pass. It would pass, too, in one
//     pass, and where a replica that somebody edited is written back. A success of the first pass that comes after the second was
//     written passes: where inform complies, enforce changes nothing.
//   - The document says Failed of a policy that is evaluated and not compliant. OCM's present text says it of one that is still so
//     after the progressDeadline, and so does this package, unless the author wants it at once (fail-at-once). Past the deadline, TimeOut is
//     for clusters that have not said whether they comply.
//   - The document's Succeeded is of all ConfigurationPolicies. A template that only informs in a policy that may enforce (InformOnly, or by
//     its own action) is done whatever it says, since no rollout changes it.
//   - Where an override enforces a policy that informs, its status on that cluster is judged as if the policy enforced.
//   - A policy that informs has no deadline under a progressive strategy, since it is rolled out as if it had no
//     strategy.
//   - The document moves on once a cluster is "compliant (or timed out)". Here a cluster that timed out is a failure, so with
//     maxFailures 0, which is the default, the rollout stops there.
//   - TimeOut is shown on clusters and makes the root Failed. If such a cluster reports after all, its report counts.
//   - OCM's present text (the enhancement as rewritten in 2024) has no inform pass, leaves the version before enforced, and has a Rollout
//     object and groups that a person starts one by one. This package has the first form: all clusters have one version, and
//     the waiting ones report what enforcing it would change. Gates let a person start each group.
//   - The policy API of today has neither rolloutStrategy nor rolloutStatus, and drops both. Then every policy is All, whatever its author wrote,
//     and each call asks for the status of every replica. A controller can know: the answer to a write of either field lacks it. From then
//     on it skips VerbUpdateStatus, and warns of a strategy that is lost. The controller in examples/controllers/policies does so.
//   - The two tables of the document differ. The table of its Development Phase 3 decides: a policy that informs has
//     Succeeded once it has any status.
//   - The root policy is Compliant only where all its clusters are. While one has not reported, it is unknown, as a policy
//     is while one of its templates has not reported. The document's example shows it Compliant earlier.
package passes
