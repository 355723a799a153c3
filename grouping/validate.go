package grouping

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// Validate reports what is wrong with a placement for this package, as a webhook wants it: in its decisionStrategy,
// its sortBy, and its name, which must be usable in the names and labels of PlacementDecisions. A placement without
// a name is not refused, since it may be generated. Path is where the placement stands, nil where it is the object
// itself.
//
// [Divide] and [Groups.Decisions] give the same errors.
func Validate(placement *clusterv1beta1.Placement, path *field.Path) field.ErrorList {
	_, errs := newDivision(placement, path)
	if placement != nil && placement.Name != "" {
		errs = append(errs, validateName(placement, path)...)
	}
	return errs
}

func nilPlacement() *field.Error {
	return field.Required(field.NewPath("placement"), "must not be nil")
}

// validateName checks that names and labels of PlacementDecisions follow from the placement's name.
func validateName(placement *clusterv1beta1.Placement, path *field.Path) field.ErrorList {
	path = path.Child("metadata", "name")
	if faults := validation.IsDNS1123Subdomain(placement.Name); len(faults) > 0 {
		return field.ErrorList{field.Invalid(path, placement.Name,
			"must be usable in the names of PlacementDecisions: "+strings.Join(faults, "; "))}
	}
	return labelValue(path, placement.Name)
}

// groupStrategyPath is the path of the groupStrategy of a placement that stands at path.
func groupStrategyPath(path *field.Path) *field.Path {
	return path.Child("spec", "decisionStrategy", "groupStrategy")
}

// sizePath is the path of clustersPerDecisionGroup.
func sizePath(path *field.Path) *field.Path {
	return groupStrategyPath(path).Child("clustersPerDecisionGroup")
}

// parseSize reads a clustersPerDecisionGroup as G2 has it. The zero limit means that it is unset, which
// the API holds as the integer 0 and OCM's CRD defaults to 100%.
func parseSize(path *field.Path, v intstr.IntOrString) (limit.Limit, *field.Error) {
	const want = "must be a positive count, or a percentage from 1% to 100% in decimal digits"
	if v == (intstr.IntOrString{}) {
		return limit.Limit{}, nil
	}
	size, err := limit.Parse(path, v)
	if err != nil {
		err.Detail = want
	} else if size.IsZero() {
		err = field.Invalid(path, v.String(), want)
	}
	return size, err
}

// sizeLimit is size as [Groups.ClustersPerDecisionGroup] gives it: a count, or 0 where it is unset or 100%.
func sizeLimit(size limit.Limit, total int) int {
	if size.IsZero() || size.IsPercent() && size.Of(100) == 100 {
		return 0
	}
	return max(size.Of(total), 1)
}

// validateGroupName reports a name that can't be the value of the group's label.
func validateGroupName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "must be a name: the clusters that no group selects are those without")}
	}
	return labelValue(path, name)
}

// labelValue reports a value that no label can have.
func labelValue(path *field.Path, value string) field.ErrorList {
	if faults := validation.IsValidLabelValue(value); len(faults) > 0 {
		return field.ErrorList{field.Invalid(path, value, "must be usable as the value of a label: "+strings.Join(faults, "; "))}
	}
	return nil
}
