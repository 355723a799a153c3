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
// It is an error (one *field.Error per fault, found by errors.As) if an object is nil, comes twice, has
// no index label or one that is not an int32 of at least 0, or belongs to another placement or
// namespace than the others. There are no groups then.
//
// It takes time that is mostly linear in the clusters, whatever the order in which they are stored.
func Read(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) (*Groups, error) {
	sources, err := parse(decisions)
	if err != nil {
		return nil, err
	}
	return build(sources), nil
}

// parse checks the decisions and puts them in the order of their groups, within a group in the order
// of their names with decision-2 before decision-10.
func parse(decisions []*clusterv1beta1.PlacementDecision) ([]source, error) {
	var errs field.ErrorList
	objects := make([]*clusterv1beta1.PlacementDecision, 0, len(decisions))
	for i, d := range decisions {
		if d == nil {
			errs = append(errs, field.Required(field.NewPath("placementDecisions").Index(i), "must not be nil"))
			continue
		}
		objects = append(objects, d)
	}
	slices.SortFunc(objects, func(a, b *clusterv1beta1.PlacementDecision) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), compareNames(a.Name, b.Name))
	})
	sources := make([]source, len(objects))
	for i, d := range objects {
		index, err := groupIndex(d)
		if err != nil {
			errs = append(errs, err)
		}
		if i > 0 && objects[i-1].Name == d.Name && objects[i-1].Namespace == d.Namespace {
			errs = append(errs, field.Duplicate(objectPath(d).Child("metadata", "name"), d.Name))
		}
		key := Key{Index: index, Name: d.Labels[clusterv1beta1.DecisionGroupNameLabel]}
		sources[i] = source{key, d.Name, d.Status.Decisions}
	}
	errs = append(errs, onePlacement(objects)...)
	slices.SortStableFunc(sources, func(a, b source) int { return a.key.Compare(b.key) })
	return sources, fielderrs.Join(errs)
}

// compareNames orders names of PlacementDecisions: those that differ in the number at their end only by
// that number.
func compareNames(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

func objectPath(d *clusterv1beta1.PlacementDecision) *field.Path {
	return field.NewPath("placementDecisions").Key(d.Namespace + "/" + d.Name)
}

func labelPath(d *clusterv1beta1.PlacementDecision, label string) *field.Path {
	return objectPath(d).Child("metadata", "labels").Key(label)
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

// onePlacement reports the first object of another namespace or placement than the first one. Indexes of
// different placements mean different groups.
func onePlacement(objects []*clusterv1beta1.PlacementDecision) field.ErrorList {
	const label = clusterv1beta1.PlacementLabel
	for _, d := range objects {
		first := objects[0]
		if d.Namespace != first.Namespace {
			return field.ErrorList{field.Invalid(objectPath(d).Child("metadata", "namespace"), d.Namespace, fmt.Sprintf(
				"must be the namespace of the other decisions, as of %s/%s", first.Namespace, first.Name))}
		}
		if d.Labels[label] != first.Labels[label] {
			return field.ErrorList{field.Invalid(labelPath(d, label), d.Labels[label], fmt.Sprintf(
				"must be the placement of the other decisions, %q as for %s/%s", first.Labels[label], first.Namespace, first.Name))}
		}
	}
	return nil
}
