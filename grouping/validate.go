package grouping

import (
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
// [Divide] and [Groups.Decisions] give the same errors.
func Validate(placement *clusterv1beta1.Placement, path *field.Path) field.ErrorList {
	_, errs := newDivision(placement, path)
	if placement != nil && placement.Name != "" {
		if err := validateName(placement, path); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
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
