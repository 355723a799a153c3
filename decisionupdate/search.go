package decisionupdate

import "slices"

const (
	// mostSearched is the most connected objects for which all plans are tried.
	mostSearched = 4

	// mostLooks bounds the time of a search. Beyond it the best plan so far is taken.
	mostLooks = 1 << 17

	// mostFew is the most clusters of a kind that are split in all ways.
	mostFew = 3
)

// kind is a set of clusters that move from one vertex to another. They are all the same to a search.
type kind struct {
	from, to int
	group    int
	clusters []int32
}

// search tries all plans for up to four objects, those with fewest writes first (D4). It says if it has found a better one than
// the best so far. A step writes each object that can have its final content, and what else is chosen: a surge, or an object of
// the surge. No plan gains by waiting with a final write, nor by keeping what stands elsewhere.
func (m *moves) search(maxSteps int, best plan, few int) (plan, bool) {
	s := newSearch(m)
	if s == nil {
		return plan{}, false
	}
	s.maxSteps, s.few = maxSteps, few
	most := best.writes() - len(m.objects)
	for beyond := 0; beyond <= most; beyond++ {
		for extras := 0; 2*extras <= beyond; extras++ {
			s.steps = 1 << 30
			if beyond == most && extras >= best.extras {
				if s.steps = len(best.steps); extras > best.extras {
					return plan{}, false
				}
			}
			s.extras = extras
			if s.step(1, spot{}, beyond, nil); s.found != nil {
				return s.plan(), true
			}
			if s.looks > mostLooks {
				return plan{}, false
			}
		}
	}
	return plan{}, false
}

// search is what stays the same while plans are tried, and the best one found.
type search struct {
	*moves
	vertices []int32 // with moves
	kinds    []kind
	groups   []Group
	room     []int // by vertex: without what it keeps for others
	extras   int   // objects of the surge, at most
	maxSteps int
	few      int // clusters of a kind that are split in all ways
	steps    int // look for fewer
	looks    int
	found    [][]choice
}

const (
	mostKinds  = mostSearched * (mostSearched - 1)
	mostExtras = 4
)

// spot is how far a plan has come.
type spot struct {
	done   [mostSearched]bool
	early  [mostKinds]int16             // how many of a kind surges have let in
	parked [mostExtras][mostKinds]int16 // how many an object of the surge has, those that surges let in left out
	group  [mostExtras]int8             // from 1; 0 is none
	gone   [mostExtras]bool
	extras int
}

// choice is a write of a plan that is not final: a surge of a vertex, or an object of the surge.
type choice struct {
	vertex int // or -1
	extra  int
	group  int8
	fresh  [mostKinds]int16             // clusters that stand nowhere else yet
	parked [mostExtras][mostKinds]int16 // clusters that an object of the surge has
}

func newSearch(m *moves) *search {
	s := &search{moves: m}
	local := make(map[int32]int)
	for v := range m.objects {
		if len(m.g.in[v])+len(m.g.out[v]) > 0 {
			if len(s.vertices) == mostSearched {
				return nil
			}
			local[int32(v)] = len(s.vertices)
			s.vertices = append(s.vertices, int32(v))
			s.room = append(s.room, m.limit-m.stay[v])
		}
	}
	at := make(map[[2]int]int)
	for i, v := range s.vertices {
		for _, cluster := range m.held[v] {
			j := local[m.goalOf(cluster)]
			if i == j || m.stays[cluster] { // an object without its label gets it: too rare to be searched
				return nil
			}
			k, ok := at[[2]int{i, j}]
			if !ok {
				g := m.groupFor(cluster)
				if !slices.Contains(s.groups, g) {
					s.groups = append(s.groups, g)
				}
				k = len(s.kinds)
				at[[2]int{i, j}] = k
				s.kinds = append(s.kinds, kind{from: i, to: j, group: slices.Index(s.groups, g)})
			}
			s.kinds[k].clusters = append(s.kinds[k].clusters, cluster)
		}
	}
	return s
}

// uncovered returns how many of a kind stand nowhere but in the object that holds them.
func (s *search) uncovered(at *spot, k int) int {
	if at.done[s.kinds[k].to] {
		return 0
	}
	n := len(s.kinds[k].clusters) - int(at.early[k])
	for x := range at.extras {
		n -= int(at.parked[x][k])
	}
	return n
}

// step goes on from a spot with the next step, in all ways whose writes beyond the final ones stay within the bound.
func (s *search) step(number int, at spot, beyond int, path [][]choice) {
	if s.looks++; s.looks > mostLooks {
		return
	}
	next, progress, open := at, false, false
	for i := range s.vertices {
		if at.done[i] {
			continue
		}
		covered := true
		for k := range s.kinds {
			covered = covered && (s.kinds[k].from != i || s.uncovered(&at, k) == 0)
		}
		if next.done[i] = covered; covered {
			progress = true
		} else {
			open = true
		}
	}
	left := false
	for x := range at.extras {
		if at.gone[x] {
			continue
		}
		if next.gone[x] = s.empty(&at, x); next.gone[x] {
			progress = true
		} else {
			left = true
		}
	}
	switch {
	case !open && !left: // this step is the last
		s.end(number, path)
		return
	case !open:
		s.step(number+1, next, beyond, append(path, nil))
		return
	case number+1 >= s.steps || s.maxSteps > 0 && number >= s.maxSteps:
		return
	}
	s.choose(0, number, &at, next, beyond, progress, path, nil)
}

