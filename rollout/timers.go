package rollout

import (
	"container/heap"
	"time"
)

// timers orders positions by the time at which they come due. Each position is in it at most once.
type timers struct {
	due   func(position int32) time.Time
	heap  []int32
	index []int32 // for each position its place in heap plus one; 0 if it has none
}

var _ heap.Interface = (*timers)(nil)

func newTimers(n int, due func(position int32) time.Time) *timers {
	return &timers{due: due, index: make([]int32, n)}
}

// set adds a position that is not in it.
func (t *timers) set(position int32) { heap.Push(t, position) }

// clear removes the position if it is in it.
func (t *timers) clear(position int32) {
	if at := t.index[position]; at > 0 {
		heap.Remove(t, int(at-1))
	}
}

// next gives the position that comes due first, and whether there is one.
func (t *timers) next() (int32, bool) {
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0], true
}

// Len implements heap.Interface.
func (t *timers) Len() int { return len(t.heap) }

// Less implements heap.Interface.
func (t *timers) Less(i, j int) bool { return t.due(t.heap[i]).Before(t.due(t.heap[j])) }

// Swap implements heap.Interface.
func (t *timers) Swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.index[t.heap[i]], t.index[t.heap[j]] = int32(i+1), int32(j+1)
}

// Push implements heap.Interface.
func (t *timers) Push(x any) {
	position := x.(int32)
	t.heap = append(t.heap, position)
	t.index[position] = int32(len(t.heap))
}

// Pop implements heap.Interface.
func (t *timers) Pop() any {
	last := len(t.heap) - 1
	position := t.heap[last]
	t.heap = t.heap[:last]
	t.index[position] = 0
	return position
}
