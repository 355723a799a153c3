package grouping

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/internal/limit"
)

// Option changes how [Divide] divides.
type Option func(*options)

type options struct {
	scores   map[string]int64
	reasons  map[string]string
	previous *Groups
}

// Scores gives the clusters' scores, as the placement's prioritizers computed them, by cluster name. They
// are kept in the decisions; where the placement says sortBy: Score, clusters are divided in their order,
// highest first and ties by name (G4). A cluster without a score has 0.
func Scores(scores map[string]int64) Option {
	return func(o *options) { o.scores = scores }
}

// Reasons gives why clusters were selected, by cluster name. They are kept in the decisions (G4).
func Reasons(reasons map[string]string) Option {
	return func(o *options) { o.reasons = reasons }
}

// Divide puts the clusters that placement selected into the groups of its decisionStrategy (G1 to G5).
// Of placement, spec.decisionStrategy and spec.sortBy are read; of each cluster its name, its labels and
// status.clusterClaims. The order of clusters does not matter. The result shares strings with the
// input, nothing else.
//
// Indexes run from 0 without gaps. A named group that selects no cluster does not exist; without any
// cluster there is one group, without a name. A name that is listed twice has the groups of both
// places. A clustersPerDecisionGroup of 0 can't be told from none and means all.
//
// It is an error (one *field.Error per fault, found by errors.As, with the path in the placement or in
// clusters) if the placement is nil, a group has no name or one that can't be a label's value, a selector
// is invalid, clustersPerDecisionGroup is neither a positive count nor a percentage from 1% to 100%,
// sortBy is unknown, a cluster is nil, has no name, or comes twice, or the previous groups are joined ones.
//
// Matching costs time in proportion to clusters × named groups, the rest what sorting the clusters by
// name costs.
func Divide(placement *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster, opts ...Option) (*Groups, error) {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	division, errs := newDivision(placement)
	if err := ofOnePlacement(field.NewPath("previous"), o.previous); err != nil {
		errs = append(errs, err)
	}
	sorted, clusterErrs := byName(clusters)
	if errs = append(errs, clusterErrs...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}

	g := newGroups(len(sorted))
	for i, c := range sorted {
		g.add(i, clusterv1beta1.ClusterDecision{ClusterName: c.name, Reason: o.reasons[c.name], Score: o.scores[c.name]})
	}
	partOf := division.match(sorted)
	heritage := division.inherit(o.previous, g.names, partOf)
	for i, part := range division.split(partOf) {
		if division.byScore && g.scores != nil {
			slices.SortStableFunc(part, func(a, b int32) int { return cmp.Compare(g.scores[b], g.scores[a]) })
		}
		for _, members := range heritage.cut(i, part, division.size(len(sorted))) {
			g.addGroup(division.name(i), members)
		}
	}
	if g.Len() == 0 {
		g.addGroup("", nil)
	}
	return g, nil
}

// division is a checked decisionStrategy.
type division struct {
	groups  []namedGroup
	perSize limit.Limit
	byScore bool
}

type namedGroup struct {
	name string
	selector
}

// size is the number of clusters that a group may have, at least 1 (G2).
func (d division) size(total int) int {
	if d.perSize.IsZero() {
		return max(total, 1)
	}
	return max(d.perSize.Of(total), 1)
}

func newDivision(placement *clusterv1beta1.Placement) (division, field.ErrorList) {
	if placement == nil {
		return division{}, field.ErrorList{field.Required(field.NewPath("placement"), "must not be nil")}
	}
	spec := field.NewPath("spec")
	d := division{byScore: placement.Spec.SortBy == clusterv1beta1.PlacementSortByScore}
	var errs field.ErrorList
	switch by := placement.Spec.SortBy; by {
	case "", clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore:
	default:
		errs = append(errs, field.NotSupported(spec.Child("sortBy"), by, []clusterv1beta1.PlacementSortByType{
			clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore}))
	}

	strategy, path := placement.Spec.DecisionStrategy.GroupStrategy, spec.Child("decisionStrategy", "groupStrategy")
	size, err := parseSize(path.Child("clustersPerDecisionGroup"), strategy.ClustersPerDecisionGroup)
	if d.perSize = size; err != nil {
		errs = append(errs, err)
	}
	for i, group := range strategy.DecisionGroups {
		path := path.Child("decisionGroups").Index(i)
		errs = append(errs, validateGroupName(path.Child("groupName"), group.GroupName)...)
		s, selectorErrs := newSelector(path.Child("groupClusterSelector"), group)
		errs = append(errs, selectorErrs...)
		d.groups = append(d.groups, namedGroup{group.GroupName, s})
	}
	return d, errs
}

// name is that of a part: the clusters of one named group, or, last, those that none selects.
func (d division) name(part int) string {
	if part == len(d.groups) {
		return ""
	}
	return d.groups[part].name
}

// match says in which part each cluster is: the first that selects it, or the last (G1).
func (d division) match(clusters []candidate) []int32 {
	partOf := make([]int32, len(clusters))
	for at, cluster := range clusters {
		part := 0
		for part < len(d.groups) && !d.groups[part].matches(cluster.ManagedCluster) {
			part++
		}
		partOf[at] = int32(part)
	}
	return partOf
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

// candidate is a cluster beside its name, which sorting looks at far more often.
type candidate struct {
	name string
	*clusterv1.ManagedCluster
}

// byName checks the clusters and sorts them by name.
func byName(clusters []*clusterv1.ManagedCluster) ([]candidate, field.ErrorList) {
	var errs field.ErrorList
	path := field.NewPath("clusters")
	sorted := make([]candidate, 0, len(clusters))
	for i, cluster := range clusters {
		switch {
		case cluster == nil:
			errs = append(errs, field.Required(path.Index(i), "must not be nil"))
		case cluster.Name == "":
			errs = append(errs, field.Required(path.Index(i).Child("metadata", "name"), "must be the name of a ManagedCluster"))
		default:
			sorted = append(sorted, candidate{cluster.Name, cluster})
		}
	}
	slices.SortFunc(sorted, func(a, b candidate) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(sorted); i++ {
		// Of a name that stands three times, say so once.
		if sorted[i].name == sorted[i-1].name && (i == 1 || sorted[i-2].name != sorted[i].name) {
			errs = append(errs, field.Duplicate(path.Key(sorted[i].name).Child("metadata", "name"), sorted[i].name))
		}
	}
	return sorted, errs
}
