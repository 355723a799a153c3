package grouping

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/internal/limit"
)

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

// validateGroupName reports a name that can't be the value of the group's label.
func validateGroupName(path *field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "a group with a selector must have a name; clusters that no group selects have none")}
	}
	return labelValue(path, name)
}

// labelValue reports a value that can't be that of a label.
func labelValue(path *field.Path, value string) field.ErrorList {
	if faults := validation.IsValidLabelValue(value); len(faults) > 0 {
		return field.ErrorList{field.Invalid(path, value, "must be usable as the value of a label: "+strings.Join(faults, "; "))}
	}
	return nil
}
