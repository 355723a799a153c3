package grouping

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Option changes how [Divide] divides. A nil Option changes nothing.
type Option func(*options)

type options struct {
	scores   map[string]int64
	reasons  map[string]string
	previous *Groups
}

// Scores gives the clusters' scores by cluster name, as the placement's prioritizers computed them. They are kept in
// the decisions. Where the placement says sortBy: Score, clusters are divided in the order of their scores, the highest
// first, ties by name. A cluster without a score has 0.
func Scores(scores map[string]int64) Option {
	return func(o *options) { o.scores = scores }
}

// Reasons gives why clusters were selected, by cluster name. They are kept in the decisions.
func Reasons(reasons map[string]string) Option {
	return func(o *options) { o.reasons = reasons }
}

// Divide puts the clusters that placement selected into the groups of its decisionStrategy. It reads the placement's
// spec.decisionStrategy and spec.sortBy, and each cluster's name, labels and status.clusterClaims. The order of
// clusters does not matter. The result shares strings with the input, nothing else.
//
// Indexes run from 0 without gaps. A named group that selects no cluster does not exist. Where there is no cluster,
// there is one group without a name. A name that is listed twice has the groups of both places. A
// clustersPerDecisionGroup of 0 cannot be told from an unset one and means all.
//
// The error joins one *field.Error per fault by [errors.Join]: errors.As finds the first, and the error's Unwrap() []error
// gives all. The paths are those in placement or in clusters. The faults are:
//
//   - The placement is nil.
//   - A group has no name, or one that can't be a label's value, or an invalid selector.
//   - ClustersPerDecisionGroup is neither a positive count nor a percentage from 1% to 100%, or sortBy is unknown.
//   - A cluster is nil, has no name, or comes twice.
//   - The previous groups are joined ones.
//
// Matching takes time in proportion to clusters × named groups. The rest is mostly linear in the clusters.
func Divide(placement *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster, opts ...Option) (*Groups, error) {
	var o options
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	division, errs := newDivision(placement, nil)
	if err := ofOnePlacement(field.NewPath("previous"), o.previous); err != nil {
		errs = append(errs, err)
	}
	names, clusterErrs := clusterNames(clusters)
	places := order(names)
	names = permute(names, places)
	clusterErrs = append(clusterErrs, duplicateClusters(names)...)
	if errs = append(errs, clusterErrs...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}

	g := newGroups(names)
	g.completeness, g.size = complete, division.clustersPerGroup
	partOf := make([]int32, len(places))
	for position, place := range places {
		name := names[position]
		g.set(position, o.reasons[name], o.scores[name])
		// Matched in the order of the names, in which objects of a cache mostly lie in memory.
		partOf[position] = division.match(clusters[place])
	}
	heritage := division.inherit(o.previous, g.names, partOf)
	for i, part := range division.split(partOf) {
		if division.byScore && g.scores != nil {
			slices.SortStableFunc(part, func(a, b int32) int { return cmp.Compare(g.scores[b], g.scores[a]) })
		}
		for _, members := range heritage.cut(i, part, division.size(len(places))) {
			g.addGroup(Key{Index: int32(g.Len()), Name: division.name(i)})
			g.addMembers(members...)
		}
	}
	if g.Len() == 0 {
		g.addGroup(Key{})
	}
	return g, nil
}

// clusterNames gives the name of each cluster, or the faults found in them.
func clusterNames(clusters []*clusterv1.ManagedCluster) ([]string, field.ErrorList) {
	var errs field.ErrorList
	path := field.NewPath("clusters")
	names := make([]string, 0, len(clusters))
	for i, cluster := range clusters {
		switch {
		case cluster == nil:
			errs = append(errs, field.Required(path.Index(i), "must not be nil"))
		case cluster.Name == "":
			errs = append(errs, field.Required(path.Index(i).Child("metadata", "name"), "must be the name of a ManagedCluster"))
		default:
			names = append(names, cluster.Name)
		}
	}
	return names, errs
}

// duplicateClusters reports names that stand twice among sorted ones.
func duplicateClusters(names []string) field.ErrorList {
	return fielderrs.Duplicates(names, strings.Compare, func(name string) *field.Error {
		return field.Duplicate(field.NewPath("clusters").Key(name), name)
	})
}
