// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// table holds states, each once, by number.
type table struct {
	states []packed
	slots  []uint32 // numbers plus 1
	seed   maphash.Seed
}

func newTable() *table { return &table{slots: make([]uint32, 1<<10), seed: maphash.MakeSeed()} }

// add gives a state's number, and whether it is new.
func (t *table) add(p packed) (number uint32, isNew bool) {
	if 2*len(t.states) >= len(t.slots) {
		t.grow()
	}
	slot := t.slot(&p)
	if n := t.slots[slot]; n != 0 {
		return n - 1, false
	}
	t.states = append(t.states, p)
	t.slots[slot] = uint32(len(t.states))
	return uint32(len(t.states) - 1), true
}

// slot is where the state is or would be.
func (t *table) slot(p *packed) uint64 {
	mask := uint64(len(t.slots) - 1)
	at := maphash.Comparable(t.seed, *p) & mask
	for t.slots[at] != 0 && t.states[t.slots[at]-1] != *p {
		at = (at + 1) & mask
	}
	return at
}

func (t *table) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := range t.states {
		t.slots[t.slot(&t.states[i])] = uint32(i + 1)
	}
}

// search goes through the states of a world, the nearest first.
type search struct {
	*controller
	table
	from        []uint32 // the state from which each was found first
	by          []event  // by what
	transitions int
	looked      int  // how many states
	depth       int  // how far from the first state the last of them is
	whole       bool // all states were looked at
	broken      *violation
	ends        *ends
	exposed     int    // the most clusters at a time
	only        string // the kind of violation that counts; empty: every kind
}

// violation is a rule broken at the end of a history.
type violation struct {
	at   uint32 // the state in which it happens
	by   event
	what string
}

func newSearch(c *config, p planner) *search {
	k := newController(c, p)
	return &search{controller: k, table: *newTable(), ends: newEnds(k)}
}

// run looks at up to limit states, and ends where a rule is broken.
func (x *search) run(limit int) *search {
	x.look(func() bool { return x.looked < limit })
	return x
}

// runTo looks at the states that are at most depth steps from the first.
func (x *search) runTo(depth int) { x.look(func() bool { return x.depth < depth }) }

func (x *search) look(on func() bool) {
	first := x.config.first()
	x.find(&first, 0, event{})
	last := 0 // the first state that is a step further
	for ; x.looked < len(x.states); x.looked++ {
		if x.looked == last+1 {
			last = len(x.states) - 1
			x.depth++
		}
		if !on() || x.broken != nil {
			return
		}
		x.expand(uint32(x.looked))
	}
	if most := x.mostExposed(); x.config.exposes && x.exposed < most {
		x.breaks(uint32(x.looked-1), event{}, fmt.Sprintf("exposure: %d clusters can be exposed, and %d never are", most, most))
	}
	x.whole = x.broken == nil
}

// find notes a state that follows by an event.
func (x *search) find(s *state, from uint32, by event) {
	p := s.pack()
	if !x.config.named {
		p.sorted()
	}
	x.transitions++
	if _, isNew := x.add(p); isNew {
		x.from = append(x.from, from)
		x.by = append(x.by, by)
	}
}

// expand finds all states that follow a state.
func (x *search) expand(at uint32) {
	s := x.states[at].unpack()
	if exposed := x.config.exposed(&s); exposed > x.exposed {
		x.exposed = exposed
		if most := x.mostExposed(); (x.config.exposes || x.config.bounds) && exposed > most {
			x.breaks(at, event{}, fmt.Sprintf("exposure: %d clusters have the version and are not done, and %d may be", exposed, most))
		}
	}
	x.each(&s, func(e event) {
		next := s
		x.move(&next, e)
		x.find(&next, at, e)
	})
	x.config.eachEnd(&s, func(next state, how string) {
		if what := x.ends.of(next); what != "" {
			x.breaks(at, event{}, what+", where "+how)
		}
	})
	if s.busy() {
		return
	}
	x.eachPlan(&s, func(e event, broken []string) {
		for _, what := range broken {
			x.breaks(at, e, what)
		}
		for _, e.kind = range [...]kind{plans, conflicts} {
			if e.kind == conflicts && (!x.config.records || s.left.faults == 0 || s.isStored(x.decide(&s))) {
				return
			}
			next := s
			x.move(&next, e)
			if next != s {
				x.find(&next, at, e)
			}
		}
	})
}

