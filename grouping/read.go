package grouping

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Read gives the groups that are stored in the PlacementDecisions of a placement.
//
// The order of decisions does not matter. A group exists if it has a PlacementDecision, even one without clusters. Objects
// with the same index and name are one group. An object belongs to group 0 if its index label is missing, or is not an int32
// of at least 0, as after an edit by hand. A cluster that several decisions name belongs to the group with the lowest index.
// Decisions with an empty clusterName are slots that are not scheduled yet, and are skipped. The result shares strings with
// the input, nothing else.
//
// [Groups.Incomplete] compares the objects with the status of placement. The groups are complete if the objects are those
// that status.decisionGroups names, in its groups, and none is being deleted. Each group must have its clustersCount,
// each cluster one place, and there must be numberOfSelectedClusters in all. A hub that is older than decision groups
// writes only this number, so only this is compared. Where placement is nil, nothing is compared. Nor is it where the
// placement's annotation cluster.open-cluster-management.io/experimental-scheduling-disable is "true": then another controller
// writes the decisions and nobody the status. Bound removals there (MaxRemoved, RemoveAfter of package rollout), since without a
// seal nothing tells that a rewrite is under way. With or without a placement, groups are incomplete where there is no object
// at all, or one whose index label is no index.
// Where the objects have the seal of [Sealed], with or without a placement, the groups are complete only if they are what was sealed.
// [Groups.ClustersPerDecisionGroup] is read from placement, too.
//
// It is an error (one *field.Error per fault, joined as by [Divide]) if an object is nil, comes twice by its name, or belongs
// to another placement or namespace than the others or than placement. It is an error, too, if the
// clustersPerDecisionGroup of placement is invalid. The groups are nil then. An object also belongs to the Placement that
// controls it, whatever its label says: the label may be missing, or edited by hand.
//
// It takes time mostly linear in the clusters, in whatever order they are stored.
func Read(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) (*Groups, error) {
	sources, of, err := parse(decisions)
	if err != nil {
		return nil, err
	}
	if placement != nil {
		if err := validateStored(placement, decisions, of); err != nil {
			return nil, err
		}
	}
	g := build(sources)
	if placed := place(sources); placed != nil {
		g.placed = build(placed)
	}
	if placement != nil {
		size, err := parseSize(placement, nil)
		if err != nil {
			return nil, err
		}
		g.size = size
	}
	g.completeness = compareStatus(placement, sources, g.NumClusters())
	return g, nil
}

// parse checks the decisions and sorts them by group, and within a group by name, with decision-2 before decision-10. It
// also gives the placements that they all belong to.
func parse(decisions []*clusterv1beta1.PlacementDecision) ([]source, owners, error) {
	var errs field.ErrorList
	objects := make([]*clusterv1beta1.PlacementDecision, 0, len(decisions))
	for i, d := range decisions {
		if d == nil {
			errs = append(errs, field.Required(field.NewPath("placementDecisions").Index(i), "must not be nil"))
			continue
		}
		objects = append(objects, d)
	}
	slices.SortFunc(objects, compareObjects)
	sources := make([]source, len(objects))
	for i, d := range objects {
		index, indexed := groupIndex(d.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		sources[i] = source{
			key:       Key{Index: index, Name: d.Labels[clusterv1beta1.DecisionGroupNameLabel]},
			object:    d.Name,
			decisions: d.Status.Decisions,
			from:      d,
			assumed:   !indexed,
		}
	}
	of, err := onePlacement(objects)
	if err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, fielderrs.Duplicates(objects, compareNamed, sameName)...)
	slices.SortStableFunc(sources, func(a, b source) int { return a.key.Compare(b.key) })
	return sources, of, fielderrs.Join(errs)
}

// compareObjects orders PlacementDecisions by namespace and name, and those without a name by their clusters.
func compareObjects(a, b *clusterv1beta1.PlacementDecision) int {
	order := cmp.Or(strings.Compare(a.Namespace, b.Namespace), compareNames(a.Name, b.Name))
	if order == 0 && a.Name == "" {
		return slices.CompareFunc(a.Status.Decisions, b.Status.Decisions, func(a, b clusterv1beta1.ClusterDecision) int {
			return strings.Compare(a.ClusterName, b.ClusterName)
		})
	}
	return order
}

// compareNamed does what compareObjects does, but never calls two objects without a name equal. Such objects are never
// stored; tests have them.
func compareNamed(a, b *clusterv1beta1.PlacementDecision) int {
	if a.Name == "" {
		return -1
	}
	return compareObjects(a, b)
}

