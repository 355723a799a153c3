// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// A workload may follow several placements, each with a strategy of its own. Here are two, each with a pool. Clusters start in one
// of them, are cut off, and come back to the other.

// pair is a world with two placements. The second one takes the clusters that none before it selects.
type pair struct {
	name  string
	parts [2]*config
	at    []uint8 // the placement that selects each cluster; nowhere if none does
	left  left
}

const nowhere = 2

// follower is a cluster of two placements, and what the controller knows of it.
type follower struct {
	at     uint8
	home   uint8 // the placement that had it when its agent was cut off; nowhere: it was not dropped
	truth  object
	dead   bool
	keeps  bool // it has the version without an object
	proven bool // it was done with the version
	aside  bool // it is ignored
	todo   todo

	by     uint8    // the placement with the plan that has it written
	under  uint8    // the placement under which it got the version
	lost   bool     // it went to another placement while neither result nor record had its place
	noted  [2]entry // the records
	former [2]place // what the results before say
}

// place is where the last result of a placement had a cluster.
type place uint8

const (
	notThere place = iota
	inGroup
	inUnknown // in the unknown group
)

// both is a moment of such a world.
type both struct {
	clusters [most]follower
	known    bool // there are results before
	left     left

	exposes, recorded [2]uint8 // how many may be exposed, by the results before and by the records (R66)
}

// follow is the search through a pair: the controller's, with its planner.
type follow struct {
	*pair
	*controller // for its reports and planner
	results     map[formers]*rollout.Result
	groups      map[[most]uint8][]*grouping.Groups
	seen        map[both]int
	states      []both
	from        []int
	by          []string
	only        string
	ends        map[both]bool // states from which the end is known to be good
	neglects    string
	plans       map[situation]*[2]planned
	broken      string
	whole       bool
}

// formers are what a result of a placement says of where clusters were.
type formers struct {
	part int
	was  [most]place

	exposes uint8 // how many may be exposed (R66)
}

func newFollow(p *pair, by planner) *follow {
	return &follow{
		pair: p, controller: newController(p.parts[0], by), results: map[formers]*rollout.Result{},
		groups: map[[most]uint8][]*grouping.Groups{}, seen: map[both]int{}, ends: map[both]bool{},
		plans: map[situation]*[2]planned{},
	}
}

func (p *pair) first() (s both) {
	s.left = p.left
	for i := range s.clusters {
		s.clusters[i] = follower{at: nowhere, home: nowhere, truth: nothing, by: nowhere, under: nowhere}
		if i < len(p.at) {
			s.clusters[i].at = p.at[i]
		}
	}
	return s
}

// run looks at up to limit states, the nearest first, and ends where a rule is broken.
func (x *follow) run(limit int) *follow {
	first := x.first()
	x.find(first, 0, "")
	for at := 0; at < len(x.states); at++ {
		if at == limit || x.broken != "" {
			return x
		}
		x.expand(at)
	}
	x.whole = x.broken == ""
	return x
}

func (x *follow) find(s both, from int, by string) {
	s.lose()
	if _, known := x.seen[s]; known {
		return
	}
	x.seen[s] = len(x.states)
	x.states, x.from, x.by = append(x.states, s), append(x.from, from), append(x.by, by)
}

// breaks notes a violation, if it is the first that counts, with its history.
func (x *follow) breaks(at int, by, what string) {
	if kind, _, _ := strings.Cut(what, ":"); what == "" || x.broken != "" || x.only != "" && x.only != kind {
		return
	}
	steps := []string{by, "broken: " + what}
	for ; at > 0; at = x.from[at] {
		steps = append(steps, x.by[at])
	}
	slices.Reverse(steps[2:])
	history := fmt.Sprintf("first: %v\nsecond: %v\n%s", x.parts[0], x.parts[1], strings.Join(slices.Concat(steps[2:], steps[:2]), "\n"))
	for i, mark := range marks {
		history = strings.ReplaceAll(history, mark, names[i])
	}
	x.broken = history
}

// lose marks clusters that went to another placement while neither the record nor a result has their former place.
func (s *both) lose() {
	for i := range s.clusters {
		c := &s.clusters[i]
		if has := c.keeps || c.truth.version == 0; !s.known && has && c.at != nowhere && c.at != c.under && c.noted[c.under].as == unrecorded {
			c.lost = true
		}
	}
}

// expand finds all states that follow a state.
func (x *follow) expand(at int) {
	s := x.states[at]
	x.breaks(at, "", x.checkExposed(&s))
	x.breaks(at, "", x.checkEnd(s))
	x.each(&s, func(what string, next both) { x.find(next, at, what) })
	if s.isBusy() {
		return
	}
	plans, what := x.decide(&s)
	by := fmt.Sprintf("the controller plans: %v; %v", &plans[0], &plans[1])
	x.breaks(at, by, what)
	for part := range plans {
		x.breaks(at, by, x.check(&s, part, &plans[part]))
	}
	next := s
	if x.carryOut(&next, plans); next != s {
		x.find(next, at, by)
	}
	if refused := s; s.left.faults > 0 {
		refused.left.faults--
		if x.neglects == storesFirst {
			x.carryOut(&refused, plans)
			for i := range s.clusters {
				refused.clusters[i].noted = s.clusters[i].noted
			}
			refused.recorded = s.recorded
		}
		x.find(refused, at, by+", and storing the records is refused")
	}
}

