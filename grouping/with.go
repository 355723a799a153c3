// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"maps"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// With gives the groups with the given clusters in the groups of their keys, behind the clusters that are there. A cluster that
// is in another group is taken out of it; that group stays, also without a cluster. A group that does not exist is made, before
// all others of its placement: when a group goes, others may get its index, so that the order is no longer known.
// [Groups.Incomplete] and [Groups.ClustersPerDecisionGroup] stay as they are. Package rollout uses With for clusters that were deselected or moved, and still count.
//
// The result is g where nothing is added. It takes as long as reading the groups.
func (g *Groups) With(clusters map[string]Key) *Groups {
	members := make(map[Key][]clusterv1beta1.ClusterDecision)
	moves := func(name string) bool {
		key, given := clusters[name]
		position, is := g.Position(name)
		return given && is && g.Key(g.GroupAt(position)) != key
	}
	for _, name := range slices.Sorted(maps.Keys(clusters)) {
		if _, is := g.Position(name); name != "" && (!is || moves(name)) {
			members[clusters[name]] = append(members[clusters[name]], clusterv1beta1.ClusterDecision{ClusterName: name})
		}
	}
	if len(members) == 0 {
		return g
	}
	sources := make([]source, 0, g.Len()+len(members))
	for i := range g.Len() {
		key := g.Key(i)
		decisions := make([]clusterv1beta1.ClusterDecision, 0, g.Size(i)+len(members[key]))
		for decision := range g.Clusters(i) {
			if !moves(decision.ClusterName) {
				decisions = append(decisions, decision)
			}
		}
		decisions = append(decisions, members[key]...)
		sources = append(sources, source{key: key, decisions: decisions})
		delete(members, key)
	}
	for _, key := range slices.Backward(slices.SortedFunc(maps.Keys(members), Key.Compare)) {
		first := slices.IndexFunc(sources, func(source source) bool { return source.key.Placement == key.Placement })
		sources = slices.Insert(sources, max(first, 0), source{key: key, decisions: members[key]})
	}
	with := build(sources)
	with.size = limit.Count(g.ClustersPerDecisionGroup())
	if g != nil {
		with.completeness, with.part = g.completeness, g.part
	}
	return with
}