// breaks notes a violation, if it is the first that counts.
func (x *search) breaks(at uint32, by event, what string) {
	if kind, _, _ := strings.Cut(what, ":"); what != "" && x.broken == nil && (x.only == "" || x.only == kind) {
		x.broken = &violation{at, by, what}
	}
}

// exposed counts the clusters that have the version and are not done with it, with or without an object, selected or not, and
// those with a recorded failure, unless they are ignored, or were done before.
func (c *config) exposed(s *state) (n int) {
	for i := range s.clusters {
		is := &s.clusters[i]
		has := is.keeps || is.truth.version == 0 && c.stand(is.truth, 0) != done || s.recorded == 0 && is.noted.as == asTimeOut
		if has && !is.aside && !is.proven {
			n++
		}
	}
	return n
}

// mostExposed is what the library says of that before it begins (R40), or as many as the shares allow (R57).
func (k *controller) mostExposed() int {
	first := k.config.first()
	in := k.input(&first)
	e, err := exposure.Of(in.strategy, in.groups, exposure.Span{}, in.now, in.options)
	if err != nil {
		panic(err)
	}
	if k.config.shares > 0 {
		return min(e.Exposed, k.config.shares+k.config.mayFail)
	}
	return e.Exposed
}

// eachPlan calls f with the plans that may be made in a state, and the rules that each breaks. Which of several clusters
// that wait starts first is a matter of names, and the clusters of a state have none: each order counts.
func (k *controller) eachPlan(s *state, f func(e event, broken []string)) {
	sure := *s
	k.settle(&sure)
	j := k.config.judge(&sure)
	d := k.decide(&sure)
	tell := func(d *decision, start set) {
		f(event{kind: plans, arg: uint8(start)}, []string{
			j.checkStart(start), j.checkRemoved(d), j.checkLists(d), j.checkRecord(d), j.checkHeld(start), k.checkSleep(&sure, d), d.fault,
		})
	}
	tell(d, d.start)
	if k.config.named || d.start == 0 || d.start == j.waiting(j.all) {
		return
	}
	told := map[set]bool{d.start: true}
	for _, order := range orders {
		named := sure
		for i, at := range order {
			named.clusters[at] = sure.clusters[i]
		}
		d := *k.decide(&named)
		d.start, d.inFlight, d.timedOut, d.removed = d.start.back(order), d.inFlight.back(order), d.timedOut.back(order), d.removed.back(order)
		d.left, d.leftLate, d.parked, d.unseen = d.left.back(order), d.leftLate.back(order), d.parked.back(order), d.unseen.back(order)
		record, lasts := d.record, d.lasts
		for i, at := range order {
			d.record[i], d.lasts[i] = record[at], lasts[at]
		}
		if !told[d.start] {
			told[d.start] = true
			tell(&d, d.start)
		}
	}
}

// back gives the places that clusters had before an order was given to them.
func (s set) back(order [most]uint8) (before set) {
	for i, at := range order {
		if s.has(int(at)) {
			before.add(i)
		}
	}
	return before
}

// orders are all orders of the clusters.
var orders = func() (all [][most]uint8) {
	for n := range uint8(most * most) {
		a, b := n/most, n%most
		for c := range uint8(most) {
			d := 6 - a - b - c
			if a != b && a != c && b != c {
				all = append(all, [most]uint8{a, b, c, d})
			}
		}
	}
	return all
}()

func (x *search) String() string {
	whole := "all"
	if !x.whole {
		whole = fmt.Sprintf("the first %d of at least", x.looked)
	}
	return fmt.Sprintf("%s %d states, %d transitions, histories of up to %d events, %d plans, %d states on the way to an end",
		whole, len(x.states), x.transitions, x.depth, len(x.plans), len(x.ends.states))
}
