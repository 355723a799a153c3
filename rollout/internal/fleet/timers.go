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
func (timers *Timers) Set(position Position) {
	timers.heap = append(timers.heap, position)
	timers.index[position] = int32(len(timers.heap))
	timers.up(len(timers.heap) - 1)
}

// Clear removes the position if it is in it. The last one of the heap takes its place.
func (timers *Timers) Clear(position Position) {
	at, last := int(timers.index[position])-1, len(timers.heap)-1
	if at < 0 {
		return
	}
	timers.swap(at, last)
	timers.heap, timers.index[position] = timers.heap[:last], 0
	if at < last {
		timers.up(at)
		timers.down(at)
	}
}

// Next gives the position that comes due first, and whether there is one.
func (timers *Timers) Next() (Position, bool) {
	if len(timers.heap) == 0 {
		return 0, false
	}
	return timers.heap[0], true
}

// All gives the positions, in no order. They are not to be changed.
func (timers *Timers) All() []Position { return timers.heap }

// up moves what is at a place towards the first place, until what stands above it does not come due later.
func (timers *Timers) up(at int) {
	for at > 0 {
		above := (at - 1) / 2
		if !timers.before(timers.heap[at], timers.heap[above]) {
			return
		}
		timers.swap(at, above)
		at = above
	}
}

// down moves what is at a place away from the first place, until what stands below it does not come due earlier.
func (timers *Timers) down(at int) {
	for below := 2*at + 1; below < len(timers.heap); below = 2*at + 1 {
		if below+1 < len(timers.heap) && timers.before(timers.heap[below+1], timers.heap[below]) {
			below++
		}
		if !timers.before(timers.heap[below], timers.heap[at]) {
			return
		}
		timers.swap(at, below)
		at = below
	}
}

func (timers *Timers) swap(i, j int) {
	timers.heap[i], timers.heap[j] = timers.heap[j], timers.heap[i]
	timers.index[timers.heap[i]], timers.index[timers.heap[j]] = int32(i+1), int32(j+1)
}
