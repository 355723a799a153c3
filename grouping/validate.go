// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Validate reports what is wrong with a placement for this package, for a webhook to return. It checks the
// decisionStrategy, the sortBy, and the name, which must be usable in the names and labels of PlacementDecisions. A
// placement without a name is valid, since its name may be generated. Path is where the placement stands in an object,
// nil where it is the object.
//
// [Divide] and [Groups.Decisions] give the same errors. What is valid and probably not meant, [Warnings] tells.
func Validate(placement *clusterv1beta1.Placement, path *field.Path) field.ErrorList {
	_, errs := newDivision(placement, path)
	if placement != nil && placement.Name != "" {
		if err := validateName(placement, path); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Warnings tells what in a placement is valid and probably not meant, for a webhook to return as the warnings of its answer. Each
// begins with the path of a field. A decision group without a selector takes every cluster that no group before it has, which may be the whole
// fleet. A misspelled selector looks the same, once the API server has pruned it.
func Warnings(placement *clusterv1beta1.Placement, path *field.Path) (warnings []string) {
	division, errs := newDivision(placement, path)
	if len(errs) > 0 {
		return nil
	}
	for i, group := range division.groups {
		if len(group.labels)+len(group.claims) > 0 {
			continue
		}
		at := groupStrategyPath(path).Child("decisionGroups").Index(i).Child("groupClusterSelector")
		warnings = append(warnings, fmt.Sprintf(
			"%v: has no label and no claim to select by, so group %q takes every cluster that no group before it has; a misspelled selector looks like this once the API server has pruned it",
			at, group.name))
	}
	return warnings
}

func nilPlacement() *field.Error {
	return field.Required(field.NewPath("placement"), "must not be nil")
}

// validateName checks that names and labels of PlacementDecisions follow from the placement's name.
func validateName(placement *clusterv1beta1.Placement, path *field.Path) *field.Error {
	path = path.Child("metadata", "name")
	if faults := validation.IsDNS1123Subdomain(placement.Name); len(faults) > 0 {
		return field.Invalid(path, placement.Name, "must be usable in the names of PlacementDecisions: "+strings.Join(faults, "; "))
	}
	return labelValue(path, placement.Name)
}
