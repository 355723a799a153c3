// Package status holds how a workload stands on one cluster, what that adds up to over many, and how OCM's objects show
// it.
//
//	the workload's objects ──From…──▶ Reports ──package rollout──▶ Summary ──Set…──▶ the owner's status
//
// # Where reports come from
//
// A [Report] is one cluster's [RolloutStatus] with two times: since when the cluster has that status, and since when it
// has the present version of the workload. A controller makes one for each cluster that has its workload; package
// rollout reads them. Clusters that never got the workload need none.
//
//	ManifestWork           FromManifestWork
//	ManagedClusterAddOn    FromManagedClusterAddOn, FromManagedClusterAddOnV1alpha1
//	replicated Policy      FromPolicy
//	anything else          a function of yours
//
// Where there may be several objects for one cluster, [Merge] makes one of their reports.
//
// # Versions
//
// A rollout brings one version of a workload to many clusters, so a report is about a version. A cluster is in flight while
// it has the version and may yet change by itself; it soaks while it has succeeded for less than the strategy's
// minSuccessTime. Without versions nobody could see that a new template has to be rolled out. And a soak would count from the
// version before, since the time of a condition does not move when it only observes a new generation. So name the version,
// for instance with a hash of the template, and note it on every object right before the write that carries it:
//
//	work = work.DeepCopy()
//	work.Spec = template
//	status.Stamp(work, version, time.Now())
//	err := client.Update(ctx, work)
//
// Name the wanted version when the object is read:
//
//	if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version}); ok {
//		reports = append(reports, report)
//	}
//
// An object with another version waits for its turn. One that has the version is in flight from the moment it was written,
// also while its agent is silent, and can time out. [Stamp] keeps both in the object, where they outlive the controller.
//
// A function of your own reads one object and answers, in this order:
//
//  1. Has the cluster's object the present version? If not: [ToApply], and no times.
//  2. Since when? That is Applied. [StampOf] gives it for a stamped object.
//  3. Is what is observed about this version? If not, or if nothing is observed: [ToApply], with Applied.
//  4. Does the workload do what it should? [Succeeded].
//  5. Did it fail? [Failed].
//  6. Otherwise it is under way: [Progressing].
//  7. Since when? LastTransitionTime is the time of the change, as the object has it. Never use the time of reading: a
//     deadline or a soak that begins anew with every reading never ends. Leave it zero where it is unknown.
//
// Leave [TimeOut] to the rollout, which knows the deadline. The example of [Report], in the file
// report_example_test.go, is such a function.
//
// # Trying again
//
// What failed stays failed until the cluster recovers or gets another version. To try the same version once more, raise a
// number, for instance in an annotation of the owner. Give it to the rollout as its option Attempt. Clusters that failed
// in an earlier attempt then wait for their turn again, and no longer count as failures. All others stay as they are.
//
// Note the attempt on each object whose cluster starts, even for the first time. Let the manifests differ by attempt, so
// that the agent acts:
//
//	work = work.DeepCopy()
//	if starts {
//		status.StampAttempt(work, version, attempt, time.Now())
//	} else {
//		status.Stamp(work, version, time.Now()) // in flight, and still in the attempt before
//	}
//	_, attempt, _ = status.StampOf(work)  // the one that the object has now
//	work.Spec = render(template, attempt) // as an annotation, like the one that kubectl rollout restart writes
//	err := client.Update(ctx, work)
//
// The number need not be reset for a new version: clusters begin it in the wanted attempt. The version names the template
// without the attempt. Where the manifests must stay as they are, delete the object, and create it anew with such a stamp.
//
// From that write on the cluster is in flight, and its deadline begins anew. Until its conditions change it is
// Progressing and not Failed, since they don't tell an old failure from a new one. So set a progressDeadline. A function
// of your own reads the attempt with [StampOf], and does the same.
//
// # What many come to
//
// A [Summary] has the counts over all clusters and per group, and says what stops the rollout. Package rollout fills it
// in. [Summary.Aggregate] gives one word for the whole rollout, and String one message.
//
// # How objects show it
//
// Each of these functions sets the rollout's part of a status and leaves the rest alone. It says whether anything
// changed, so that an unchanged status need not be written:
//
//	any object               SetConditions           conditions Progressing, Succeeded, Failed
//	one with Revisions       SetRevisionConditions   conditions Progressing, Degraded, Aborted
//	ManifestWorkReplicaSet   SetReplicaSetStatus     summary, placementSummary, its three conditions
//	ClusterManagementAddOn   SetInstallProgression   an entry of installProgressions; also …V1alpha1
//	root Policy              SetPolicyStatus         compliant, rolloutStatus, placement, status per cluster
//
// In code, once a rollout is planned:
//
//	result, err := rollout.Plan(strategy, groups, reports, now)
//	if err != nil {
//		return err
//	}
//	object = object.DeepCopy() // it may be from a cache
//	if status.SetConditions(&object.Status.Conditions, result.Summary(), object.Generation, now) {
//		err = client.Status().Update(ctx, object)
//	}
//
// A condition's lastTransitionTime moves only with its status, and its message names times, not durations. So where
// nothing happened, nothing is written. Time is an argument, and no function keeps what it was given. All can be called
// from several goroutines at once on different objects.
//
// An owner whose rollouts can be taken back keeps [Revisions] in its status: the current revision, the update revision, and
// since when the update is aborted. Package rollout says which clusters go back, and what a controller has to store, in
// which order.
//
// # Where it departs from the design documents
//
// The two tables of the Policy placement strategy differ. Here the table of its Development Phase 3 decides: a policy
// that informs has Succeeded once it has any status.
//
// The root policy is Compliant only where all its clusters are. While one has not reported, it is unknown, just as a
// policy is while one of its templates has not reported. The example of the Policy placement strategy shows it Compliant
// earlier.
//
// ManifestWorkReplicaSet's availableDecisionGroups is "2/4", as the API documents it. PlacementRolledOut is about the
// rollout, soak times included: it does not become True when every ManifestWork was created. Where no cluster is
// selected, the reason is NoClusterSelected instead of Complete or Completed: nothing ran.
package status
