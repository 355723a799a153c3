// SPDX-License-Identifier: Apache-2.0

package override

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/internal/rootpolicy"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Resolve says which clusters the bindings bind the policy to, with which action on each, and in which groups they are
// rolled out. Bindings may be in any order, and the arguments are not changed. A disabled policy is bound nowhere,
// whatever faults it or its bindings have, so it can always be switched off.
//
// Under a rollout strategy other than All, the action is the one that each cluster has in the end. The rollout decides when.
//
// Errors are *field.Error, joined by [errors.Join]: an unknown action (spec.remediationAction), what rollout.Validate finds in the
// strategy (spec.rolloutStrategy.progressive.maxConcurrency), a name that is too long for replicas (metadata.name), a value of the
// annotation for [Resolution.FailsAtOnce] that is neither true nor false (metadata.annotations[…]), a binding
// without a name or with the name of another (bindings[name]), and a binding with groups of several placements, or with groups
// although its placement is missing (bindings[name].groups).
//
// It takes time linear in the clusters of all bindings, plus n·log(n) to sort the n bound clusters.
func Resolve(policy *policyv1.Policy, bindings []Binding) (*Resolution, error) {
	switch {
	case policy == nil:
		return nil, field.Required(field.NewPath("policy"), "must not be nil")
	case policy.Spec.Disabled:
		own := slices.SortedStableFunc(slices.Values(bindings), byName)
		return &Resolution{resolved: true, disabled: true, strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, bindings: own}, nil
	}
	in := input{policy: policy, bindings: slices.Clone(bindings)}
	slices.SortStableFunc(in.bindings, byName)
	for i := range in.bindings {
		binding := &in.bindings[i]
		binding.Excluded, binding.Exclusions = slices.Clone(binding.Excluded), maps.Clone(binding.Exclusions) // they are read later
	}
	if errs := append(rootpolicy.Validate(policy, nil), in.checkBindings()...); len(errs) > 0 {
		return nil, join(errs)
	}
	for i := range in.bindings {
		if in.bindings[i].Missing {
			in.bindings[i].Groups = noClusters()
		}
	}
	return in.resolve(), nil
}

// noClusters gives the groups of a placement that does not exist: complete, and without clusters.
func noClusters() *grouping.Groups {
	none, err := grouping.FromNames(nil)
	if err != nil {
		panic(err) // no names, no error
	}
	return none
}

// input is what is resolved, with the bindings sorted by name.
type input struct {
	policy   *policyv1.Policy
	bindings []Binding
}

func (in *input) checkBindings() field.ErrorList {
	var errs field.ErrorList
	nameless := 0 // nameless bindings come first
	for i := range in.bindings {
		binding := &in.bindings[i]
		path := field.NewPath("bindings").Key(binding.Name)
		if binding.Name == "" {
			nameless++
			errs = append(errs, field.Required(path.Child("name"), "must be the name of the binding to "+binding.PlacementRef.String()))
		}
		if binding.Missing && binding.Groups != nil {
			errs = append(errs, field.Invalid(path.Child("groups"), binding.Groups.String(), "must be nil, as the placement is missing"))
		}
		if binding.Groups.Len() > 0 && binding.Groups.Key(0).Placement != "" {
			errs = append(errs, field.Invalid(path.Child("groups"), binding.Groups.String(), "must be groups of one placement, not joined ones"))
		}
	}
	return append(errs, fielderrs.Duplicates(in.bindings[nameless:], byName, func(binding Binding) *field.Error {
		return field.Duplicate(field.NewPath("bindings").Key(binding.Name), binding.Name)
	})...)
}

// resolve assumes that the policy and the bindings are valid.
func (in *input) resolve() *Resolution {
	action, _ := in.policy.Spec.RemediationAction.Known()
	strategy := *in.policy.Spec.RolloutStrategy.DeepCopy()
	strategy.Type = cmp.Or(strategy.Type, clusterv1alpha1.All)
	resolution := newResolution(action, strategy, in.bindings)
	resolution.failsAtOnce = rootpolicy.FailsAtOnce(in.policy)
	return resolution
}

// newResolution takes the bindings sorted by name.
func newResolution(action policyv1.RemediationAction, strategy clusterv1alpha1.RolloutStrategy, bindings []Binding) *Resolution {
	resolution := &Resolution{resolved: true, action: action, strategy: strategy, bindings: bindings}
	parts := make([]part, 0, len(bindings))
	for i := range bindings {
		binding := &bindings[i]
		part := part{Binding: binding, binds: !binding.SubFilter}
		ignored, isIgnored := ignore(binding, strategy.Type)
		switch {
		case !isIgnored:
			// A policy that enforces decides already, so an override neither changes the action nor explains it.
			part.decides = binding.Enforce && action != policyv1.Enforce
		case ignored.Type == IgnoredPlacementRef:
			part.binds = false
			fallthrough
		default:
			resolution.ignored = append(resolution.ignored, ignored)
			part.isIgnored = ignored.Type != IgnoredPlacementRef
		}
		if part.binds || part.decides || part.isIgnored {
			parts = append(parts, part)
		}
	}
	resolution.clusters = bind(parts, action)
	resolution.readCompleteness(parts)
	resolution.parts = parts
	return resolution
}
