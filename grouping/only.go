// SPDX-License-Identifier: Apache-2.0

package grouping

import "github.com/cohort-ocm/cohort/internal/limit"

// Only restricts the groups to the clusters for which keep is true. A group stays even if it loses all its clusters.
// Indexes, the order of the clusters, [Groups.Incomplete] and [Groups.ClustersPerDecisionGroup] stay as they are.
//
// The result shares memory with g, which doesn't change; it is g where all are kept. It takes time linear in the clusters.
func (g *Groups) Only(keep func(group Key, cluster string) bool) *Groups {
	names, places := make([]string, 0, g.NumClusters()), make([]int32, g.NumClusters()) // of the kept, from 1
	for position := range places {
		if keep(g.keys[g.groups[position]], g.names[position]) {
			names = append(names, g.names[position])
			places[position] = int32(len(names))
		}
	}
	if len(names) == len(places) {
		return g
	}

	groups := newGroups(names, g.Len())
	groups.completeness, groups.size = g.completeness, limit.Count(g.ClustersPerDecisionGroup())
	for i := range g.Len() {
		groups.addGroup(g.keys[i])
		for _, position := range g.members[g.starts[i]:g.starts[i+1]] {
			if place := places[position] - 1; place >= 0 {
				decision := g.decision(position)
				groups.addMember(place)
				groups.set(int(place), decision.Reason, decision.Score)
			}
		}
	}
	return groups
}