// end notes a plan.
func (s *search) end(number int, path [][]choice) {
	if number < s.steps {
		s.steps, s.found = number, append([][]choice{}, path...)
	}
}

// empty reports whether the clusters of an object of the surge have all arrived.
func (s *search) empty(at *spot, x int) bool {
	for k := range s.kinds {
		if at.parked[x][k] > 0 && !at.done[s.kinds[k].to] {
			return false
		}
	}
	return true
}

// choose tries all choices of surges from the i-th vertex on, then of objects of the surge.
func (s *search) choose(i, number int, at *spot, next spot, beyond int, progress bool, path [][]choice, chosen []choice) {
	if i == len(s.vertices) {
		s.chooseExtra(0, number, at, next, beyond, progress, path, chosen)
		return
	}
	s.choose(i+1, number, at, next, beyond, progress, path, chosen)
	if beyond == 0 || at.done[i] || next.done[i] {
		return
	}
	room := s.room[i]
	for k := range s.kinds {
		switch i {
		case s.kinds[k].from:
			room -= s.uncovered(at, k)
		case s.kinds[k].to:
			room -= int(at.early[k])
		}
	}
	s.fill(0, room, at, choice{vertex: i, extra: -1}, false, func(c choice) {
		after := next
		for k := range s.kinds {
			after.early[k] += c.fresh[k]
			for x := range at.extras {
				after.early[k] += c.parked[x][k]
				after.parked[x][k] -= c.parked[x][k]
			}
		}
		s.choose(i+1, number, at, after, beyond-1, true, path, append(chosen[:len(chosen):len(chosen)], c))
	})
}

// chooseExtra tries all ways to write the objects of the surge from the x-th on, or to make one more.
func (s *search) chooseExtra(x, number int, at *spot, next spot, beyond int, progress bool, path [][]choice, chosen []choice) {
	if x < at.extras {
		s.chooseExtra(x+1, number, at, next, beyond, progress, path, chosen)
		if beyond == 0 || at.gone[x] {
			return
		}
		room := s.limit
		for k := range s.kinds {
			if !at.done[s.kinds[k].to] {
				room -= int(at.parked[x][k])
			}
		}
		s.fill(0, room, at, choice{vertex: -1, extra: x, group: at.group[x]}, false, func(c choice) {
			if after, ok := s.parkedBy(at, next, c); ok {
				s.chooseExtra(x+1, number, at, after, beyond-1, true, path, append(chosen[:len(chosen):len(chosen)], c))
			}
		})
		return
	}
	if progress {
		s.step(number+1, next, beyond, append(path[:len(path):len(path)], chosen))
	}
	if beyond < 2 || next.extras == s.extras || next.extras == mostExtras {
		return
	}
	for g := range s.groups {
		s.fill(0, s.limit, at, choice{vertex: -1, extra: next.extras, group: int8(g + 1)}, false, func(c choice) {
			if after, ok := s.parkedBy(at, next, c); ok {
				s.chooseExtra(x+1, number, at, after, beyond-2, true, path, append(chosen[:len(chosen):len(chosen)], c))
			}
		})
	}
}

// parkedBy returns the spot after an object of the surge is written. It is not ok if other choices of the step have some of the
// clusters already.
func (s *search) parkedBy(at *spot, next spot, c choice) (spot, bool) {
	next.group[c.extra], next.extras = c.group, max(next.extras, c.extra+1)
	next.gone[c.extra] = false // to write it again is better than to delete it and create another
	for k := range s.kinds {
		next.parked[c.extra][k] += c.fresh[k]
		if at.done[s.kinds[k].to] {
			next.parked[c.extra][k] = 0
		} else if !next.done[s.kinds[k].to] && s.uncovered(&next, k) < 0 {
			return next, false
		}
	}
	return next, true
}

// fill calls visit with each choice of clusters that fit into the room and are not none.
func (s *search) fill(k, room int, at *spot, c choice, some bool, visit func(choice)) {
	if k == len(s.kinds) {
		if some && s.looks <= mostLooks {
			visit(c)
		}
		return
	}
	s.fill(k+1, room, at, c, some, visit)
	fits := c.vertex == s.kinds[k].to || c.vertex < 0 && int(c.group) == s.kinds[k].group+1
	if !fits || at.done[s.kinds[k].to] {
		return
	}
	for _, n := range s.amounts(s.uncovered(at, k), room) {
		more := c
		more.fresh[k] = int16(n)
		s.fill(k+1, room-n, at, more, true, visit)
	}
	if c.vertex < 0 {
		return
	}
	for x := range at.extras {
		for _, n := range s.amounts(int(at.parked[x][k]), room) {
			more := c
			more.parked[x][k] = int16(n)
			s.fill(k+1, room-n, at, more, true, visit)
			for _, fresh := range s.amounts(s.uncovered(at, k), room-n) {
				both := more
				both.fresh[k] = int16(fresh)
				s.fill(k+1, room-n-fresh, at, both, true, visit)
			}
		}
	}
}

// amounts returns how many of n clusters are tried to move: each number if n is small, otherwise as many as there is room for.
func (s *search) amounts(n, room int) []int {
	most := min(n, room)
	if most <= 0 {
		return nil
	}
	if n > s.few {
		return []int{most}
	}
	all := [mostFew]int{1, 2, 3}
	return all[:most]
}
