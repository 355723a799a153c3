// SPDX-License-Identifier: Apache-2.0

package override

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Validate reports what is wrong with a PlacementBinding for this package, for a webhook to return: no name, an action
// other than enforce, a subFilter other than restricted. The errors have the paths of its JSON, below path. Bindings
// refuses the same bindings.
//
// Validate takes any placementRef and any subjects. A binding with a placementRef that is no Placement and no PlacementRule, or
// has another API group or no name, binds nothing, and the [Resolution] says so (Ignored). A subject that is neither a Policy
// nor a PolicySet of OCM is ignored without a message. A webhook that wants to refuse these checks them itself.
func Validate(binding *policyv1.PlacementBinding, path *field.Path) field.ErrorList {
	if binding == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	var errs field.ErrorList
	if binding.Name == "" {
		errs = append(errs, field.Required(path.Child("metadata", "name"), "must be the name of the binding to "+binding.PlacementRef.String()))
	}
	action := func(action policyv1.RemediationAction, parent string) {
		if action != "" && !strings.EqualFold(string(action), string(policyv1.Enforce)) {
			errs = append(errs, field.NotSupported(path.Child(parent, "remediationAction"), action, []policyv1.RemediationAction{policyv1.Enforce}))
		}
	}
	action(binding.BindingOverrides.RemediationAction, "bindingOverrides")
	action(binding.RemediationActionOverride.RemediationAction, "remediationActionOverride")
	if binding.SubFilter != "" && binding.SubFilter != policyv1.Restricted {
		errs = append(errs, field.NotSupported(path.Child("subFilter"), binding.SubFilter, []policyv1.SubFilter{policyv1.Restricted}))
	}
	return errs
}

// ValidateSet reports what is wrong with the exclusions of a PolicySet, for a webhook to return. The errors have the paths of
// its JSON, below path. Wrong are an exclusion without a policy name, one of a policy that is not in the set, two of one policy,
// and one without clusters or with an empty cluster name.
//
// OCM's webhook refuses these, too. A controller may still read such sets. Bindings refuses only what it cannot read: an
// empty policy name, and an empty cluster name in an exclusion of its own policy. It ignores an exclusion of a policy that is
// not in the set, so a misspelled exclusion excludes no cluster. Two exclusions of one policy add up.
func ValidateSet(set *policyv1.PolicySet, path *field.Path) field.ErrorList {
	if set == nil {
		return field.ErrorList{field.Required(path, "must not be nil")}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, exclusion := range set.Spec.Exclusions {
		path := path.Child("spec", "exclusions").Index(i)
		errs = append(errs, validateExclusion(exclusion, path)...)
		switch name := exclusion.PolicyName; {
		case name == "": // reported already
		case seen[name]:
			errs = append(errs, field.Duplicate(path.Child("policyName"), name))
		case !slices.Contains(set.Spec.Policies, name):
			errs = append(errs, field.Invalid(path.Child("policyName"), name, "must be the name of a policy in the set"))
		}
		seen[exclusion.PolicyName] = true
		if len(exclusion.ClusterNames) == 0 {
			errs = append(errs, field.Required(path.Child("clusterNames"), "must name at least one cluster"))
		}
	}
	return errs
}

func validateExclusion(exclusion policyv1.Exclusion, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if exclusion.PolicyName == "" {
		errs = append(errs, field.Required(path.Child("policyName"), "must be the name of a policy in the set"))
	}
	for i, cluster := range exclusion.ClusterNames {
		if cluster == "" {
			errs = append(errs, field.Required(path.Child("clusterNames").Index(i), "must be the name of a cluster"))
		}
	}
	return errs
}

// enforces says whether a valid binding overrides the action, in either spelling.
func enforces(binding *policyv1.PlacementBinding) bool {
	return binding.BindingOverrides.RemediationAction != "" || binding.RemediationActionOverride.RemediationAction != ""
}

// isSubFilter says whether the binding is a sub filter, in either spelling.
func isSubFilter(binding *policyv1.PlacementBinding) bool {
	return binding.SubFilter == policyv1.Restricted || binding.RemediationActionOverride.SubFilter
}

// selects says whether r names something that selects clusters (O6).
func selects(ref policyv1.PlacementRef) bool {
	switch ref.Kind {
	case "Placement":
		return ref.APIGroup == "cluster.open-cluster-management.io" && ref.Name != ""
	case "PlacementRule":
		return ref.APIGroup == "apps.open-cluster-management.io" && ref.Name != ""
	default:
		return false
	}
}

// join joins the errors sorted by text, so that the order of the input does not matter.
func join(errs field.ErrorList) error {
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return fielderrs.Join(errs)
}
