// SPDX-License-Identifier: Apache-2.0

// Package status holds how a workload stands on one cluster, what that adds up to over many, and how OCM's objects show
// it.
//
//	the workload's objects ──From…──▶ Reports ──package rollout──▶ Summary ──Set…──▶ the owner's status
//
// # Where reports come from
//
// A [Report] is one cluster's [RolloutStatus] with two times: when the cluster got that status, and when it got
// the present version of the workload. A controller makes one for each cluster that has its workload; package
// rollout reads them. Clusters that never got the workload need none.
//
//	ManifestWork           FromManifestWork
//	ManagedClusterAddOn    FromManagedClusterAddOn, of DesiredConfigs; of v1alpha1 those in package addonv1alpha1
//	replicated Policy      FromPolicy in package override/passes
//	anything else          a function of yours
//
// Where there may be several objects for one cluster, [Merge] makes one of their reports.
//
// # Versions
//
// A rollout brings one version of a workload to many clusters, so a report is about a version. A cluster is in flight while
// it has the version and may yet change by itself; it soaks while it has succeeded for less than the strategy's
// minSuccessTime. Without versions the controller could not see that a new template has to be rolled out. And a soak would count from the
// version before, since the time of a condition does not move when it only observes a new generation. Name the version,
// for instance with a hash of the template, and note it on every object right before the write that carries it:
//
//	work = work.DeepCopy()
//	status.StampOf(work).NoteOn(work, version, cluster.Attempt, time.Now())
//	work.Spec = template
//	err := client.Update(ctx, work)
//
// Here cluster is the one that the rollout has in Start or InFlight. An add-on takes two requests: see [AddOnState]. Name the
// wanted version when the object is read:
//
//	if report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version}); ok {
//		reports = append(reports, report)
//	}
//
// A work whose template has no conditionRules for the condition Progressing never says that it is done. Its report says so
// ([ReportUntracked]), and AvailableSucceeds lets Available count instead.
//
// An object with another version waits for its turn. One that has the version is in flight from the moment it was written,
// also while its agent is silent, and can time out. [Stamp] keeps both in the object, where they outlive the controller.
//
// A function of your own reads one object and answers, in this order:
//
//  1. Has the cluster's object the present version? If not: [ToApply], and no times.
//  2. When did it get that version? That is Applied. [Stamp.Report] fills it in for a stamped object.
//  3. Is what is observed about this version? If not, or if nothing is observed: [ToApply], with Applied.
//  4. Does the workload do what it should? [Succeeded].
//  5. Did it fail? [Failed].
//  6. Otherwise it is under way: [Progressing].
//  7. When did it become so? LastTransitionTime is the time of the change, as the object has it. Never use the time of reading: a
//     deadline or a soak that starts over with every reading never ends. Leave it zero where it is unknown.
//
// Message is what the object says of its state, for a user. Leave [TimeOut] to the rollout, which knows the deadline. The example of [Report], in the file
// report_example_test.go, is such a function.
//
// # Late answers
//
// A condition that was True before a write, and is True after it, keeps its time. It does not say when the agent has seen
// the new version. Without more, the soak runs from the write: a cluster that answers 45 minutes later has soaked for 45
// minutes. To let it soak from the answer, read with the present time, and write the stamp where an answer is new:
//
//	now := time.Now()
//	report, ok := status.FromManifestWork(status.WorkState{Work: work, Version: version, Now: now})
//	if ok && report.Answered.Equal(now) {
//		work = work.DeepCopy()
//		status.StampOf(work).NoteOn(work, version, report.Attempt, now)
//		err = client.Update(ctx, work)
//	}
//
// This is at most one more write for each cluster and version. A policy needs none: its messages have times of their own.
// Write it also for deselected clusters, even while their object is being deleted, and also if a new record of deselected clusters is stored.
// Until the answer is noted, each plan has another record, and the soak starts over. The steps of package writes have these writes for clusters
// that are in flight or deselected. A cluster that is settled at its first answer, since nothing soaks, has no step. Note it yourself if you set
// WaitBetweenGroups, which would never end otherwise.
//
// # Trying again
//
// What failed stays failed until the cluster recovers or gets another version. To try the same version once more, raise a
// number, for instance in an annotation of the owner. Give it to the rollout as its option Attempt. Clusters that failed
// in an earlier attempt then wait for their turn again, and no longer count as failures. All others stay as they are.
//
// The rollout says which attempt each object is to have: the wanted one for a cluster that starts, and the one that it has
// for a cluster in flight. The stamp notes it. Let the manifests differ by attempt, so that the agent acts:
//
//	work = work.DeepCopy()
//	stamp := status.StampOf(work).NoteOn(work, version, cluster.Attempt, time.Now())
//	work.Spec = render(template, stamp.Attempt) // as an annotation, like the one that kubectl rollout restart writes
//	err := client.Update(ctx, work)
//
// The number need not be reset for a new version: clusters begin it in the wanted attempt. The version names the template
// without the attempt. Where the manifests must stay as they are, delete the object, and create it anew with such a stamp.
//
// From that write on the cluster is in flight, and its deadline starts over. Until its conditions change it is
// Progressing and not Failed, since they don't tell an old failure from a new one. Set a progressDeadline. The stamp has
// the time of the old failure, so that it makes no difference which clock is ahead. In a function of your own [Stamp.Report]
// does the same.
//
// # Validation
//
// A workload can be healthy, and a validator has yet to say that the cluster is as it should be: a test, the check of a mesh, a
// person. [Judge] makes [Validating] of such a success, until there is a [Verdict] on it:
//
//	verdict, err := status.VerdictOf(work, work.Namespace, now) // what was said before, or by a user
//	reports = status.Judge(reports, version, verdicts)
//
// Ask the validator about each cluster whose report is Validating then, and note its answer in the object:
//
//	work = work.DeepCopy()
//	if answer.NoteOn(work) { // with version, attempt and the time of the answer
//		err = client.Update(ctx, work)
//	}
//
// Plan with the answer only once it is noted, so that a restart knows it as well. Note nothing on an object that has got another version
// or attempt since you asked: the answer says which it is about, and counts for nothing there. Ask no more after a yes or a no. While a
// cluster is validated it holds its slot, and its progressDeadline runs from the success; its minSuccessTime runs from the yes.
// Begin to validate together with a new version: clusters that succeeded long ago would be past their deadline at once. Or note a
// yes for each of these first, of now; then they soak once more, and nothing fails.
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
//	one that can roll back     SetConditions in package rollout/rollback: conditions Progressing, Degraded, Aborted
//	ManifestWorkReplicaSet   SetReplicaSetStatus     summary, placementSummary, its three conditions
//	ClusterManagementAddOn   SetInstallProgression   an entry of installProgressions; of v1alpha1 in package addonv1alpha1
//	root Policy              SetStatus in package override/passes: compliant, rolloutStatus, placement, status per cluster
//
// In code, once the record of a result is stored ([Records]) and its writes are made:
//
//	object = object.DeepCopy() // it may be from a cache
//	if status.SetConditions(&object.Status.Conditions, result.Summary(), object.Generation, now) {
//		err = client.Status().Update(ctx, object)
//	}
//
// A condition's lastTransitionTime moves only with its status, and its message names times, not durations. Where
// nothing happened, nothing is written. Time is an argument, and no function keeps what it was given. All can be called
// from several goroutines at once on different objects.
//
// # Where it departs from the design documents
//
// ManifestWorkReplicaSet's availableDecisionGroups is "2/4", as the API documents it. PlacementRolledOut is about the
// rollout, soak times included: it does not become True when every ManifestWork was created. Where no cluster is
// selected, the reason is NoClusterSelected instead of Complete or Completed: nothing ran.
package status
