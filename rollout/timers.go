package rollout

// timers orders positions by the time at which they come due: a binary heap, with the place of each position in it. Each
// position is in it at most once.
type timers struct {
	before func(a, b int32) bool // whether a comes due before b
	heap   []int32
	index  []int32 // for each position its place in heap plus one; 0 if it has none
}

func newTimers(n int, before func(a, b int32) bool) *timers {
	return &timers{before: before, index: make([]int32, n)}
}

// set adds a position that is not in it.
func (t *timers) set(position int32) {
	t.heap = append(t.heap, position)
	t.index[position] = int32(len(t.heap))
	t.up(len(t.heap) - 1)
}

// clear removes the position if it is in it. The last one of the heap takes its place.
func (t *timers) clear(position int32) {
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

// next gives the position that comes due first, and whether there is one.
func (t *timers) next() (int32, bool) {
	if len(t.heap) == 0 {
		return 0, false
	}
	return t.heap[0], true
}

// up moves what is at a place towards the first place, until what stands above it does not come due later.
func (t *timers) up(at int) {
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
func (t *timers) down(at int) {
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

func (t *timers) swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.index[t.heap[i]], t.index[t.heap[j]] = int32(i+1), int32(j+1)
}
