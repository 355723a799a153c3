// SPDX-License-Identifier: Apache-2.0

package placer

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Kind describes an API whose objects place ManifestWorks. O is a pointer to the Go type of the API.
type Kind[O client.Object] struct {
	// Rollout returns what an owner wants. It is called at each reconcile, depends only on the owner's spec, labels and
	// annotations, and writes nothing. An error is one that a user has to fix: the condition Stalled and an event show it,
	// and nothing starts meanwhile.
	Rollout func(O) (Rollout, error)
	// Conditions points at the conditions in the owner's status. The documentation of the package says which ones are set;
	// others stay as they are.
	Conditions func(O) *[]metav1.Condition
	// ObservedGeneration points at the observedGeneration in the owner's status, which kstatus reads; nil if the status has
	// none. It is also set while the owner is invalid.
	ObservedGeneration func(O) *int64
	// Show sets the rest of the status; nil sets the conditions alone. The owner is a copy. The status is written after all
	// else, and only if it changed. While the owner is invalid, Show is not called, and the rest of the status stays as it
	// is.
	Show func(O, Progress)
}

// Rollout is what an owner wants.
type Rollout struct {
	// Placements are where the clusters come from, at least one. A cluster that several Placements select belongs to the
	// first of them.
	Placements []Placement

	// Work is what each selected cluster gets. The version of the rollout is a hash of it, so it must be the same for the
	// same owner at each call. Map keys that are rendered in random order are a new version each time.
	Work workv1.ManifestWorkSpec
	// For returns what one cluster gets, if clusters have values of their own; nil gives Work to all. The version of a
	// cluster is a hash of that value: a new value goes to this cluster alone, within all limits. Work is then the template
	// that users change, and names the version for approvals. A cluster for which For returns an error waits, and the
	// status says why.
	For func(cluster string) (workv1.ManifestWorkSpec, error)
	// AvailableSucceeds makes a cluster done once its ManifestWork is Available, if no conditionRules in Work give the
	// condition Progressing. Available says that the manifests exist there, not that they work.
	AvailableSucceeds bool
	// Labels and Annotations are set on each ManifestWork, with those of this package. Those that begin with
	// cohort.open-cluster-management.io/, such as approvals copied from the owner, are left out.
	Labels, Annotations map[string]string
}

// Placement is a Placement in the owner's namespace, with how the rollout proceeds on its clusters.
type Placement struct {
	// Name is the name of the Placement.
	Name string
	// Strategy is how the rollout proceeds. The zero value is All.
	Strategy clusterv1alpha1.RolloutStrategy
	// Path is where the strategy is in the owner, for errors; nil is spec.rolloutStrategy. Errors of Options always have
	// paths below spec.
	Path *field.Path

	// Options are what the API of the owner adds to the strategy. They are combined with the operators' annotations
	// (package approvals): a pause, a gate or a freeze of either counts, and so does the higher attempt. The annotation
	// open-gates opens gates of either. RemoveAfter 0 means a minute. Previous and StoredRecord are set by this package.
	Options rollout.Options
}

// Progress is the outcome of a reconcile: the progress at each Placement, and which writes were rejected.
type Progress struct {
	// Version is the wanted version. Operators name it in approvals, such as open-gates.
	Version string
	// Placements has the progress at each Placement, in the order of Rollout.Placements.
	Placements []PlacementProgress
	// Refused has the clusters whose ManifestWork the API server rejects, such as for a quota, with the error.
	Refused map[string]error
	// Foreign are objects of other owners that are in the way of the owner's ManifestWorks. They are not touched.
	Foreign []writes.Foreign
}

// PlacementProgress is the progress on the clusters of a Placement: the result with its explanations.
type PlacementProgress struct {
	// Name is the name of the Placement.
	Name string
	*rollout.Result
	// Changes are those since the reconcile before. For a new owner they are those since nothing was there.
	Changes rollout.Changes
	// Groups are the decision groups of the plan, without the clusters of earlier Placements. Works are the ManifestWorks of
	// these clusters before the writes of this reconcile; the last Placement also has those of deselected clusters. They are
	// shared with the cache: do not change them.
	Groups *grouping.Groups
	Works  []*workv1.ManifestWork
}
