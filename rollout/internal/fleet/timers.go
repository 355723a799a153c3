// SPDX-License-Identifier: Apache-2.0

package fleet

// Timers orders positions by the time at which they come due: a binary heap, with the place of each position in it. Each
// position is in it at most once.
type Timers struct {
	before func(a, b Position) bool // whether a comes due before b
	heap   []Position
	index  []int32 // for each position its place in heap plus one; 0 if it has none
}

// NewTimers makes timers without any of n positions. Before says whether a comes due before b.
func NewTimers(n int, before func(a, b Position) bool) *Timers {
	return &Timers{before: before, index: make([]int32, n)}
}

// Set adds a position that is not in it.
func (t *Timers) Set(position Position) {
	t.heap = append(t.heap, position)
	t.index[position] = int32(len(t.heap))
	t.up(len(t.heap) - 1)
}

// Clear removes the position if it is in it. The last one of the heap takes its place.
func (t *Timers) Clear(position Position) {
	at, last := int(t.index[position])-1, len(t.heap)-1
	if at < 0 {
		return
	}
	t.swap(at, last)
	t.heap, t.index[position] = t.heap[:last], 0
	if at < last {
		t.up(at)
		t.down(at)
	}
}

// Next gives the position that comes due first, and whether there is one.
func (t *Timers) Next() (Position, bool) {
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0], true
}

// All gives the positions, in no order. They are not to be changed.
func (t *Timers) All() []Position { return t.heap }

// up moves what is at a place towards the first place, until what stands above it does not come due later.
func (t *Timers) up(at int) {
	for at > 0 {
		above := (at - 1) / 2
		if !t.before(t.heap[at], t.heap[above]) {
			return
		}
		t.swap(at, above)
		at = above
	}
}

// down moves what is at a place away from the first place, until what stands below it does not come due earlier.
func (t *Timers) down(at int) {
	for below := 2*at + 1; below < len(t.heap); below = 2*at + 1 {
		if below+1 < len(t.heap) && t.before(t.heap[below+1], t.heap[below]) {
			below++
		}
		if !t.before(t.heap[below], t.heap[at]) {
			return
		}
		t.swap(at, below)
		at = below
	}
}

func (t *Timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.index[t.heap[i]], t.index[t.heap[j]] = int32(i+1), int32(j+1)
}
