// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"strconv"
	"testing"
)

// The slots of an index are a power of two, and from half to three quarters of them are free: more would be slow to search,
// fewer a waste.
func TestIndexIsHalfFree(t *testing.T) {
	var names []string
	for n := 1; n <= 70; n++ {
		names = append(names, strconv.Itoa(n))
		slots := newIndex(names).slots
		free := 0
		for _, slot := range slots {
			if slot == 0 {
				free++
			}
		}
		if len(slots)&(len(slots)-1) != 0 || 2*free < len(slots) || 4*free >= 3*len(slots) {
			t.Errorf("of %d slots for %d names, %d are free", len(slots), n, free)
		}
	}
}
