// SPDX-License-Identifier: Apache-2.0

package fleet

import "slices"

// Paged has a value for each position. It has room only for the pages of positions where a value is not zero, since few
// clusters of a large fleet are in flight or failed.
type Paged[V comparable] struct {
	pages  []int32 // of each page of positions: which page of the values has theirs, counted from 1
	values []V
}

// pageSize is how many neighbours have their values in one page.
const pageSize = 16

// Of gives the value of a position; zero where there is nothing at all.
func (paged *Paged[V]) Of(position Position) (value V) {
	if paged.pages == nil {
		return value
	}
	if page := int(paged.pages[position/pageSize]); page > 0 {
		value = paged.values[(page-1)*pageSize+int(position%pageSize)]
	}
	return value
}

// Set notes the value of one of n positions.
func (paged *Paged[V]) Set(position Position, value V, n int) {
	var zero V
	if paged.pages == nil {
		if value == zero {
			return
		}
		paged.pages = make([]int32, (n+pageSize-1)/pageSize)
	}
	page := &paged.pages[position/pageSize]
	if *page == 0 {
		if value == zero {
			return
		}
		*page = paged.addPage()
	}
	paged.values[int(*page-1)*pageSize+int(position%pageSize)] = value
}

// addPage makes room for one more page. The room grows in at most three steps, as many for a small fleet as for a large one: a sixteenth of
// the positions, a quarter, all; at first two pages, and then four, where that is more; and once more after a clone.
func (paged *Paged[V]) addPage() int32 {
	used, pages := len(paged.values), len(paged.pages)
	if cap(paged.values)-used < pageSize {
		room := pages
		switch quarter := max(pages/4, 4); {
		case used == 0:
			room = min(pages, max(pages/16, 2))
		case used < quarter*pageSize:
			room = min(pages, quarter)
		}
		grown := make([]V, used, room*pageSize)
		copy(grown, paged.values)
		paged.values = grown
	}
	paged.values = paged.values[:used+pageSize]
	return int32(used/pageSize) + 1
}

// IsEmpty says whether no value was noted.
func (paged *Paged[V]) IsEmpty() bool { return paged.pages == nil }

// Clone gives a copy.
func (paged *Paged[V]) Clone() Paged[V] {
	return Paged[V]{slices.Clone(paged.pages), slices.Clone(paged.values)}
}
