// SPDX-License-Identifier: Apache-2.0

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

// grace is how long a deselected cluster keeps its ManifestWork, unless the owner says otherwise: longer than a scheduler
// takes to rewrite its decisions.
const grace = time.Minute

// An invalidError is one that a user has to fix. There is no retry before the owner changes.
type invalidError struct{ error }

func (e *invalidError) Unwrap() error { return e.error }

// wantedRollout is what an owner wants, with what is derived from it.
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
	err     error // of Rollout.For
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

func validate(wanted Rollout, owner metav1.Object) field.ErrorList {
	var errs field.ErrorList
	if owner.GetNamespace() == "" {
		errs = append(errs, field.Required(field.NewPath("metadata", "namespace"), "must have a namespace, with its Placement in it"))
	}
	errs = append(errs, validatePlacements(wanted.Placements)...)
	if writes.VersionOf(wanted.Work) == "" {
		errs = append(errs, field.Invalid(field.NewPath("spec"), owner.GetName(), "a manifest is not valid JSON"))
	}
	if len(wanted.Work.Workload.Manifests) == 0 {
		errs = append(errs, field.Required(field.NewPath("spec"), "must have a manifest to place"))
	}
	return append(errs, approvals.Validate(owner.GetAnnotations(), field.NewPath("metadata", "annotations"))...)
}

func validatePlacements(placements []Placement) field.ErrorList {
	spec := field.NewPath("spec")
	if len(placements) == 0 {
		return field.ErrorList{field.Required(spec, "must name a Placement")}
	}
	var errs field.ErrorList
	names := make(map[string]bool, len(placements))
	for _, placement := range placements {
		path := placement.Path
		if path == nil {
			path = spec.Child("rolloutStrategy")
		}
		if placement.Name == "" {
			errs = append(errs, field.Required(spec, "must name a Placement"))
		} else if names[placement.Name] {
			errs = append(errs, field.Duplicate(spec, placement.Name))
		}
		names[placement.Name] = true
		errs = append(errs, rollout.Validate(placement.Strategy, path)...)
		errs = append(errs, placement.Options.Validate(spec)...)
	}
	return errs
}

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
		own.err = errors.New("a manifest is not valid JSON")
	}
	if own.err != nil {
		own.version = unknown
	}
	w.clusters[cluster] = own
	return own
}

// unknown is the version of a cluster for which Rollout.For fails. No ManifestWork has it.
const unknown = "unknown"

// options are the options of the plan of a Placement: the owner's own, combined with the approvals of operators.
func (w wantedRollout) options(placement Placement) rollout.Options {
	all := w.approvals
	all.Gates = join(all.Gates, keyed(placement.Options.Gates))
	decided := all.Options(placement.Name, w.version)
	options := placement.Options
	options.Paused = options.Paused || decided.Paused
	options.Gates = decided.Gates
	options.Freezes = join(decided.Freezes, options.Freezes)
	options.Ignored = join(decided.Ignored, options.Ignored)
	options.Attempt = max(options.Attempt, decided.Attempt)
	if options.Allowlist == nil {
		options.Allowlist = decided.Allowlist
	}
	if options.RemoveAfter.Duration == 0 {
		options.RemoveAfter.Duration = grace
	}
	return options
}

// keyed returns gates with the keys that approvals use: the index of a group with a name is 0.
func keyed(gates []rollout.ClosedGate) []rollout.ClosedGate {
	gates = slices.Clone(gates)
	for i := range gates {
		if gates[i].Group.Name != "" {
			gates[i].Group.Index = 0
		}
	}
	return gates
}

// join concatenates both into a new slice.
func join[T any](a, b []T) []T {
	if len(a)+len(b) == 0 {
		return nil
	}
	return append(append(make([]T, 0, len(a)+len(b)), a...), b...)
}

// needsAnswers says whether the times of first answers must be recorded: a soak or a wait between groups runs from them.
func (w wantedRollout) needsAnswers() bool {
	return slices.ContainsFunc(w.Placements, Placement.needsAnswers)
}

func (placement Placement) needsAnswers() bool {
	if placement.Options.WaitBetweenGroups.Duration > 0 {
		return true
	}
	if strategy := placement.Strategy.Progressive; strategy != nil && strategy.MinSuccessTime.Duration > 0 {
		return true
	}
	strategy := placement.Strategy.ProgressivePerGroup
	return strategy != nil && strategy.MinSuccessTime.Duration > 0
}

// outdatedApprovals are sentences about approvals that name another version than the wanted one. They have no effect.
func (w wantedRollout) outdatedApprovals() []string {
	var sentences []string
	for _, approval := range []struct {
		name, version string
		there         bool
	}{
		{"open-gates", w.approvals.OpenGates.Version, len(w.approvals.OpenGates.Groups) > 0},
		{"retry", w.approvals.Retry.Version, w.approvals.Retry.Attempt > 0},
		{"allowlist", w.approvals.Allowlist.Version, w.approvals.Allowlist.Version != ""},
	} {
		if approval.there && approval.version != w.version {
			sentences = append(sentences, fmt.Sprintf("%s names version %s, but version %s is wanted: it has no effect", approval.name, approval.version, w.version))
		}
	}
	return sentences
}