func (s *both) isBusy() bool {
	return slices.ContainsFunc(s.clusters[:], func(c follower) bool { return c.todo != doNothing })
}

// each calls f with what may happen next, but for plans.
func (x *follow) each(s *both, f func(what string, next both)) {
	then := func(what string, do func(next *both)) {
		next := *s
		do(&next)
		f(what, next)
	}
	for i := range x.at {
		x.eachOf(s, i, func(what string, do func(next *both, c *follower)) {
			then(fmt.Sprintf(what, marks[i]), func(next *both) { do(next, &next.clusters[i]) })
		})
	}
	if !s.isBusy() {
		then("time passes", x.pass2)
	}
	if s.left.crashes > 0 {
		then("the controller restarts", func(next *both) {
			next.left.crashes--
			next.known, next.exposes = false, [2]uint8{}
			for i := range next.clusters {
				next.clusters[i].todo, next.clusters[i].by, next.clusters[i].former = doNothing, nowhere, [2]place{}
				if x.neglects == keepsRecord {
					next.clusters[i].noted = [2]entry{}
					next.recorded = [2]uint8{}
				}
			}
		})
	}
}

// eachOf calls f with what may happen to a cluster.
func (x *follow) eachOf(s *both, i int, f func(what string, do func(*both, *follower))) {
	c := s.clusters[i]
	if c.truth.version == 0 && !c.dead {
		for _, is := range []condition{succeeded, failed} {
			if x.parts[0].mayAnswer(&c.truth, is, s.left.fails) {
				f("the agent of %s says: "+is.String(), func(next *both, c *follower) {
					next.left.fails -= uint8(bit(is == failed))
					c.truth.answer(is)
				})
			}
		}
		if s.left.cuts > 0 {
			f("the agent of %s is cut off", func(next *both, c *follower) { next.left.cuts--; c.dead = true })
		}
	}
	if c.dead {
		f("the agent of %s is connected again", func(_ *both, c *follower) { c.dead, c.keeps = false, false })
		if c.at != nowhere {
			f("%s is unreachable, and not selected any more", func(_ *both, c *follower) { c.home, c.at = c.at, nowhere })
		}
	}
	if c.truth.deleting && !c.dead {
		f("the agent of %s removes the finalizer of the object", func(_ *both, c *follower) { x.let(c) })
	}
	for to := range uint8(nowhere + 1) {
		switch where := []string{"the first placement", "the second placement", "no placement"}[to]; {
		case to == c.at || c.home != nowhere && (c.dead || to == nowhere):
		case c.home != nowhere && to == c.home:
			f("%s is selected again by "+where, func(_ *both, c *follower) { c.at, c.home = to, nowhere })
		case s.left.moves > 0:
			f("%s is selected by "+where, func(next *both, c *follower) { next.left.moves--; c.at, c.home = to, nowhere })
		}
	}
	if recorded := c.noted[0].as != unrecorded || c.noted[1].as != unrecorded; s.left.gives > 0 && c.at == nowhere && !c.aside && (c.truth.version == 0 || recorded) {
		f("an operator ignores %s", func(next *both, c *follower) { next.left.gives--; c.aside = true })
	}
	switch c.todo {
	case write:
		f("the controller writes %s", func(_ *both, c *follower) { x.write2(c) })
	case remove:
		f("the controller deletes the object of %s", func(_ *both, c *follower) { x.remove2(c) })
	}
}

// pass2 is a tick.
func (x *follow) pass2(s *both) {
	oldest := x.parts[0].oldest()
	for i := range s.clusters {
		c := &s.clusters[i]
		c.truth.older(oldest)
		c.noted[0].older(oldest)
		c.noted[1].older(oldest)
	}
}

func (x *follow) write2(c *follower) {
	by := c.by
	if c.todo, c.by = doNothing, nowhere; c.truth.deleting || c.truth.version == 0 {
		return
	}
	c.truth, c.keeps, c.under, c.lost = object{}, false, by, false
}

// remove2 deletes an object. It disappears at once, or once its agent removes the finalizer.
func (x *follow) remove2(c *follower) {
	if c.todo = doNothing; c.truth.version == absent {
		return
	}
	if !x.parts[0].atOnce {
		c.truth.deleting = true
		return
	}
	c.keeps = c.keeps || c.dead && x.parts[0].stand(c.truth, 0) != done
	x.let(c)
}

// let has an object go.
func (x *follow) let(c *follower) {
	c.proven = c.proven || x.parts[0].stand(c.truth, 0) == done
	c.truth = nothing
}

// carryOut stores both records first, and has the writes done in any order.
func (x *follow) carryOut(s *both, plans *[2]planned) {
	s.known = true
	for part := range plans {
		d := &plans[part]
		s.exposes[part], s.recorded[part] = d.memos.result.exposes, d.memos.record.exposes
		for i := range s.clusters {
			c := &s.clusters[i]
			c.former[part] = d.former[i]
			c.noted[part] = d.record[i]
			switch mine := c.at == uint8(part); {
			case d.removed.has(i):
				c.todo = remove
			case mine && (d.start.has(i) && !c.truth.deleting || d.inFlight.has(i) && c.truth.version == absent):
				c.todo, c.by = write, uint8(part)
			}
		}
	}
}
