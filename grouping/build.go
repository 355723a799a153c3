// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// source is one group's decisions before they are indexed. A group may have several sources in a row, each with a part
// of it.
type source struct {
	key       Key
	object    string // the name of the PlacementDecision that it was read from or is to be written to, if any
	decisions []clusterv1beta1.ClusterDecision
	from      *clusterv1beta1.PlacementDecision // what parse read it from; nil for any other source
	assumed   bool                              // the label is missing or no index, so the index is taken for 0
	group     Key                               // its name, and its place among the groups of the name instead of the index
	strange   bool                              // no object is stored that has that place with it
	named     int                               // how many of the decisions name a cluster, once namesOf has counted them
}

// label gives the label of the index that parse found, and whether it is there.
func (src *source) label() (string, bool) {
	label, ok := src.from.Labels[clusterv1beta1.DecisionGroupIndexLabel]
	return label, ok
}

// build indexes the sources. Groups and their clusters are in the order of the sources. Where several decisions name a
// cluster, the first counts (G11). Decisions without a cluster are left out.
func build(sources []source) *Groups {
	names := namesOf(sources)
	var positions []int32 // of each place, from 1; 0 where an earlier decision counts. Nil where each place is the position
	if !ascend(names) {
		places := slices.CompactFunc(order(names), func(a, b int32) bool { return names[a] == names[b] })
		positions = make([]int32, len(names))
		for position, place := range places {
			positions[place] = int32(position) + 1
		}
		names = permute(names, places)
	}

	groups, place := 0, int32(0)
	for i := range sources {
		if begins(sources, i) {
			groups++
		}
	}
	g := newGroups(names, groups)
	for i := range sources {
		if begins(sources, i) {
			g.addGroup(sources[i].key)
		}
		for j := range sources[i].decisions {
			decision := &sources[i].decisions[j]
			if decision.ClusterName == "" {
				continue
			}
			position := place
			if positions != nil {
				position = positions[place] - 1
			}
			if place++; position >= 0 {
				g.addMember(position)
				g.set(int(position), decision.Reason, decision.Score)
			}
		}
	}
	return g
}

// ascend says whether each name comes after the one before it, as where the groups were cut from one sorted list.
func ascend(names []string) bool {
	for i := 1; i < len(names); i++ {
		if names[i-1] >= names[i] {
			return false
		}
	}
	return true
}

// begins says whether the i-th source is the first of its group.
func begins(sources []source, i int) bool { return i == 0 || sources[i].key != sources[i-1].key }

// namesOf lists the clusters of all decisions, and counts those of each source.
func namesOf(sources []source) []string {
	total := 0
	for i := range sources {
		total += len(sources[i].decisions)
	}
	names := make([]string, 0, total)
	for i := range sources {
		before := len(names)
		for j := range sources[i].decisions {
			if name := sources[i].decisions[j].ClusterName; name != "" {
				names = append(names, name)
			}
		}
		sources[i].named = len(names) - before
	}
	return names
}
