// SPDX-License-Identifier: Apache-2.0

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
// writes the decisions and none writes the status. Bound removals there (MaxRemoved, RemoveAfter of package rollout), since without a
// seal a rewrite cannot be detected. With or without a placement, groups are incomplete where there is no object
// at all, or one with an invalid index label.
// Where the objects have the seal of [Sealed], with or without a placement, the groups are complete only if they are what was sealed.
// [Groups.ClustersPerDecisionGroup] is read from placement, too.
//
// Objects that are not the placement's are left out, as [Owns] says. Where placement is nil, all must be of one placement.
//
// It is an error (one *field.Error per fault, joined as by [Divide]) if an object is nil, or comes twice by its name. It is an error, too,
// if the clustersPerDecisionGroup of placement is invalid. The groups are nil then.
//
// It takes time mostly linear in the clusters, in whatever order they are stored.
func Read(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) (*Groups, error) {
	sources, err := parse(placement, decisions)
	if err != nil {
		return nil, err
	}
	groups := build(sources)
	groups.standing = stand(sources, groups.NumClusters())
	if placement != nil {
		size, err := parseSize(placement, nil)
		if err != nil {
			return nil, err
		}
		groups.size = size
	}
	groups.completeness = compareStatus(placement, sources, groups.NumClusters())
	if len(sources) == 0 && len(decisions) > 0 {
		groups.missing = fmt.Sprintf("none of %d PlacementDecisions is its own", len(decisions))
	}
	if placement != nil && groups.missing != "" {
		groups.settled = settledGroups(placement)
	}
	return groups, nil
}

// parse checks the decisions and sorts them by group, and within a group by name, with decision-2 before decision-10. It leaves out those
// that are not the placement's. Where there is no placement, they must all be of one.
func parse(placement *clusterv1beta1.Placement, decisions []*clusterv1beta1.PlacementDecision) ([]source, error) {
	var errs field.ErrorList
	objects := make([]*clusterv1beta1.PlacementDecision, 0, len(decisions))
	for i, decision := range decisions {
		switch {
		case decision == nil:
			errs = append(errs, field.Required(field.NewPath("placementDecisions").Index(i), "must not be nil"))
		case placement == nil || Owns(placement, decision):
			objects = append(objects, decision)
		}
	}
	slices.SortFunc(objects, compareObjects)
	sources := make([]source, len(objects))
	for i, decision := range objects {
		index, indexed := groupIndex(decision.Labels[clusterv1beta1.DecisionGroupIndexLabel])
		sources[i] = source{
			key:       Key{Index: index, Name: decision.Labels[clusterv1beta1.DecisionGroupNameLabel]},
			object:    decision.Name,
			decisions: decision.Status.Decisions,
			from:      decision,
			assumed:   !indexed,
		}
	}
	if err := onePlacement(objects); placement == nil && err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, fielderrs.Duplicates(objects, compareNamed, sameName)...)
	slices.SortStableFunc(sources, func(a, b source) int { return a.key.Compare(b.key) })
	findPlaces(sources)
	return sources, fielderrs.Join(errs)
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
func sameName(decision *clusterv1beta1.PlacementDecision) *field.Error {
	return field.Duplicate(objectPath(decision).Child("metadata", "name"), decision.Name)
}

// compareNames orders names of PlacementDecisions. Names that differ only in the number at their end are in the order
// of that number.
func compareNames(a, b string) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return strings.Compare(a, b)
}

func objectPath(decision *clusterv1beta1.PlacementDecision) *field.Path {
	return field.NewPath("placementDecisions").Key(decision.Namespace + "/" + decision.Name)
}

// groupIndex reads an index label, and says whether it is an index (G10).
func groupIndex(label string) (int32, bool) {
	index, err := strconv.ParseUint(label, 10, 31)
	if err != nil {
		return 0, false
	}
	return int32(index), true
}
