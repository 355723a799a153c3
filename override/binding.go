// SPDX-License-Identifier: Apache-2.0

package override

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Binding is what one PlacementBinding means for one policy. Bindings fills all fields except Groups and Missing. A caller
// with other objects than OCM's fills all.
type Binding struct {
	// Name tells the binding from the policy's others in errors and results. It must not be empty.
	Name string

	// PlacementRef names what selects the clusters. If that is neither a Placement nor a PlacementRule, the binding has
	// no effect, and the Resolution says so.
	PlacementRef policyv1.PlacementRef

	// Enforce sets the action to enforce on every bound cluster that this binding selects.
	Enforce bool

	// SubFilter keeps the binding from binding clusters itself.
	SubFilter bool

	// PolicySets are the names of the sets through which the binding reaches the policy, in order. Direct says that
	// the policy itself is a subject.
	PolicySets []string
	Direct     bool

	// Excluded are clusters that the binding does not select for this policy even if its placement does, in any order:
	// the sets through which it reaches the policy exclude them.
	Excluded []string

	// Exclusions are the clusters that each of PolicySets excludes for this policy, by the name of the set. The root
	// policy's status lists them, also those that another way of the binding selects. Where it is nil, each set excludes
	// those in Excluded.
	Exclusions map[string][]string

	// Groups are the clusters that the placement selected, in its decision groups: from grouping.Read for a Placement,
	// from grouping.FromNames for a PlacementRule. The caller sets them. Nil groups are incomplete: a placement that was
	// not looked up makes the Resolution incomplete, and deletes nothing.
	Groups *grouping.Groups

	// Missing says that the placement does not exist, and therefore selects no cluster. Groups stay nil. Set it only if you know
	// it from the API server or from a cache that has synced. Otherwise the policy is removed from all clusters of a placement
	// that was not looked up.
	Missing bool
}

// Bindings gives the bindings that have the policy as their subject, directly or in a policy set, sorted by name and
// without their groups. It ignores objects of other namespaces than the policy's. Nil pointers are skipped, and the arguments
// are not changed. A disabled policy has its bindings too, for its status, whatever is wrong with them.
//
// The caller then looks up what each PlacementRef selected, sets Groups and calls Resolve.
//
// Errors are *field.Error, joined by [errors.Join]: a policy without a name (metadata.name), what Validate finds in a binding of this
// policy (bindings[name].bindingOverrides.remediationAction), a set of this policy that comes twice or has an
// exclusion without a name (sets[name].spec.exclusions[0].policyName). It takes time linear in the objects.
func Bindings(policy *policyv1.Policy, bindings []*policyv1.PlacementBinding, sets []*policyv1.PolicySet) ([]Binding, error) {
	switch {
	case policy == nil:
		return nil, field.Required(field.NewPath("policy"), "must not be nil")
	case policy.Name == "":
		return nil, field.Required(field.NewPath("metadata", "name"), "must be the name of the root policy")
	}
	excludes, errs := setsOf(policy, sets)
	var own []Binding
	for _, placementBinding := range bindings {
		if placementBinding == nil || placementBinding.Namespace != policy.Namespace {
			continue
		}
		binding := Binding{Name: placementBinding.Name, PlacementRef: placementBinding.PlacementRef, Enforce: enforces(placementBinding), SubFilter: isSubFilter(placementBinding)}
		if binding.reach(placementBinding.Subjects, policy.Name, excludes) {
			own = append(own, binding)
			errs = append(errs, Validate(placementBinding, field.NewPath("bindings").Key(placementBinding.Name))...)
		}
	}
	if len(errs) > 0 && !policy.Spec.Disabled {
		return nil, join(errs)
	}
	slices.SortStableFunc(own, byName)
	return own, nil
}

func byName(a, b Binding) int { return cmp.Compare(a.Name, b.Name) }

// reach records the ways from the subjects to the policy, directly or through its sets, and says whether there is one. A
// cluster is excluded only if every way excludes it.
func (b *Binding) reach(subjects []policyv1.Subject, policy string, excludes map[string][]string) bool {
	ways := 0
	for _, subject := range subjects {
		if subject.APIGroup != "policy.open-cluster-management.io" {
			continue
		}
		var own []string
		switch subject.Kind {
		case "Policy":
			if subject.Name != policy {
				continue
			}
			b.Direct = true
		case "PolicySet":
			clusters, contains := excludes[subject.Name]
			if !contains {
				continue
			}
			own = clusters
			b.PolicySets = append(b.PolicySets, subject.Name)
			if len(own) > 0 {
				if b.Exclusions == nil {
					b.Exclusions = map[string][]string{}
				}
				b.Exclusions[subject.Name] = own
			}
		default:
			continue
		}
		if ways++; ways == 1 {
			b.Excluded = own
		} else {
			b.Excluded = intersect(b.Excluded, own)
		}
	}
	slices.Sort(b.PolicySets)
	b.PolicySets = slices.Compact(b.PolicySets)
	return ways > 0
}

// intersect gives the common elements of two sorted lists.
func intersect(a, b []string) []string {
	var both []string
	for _, name := range a {
		if _, found := slices.BinarySearch(b, name); found {
			both = append(both, name)
		}
	}
	return both
}
