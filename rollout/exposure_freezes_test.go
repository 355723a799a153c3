// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
)

// nextHeld yields the starts that come after a state in which one of the waiting clusters is blocked, whichever it is.
func (s *searched) nextHeld(t fataler, h hist, blocks bool, yield func(hist)) {
	for i, m := range s.members {
		if h.of(i) != hasNot {
			continue
		}
		frozen := rollout.Options{Freezes: []rollout.ClusterFreeze{{Cluster: m.name, Reason: "its site", Blocks: blocks}}}
		s.reports = s.reportsOf(h)
		result, err := rollout.Plan(s.strategy, s.groups, s.reports, now, merged(s.opts, frozen))
		if err != nil {
			t.Fatal(err)
		}
		all := h
		for _, c := range result.Start {
			at := int(c.Name[0] - 'a')
			all = all.set(at, runsNow)
			yield(h.set(at, runsNow))
		}
		yield(all)
	}
}

// R40, R59, R66: in small fleets, histories in which any cluster is blocked and released expose no more than is said, also where the next
// group begins without it. Where the groups of blocked clusters wait for them, the other numbers hold, too.
func TestFreezesExposeNoMore(t *testing.T) {
	var all []*searched
	for _, s := range searchedWorlds(exposureFleets(3)) {
		if s.exceptions == [2]string{} && s.ramp == 0 { // with which the numbers may be bounds
			all = append(all, s)
		}
	}
	random := rand.New(rand.NewPCG(26, 59))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	known := searches{}
	for _, s := range all[:exhaustive.Of(20, 400, 2000)] {
		s.breaks = course{freezes: true, blocks: true}
		if e, f, _ := known.look(t, s); f.exposed.all != e.Exposed || f.inFlight.all != e.InFlight || f.allFail.all != e.ExposedIfAllFail {
			t.Fatalf("%v\n%v, and %+v where clusters are frozen and their groups wait", s.world, e, f)
		}
		s.breaks.blocks = false
		if e, f, _ := known.look(t, s); f.exposed.all != e.Exposed {
			t.Fatalf("%v\n%v, and %+v where clusters are frozen", s.world, e, f)
		}
	}
}
