// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/trial/internal/seeds"
)

// tampered are worlds in which the controller of the tests starts one cluster more at a time than it may.
func tampered(t *testing.T) *kindOf[*world, *observation] {
	return &kindOf[*world, *observation]{"Rollouts", func(seed uint64) *world {
		w := draw(seed, subject, "")
		if w.strategy.Type == clusterv1alpha1.Progressive && len(w.others) == 0 {
			w.ignored = KeepConcurrency
		}
		return w
	}, func(w *world) *observation { return theHub.roll(t, subject, w) }}
}

// A world that breaks something is made smaller, until each of its parts is needed, and is told in few lines. What it says to be played again is the
// same world.
func TestAWorldThatBreaksSomethingIsShrunk(t *testing.T) {
	k := tampered(t)
	s := seeds.Story{Seed: 1}
	for ; brokeIn(k.story(t, s, 0), invConcurrency) == nil; s.Seed++ {
		if s.Seed == 40 {
			t.Fatal("no world breaks it")
		}
	}
	smallest, last, plays := k.shrink(s, invConcurrency, 400)
	whole, small := k.draw(s.Seed), last.world
	if plays == 400 || len(small.pool) >= len(whole.pool) || len(small.initial) > 4 {
		t.Errorf("after %d plays %d clusters of %d, %d at first: %v", plays, len(small.pool), len(whole.pool), len(small.initial), smallest.Without)
	}
	story := reportOf(last, invConcurrency)
	if n := strings.Count(story, "\n") + 1; n > longestReport || !strings.Contains(story, string(invConcurrency)) || !strings.Contains(story, "the set wants v1") {
		t.Errorf("%d lines:\n%s", n, story)
	}
	again := k.again(t.Name(), smallest)
	t.Logf("seed %d, after %d plays:\n%s\n%s", s.Seed, plays, story, again)

	args := regexp.MustCompile(`-seed=(\d+) -without='([^']*)'`).FindStringSubmatch(again)
	if args == nil {
		t.Fatalf("no command in %s", again)
	}
	read := seeds.Story{Without: seeds.Parts(args[2])}
	fmt.Sscan(args[1], &read.Seed)
	if o := k.story(t, read, 0); o.hash() != last.hash() || reportOf(o, invConcurrency) != story {
		t.Errorf("played again it is another world:\n%s", reportOf(o, invConcurrency))
	}
}

// Each part that a world names can be left out of it, but for such as are not there, and of one that is not there is said what there is.
func TestPartsOfWorlds(t *testing.T) {
	left := map[string]bool{}
	for seed := range uint64(60) {
		for _, draw := range []func() playable{
			func() playable { return draw(seed, &Subject{Placements: 2, Replicas: 2}, "") },
			func() playable { return drawTrial(seed, "") },
			func() playable { return drawBack(seed, &Subject{Placements: 1}, "") },
			func() playable { return drawDays(seed, &Subject{Placements: 1}) },
		} {
			w := draw()
			for _, part := range w.parts() {
				one := draw()
				if !one.without(part) {
					continue
				}
				left[part] = true
				if one.without(part) || !slices.Contains(w.parts(), part) {
					t.Errorf("seed %d: %s is left out twice", seed, part)
				}
			}
		}
	}
	for _, s := range simpler {
		if !left[s.part] {
			t.Errorf("no world has %s", s.part)
		}
	}
	if !left["step 1"] || !left["act 1"] || !left["cluster c01"] || !left["what version 2 does"] {
		t.Errorf("left out were %v", left)
	}
	w := draw(1, subject, "")
	for range w.pool { // one has to stay
		for _, c := range slices.Clone(w.pool) {
			w.without("cluster " + c)
		}
	}
	if len(w.initial) != 1 || len(w.pool) < 1 {
		t.Errorf("%v stay", w.initial)
	}
	if _, err := leaveOut(draw(1, subject, ""), []string{"step 99"}); err == nil || !strings.Contains(err.Error(), `"step 99"; there are: step 1`) {
		t.Errorf("got %v", err)
	}
}
