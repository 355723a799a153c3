// Package placer is the controller of an API of yours whose objects place ManifestWorks on the clusters of a Placement. It is made with
// controller-runtime. You say what an object wants, as a pure function; this package does all the duties of package rollout.
//
// It is a module of its own, github.com/cohort-ocm/cohort/rollout/placer, so that the library does not require controller-runtime.
// In a main.go that is all, beside the types of your API:
//
//	var fleetConfigs = placer.Kind[*appsv1.FleetConfig]{
//		Rollout: func(f *appsv1.FleetConfig) (placer.Rollout, error) {
//			manifests, err := f.Manifests()
//			wanted := placer.Rollout{Placement: f.Spec.Placement, Strategy: f.Spec.RolloutStrategy}
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
// An object (the owner) has a spec with what clusters get, the name of a Placement in its namespace, and OCM's RolloutStrategy. Each
// selected cluster gets a ManifestWork, as the strategy allows. When the owner is deleted, its ManifestWorks go first.
//
// The version of the rollout is a hash of Rollout.Work, so of what you render, not of the spec: a new release of your controller that
// renders otherwise is a new version of each owner. It goes out within all limits. A new field of the spec that changes nothing in the
// manifests starts nothing.
//
// A cluster is done once conditionRules in Work give the condition Progressing with the value False. Without rules it is never done,
// and the status says so, unless AvailableSucceeds is set.
//
// People pause, open gates, hold clusters and try again by annotations of the owner: see package approvals. The version that they name
// is Progress.Version, which also stands in the messages of the conditions. An approval of another version decides nothing, and the
// conditions say so.
//
// # What it does
//
//   - It reads from the manager's caches, with indexes. A look at one owner costs by that owner's objects.
//   - It plans only when the caches show all its own writes. When a process begins, it lists the metadata of all owners and their
//     ManifestWorks from the API server, once. It also asks the API server for what a lost answer leaves unsure, for the ManagedCluster
//     of a deselected cluster that the cache lacks, for own writes that the cache does not show for ten seconds, and for the metadata
//     of an owner that is deleted or came again, and of its ManifestWorks. It reads nothing else there.
//   - It names ManifestWorks by a hash of the owner's kind, namespace and name, and notes the owner on them. It leaves objects of others
//     alone, and warns of them.
//   - A deselected cluster that has the version counts, until its ManagedCluster is deleted, or a person ignores it (give-up).
//   - It writes in this order: the record of deselected clusters; deletions; updates; starts; when settled clusters
//     answered; the status. Before each write it looks whether the owner wants the same still. There is no hook in between.
//   - It adds a finalizer to the owner, and the annotation cohort.open-cluster-management.io/left, which is the record. ManifestWorks
//     have the label cohort.open-cluster-management.io/owner-hash, and annotations that begin with cohort.open-cluster-management.io/.
//   - It makes events of all changes, and comes back in time, also where a write failed.
//
// One process acts at a time: let the manager elect a leader. Any number of workers may look at owners.
//
// # What the status says
//
// The conditions Progressing, Succeeded and Failed are those of status.SetConditions. Beside them stand those of kstatus, of which one
// is True:
//
//	Ready          the rollout has succeeded
//	Reconciling    it goes on, or waits: for agents, a gate, a pause, a Placement that is not there
//	Stalled        a person has to mend something: the owner is invalid, or clusters failed that stop the rollout, or that it ended with
//
// So kubectl wait --for=condition=Ready, Argo CD and Flux understand it. Let your status have observedGeneration, and point at it.
// WritesRefused says that the API server refuses ManifestWorks, such as for a quota, or the finalizer or the record of the owner, and where.
// Where the owner is invalid, Progressing, Succeeded and Failed are Unknown.
//
// Progress has all that is known, for the rest of your status and for metrics: the result with its explanations, what has changed, and
// what was refused. The status is written last, and only where it changed, as an update: a field that your Go type lacks is lost.
//
// # What you need beside
//
// The scheme of the manager has your API, and of OCM's: cluster/v1, cluster/v1beta1, work/v1. Your CRD has a status subresource. Copy
// these markers, with your group and resource in the first two:
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
// Rollout must give the same for the same owner. A manifest with a random name or the time of day is a new version at each look.
//
// An owner that is invalid starts nothing and removes nothing. Its clusters keep what they have.
//
// A change of Rollout.Labels or Annotations alone is no new version: clusters in flight get it, others with their next version.
//
// A deselected cluster keeps its ManifestWork for a minute, in which a scheduler may have rewritten its decisions. Options.RemoveAfter
// says otherwise.
package placer
