// SPDX-License-Identifier: Apache-2.0

// Package placer is a controller-runtime controller for an API of your own, whose objects place ManifestWorks on the
// clusters of one or several Placements. You write a pure function that says what an object wants. This package does all the duties of
// package rollout.
//
// It is a module of its own, github.com/cohort-ocm/cohort/rollout/placer: the library does not require controller-runtime.
// Besides the types of your API, a main.go needs only this:
//
//	var fleetConfigs = placer.Kind[*appsv1.FleetConfig]{
//		Rollout: func(f *appsv1.FleetConfig) (placer.Rollout, error) {
//			manifests, err := f.Manifests()
//			placement := placer.Placement{Name: f.Spec.Placement, Strategy: f.Spec.RolloutStrategy}
//			wanted := placer.Rollout{Placements: []placer.Placement{placement}}
//			wanted.Work.Workload.Manifests = manifests
//			return wanted, err
//		},
//		Conditions:         func(f *appsv1.FleetConfig) *[]metav1.Condition { return &f.Status.Conditions },
//		ObservedGeneration: func(f *appsv1.FleetConfig) *int64 { return &f.Status.ObservedGeneration },
//		Show: func(f *appsv1.FleetConfig, p placer.Progress) {
//			f.Status.Version, f.Status.Summary = p.Version, p.Summary().String()
//		},
//	}
//
//	err = placer.For(manager, fleetConfigs).Complete()
//
// examples/controllers/fleetconfig is a whole program with its API.
//
// # What your objects do
//
// An object (the owner) has a spec that says what clusters get, the name of a Placement in its namespace, and OCM's
// RolloutStrategy. Each selected cluster gets a ManifestWork, when the strategy allows. When the owner is deleted, its
// ManifestWorks are deleted before it.
//
// An owner may have several Placements, each with a rollout of its own. A cluster that several of them select belongs to
// the first. If it moves to another one, its ManifestWork stays as it is. While a Placement is missing or incomplete, later
// ones wait, and nothing is deleted. Texts of the status and of events then name the Placement.
//
// The version of the rollout is a hash of Rollout.Work: of what you render, not of the spec. A new release of your
// controller that renders different manifests is a new version for each owner, and goes out within all limits. A new field
// of the spec that leaves the manifests as they are starts nothing.
//
// A cluster is done once conditionRules in Work set the condition Progressing with the value False. Without rules a
// cluster is never done, and the status says so, unless AvailableSucceeds is set.
//
// Operators pause, open gates, freeze clusters and retry with annotations of the owner: see package approvals. The version
// that they name is Progress.Version, which the messages of the conditions show. While a gate blocks clusters, the
// conditions give the command that opens it. An approval of another version has no effect, and the conditions say so.
//
// # What it does
//
//   - It reads from the manager's caches, with indexes. The cost of a reconcile depends on that owner's objects alone.
//   - It plans only when the caches show all its own writes.
//   - It reads little from the API server. When a process begins, it lists the metadata of all owners and their
//     ManifestWorks, once. Later it reads live: objects whose write got no answer; own writes that the cache has not shown
//     for ten seconds; the ManagedCluster of a deselected cluster, if the cache lacks it; the metadata of an owner that is
//     deleted or created anew, and of its ManifestWorks.
//   - It names a ManifestWork by a hash of the owner's kind, namespace and name, and notes the owner in an annotation. It
//     does not touch objects of other owners, and warns of those in the way.
//   - A deselected cluster that has the version counts towards the limits until its ManagedCluster is deleted, or an
//     operator ignores the cluster (the annotation ignore).
//   - It writes in this order: the record of deselected clusters; deletions; updates; creations; the times of first
//     answers; the status. Before each write it checks that the owner still wants the same. There is no hook in between.
//   - It adds a finalizer to the owner, and the annotation cohort.open-cluster-management.io/left, which is the record.
//     ManifestWorks get the label cohort.open-cluster-management.io/owner-hash, and annotations that begin with
//     cohort.open-cluster-management.io/.
//   - It emits events for all changes, and requeues in time, also after a failed write.
//   - It takes over ManifestWorks of another controller that have its label: see OwnerLabel.
//   - It sets two metrics in controller-runtime's registry, with the labels kind, namespace, name and placement:
//     placer_clusters with the label status, and placer_cluster_changes_total with the label change.
//
// One process acts at a time: enable leader election in the manager. Any number of workers may reconcile owners.
//
// # What the status says
//
// The conditions Progressing, Succeeded and Failed are those of status.SetConditions. Three more are for kstatus; exactly
// one of them is True:
//
//	Ready          the rollout has succeeded
//	Reconciling    the rollout goes on, or waits: for agents, a gate, a pause, a missing Placement
//	Stalled        a user has to act: the owner is invalid, or failed clusters stop the rollout, or it ended with failed clusters
//
// kubectl wait --for=condition=Ready, Argo CD and Flux understand these. Give your status an observedGeneration, and point
// at it. WritesRefused says which ManifestWorks the API server rejects, such as for a quota, or that it rejects the owner's
// finalizer or record. While the owner is invalid, Progressing, Succeeded and Failed are Unknown.
//
// Progress has the rest, for your status and for metrics: the result with its explanations, what changed, and what was
// rejected. The status is written last, and only if it changed. It is written as an update: a field that your Go type lacks
// is lost.
//
// # What else you need
//
// The scheme of the manager has your API, and of OCM's: cluster/v1, cluster/v1beta1, work/v1. Your CRD has a status
// subresource. Copy these markers, with your group and resource in the first two:
//
//	// +kubebuilder:rbac:groups=example.com,resources=fleetconfigs,verbs=get;list;watch;patch
//	// +kubebuilder:rbac:groups=example.com,resources=fleetconfigs/status,verbs=update
//	// +kubebuilder:rbac:groups=work.open-cluster-management.io,resources=manifestworks,verbs=get;list;watch;create;update;delete
//	// +kubebuilder:rbac:groups=cluster.open-cluster-management.io,resources=placements;placementdecisions;managedclusters,verbs=get;list;watch
//	// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
//	// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update
//
// For a webhook:
//
//	err = ctrl.NewWebhookManagedBy(manager, &appsv1.FleetConfig{}).WithValidator(fleetConfigs.Validator()).Complete()
//
// # What may surprise
//
// Rollout must return the same for the same owner. A manifest with a random name or the current time is a new version at
// each reconcile.
//
// While an owner is invalid, nothing starts and nothing is removed. Its clusters keep what they have.
//
// A change of Rollout.Labels or Annotations alone is no new version: clusters in flight get it, others with their next
// version.
//
// A deselected cluster keeps its ManifestWork for a minute, in which a scheduler may rewrite its decisions.
// Options.RemoveAfter sets another time.
package placer
