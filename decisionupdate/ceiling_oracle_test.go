// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import "math/bits"

// ceiling is a small world of full objects, and an exhaustive search for the best update of it, straight from D4. It knows
// clusters one by one, and no graph. In each step it may write every object: finally, or with any clusters that fit into it
// early, or objects of the surge with any clusters that go to their group.
//
// It leaves out only what cannot be better: to put off a final write that is possible, and to keep in a written object what
// stands elsewhere.
type ceiling struct {
	stored, desired []int // by cluster: its object
	group           []int // by object
	limit           int
	bound           int // on the steps to the last final write; 0 is none

	extras, steps int  // the most objects of the surge, and fewer steps than this are looked for
	best          int  // steps found
	any           bool // the first plan will do
}

// moment is what is stored at the beginning of a step.
type moment struct {
	done   [5]bool
	early  uint    // clusters that surges have let into their goals
	parked []extra // objects of the surge
}

type extra struct {
	group    int
	clusters uint
	gone     bool
}

// fewest returns the fewest writes.
func (c *ceiling) fewest() int {
	for beyond := 0; ; beyond++ {
		c.extras, c.steps, c.best, c.any = beyond/2, 1<<30, 0, true
		if c.step(1, moment{}, beyond); c.best > 0 {
			return c.objectsToWrite() + beyond
		}
	}
}

// objectsToWrite counts the objects that gain or lose a cluster.
func (c *ceiling) objectsToWrite() int {
	n := 0
	for o := range c.group {
		if c.differs(o) {
			n++
		}
	}
	return n
}

func (c *ceiling) differs(o int) bool {
	for i := range c.stored {
		if c.stored[i] != c.desired[i] && (c.stored[i] == o || c.desired[i] == o) {
			return true
		}
	}
	return false
}

// arrived reports whether a cluster stands in its goal for ever.
func (c *ceiling) arrived(m *moment, i int) bool {
	return c.stored[i] == c.desired[i] || m.done[c.desired[i]]
}

// safe reports whether a cluster stands somewhere else than where it is stored.
func (c *ceiling) safe(m *moment, i int) bool {
	if c.arrived(m, i) || m.early&(1<<i) != 0 {
		return true
	}
	for _, x := range m.parked {
		if !x.gone && x.clusters&(1<<i) != 0 {
			return true
		}
	}
	return false
}

func (c *ceiling) step(number int, m moment, beyond int) {
	if number >= c.steps || c.any && c.best > 0 {
		return
	}
	next := m
	next.parked = append([]extra(nil), m.parked...)
	moved, open := false, false
	for o := range c.group {
		if m.done[o] || !c.differs(o) {
			continue
		}
		ready := true
		for i := range c.stored {
			ready = ready && (c.stored[i] != o || c.safe(&m, i))
		}
		next.done[o] = ready
		moved, open = moved || ready, open || !ready
	}
	for x := range next.parked {
		if next.parked[x].gone {
			continue
		}
		next.parked[x].gone = c.needed(&m, x) == 0
		moved, open = moved || next.parked[x].gone, open || !next.parked[x].gone
	}
	if !open {
		if !moved {
			number-- // there was nothing left to do
		}
		c.best, c.steps = max(number, 1), number
		return
	}
	c.objects(0, number, &m, next, beyond, moved)
}

// needed returns the clusters of an object of the surge that stand in no goal yet.
func (c *ceiling) needed(m *moment, x int) uint {
	var needed uint
	for i := range c.stored {
		if m.parked[x].clusters&(1<<i) != 0 && !c.arrived(m, i) && m.early&(1<<i) == 0 {
			needed |= 1 << i
		}
	}
	return needed
}

// objects lets any clusters into any objects early, from object o on.
func (c *ceiling) objects(o, number int, m *moment, next moment, beyond int, moved bool) {
	if o == len(c.group) {
		c.parking(0, number, m, next, beyond, moved)
		return
	}
	c.objects(o+1, number, m, next, beyond, moved)
	if beyond == 0 || m.done[o] || next.done[o] {
		return
	}
	var may uint
	room := c.limit
	for i := range c.stored {
		switch {
		case c.stored[i] == o && (c.desired[i] == o || !c.safe(m, i)):
			room--
		case c.desired[i] == o && m.early&(1<<i) != 0:
			room--
		case c.desired[i] == o && c.stored[i] != o:
			may |= 1 << i
		}
	}
	c.subsets(may, room, &next, func(set uint) {
		after := next
		after.early |= set
		c.objects(o+1, number, m, after, beyond-1, true)
	})
}

// parking puts any clusters into objects of the surge, from the x-th on, and into new ones.
func (c *ceiling) parking(x, number int, m *moment, next moment, beyond int, moved bool) {
	write := func(x, group, room int, fresh bool, cost int) {
		var may uint
		for i := range c.stored {
			if !c.arrived(m, i) && c.group[c.desired[i]] == group && (fresh || m.parked[x].clusters&(1<<i) == 0) {
				may |= 1 << i
			}
		}
		c.subsets(may, room, &next, func(set uint) {
			after := next
			after.parked = append([]extra(nil), next.parked...)
			if fresh {
				after.parked = append(after.parked, extra{group: group, clusters: set})
			} else {
				after.parked[x].clusters, after.parked[x].gone = c.needed(m, x)|set, false
			}
			c.parking(x+1, number, m, after, beyond-cost, true)
		})
	}
	if x < len(m.parked) {
		c.parking(x+1, number, m, next, beyond, moved)
		if beyond > 0 && !m.parked[x].gone {
			write(x, m.parked[x].group, c.limit-bits.OnesCount(c.needed(m, x)), false, 1)
		}
		return
	}
	if moved && (c.bound == 0 || number < c.bound || c.allDone(&next)) {
		c.step(number+1, next, beyond)
	}
	if beyond >= 2 && len(next.parked) < c.extras {
		seen := map[int]bool{}
		for _, group := range c.group {
			if !seen[group] {
				write(x, group, c.limit, true, 2)
			}
			seen[group] = true
		}
	}
}

func (c *ceiling) allDone(m *moment) bool {
	for o := range c.group {
		if c.differs(o) && !m.done[o] {
			return false
		}
	}
	return true
}

// subsets calls visit with each set of the clusters that is not empty and fits. Of clusters that are stored, desired and let in
// alike it takes the first ones only.
func (c *ceiling) subsets(may uint, room int, m *moment, visit func(set uint)) {
	for set := may; set != 0; set = (set - 1) & may {
		if bits.OnesCount(set) <= room && c.first(set, may, m) {
			visit(set)
		}
	}
}

func (c *ceiling) first(set, may uint, m *moment) bool {
	for i := range c.stored {
		if set&(1<<i) == 0 {
			continue
		}
		for j := range i {
			if may&(1<<j) != 0 && set&(1<<j) == 0 && c.stored[i] == c.stored[j] && c.desired[i] == c.desired[j] && c.alike(m, i, j) {
				return false
			}
		}
	}
	return true
}

func (c *ceiling) alike(m *moment, i, j int) bool {
	same := m.early>>i&1 == m.early>>j&1
	for _, x := range m.parked {
		same = same && x.clusters>>i&1 == x.clusters>>j&1
	}
	return same
}
