package override

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Binding is what one PlacementBinding means for one policy (O1). Bindings fills all but Clusters;
// whoever has other objects than OCM's fills it all.
type Binding struct {
	// Name tells the binding from the policy's others in errors and results; it must not be empty.
	Name string

	// PlacementRef is what selects the clusters. If it is neither a Placement nor a PlacementRule, the
	// binding has no effect and the result says so (O6).
	PlacementRef PlacementRef

	// Enforce sets the action to enforce on every bound cluster that this binding selects (O3).
	Enforce bool

	// SubFilter keeps the binding from binding clusters itself (O2).
	SubFilter bool

	// Excluded are clusters that the binding does not select for this policy even where its placement
	// does, in any order: the policy is bound through a set that excludes them (O6).
	Excluded []string

	// Clusters are the names of the clusters that the placement selected, in any order; a name given
	// twice counts once. The caller fills it in.
	Clusters []string
}

// Bindings returns the bindings that have the policy as their subject, itself or in a policy set, by
// name and without their clusters (O1, O6). Objects of another namespace than the policy's are not the
// policy's. A disabled policy has none. Nil pointers are passed over; nothing passed in is changed.
//
// The caller then looks up what each PlacementRef selected, sets Clusters and calls Resolve.
//
// Errors are *field.Error, joined: a binding of this policy without a name, with an action other than
// enforce or a subFilter other than restricted (placementBindings[name].bindingOverrides.remediationAction),
// a set of this policy given twice or with a nameless exclusion (policySets[name].spec.exclusions[0].policyName),
// a policy without a name. It takes time linear in the objects passed in.
func Bindings(policy *Policy, bindings []*PlacementBinding, sets []*PolicySet) ([]Binding, error) {
	if policy == nil || policy.Name == "" {
		return nil, field.Required(field.NewPath("policy", "metadata", "name"), "expected the name of the root policy")
	}
	if policy.Spec.Disabled {
		return nil, nil
	}
	excludes, errs := setsOf(policy, sets)
	var own []Binding
	for _, b := range bindings {
		if b == nil || b.Namespace != policy.Namespace {
			continue
		}
		excluded, bound := b.binds(policy.Name, excludes)
		if !bound {
			continue
		}
		binding, invalid := b.read()
		binding.Excluded = excluded
		own = append(own, binding)
		errs = append(errs, invalid...)
	}
	if len(errs) > 0 {
		return nil, join(errs)
	}
	slices.SortStableFunc(own, func(a, b Binding) int { return cmp.Compare(a.Name, b.Name) })
	return own, nil
}

// setsOf returns the sets that contain the policy, by name, with the clusters each excludes.
func setsOf(policy *Policy, sets []*PolicySet) (map[string][]string, field.ErrorList) {
	var errs field.ErrorList
	excludes := map[string][]string{}
	for _, set := range sets {
		if set == nil || set.Namespace != policy.Namespace || !slices.Contains(set.Spec.Policies, policy.Name) {
			continue
		}
		if _, twice := excludes[set.Name]; twice {
			errs = append(errs, field.Duplicate(field.NewPath("policySets").Key(set.Name), set.Name))
		}
		clusters, invalid := set.excludes(policy.Name)
		excludes[set.Name] = clusters
		errs = append(errs, invalid...)
	}
	return excludes, errs
}

// binds reports whether one of the binding's subjects is the policy or a set that contains it, and
// which clusters every such subject excludes: a cluster that one of them lets through is bound.
func (b *PlacementBinding) binds(policy string, excludes map[string][]string) (excluded []string, bound bool) {
	for _, subject := range b.Subjects {
		if subject.APIGroup != "policy.open-cluster-management.io" {
			continue
		}
		var own []string
		switch subject.Kind {
		case "Policy":
			if subject.Name != policy {
				continue
			}
		case "PolicySet":
			clusters, contains := excludes[subject.Name]
			if !contains {
				continue
			}
			own = clusters
		default:
			continue
		}
		if !bound {
			excluded, bound = own, true
		} else {
			excluded = intersect(excluded, own)
		}
	}
	return excluded, bound
}

// intersect returns what two ordered lists have in common.
func intersect(a, b []string) []string {
	var both []string
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); found {
			both = append(both, name)
		}
	}
	return both
}

// join orders the errors by what they say, so that the order of the input does not show.
func join(errs field.ErrorList) error {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return fielderrs.Join(errs)
}
