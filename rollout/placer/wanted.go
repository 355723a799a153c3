package placer

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// grace is how long a cluster is deselected before it loses its ManifestWork, where the owner does not say: longer than any scheduler
// takes to rewrite its decisions.
const grace = time.Minute

// An invalidError is one that a person has to mend. Nothing is tried again before the owner changes.
type invalidError struct{ error }

func (e *invalidError) Unwrap() error { return e.error }

// wantedRollout is what an owner wants, with what follows from it.
type wantedRollout struct {
	Rollout
	version   string
	approvals approvals.Approvals
	clusters  map[string]wantedWork // by cluster, where clusters have values of their own
}

// wantedWork is what a cluster gets.
type wantedWork struct {
	spec    workv1.ManifestWorkSpec
	version string
	err     error // why nobody knows what it gets
}

// rolloutOf is what an owner wants. Its errors are invalidErrors.
func (r *reconciler) rolloutOf(owner client.Object) (wantedRollout, error) {
	wanted, err := r.kind.rollout(owner.DeepCopyObject().(client.Object))
	if err != nil {
		return wantedRollout{}, &invalidError{err}
	}
	if err := validate(wanted, owner).ToAggregate(); err != nil {
		return wantedRollout{}, &invalidError{err}
	}
	decided, err := approvals.Of(owner)
	if err != nil {
		return wantedRollout{}, &invalidError{err}
	}
	return wantedRollout{
		Rollout:   wanted,
		version:   writes.VersionOf(wanted.Work),
		approvals: decided,
		clusters:  make(map[string]wantedWork),
	}, nil
}

// validate says what is wrong with what an owner wants.
func validate(wanted Rollout, owner metav1.Object) field.ErrorList {
	path := wanted.Path
	if path == nil {
		path = field.NewPath("spec", "rolloutStrategy")
	}
	var errs field.ErrorList
	if owner.GetNamespace() == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "namespace"), "must have a namespace, with its Placement in it"))
	}
	if wanted.Placement == "" {
		errs = append(errs, field.Required(field.NewPath("spec"), "must name a Placement"))
	}
	if writes.VersionOf(wanted.Work) == "" {
		errs = append(errs, field.Invalid(field.NewPath("spec"), owner.GetName(), "a manifest is no JSON, and must be"))
	}
	if len(wanted.Work.Workload.Manifests) == 0 {
		errs = append(errs, field.Required(field.NewPath("spec"), "must have a manifest to place"))
	}
	errs = append(errs, rollout.Validate(wanted.Strategy, path)...)
	errs = append(errs, wanted.Options.Validate(field.NewPath("spec"))...)
	return append(errs, approvals.Validate(owner.GetAnnotations(), field.NewPath("metadata", "annotations"))...)
}

// of is what a cluster gets.
func (w wantedRollout) of(cluster string) wantedWork {
	if w.For == nil {
		return wantedWork{spec: w.Work, version: w.version}
	}
	if known, ok := w.clusters[cluster]; ok {
		return known
	}
	own := wantedWork{}
	own.spec, own.err = w.For(cluster)
	own.version = writes.VersionOf(own.spec)
	if own.err == nil && own.version == "" {
		own.err = errors.New("a manifest is no JSON, and must be")
	}
	if own.err != nil {
		own.version = unknown
	}
	w.clusters[cluster] = own
	return own
}

// unknown is the version of a cluster for which nobody knows what it gets. No ManifestWork has it.
const unknown = "unknown"

// options are those of the plan, but for what is known of clusters: people's decisions with the owner's own options over them.
func (w wantedRollout) options() rollout.Options {
	all := w.approvals
	all.Gates = join(all.Gates, keyed(w.Options.Gates))
	decided := all.Options("", w.version)
	options := w.Options
	options.Paused = options.Paused || decided.Paused
	options.Gates = decided.Gates
	options.Holds = join(decided.Holds, options.Holds)
	options.Uncounted = join(decided.Uncounted, options.Uncounted)
	options.Attempt = max(options.Attempt, decided.Attempt)
	if options.Reviewed == nil {
		options.Reviewed = decided.Reviewed
	}
	if options.RemoveAfter.Duration == 0 {
		options.RemoveAfter.Duration = grace
	}
	return options
}

// keyed gives gates with the keys that approvals have: of a group with a name the index does not matter, and is 0.
func keyed(gates []rollout.ClosedGate) []rollout.ClosedGate {
	gates = slices.Clone(gates)
	for i := range gates {
		if gates[i].Group.Name != "" {
			gates[i].Group.Index = 0
		}
	}
	return gates
}

// join gives the elements of both in a slice of its own.
func join[T any](a, b []T) []T {
	if len(a)+len(b) == 0 {
		return nil
	}
	return append(append(make([]T, 0, len(a)+len(b)), a...), b...)
}

// needsAnswers says whether it has to be noted when clusters answered: something runs from then.
func (w wantedRollout) needsAnswers() bool {
	if w.Options.WaitBetweenGroups.Duration > 0 {
		return true
	}
	if p := w.Strategy.Progressive; p != nil && p.MinSuccessTime.Duration > 0 {
		return true
	}
	p := w.Strategy.ProgressivePerGroup
	return p != nil && p.MinSuccessTime.Duration > 0
}

// forgotten are sentences about approvals of another version than the one that is wanted: they decide nothing.
func (w wantedRollout) forgotten() []string {
	var sentences []string
	for _, approval := range []struct {
		name, version string
		there         bool
	}{
		{"open-gates", w.approvals.OpenGates.Version, len(w.approvals.OpenGates.Groups) > 0},
		{"retry", w.approvals.Retry.Version, w.approvals.Retry.Attempt > 0},
		{"reviewed", w.approvals.Reviewed.Version, w.approvals.Reviewed.Version != ""},
	} {
		if approval.there && approval.version != w.version {
			sentences = append(sentences, fmt.Sprintf("%s is about version %s, and %s is wanted", approval.name, approval.version, w.version))
		}
	}
	return sentences
}
