// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"hash/maphash"
	"math/bits"
)

// index finds a name's place in a list of names. It is a hash table with linear probing that holds places
// and a part of each hash; the names stay where they are. Compared with a map from names to places it
// takes one allocation, a third of the memory, half the time to build, and about as long to look up.
type index struct {
	seed maphash.Seed
	// The number of slots is a power of two. A slot that is 0 is free; at least half and less than three quarters are. Any
	// other slot has a place + 1 in its lower bits and the upper bits of the name's hash above it, so that most wrong
	// names need not be compared.
	slots []uint32
	place uint32 // the bits of a slot that are the place
}

// newIndex indexes names, which must all differ.
func newIndex(names []string) index {
	if len(names) == 0 {
		return index{}
	}
	index := index{
		seed:  maphash.MakeSeed(),
		slots: make([]uint32, 1<<bits.Len(uint(2*len(names)-1))),
		place: 1<<bits.Len(uint(len(names))) - 1,
	}
	last := uint64(len(index.slots) - 1)
	for i, name := range names {
		hash := maphash.String(index.seed, name)
		at := hash & last
		for index.slots[at] != 0 {
			at = (at + 1) & last
		}
		index.slots[at] = uint32(hash>>32)&^index.place | uint32(i+1)
	}
	return index
}

// find gives the place of name in names, which must be those that x was made of.
func (x *index) find(names []string, name string) (int, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	hash := maphash.String(x.seed, name)
	last, upper := uint64(len(x.slots)-1), uint32(hash>>32)&^x.place
	for at := hash & last; x.slots[at] != 0; at = (at + 1) & last {
		if slot := x.slots[at]; slot&^x.place == upper {
			if i := int(slot&x.place) - 1; names[i] == name {
				return i, true
			}
		}
	}
	return 0, false
}
