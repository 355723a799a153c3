// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// clock says which resourceVersions there were at a time.
type clock struct {
	writes []int32 // in the order of their resourceVersions
	done   []moment
	came   []moment
	own    map[string][]int32 // the writes of the objects that were removed
}

type moment struct{ at, rv int64 }

func newClock(all []logged) *clock {
	c := &clock{own: map[string][]int32{}}
	inexact := false
	for i := range all {
		switch l := &all[i]; l.doing {
		case removed:
			c.own[l.id()] = nil
			inexact = true
		case lost:
			inexact = true
		}
	}
	if !inexact {
		return c
	}
	for i := range all {
		l := &all[i]
		if l.doing != wrote && l.doing != made {
			continue
		}
		c.writes = append(c.writes, int32(i))
		c.done = append(c.done, moment{l.at, l.rv})
		c.came = append(c.came, moment{l.received, l.rv})
		if own, is := c.own[l.id()]; is {
			c.own[l.id()] = append(own, int32(i))
		}
	}
	byTime := func(a, b moment) int { return cmp.Compare(a.at, b.at) }
	slices.SortFunc(c.writes, func(a, b int32) int { return cmp.Compare(all[a].rv, all[b].rv) })
	slices.SortFunc(c.done, byTime)
	slices.SortFunc(c.came, byTime)
	for i := 1; i < len(c.done); i++ {
		c.done[i].rv = max(c.done[i].rv, c.done[i-1].rv)
	}
	for i := len(c.came) - 2; i >= 0; i-- {
		c.came[i].rv = min(c.came[i].rv, c.came[i+1].rv)
	}
	return c
}

// place sorts lines by when they had effect. The answer to a deletion may have no resourceVersion. Then it is between the writes that
// had ended when it began, and those that began when it had ended. Of those in between, the ones that could be its cause come before
// it, and those that could be its effect behind it.
func (c *clock) place(all []logged) {
	for i := range all {
		l := &all[i]
		if l.doing != removed && l.doing != lost {
			continue
		}
		low, high := int64(0), int64(math.MaxInt64)
		if n := sort.Search(len(c.done), func(i int) bool { return c.done[i].at > l.received }); n > 0 {
			low = c.done[n-1].rv
		}
		if l.doing == lost {
			l.rv = low
			continue
		}
		if n := sort.Search(len(c.came), func(i int) bool { return c.came[i].at >= l.at }); n < len(c.came) {
			high = c.came[n].rv
		}
		for _, n := range c.own[l.id()] {
			if w := &all[n]; w.doing == made && w.at > l.received {
				high = min(high, w.rv)
			}
		}
		for _, n := range c.own[l.id()] {
			if w := &all[n]; w.received < l.at && w.rv < high {
				low = max(low, w.rv)
			}
		}
		if l.rv = low; l.kind == kindCluster { // an earlier deletion counts for less
			continue
		}
		for n := sort.Search(len(c.writes), func(i int) bool { return all[c.writes[i]].rv > low }); n < len(c.writes) && all[c.writes[n]].rv < high; n++ {
			if w := &all[c.writes[n]]; w.class != isHolder && w.class != isOther && w.class != isCluster {
				l.rv = w.rv
			}
		}
	}
	slices.SortStableFunc(all, func(a, b logged) int {
		return cmp.Or(cmp.Compare(a.effect(), b.effect()), cmp.Compare(a.doing, b.doing), cmp.Compare(a.at, b.at))
	})
}
