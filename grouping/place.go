package grouping

import (
	"maps"
	"math"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// gap is where indexes are missing: before a group, behind another or at the beginning.
type gap struct {
	index   int32 // the lowest of the missing ones
	missing int32
	behind  *Key // nil at the beginning
	before  *Key
}

// inside says whether the groups at both sides have the same name, which is then the name of those that are missing.
func (g *gap) inside() bool { return g.behind != nil && g.behind.Name == g.before.Name }

// place guesses the groups of the objects that have no index, which parse takes for those of group 0, so that nobody moves:
// neither their clusters, nor those of the groups behind them. It gives nil where all have an index, or none has, as on a hub that is
// older than decision groups: each name is one group then, as it was read.
//
// An object is put where an index is missing. Where none is, it was the last, or it had others of its group beside it. The
// latter can only be where objects were full; the object is left out then, so that its clusters go wherever there is room.
// Clusters that an object with an index has, too, belong to that one.
func place(sources []source) []source {
	lost := 0
	for i := range sources {
		if sources[i].assumed {
			lost++
		}
	}
	if lost == 0 || lost == len(sources) {
		return nil
	}

	var placed []source
	byName := map[string][]source{} // the objects without an index, in the order of their names
	held := map[string]bool{}       // the clusters of the others
	for i := range sources {
		if s := &sources[i]; s.assumed {
			byName[s.key.Name] = append(byName[s.key.Name], *s)
		} else {
			placed = append(placed, *s)
			for j := range s.decisions {
				held[s.decisions[j].ClusterName] = true
			}
		}
	}
	last := map[string]int32{} // the index of the last known group of each name
	full := map[string]bool{}
	for i := range sources {
		s := &sources[i]
		if !s.assumed {
			last[s.key.Name] = s.key.Index
		}
		if s.size() >= MaxDecisions {
			full[s.key.Name] = true
		}
	}

	gaps := gapsOf(placed)
	names := slices.Sorted(maps.Keys(byName))
	slices.SortStableFunc(names, func(a, b string) int { return compareKnown(last, a, b) })
	for _, name := range names {
		objects := byName[name]
		end, known := last[name]
		indexes := missingOf(gaps, name, known, len(objects))
		if len(indexes) == 0 {
			if full[name] || end == math.MaxInt32 {
				continue
			}
			if known {
				end++
			}
			indexes = []int32{end}
		}
		for i, object := range objects {
			object.key.Index = indexes[min(i, len(indexes)-1)]
			object.decisions = slices.DeleteFunc(slices.Clone(object.decisions), func(d clusterv1beta1.ClusterDecision) bool {
				return held[d.ClusterName]
			})
			placed = append(placed, object)
		}
	}
	slices.SortStableFunc(placed, func(a, b source) int { return a.key.Compare(b.key) })
	return placed
}

// compareKnown orders names: those of which no group is known first, since indexes are missing for them.
func compareKnown(last map[string]int32, a, b string) int {
	_, knownA := last[a]
	_, knownB := last[b]
	switch {
	case knownA == knownB:
		return 0
	case knownB:
		return -1
	default:
		return 1
	}
}

// gapsOf gives the gaps between sources, which are in the order of their keys.
func gapsOf(sources []source) []gap {
	var gaps []gap
	var behind *Key
	next := int32(0)
	for i := range sources {
		key := &sources[i].key
		if missing := key.Index - next; missing > 0 {
			gaps = append(gaps, gap{index: next, missing: missing, behind: behind, before: key})
		}
		behind = key
		if next = key.Index; next < math.MaxInt32 {
			next++
		}
	}
	return gaps
}

// missingOf takes up to n indexes for groups of a name out of the gaps, and gives them in their order. A gap between two groups
// of a name is for that name alone. One at the edge of a name is for either, or for a name of which no group is known.
func missingOf(gaps []gap, name string, known bool, n int) []int32 {
	var indexes []int32
	take := func(fits func(*gap) bool) {
		for i := range gaps {
			for g := &gaps[i]; g.missing > 0 && len(indexes) < n && fits(g); g.missing-- {
				indexes = append(indexes, g.index)
				g.index++
			}
		}
	}
	if known {
		take(func(g *gap) bool { return g.inside() && g.before.Name == name })
		take(func(g *gap) bool { return g.before.Name == name || g.behind != nil && g.behind.Name == name })
	} else {
		take(func(g *gap) bool { return !g.inside() })
	}
	slices.Sort(indexes)
	return indexes
}
