// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// pool1 completes the strategy of a placement: one cluster at a time.
func pool1(c config) *config {
	c.strategy, c.concurrency, c.records, c.hangs = progressive, "1", true, !c.atOnce
	return &c
}

// pairs are what is searched.
var pairs = []pair{
	{name: "objects that hang", parts: [2]*config{pool1(config{deadline: 2}), pool1(config{deadline: 2})},
		at: []uint8{0, 0, 1}, left: left{fails: 1, cuts: 2, moves: 1, crashes: 1, gives: 1}},
	{name: "objects that disappear at once", parts: [2]*config{pool1(config{deadline: 2, atOnce: true}), pool1(config{deadline: 2, atOnce: true})},
		at: []uint8{0, 0, 1}, left: left{cuts: 2, moves: 1, crashes: 1, faults: 1, gives: 1}},
	{name: "no deadline", parts: [2]*config{pool1(config{budget: "1"}), pool1(config{})},
		at: []uint8{0, 0, 1, 1}, left: left{fails: 2, cuts: 1, moves: 2, crashes: 1, gives: 1}},
}

// pairMutant is a mutant for two placements.
type pairMutant struct {
	name, world, broken string
	planner             planner
	neglects            string
	late                bool // as of a mutant
}

// pairMutants lack R50, or a duty towards several placements.
var pairMutants = []pairMutant{
	{name: "removes clusters that another placement selects (R50)", world: "objects that hang", broken: "removal", planner: given(func(in *input) {
		in.groups = aloneIn(in)
		in.previous, in.memory = nil, nil
	})},
	{name: "counts a moved cluster only where it is now (R50)", world: "objects that hang", broken: "exposure", planner: given(func(in *input) {
		in.previous = nil
	})},
	{name: "counts in each placement a cluster that one deselected (R50)", world: "objects that hang", broken: "deselected", planner: given(func(in *input) {
		in.groups = aloneIn(in)
	})},
	{name: "records no moved cluster in flight (R48)", world: "no deadline", broken: "record", planner: forgetting(asSilent, asProgressing)},
	{name: "keeps no record of a placement (duty 8)", world: "objects that disappear at once", broken: "exposure", planner: plan, neglects: keepsRecord, late: true},
	{name: "removes before the records of all placements are stored (R50)", world: "objects that disappear at once", broken: "exposure", planner: plan, neglects: storesFirst, late: true},
}

// aloneIn are the groups as if there were no other placement.
func aloneIn(in *input) *grouping.Groups {
	var selected []string
	for _, d := range in.groups.All() {
		selected = append(selected, d.ClusterName)
	}
	g, err := grouping.FromNames(map[grouping.Key][]string{{}: selected})
	if err != nil {
		panic(err)
	}
	return g
}

// TestNoHistoryOfTwoPlacementsBreaksARule looks at every state that a workload of two placements can come to (R50).
func TestNoHistoryOfTwoPlacementsBreaksARule(t *testing.T) {
	for i := range pairs {
		t.Run(pairs[i].name, func(t *testing.T) {
			t.Parallel()
			x := newFollow(&pairs[i], plan).run(bound(exhaustive.Of(150, 20_000, 100_000)))
			if x.broken != "" {
				t.Errorf("\n%s", x.broken)
			}
			t.Logf("%d states, all: %v", len(x.states), x.whole)
		})
	}
}

// TestEveryRuleOfTwoPlacementsThatIsSwitchedOffIsMissed: a planner without R50 breaks it after some history.
func TestEveryRuleOfTwoPlacementsThatIsSwitchedOffIsMissed(t *testing.T) {
	for _, m := range pairMutants {
		if m.late && !exhaustive.On {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			p := &pairs[slices.IndexFunc(pairs, func(p pair) bool { return p.name == m.world })]
			x := newFollow(p, m.planner)
			x.only, x.neglects = m.broken, m.neglects
			if x.run(150_000); x.broken == "" {
				t.Fatalf("nothing is broken in %d states", len(x.states))
			}
			t.Logf("after %d states\n%s", len(x.states), x.broken)
		})
	}
}
