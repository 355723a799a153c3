// Package status holds what a workload says of itself on one cluster, what that comes to over many, and
// how OCM's objects show it.
//
//	the workload's objects ──From…──▶ Reports ──package rollout──▶ Summary ──Set…──▶ the owner's status
//
// # Where reports come from
//
// A [Report] is one cluster's [RolloutStatus] with the time since which it holds. A controller makes one
// for each cluster that has its workload; package rollout reads them. Clusters that never got the
// workload need none.
//
//	ManifestWork           FromManifestWork          S1
//	ManagedClusterAddOn    FromManagedClusterAddOn   S2
//	replicated Policy      FromPolicy                S3
//	anything else          a function of yours       S4
//
// Your own function reads one object and answers, in this order:
//
//  1. Has the cluster the present version? If not, or if what is observed is about an earlier one: [ToApply].
//  2. Does it do what it should? [Succeeded].
//  3. Did it fail? [Failed].
//  4. Otherwise it is under way: [Progressing].
//  5. Since when? LastTransitionTime is the time of the change, as the object has it, never the present:
//     a deadline or a soak that begins anew with every look never ends. Leave it zero where nothing says.
//
// Leave [TimeOut] to the rollout, which knows the deadline. The example of [Report] is such a function.
//
// # What many come to
//
// A [Summary] is the counts over all clusters and per group, which package rollout fills in from the
// reports. Its [Summary.Aggregate] is the one word for the whole rollout, its String the one sentence.
//
// # How objects show it
//
// Each of these sets the part of a status that is the rollout's, leaves the rest alone, and says whether
// anything changed, so that an unchanged status needs no write:
//
//	any object               SetConditions           conditions Progressing, Succeeded, Failed (S7)
//	ManifestWorkReplicaSet   SetReplicaSetStatus     summary, placementSummary, condition PlacementRolledOut (S8)
//	ClusterManagementAddOn   SetInstallProgression   an entry of installProgressions (S8)
//	root Policy              SetPolicyStatus         compliant, rolloutStatus, status per cluster (S8)
//
// In code, once a rollout is planned:
//
//	result, err := rollout.Plan(strategy, groups, reports, now)
//	if err != nil {
//		return err
//	}
//	if status.SetConditions(&object.Status.Conditions, result.Summary(), object.Generation, now) {
//		err = client.Status().Update(ctx, object)
//	}
//
// A condition's lastTransitionTime moves with its status only. Time is an argument, and no function
// keeps what it was given; all can be called from several goroutines at once on different objects.
//
// # Where it departs from the design documents
//
// Where the two tables of the Policy placement strategy differ, that of its Development Phase 3 decides: a
// policy that informs has Succeeded once it has any status.
//
// ManifestWorkReplicaSet's availableDecisionGroups is "2/4", as the API documents it. PlacementRolledOut is
// about the rollout, soak times included: it is not True because every ManifestWork was created.
//
// The root policy is Compliant where the clusters that have reported are, as in the document's example; the
// rollout status tells how far it is.
package status
