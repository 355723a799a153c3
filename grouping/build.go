package grouping

import (
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// source is one group's decisions before they are indexed. The same key may come several times in a
// row, each with a part of the group.
type source struct {
	key       Key
	object    string // the name of the PlacementDecision that it was read from or is to be written to, if any
	decisions []clusterv1beta1.ClusterDecision
}

// build indexes the sources. Groups and their clusters are in the order of the sources; of the decisions
// for one cluster the first counts (G11), and decisions without a cluster are left out.
func build(sources []source) *Groups {
	total := 0
	for i := range sources {
		total += len(sources[i].decisions)
	}
	// What is found, place after place.
	names := make([]string, 0, total)
	groups := make([]int32, 0, total)
	decisions := make([]*clusterv1beta1.ClusterDecision, 0, total)
	keys := make([]Key, 0, len(sources))
	for i := range sources {
		if len(keys) == 0 || keys[len(keys)-1] != sources[i].key {
			keys = append(keys, sources[i].key)
		}
		for j := range sources[i].decisions {
			if d := &sources[i].decisions[j]; d.ClusterName != "" {
				names = append(names, d.ClusterName)
				groups = append(groups, int32(len(keys)-1))
				decisions = append(decisions, d)
			}
		}
	}
	places := slices.CompactFunc(order(names), func(a, b int32) bool { return names[a] == names[b] })

	g := newGroups(permute(names, places))
	g.keys = keys
	for position, place := range places {
		g.set(position, decisions[place].Reason, decisions[place].Score)
		g.groups[position] = groups[place]
	}
	g.arrange(places, total)
	return g
}

// arrange lists the members of each group in the order of their places, of which there are fewer than total.
// Places ascend with the groups, so that a counting sort does both.
func (g *Groups) arrange(places []int32, total int) {
	g.starts = make([]int32, len(g.keys)+1)
	positions := make([]int32, total) // of each place, from 1
	for position, place := range places {
		positions[place] = int32(position) + 1
		g.starts[g.groups[position]+1]++
	}
	for i := range g.keys {
		g.starts[i+1] += g.starts[i]
	}
	for _, position := range positions {
		if position > 0 {
			g.members = append(g.members, position-1)
		}
	}
}
