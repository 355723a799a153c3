package grouping

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Read gives the groups that stored PlacementDecisions of one placement stand for (G10, G11).
//
// The order of decisions does not matter. Every PlacementDecision makes its group exist, even without
// clusters; clusters of objects with the same index and name are one group. A cluster that several
// decisions name belongs to the group with the lowest index; decisions with an empty clusterName, which
// are slots not yet scheduled, are skipped. The result shares strings with decisions, nothing else.
//
// It is an error (one *field.Error per fault, found by errors.As) if an object is nil, has no index
// label or one that is not an int32 of at least 0, or belongs to another placement or namespace than
// the others. There are no groups then.
//
// It takes time linear in the clusters where decisions are sorted by name, as they mostly are, and a
// sort's where they are not.
func Read(decisions []*clusterv1beta1.PlacementDecision) (*Groups, error) {
	sources, err := parse(decisions)
	if err != nil {
		return nil, err
	}
	return build(sources), nil
}

// parse checks the decisions and puts them in the order of their groups, within a group in the order
// of their names with decision-2 before decision-10.
func parse(decisions []*clusterv1beta1.PlacementDecision) ([]source, error) {
	sources := make([]source, 0, len(decisions))
	var errs field.ErrorList
	for i, d := range decisions {
		if d == nil {
			errs = append(errs, field.Required(field.NewPath("placementDecisions").Index(i), "must not be nil"))
			continue
		}
		index, err := groupIndex(d)
		if err != nil {
			errs = append(errs, err)
		}
		sources = append(sources, source{Key{index, d.Labels[clusterv1beta1.DecisionGroupNameLabel]}, d.Name, d.Status.Decisions})
	}
	errs = append(errs, onePlacement(decisions)...)
	slices.SortFunc(sources, func(a, b source) int {
		return cmp.Or(
			a.key.Compare(b.key),
			cmp.Compare(len(a.object), len(b.object)),
			strings.Compare(a.object, b.object),
		)
	})
	return sources, fielderrs.Join(errs)
}

// labelPath is that of a label in a PlacementDecision.
func labelPath(d *clusterv1beta1.PlacementDecision, label string) *field.Path {
	return field.NewPath("placementDecisions").Key(d.Namespace+"/"+d.Name).Child("metadata", "labels").Key(label)
}

// groupIndex reads the index label as G10 has it.
func groupIndex(d *clusterv1beta1.PlacementDecision) (int32, *field.Error) {
	const (
		label = clusterv1beta1.DecisionGroupIndexLabel
		want  = "must be the index of the decision group, an integer from 0 to 2147483647"
	)
	value, ok := d.Labels[label]
	if !ok {
		return 0, field.Required(labelPath(d, label), want)
	}
	index, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, field.Invalid(labelPath(d, label), value, want)
	}
	return int32(index), nil
}

// onePlacement reports the first object of another namespace or placement than the objects before it.
// Their indexes would mean different groups.
func onePlacement(decisions []*clusterv1beta1.PlacementDecision) field.ErrorList {
	const label = clusterv1beta1.PlacementLabel
	var first *clusterv1beta1.PlacementDecision
	for _, d := range decisions {
		if d == nil {
			continue
		}
		if first == nil {
			first = d
		}
		if d.Namespace != first.Namespace || d.Labels[label] != first.Labels[label] {
			return field.ErrorList{field.Invalid(labelPath(d, label), d.Labels[label], fmt.Sprintf(
				"must be of one placement with the other decisions: %s/%s is of placement %q in namespace %q",
				first.Namespace, first.Name, first.Labels[label], first.Namespace))}
		}
	}
	return nil
}
