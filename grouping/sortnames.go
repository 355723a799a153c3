// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"encoding/binary"
	"slices"
	"strings"
)

// order gives the places of names in ascending order. Equal names keep their order.
//
// Dividing and reading spend most of their time on sorting names. Comparing is what makes sorting slow, since the names
// of a fleet mostly begin alike. order avoids comparing: it takes the eight bytes after the prefix that all names
// share as one number, and sorts by that, byte by byte, in linear time. Only names that agree in those bytes are looked
// at again.
func order(names []string) []int32 {
	places := make([]int32, len(names))
	if slices.IsSorted(names) {
		for place := range places {
			places[place] = int32(place)
		}
		return places
	}
	items, spare := make([]item, len(names)), make([]item, len(names))
	for place := range items {
		items[place].place = int32(place)
	}
	sorter{names}.sort(items, spare)
	for i := range items {
		places[i] = items[i].place
	}
	return places
}

// permute gives the names at the places, in their order.
func permute(names []string, places []int32) []string {
	permuted := make([]string, len(places))
	for i, place := range places {
		permuted[i] = names[place]
	}
	return permuted
}

// item is a name that is being sorted.
type item struct {
	key   uint64 // the bytes that are being looked at
	place int32
}

const keyBytes = 8

type sorter struct{ names []string }

// sort sorts items stably by name. Spare is of the same length.
func (s sorter) sort(items, spare []item) {
	const few = 64 // below, a pass over all values of a byte costs more than it saves
	if len(items) < few {
		slices.SortStableFunc(items, s.compare)
		return
	}
	shared := s.shared(items)
	for i := range items {
		// Names that end here are followed by zeros, so that they come before longer ones.
		var key [keyBytes]byte
		copy(key[:], s.names[items[i].place][shared:])
		items[i].key = binary.BigEndian.Uint64(key[:])
	}
	sortByKey(items, spare)
	for start, end := 0, 0; start < len(items); start = end {
		long := true
		for end = start; end < len(items) && items[end].key == items[start].key; end++ {
			long = long && len(s.names[items[end].place]) >= shared+keyBytes
		}
		if same := items[start:end]; long {
			s.sort(same, spare[start:end])
		} else {
			slices.SortStableFunc(same, s.compare)
		}
	}
}

func (s sorter) compare(a, b item) int { return strings.Compare(s.names[a.place], s.names[b.place]) }

// shared gives the length of the prefix that the names of all items share.
func (s sorter) shared(items []item) int {
	prefix := s.names[items[0].place]
	for _, item := range items {
		for !strings.HasPrefix(s.names[item.place], prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return len(prefix)
}

// sortByKey sorts items stably by key, a byte at a time from the last to the first. Bytes in which no keys
// differ cost nothing.
func sortByKey(items, spare []item) {
	var differ uint64
	for _, item := range items {
		differ |= item.key ^ items[0].key
	}
	from, to := items, spare
	for number := range keyBytes {
		shift := 8 * number
		if byte(differ>>shift) == 0 {
			continue
		}
		var next [256]int32 // where the next item with each value of the byte goes
		for _, item := range from {
			next[byte(item.key>>shift)]++
		}
		sum := int32(0)
		for value, count := range next {
			next[value] = sum
			sum += count
		}
		for _, item := range from {
			at := &next[byte(item.key>>shift)]
			to[*at] = item
			*at++
		}
		from, to = to, from
	}
	copy(items, from)
}
