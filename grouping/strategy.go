package grouping

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// division is a checked decisionStrategy.
type division struct {
	groups           []namedGroup
	clustersPerGroup limit.Limit
	byScore          bool
}

type namedGroup struct {
	name string
	selector
}

// size is the number of clusters that a group may have, at least 1 (G2).
func (d division) size(total int) int {
	if d.clustersPerGroup.IsZero() {
		return max(total, 1)
	}
	return max(d.clustersPerGroup.Of(total), 1)
}

// limit is [Groups.ClustersPerDecisionGroup] of a division of so many clusters.
func (d division) limit(total int) int { return sizeLimit(d.clustersPerGroup, total) }

func newDivision(placement *clusterv1beta1.Placement, path *field.Path) (division, field.ErrorList) {
	if placement == nil {
		return division{}, field.ErrorList{nilPlacement()}
	}
	spec := path.Child("spec")
	d := division{byScore: placement.Spec.SortBy == clusterv1beta1.PlacementSortByScore}
	var errs field.ErrorList
	switch by := placement.Spec.SortBy; by {
	case "", clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore:
	default:
		errs = append(errs, field.NotSupported(spec.Child("sortBy"), by, []clusterv1beta1.PlacementSortByType{
			clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore}))
	}

	strategy := placement.Spec.DecisionStrategy.GroupStrategy
	size, err := parseSize(sizePath(path), strategy.ClustersPerDecisionGroup)
	if d.clustersPerGroup = size; err != nil {
		errs = append(errs, err)
	}
	for i, group := range strategy.DecisionGroups {
		path := groupStrategyPath(path).Child("decisionGroups").Index(i)
		errs = append(errs, validateGroupName(path.Child("groupName"), group.GroupName)...)
		s, selectorErrs := newSelector(path.Child("groupClusterSelector"), group)
		errs = append(errs, selectorErrs...)
		d.groups = append(d.groups, namedGroup{group.GroupName, s})
	}
	return d, errs
}

// name is the name of a part. A part is the clusters of one named group or, last, the clusters that none selects.
func (d division) name(part int) string {
	if part == len(d.groups) {
		return ""
	}
	return d.groups[part].name
}

// match says in which part a cluster is: the first that selects it, or the last (G1).
func (d division) match(cluster *clusterv1.ManagedCluster) int32 {
	part := 0
	for part < len(d.groups) && !d.groups[part].matches(cluster) {
		part++
	}
	return int32(part)
}

// split lists the positions of each part.
func (d division) split(partOf []int32) [][]int32 {
	counts := make([]int, len(d.groups)+1)
	for _, part := range partOf {
		counts[part]++
	}
	parts := make([][]int32, len(counts))
	for part, count := range counts {
		parts[part] = make([]int32, 0, count)
	}
	for position, part := range partOf {
		parts[part] = append(parts[part], int32(position))
	}
	return parts
}
