package grouping

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
)

// order gives the places of names in ascending order; equal names stay in theirs.
//
// Sorting names is most of what dividing and reading cost, so it is done in one way, and with care:
// Names of a fleet mostly begin alike, so the eight bytes after what all of them share are compared as
// one number, and the names only where those are equal. Stored decisions are mostly sorted within each
// group, so sorted runs are merged where there are few of them.
func order(names []string) []int32 {
	s := newSorter(names)
	items := s.items
	if ends := s.runEnds(); len(ends) <= len(items)/8 {
		items = s.mergeRuns(ends)
	} else {
		slices.SortFunc(items, s.compare)
	}
	places := make([]int32, len(items))
	for i := range items {
		places[i] = items[i].place
	}
	return places
}

// permute gives the names at places.
func permute(names []string, places []int32) []string {
	permuted := make([]string, len(places))
	for i, place := range places {
		permuted[i] = names[place]
	}
	return permuted
}

type sorter struct {
	names []string
	items []item
}

// item is a name that is being sorted.
type item struct {
	key   uint64 // where two differ, they compare as the names do
	place int32
}

func newSorter(names []string) sorter {
	var shared string
	if len(names) > 0 {
		shared = names[0]
	}
	for _, name := range names {
		for !strings.HasPrefix(name, shared) {
			shared = shared[:len(shared)-1]
		}
	}
	items := make([]item, len(names))
	for place, name := range names {
		// A shorter name is followed by zeros, and comes first.
		var key [8]byte
		copy(key[:], name[len(shared):])
		items[place] = item{binary.BigEndian.Uint64(key[:]), int32(place)}
	}
	return sorter{names, items}
}

// before says whether a's name is lower than b's.
func (s sorter) before(a, b item) bool {
	return a.key < b.key || a.key == b.key && s.names[a.place] < s.names[b.place]
}

// compare orders items by name and then place.
func (s sorter) compare(a, b item) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Or(strings.Compare(s.names[a.place], s.names[b.place]), cmp.Compare(a.place, b.place))
}

// runEnds says where the ascending runs of items end.
func (s sorter) runEnds() []int {
	var ends []int
	for i := 1; i < len(s.items); i++ {
		if s.before(s.items[i], s.items[i-1]) {
			ends = append(ends, i)
		}
	}
	return append(ends, len(s.items))
}

// mergeRuns merges neighbouring runs until there is one; r runs take log r passes.
func (s sorter) mergeRuns(ends []int) []item {
	if len(ends) == 1 {
		return s.items
	}
	from, to := s.items, make([]item, len(s.items))
	for len(ends) > 1 {
		merged := ends[:0]
		start := 0
		for i := 0; i < len(ends); i += 2 {
			middle, end := ends[i], ends[min(i+1, len(ends)-1)]
			s.merge(to[start:end], from[start:middle], from[middle:end])
			merged = append(merged, end)
			start = end
		}
		ends = merged
		from, to = to, from
	}
	return from
}

// merge writes the items of two sorted runs, those of a before equal ones of b.
func (s sorter) merge(to, a, b []item) {
	for len(a) > 0 && len(b) > 0 {
		if s.before(b[0], a[0]) {
			to[0], b = b[0], b[1:]
		} else {
			to[0], a = a[0], a[1:]
		}
		to = to[1:]
	}
	copy(to[copy(to, a):], b)
}
