// SPDX-License-Identifier: Apache-2.0

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

// Options say more of a division. The zero Options add nothing.
type Options struct {
	// Scores are the clusters' scores by cluster name, as the placement's prioritizers computed them. They are kept in the
	// decisions. Where the placement says sortBy: Score, clusters are divided in the order of their scores, the highest first,
	// ties by name. A cluster without a score has 0.
	Scores map[string]int64 `json:"scores,omitempty"`
	// Reasons say why clusters were selected, by cluster name. They are kept in the decisions.
	Reasons map[string]string `json:"reasons,omitempty"`
	// Previous makes [Divide] steady. It has the groups that the clusters were in, as from [Read]. A cluster that is still
	// selected and still matches the name of its group stays in it while the group is within its size. Where it
	// is nil, every change divides anew.
	//
	// Clusters that are new to a name fill its last group, then those before it that have room, then new groups. A group
	// that loses all its clusters stays, empty, while a later group of its name has some, so that the groups of a name
	// never change places. When the size shrinks, only what exceeds it moves: the last clusters of each group by name or
	// score. When it grows, nothing moves, and groups that could now be one stay apart. A size in percent changes with the
	// number of selected clusters, and the same holds.
	//
	// A group is identified by its name and its place among the groups of that name, not by its index. Indexes have no
	// gaps: when a name gains or loses a group, the groups of the names behind it get other indexes and keep their
	// clusters. A name that decisionGroups lists twice has all its groups at the first place. Only what groups hold is
	// remembered: a name that was gone for a while starts anew.
	//
	// After an update that was cut short, each cluster stays, and new ones go where they would have gone: [Groups.Decisions] stores the
	// places with its objects, and Read knows them.
	Previous *Groups `json:"-"`
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
func Divide(placement *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster, opts Options) (*Groups, error) {
	division, errs := newDivision(placement, nil)
	if err := ofOnePlacement(field.NewPath("previous"), opts.Previous); err != nil {
		errs = append(errs, err)
	}
	names, clusterErrs := clusterNames(clusters)
	places := order(names)
	names = permute(names, places)
	clusterErrs = append(clusterErrs, duplicateClusters(names)...)
	if errs = append(errs, clusterErrs...); len(errs) > 0 {
		return nil, fielderrs.Join(errs)
	}

	groups := newGroups(names, 8)
	groups.completeness, groups.size = complete, division.clustersPerGroup
	partOf := make([]int32, len(places))
	for position, place := range places {
		name := names[position]
		groups.set(position, opts.Reasons[name], opts.Scores[name])
		// Matched in the order of the names, in which objects of a cache mostly lie in memory.
		partOf[position] = division.match(clusters[place])
	}
	heritage := division.inherit(opts.Previous, groups.names, partOf)
	for i, part := range division.split(partOf) {
		if division.byScore && groups.scores != nil {
			slices.SortStableFunc(part, func(a, b int32) int { return cmp.Compare(groups.scores[b], groups.scores[a]) })
		}
		for _, members := range heritage.cut(i, part, division.size(len(places))) {
			groups.addGroup(Key{Index: int32(groups.Len()), Name: division.name(i)})
			for _, position := range members {
				groups.addMember(position)
			}
		}
	}
	if groups.Len() == 0 {
		groups.addGroup(Key{})
	}
	return groups, nil
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
