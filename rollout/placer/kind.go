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

// Kind says what this package has to know of an API whose objects place ManifestWorks. O is a pointer to the Go type of the API.
type Kind[O client.Object] struct {
	// Rollout reads what an owner wants. It is called at each look, depends on the owner's spec, labels and annotations alone,
	// and writes nothing. An error is one that a person has to mend: it is shown in the condition Stalled and in an event, and
	// nothing starts meanwhile.
	Rollout func(O) (Rollout, error)
	// Conditions points at the conditions in the owner's status. The page of the package says which ones are set; others
	// stay as they are.
	Conditions func(O) *[]metav1.Condition
	// ObservedGeneration points at the observedGeneration in the owner's status, which kstatus reads; nil where the status has
	// none. It is also set where the owner is invalid.
	ObservedGeneration func(O) *int64
	// Show sets the rest of the status; nil sets the conditions alone. The owner is a copy. The status is written after all
	// else, and only where it changed. Where the owner is invalid, Show is not called: the rest of the status stays as it is.
	Show func(O, Progress)
}

// Rollout is what an owner wants.
type Rollout struct {
	// Placement is the name of the Placement, in the owner's namespace.
	Placement string
	// Strategy says how the rollout goes on. The zero value is All.
	Strategy clusterv1alpha1.RolloutStrategy
	// Path is where the strategy stands in the owner, for errors; nil is spec.rolloutStrategy. Errors of Options have paths below
	// spec, wherever these stand.
	Path *field.Path

	// Work is what each selected cluster gets. The version of the rollout is a hash of it. So it has to be the same for the same
	// owner, whenever it is made: a map that is rendered in another order each time is another version each time.
	Work workv1.ManifestWorkSpec
	// For gives what one cluster gets, where clusters have values of their own; nil gives Work to all. The version of a cluster
	// is a hash of that: a new value goes to this cluster alone, within all limits. Work is then the template that people
	// change, and names the version for them. A cluster for which For returns an error waits, and the status says why.
	For func(cluster string) (workv1.ManifestWorkSpec, error)
	// AvailableSucceeds says that a cluster is done once its ManifestWork is Available, where no conditionRules in Work give the
	// condition Progressing. Available says that the manifests exist there, not that they work.
	AvailableSucceeds bool
	// Labels and Annotations are set on each ManifestWork, beside those of this package. Those that begin with
	// cohort.open-cluster-management.io/, such as approvals that were copied from the owner, are left out.
	Labels, Annotations map[string]string

	// Options are what the API of the owner adds to the strategy. What people decide by annotations (package approvals) is
	// added: any pause, gate or hold counts, and the later attempt. The annotation open-gates opens gates of either kind. Where RemoveAfter is 0, it is a minute. Previous and Memory
	// are this package's.
	Options rollout.Options
}

// Progress is all that is known of a rollout after a look: the result with its explanations, and what became of the writes.
type Progress struct {
	// Version is the one that is wanted. People name it in approvals, such as open-gates.
	Version string
	*rollout.Result
	// Changes are those since the look before. Of a new owner they are those since nothing was there.
	Changes rollout.Changes
	// Refused has the clusters whose ManifestWork the API server refuses to write, such as for a quota, with its answer.
	Refused map[string]error
	// Foreign are the objects of others where the owner's ManifestWorks would be. They are left alone.
	Foreign []writes.Foreign
	// Groups are the decision groups that the plan was made for, and Works the owner's ManifestWorks that it was made of, before
	// the writes of this look. They belong to the cache: change nothing in them.
	Groups *grouping.Groups
	Works  []*workv1.ManifestWork
}