// sameName reports an object that comes twice by its name.
func sameName(d *clusterv1beta1.PlacementDecision) *field.Error {
	return field.Duplicate(objectPath(d).Child("metadata", "name"), d.Name)
}

// compareNames orders names of PlacementDecisions. Names that differ only in the number at their end are in the order
// of that number.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

func objectPath(d *clusterv1beta1.PlacementDecision) *field.Path {
	return field.NewPath("placementDecisions").Key(d.Namespace + "/" + d.Name)
}

func labelPath(d *clusterv1beta1.PlacementDecision, label string) *field.Path {
	return objectPath(d).Child("metadata", "labels").Key(label)
}

// groupIndex reads an index label, and says whether it is an index (G10).
func groupIndex(label string) (int32, bool) {
	index, err := strconv.ParseUint(label, 10, 31)
	if err != nil {
		return 0, false
	}
	return int32(index), true
}

// owners are the placements that an object belongs to: the one that its label names, and its controller (G10). If it has only
// one of the two, that one is in both.
type owners struct{ label, controller string }

func (o owners) has(placement string) bool { return o.label == placement || o.controller == placement }

// onePlacement gives the owners that all objects have in common. It reports the first object that is in another namespace
// than the first one, or that has none of the owners of all objects before it. Indexes of different placements mean different
// groups.
func onePlacement(objects []*clusterv1beta1.PlacementDecision) (common owners, err *field.Error) {
	for _, d := range objects {
		first := objects[0]
		if d.Namespace != first.Namespace {
			return common, field.Invalid(objectPath(d).Child("metadata", "namespace"), d.Namespace, fmt.Sprintf(
				"must be %q, the namespace of the other decisions, as of %s/%s", first.Namespace, first.Namespace, first.Name))
		}
		of := ownersOf(d)
		if d == first {
			common = of
		}
		byLabel, byController := of.has(common.label), of.has(common.controller)
		switch {
		case !byLabel && !byController:
			return common, field.Invalid(placementPath(d), of.label, fmt.Sprintf(
				"must be %q, the placement of the other decisions, as of %s/%s", common.label, first.Namespace, first.Name))
		case !byLabel:
			common.label = common.controller
		case !byController:
			common.controller = common.label
		}
	}
	return common, nil
}

// validateStored reports that the stored objects belong to another placement; one object stands for all. Parse has
// found them to be in one namespace, and what owners they all have.
func validateStored(placement *clusterv1beta1.Placement, stored []*clusterv1beta1.PlacementDecision, all owners) error {
	if len(stored) == 0 {
		return nil
	}
	var errs field.ErrorList
	if stored[0].Namespace != placement.Namespace {
		d := slices.MinFunc(stored, func(a, b *clusterv1beta1.PlacementDecision) int { return compareNames(a.Name, b.Name) })
		errs = append(errs, field.Invalid(objectPath(d).Child("metadata", "namespace"), d.Namespace,
			fmt.Sprintf("must be the namespace of the placement, %q", placement.Namespace)))
	}
	var other *clusterv1beta1.PlacementDecision // the first one of another placement
	if !all.has(placement.Name) {
		for _, d := range stored {
			if !ownersOf(d).has(placement.Name) && (other == nil || compareObjects(d, other) < 0) {
				other = d
			}
		}
		errs = append(errs, field.Invalid(placementPath(other), ownersOf(other).label, fmt.Sprintf("must be the placement, %q", placement.Name)))
	}
	return fielderrs.Join(errs)
}

func ownersOf(d *clusterv1beta1.PlacementDecision) owners {
	label, controller := d.Labels[clusterv1beta1.PlacementLabel], controllerOf(d)
	return owners{cmp.Or(label, controller), cmp.Or(controller, label)}
}

// controllerOf gives the name of the placement that controls an object, or "".
func controllerOf(d *clusterv1beta1.PlacementDecision) string {
	if ref := metav1.GetControllerOfNoCopy(d); ref != nil && ref.Kind == "Placement" {
		if gv, err := schema.ParseGroupVersion(ref.APIVersion); err == nil && gv.Group == clusterv1beta1.GroupName {
			return ref.Name
		}
	}
	return ""
}

// placementPath gives the path at which an object names its placement.
func placementPath(d *clusterv1beta1.PlacementDecision) *field.Path {
	const label = clusterv1beta1.PlacementLabel
	if d.Labels[label] == "" && controllerOf(d) != "" {
		return objectPath(d).Child("metadata", "ownerReferences")
	}
	return labelPath(d, label)
}
