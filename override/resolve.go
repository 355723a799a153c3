package override

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Resolve returns the clusters that the bindings bind the policy to, with the action on each (O2–O6).
// The order of the bindings and of their clusters changes nothing; nothing passed in is changed. A
// disabled policy is bound nowhere, whatever else is wrong with it or with its bindings, so that it
// can always be switched off.
//
// Where the policy's rollout strategy is not All, the action is the one each cluster ends up with; when
// it gets there is the rollout's to say.
//
// Errors are *field.Error, joined: an unknown action or strategy (policy.spec.remediationAction,
// policy.spec.rolloutStrategy.type), a binding without a name or with that of another (bindings[name]), a
// cluster without a name (bindings[name].clusters[0]).
//
// It takes time linear in the names passed in, and n·log(n) for the order of the n bound clusters.
func Resolve(policy *Policy, bindings []Binding) (Result, error) {
	if policy == nil {
		return Result{}, field.Required(field.NewPath("policy"), "expected the root policy")
	}
	if policy.Spec.Disabled {
		return Result{}, nil
	}
	action, strategy, errs := settings(policy)
	bindings = slices.Clone(bindings)
	slices.SortStableFunc(bindings, func(a, b Binding) int { return cmp.Compare(a.Name, b.Name) })
	errs = append(errs, validate(bindings)...)
	if len(errs) > 0 {
		return Result{}, join(errs)
	}

	ignored := ignore(bindings, strategy)
	if action == Enforce {
		// The policy decides already, so an override neither changes the action nor explains it.
		for i := range bindings {
			bindings[i].Enforce = false
		}
	}
	return Result{Clusters: bind(bindings, action), Ignored: ignored}, nil
}

// settings reads the two fields of the policy that matter here.
func settings(policy *Policy) (RemediationAction, clusterv1alpha1.RolloutType, field.ErrorList) {
	var errs field.ErrorList
	action, err := policy.action()
	if err != nil {
		errs = append(errs, err)
	}
	strategy, err := policy.strategy()
	if err != nil {
		errs = append(errs, err)
	}
	return action, strategy, errs
}

// validate takes the bindings in the order of their names.
func validate(bindings []Binding) field.ErrorList {
	var errs field.ErrorList
	for i, b := range bindings {
		path := field.NewPath("bindings").Key(b.Name)
		switch {
		case b.Name == "":
			errs = append(errs, field.Required(path.Child("name"), "a binding of "+b.PlacementRef.String()+" has none"))
		case i > 0 && bindings[i-1].Name == b.Name:
			errs = append(errs, field.Duplicate(path, b.Name))
		}
		errs = append(errs, requireNames(path.Child("clusters"), b.Clusters)...)
	}
	return errs
}

// ignore strips the bindings of what has no effect, so that whoever reads them next sees only what
// counts, and returns what it took away.
func ignore(bindings []Binding, strategy clusterv1alpha1.RolloutType) []Ignored {
	var ignored []Ignored
	for i := range bindings {
		b := &bindings[i]
		all := strategy == clusterv1alpha1.All
		switch {
		case !b.PlacementRef.selects():
			ignored = append(ignored, Ignored{b.Name, PlacementRefUnsupported, fmt.Sprintf(
				"binding %q binds nothing: it refers to %s, expected a named Placement.cluster.open-cluster-management.io or PlacementRule.apps.open-cluster-management.io",
				b.Name, b.PlacementRef)})
			b.Clusters = nil
		case !all && b.SubFilter:
			ignored = append(ignored, Ignored{b.Name, SubFilterIgnored, fmt.Sprintf(
				"binding %q has no effect: it is a sub filter, and the policy's rollout strategy is %s, not All", b.Name, strategy)})
			b.Clusters = nil
		case !all && b.Enforce:
			ignored = append(ignored, Ignored{b.Name, OverrideIgnored, fmt.Sprintf(
				"binding %q does not enforce the policy: its rollout strategy is %s, not All", b.Name, strategy)})
			b.Enforce = false
		}
	}
	return ignored
}
