package grouping

import (
	"maps"
	"math"
	"slices"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// gap is a range of missing indexes: before a group, and behind another or at the beginning.
type gap struct {
	index   int32 // the lowest of the missing ones
	missing int32 // how many; none unless it is positive
	behind  *Key  // nil at the beginning
	before  *Key
}

// inside says whether the groups on both sides have the same name. The missing groups then have that name, too.
func (g *gap) inside() bool { return g.behind != nil && g.behind.Name == g.before.Name }

// place guesses the groups of the objects that have no index, so that neither their clusters move nor the groups behind them.
// Parse takes such objects for group 0, and build has counted what they name. The result is nil where all objects have an index.
// It is nil, too, where none has, as on a hub that is older than decision groups: each name is one group then, as it was read.
//
// An object is put where an index is missing. Where none is missing, the object was the last group of its name, or its
// group had other objects as well. The latter is possible only where objects are full; the object is left out then, so
// that its clusters go wherever there is room. A cluster that an object with an index has as well belongs to that object.
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
		if s.named >= MaxDecisions {
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

// compareKnown orders names. Names without a known group come first, since indexes are missing for them.
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

// gapsOf gives the gap before each source. The sources are in the order of their keys.
func gapsOf(sources []source) []gap {
	gaps := make([]gap, len(sources))
	var behind *Key
	last := int32(-1)
	for i := range sources {
		key := &sources[i].key
		gaps[i] = gap{index: last + 1, missing: key.Index - 1 - last, behind: behind, before: key}
		behind, last = key, key.Index
	}
	return gaps
}

// missingOf takes up to n indexes for groups of a name out of the gaps, in ascending order. A gap between two groups of one
// name is for that name alone. A gap between two names is for either of them, or for a name without a known group.
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
