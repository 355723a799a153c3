// SPDX-License-Identifier: Apache-2.0

package search

import (
	"flag"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

var states = flag.Int("states", 0, "look at so many states of each world, instead of a number that takes a second or a minute")

// bound is the number of states to look at.
func bound(usual int) int {
	switch {
	case *states > 0:
		return *states
	case testing.Short():
		return usual / 5
	}
	return usual
}

// states is how many states of a world the run with the tag "exhaustive" looks at: half as many again as each mutant of the world takes
// to be found, at least.
func (c *config) states() int {
	if exhaustive.Whole {
		return c.wholeStates()
	}
	return max(c.far, 5_000)
}

// wholeStates is how many of them the weekly run looks at. In as many each mutant has to be found.
func (c *config) wholeStates() int {
	if c.records { // each takes longer
		return max(c.far, 25_000)
	}
	return 100_000
}

// TestNoHistoryBreaksARuleAndEveryRolloutEnds checks every state that a world can reach: each plan keeps the rules, and if no more events
// happen, every cluster is done, or its explanation is true.
func TestNoHistoryBreaksARuleAndEveryRolloutEnds(t *testing.T) {
	var looked, transitions, plans atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d states, %d transitions, %d plans of %d worlds", looked.Load(), transitions.Load(), plans.Load(), len(worlds))
	})
	for i := range worlds {
		c := &worlds[i]
		if c.large && !exhaustive.On && *states == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSearch(c, plan).run(bound(exhaustive.Of(50, c.states())))
			if x.broken != nil {
				t.Errorf("\n%s", x.describe())
			}
			t.Log(x)
			looked.Add(int64(x.looked))
			transitions.Add(int64(x.transitions))
			plans.Add(int64(len(x.plans)))
		})
	}
}

// TestEveryRuleThatIsSwitchedOffIsMissed: a planner without a rule breaks it after some history, the shortest of
// which is told.
func TestEveryRuleThatIsSwitchedOffIsMissed(t *testing.T) {
	for i := range mutants {
		m := &mutants[i]
		if m.late && !exhaustive.On {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			x := m.search()
			if x.broken == nil {
				t.Fatalf("nothing is broken in the world %q: %v", m.world, x)
			}
			if most := x.config.states(); 3*x.looked > 2*most {
				t.Errorf("it is found in state %d, and in the world %q are looked at %d: set its far to half as many again", x.looked, m.world, most)
			}
			t.Logf("in state %d\n%s", x.looked, x.describe())
		})
	}
}

// TestEveryRuleOfStartingHoldingAndRemovingIsSwitchedOff keeps the table of mutants whole.
func TestEveryRuleOfStartingHoldingAndRemovingIsSwitchedOff(t *testing.T) {
	for _, rule := range strings.Fields("R2 R3 R4 R5 R6 R7 R10 R11 R12 R15 R19 R22 R23 R24 R25 R27 R28 R29 R30 R32 R33 R34 R35 R36 R37 R38 R39 R40 R43 R44 R45 R46 R47 R48 R49 R50 R52 R57 R58 R59 R60 R65 R66 S12") {
		lacks := "(" + rule + ")"
		if !slices.ContainsFunc(mutants, func(m mutant) bool { return strings.HasSuffix(m.name, lacks) }) &&
			!slices.ContainsFunc(pairMutants, func(m pairMutant) bool { return strings.HasSuffix(m.name, lacks) }) {
			t.Errorf("no mutant lacks %s", rule)
		}
	}
}

// searches are what is found of each mutant. Two tests ask for it.
var searches sync.Map

// search looks for the first violation of the kind that the mutant is there for.
func (m *mutant) search() *search {
	once, _ := searches.LoadOrStore(m.name, sync.OnceValue(m.look))
	return once.(func() *search)()
}

func (m *mutant) look() *search {
	for i := range worlds {
		if worlds[i].name == m.world {
			x := newSearch(&worlds[i], m.planner)
			x.only, x.neglects = m.broken, m.duty
			return x.run(worlds[i].wholeStates())
		}
	}
	panic("no world " + m.world)
}

// TestMergingStatesLosesNone: where clusters are told apart, each state is one of those that the search finds where they
// are not.
func TestMergingStatesLosesNone(t *testing.T) {
	for _, c := range worlds {
		if c.large {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			depth := exhaustive.Of(3, 6, 9)
			merged := newSearch(&c, plan)
			merged.only = "nothing"
			merged.runTo(depth)
			named := c
			named.named = true
			apart := newSearch(&named, plan)
			apart.only = "nothing"
			apart.runTo(depth)
			for _, p := range apart.states {
				p.sorted()
				if _, isNew := merged.add(p); isNew {
					s := p.unpack()
					t.Fatalf("a state is missing: %+v", s)
				}
			}
			t.Logf("%d states after up to %d events, %d where they are merged", len(apart.states), depth, len(merged.states))
		})
	}
}
