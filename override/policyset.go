// SPDX-License-Identifier: Apache-2.0

package override

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// setsOf gives the sets that contain the policy, by name, with the clusters that each excludes.
func setsOf(policy *policyv1.Policy, sets []*policyv1.PolicySet) (map[string][]string, field.ErrorList) {
	var errs field.ErrorList
	excludes := map[string][]string{}
	for _, set := range sets {
		if set == nil || set.Namespace != policy.Namespace || !slices.Contains(set.Spec.Policies, policy.Name) {
			continue
		}
		path := field.NewPath("sets").Key(set.Name)
		if _, twice := excludes[set.Name]; twice {
			errs = append(errs, field.Duplicate(path, set.Name))
		}
		clusters, invalid := exclusions(set, policy.Name, path.Child("spec", "exclusions"))
		excludes[set.Name] = clusters
		errs = append(errs, invalid...)
	}
	return excludes, errs
}

// exclusions gives the clusters that the set excludes for the policy, in order and each once.
func exclusions(set *policyv1.PolicySet, policy string, path *field.Path) ([]string, field.ErrorList) {
	var clusters []string
	var errs field.ErrorList
	for i, exclusion := range set.Spec.Exclusions {
		switch exclusion.PolicyName {
		case policy:
			clusters = append(clusters, exclusion.ClusterNames...)
			fallthrough
		case "": // it may be this policy's
			errs = append(errs, validateExclusion(exclusion, path.Index(i))...)
		}
	}
	slices.Sort(clusters)
	return slices.Compact(clusters), errs
}
