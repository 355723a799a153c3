package grouping

import (
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// source is one group's decisions before they are indexed. The same key may come several times in a
// row, each with a part of the group.
type source struct {
	key       Key
	object    string // the name of the PlacementDecision that it was read from, if any
	decisions []clusterv1beta1.ClusterDecision
}

// entry is one decision on its way into a Groups.
type entry struct {
	name  string
	group int32 // its place among the keys
	rank  int32 // its place in all of the input
	from  *clusterv1beta1.ClusterDecision
}

// build indexes the sources, whose keys ascend. Of the decisions for one cluster the first counts
// (G11), and decisions without a cluster are left out. Linear but for sorting what is not in the order
// of the names already: n clusters in r ascending runs cost n·log r comparisons.
func build(sources []source) *Groups {
	total := 0
	for i := range sources {
		total += len(sources[i].decisions)
	}
	var keys []Key
	entries := make([]entry, 0, total)
	for i := range sources {
		if len(keys) == 0 || keys[len(keys)-1] != sources[i].key {
			keys = append(keys, sources[i].key)
		}
		decisions := sources[i].decisions
		for j := range decisions {
			if decisions[j].ClusterName != "" {
				entries = append(entries, entry{decisions[j].ClusterName, int32(len(keys) - 1), int32(len(entries)), &decisions[j]})
			}
		}
	}
	return index(keys, entries, total)
}

// index makes groups of the keys, which stay in their order, and of the entries, whose ranks are below ranks
// and ascend with the keys. Of the entries of one name the one with the lowest rank counts.
func index(keys []Key, entries []entry, ranks int) *Groups {
	entries = slices.CompactFunc(sortRuns(entries), func(a, b entry) bool { return a.name == b.name })

	g := newGroups(len(entries))
	g.keys = keys
	for i, e := range entries {
		g.add(i, *e.from)
		g.groups[i] = e.group
	}
	g.arrange(entries, ranks)
	return g
}

// arrange lists the positions of each group by rank, of which there are fewer than ranks. Ranks ascend
// with the groups, so that a counting sort by rank does both.
func (g *Groups) arrange(entries []entry, ranks int) {
	byRank := make([]int32, ranks)
	g.starts = make([]int32, len(g.keys)+1)
	for i, e := range entries {
		byRank[e.rank] = int32(i) + 1
		g.starts[e.group+1]++
	}
	for i := range g.keys {
		g.starts[i+1] += g.starts[i]
	}
	for _, position := range byRank {
		if position != 0 {
			g.members = append(g.members, position-1)
		}
	}
}

// sortRuns sorts entries by name and then rank. Where the same name comes twice, the lower rank comes first. Stored decisions
// are mostly sorted within each group, so it merges the runs that it finds, which takes one look where
// there is one run and beats a general sort by as much as there are fewer runs than clusters.
func sortRuns(entries []entry) []entry {
	ends := runEnds(entries)
	if len(ends) > len(entries)/8 {
		slices.SortFunc(entries, entry.compare)
		return entries
	}
	if len(ends) == 1 {
		return entries
	}
	from, to := entries, make([]entry, 0, len(entries))
	for len(ends) > 1 {
		to = to[:0]
		merged := ends[:0]
		start := 0
		for i := 0; i < len(ends); i += 2 {
			middle, end := ends[i], ends[min(i+1, len(ends)-1)]
			to = merge(to, from[start:middle], from[middle:end])
			merged = append(merged, end)
			start = end
		}
		ends = merged
		from, to = to, from
	}
	return from
}

// runEnds says where the ascending runs of entries end.
func runEnds(entries []entry) []int {
	var ends []int
	for i := 1; i < len(entries); i++ {
		if entries[i].name < entries[i-1].name {
			ends = append(ends, i)
		}
	}
	return append(ends, len(entries))
}

// merge appends the entries of two sorted runs, those of a before equal ones of b.
func merge(to, a, b []entry) []entry {
	for len(a) > 0 && len(b) > 0 {
		if b[0].name < a[0].name {
			to, b = append(to, b[0]), b[1:]
		} else {
			to, a = append(to, a[0]), a[1:]
		}
	}
	return append(append(to, a...), b...)
}

func (e entry) compare(other entry) int {
	if c := strings.Compare(e.name, other.name); c != 0 {
		return c
	}
	return int(e.rank) - int(other.rank)
}
