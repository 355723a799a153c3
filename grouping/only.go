package grouping

import "github.com/cohort-ocm/cohort/internal/limit"

// Only restricts the groups to the clusters for which keep is true. A group stays even if it loses all its clusters.
// Indexes, the order of the clusters, [Groups.Incomplete] and [Groups.ClustersPerDecisionGroup] stay as they are.
//
// The result shares memory with g, which doesn't change; it is g where all are kept. It takes time linear in the clusters.
func (g *Groups) Only(keep func(group Key, cluster string) bool) *Groups {
	return g.restrict(func(int) bool { return true }, func(position int) bool {
		return keep(g.keys[g.groups[position]], g.names[position])
	})
}

// OnlyGroups restricts the groups to those for which keep is true. The others go, with their clusters. Everything else
// is as with [Groups.Only].
func (g *Groups) OnlyGroups(keep func(group Key) bool) *Groups {
	kept := make([]bool, g.Len())
	for i := range kept {
		kept[i] = keep(g.keys[i])
	}
	return g.restrict(func(i int) bool { return kept[i] }, func(position int) bool { return kept[g.groups[position]] })
}

// restrict keeps some groups, and some of their clusters.
func (g *Groups) restrict(keepGroup, keepCluster func(int) bool) *Groups {
	names, places := make([]string, 0, g.NumClusters()), make([]int32, g.NumClusters()) // of the kept, from 1
	for position := range places {
		if keepCluster(position) {
			names = append(names, g.names[position])
			places[position] = int32(len(names))
		}
	}
	keys := 0
	for i := range g.Len() {
		if keepGroup(i) {
			keys++
		}
	}
	if keys == g.Len() && len(names) == len(places) {
		return g
	}

	r := newGroups(names)
	r.completeness, r.size = g.completeness, limit.Count(g.ClustersPerDecisionGroup())
	for i := range g.Len() {
		if !keepGroup(i) {
			continue
		}
		r.addGroup(g.keys[i])
		for _, position := range g.members[g.starts[i]:g.starts[i+1]] {
			if place := places[position] - 1; place >= 0 {
				d := g.decision(position)
				r.addMembers(place)
				r.set(int(place), d.Reason, d.Score)
			}
		}
	}
	return r
}
