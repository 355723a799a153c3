// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// untold draws the n-th of the worlds in which some duty matters and the subject is told of none: a plain one, one that cuts clusters off, and one
// of each duty, in turn.
func untold(n int, subject *Subject) *world {
	all := []func(seed uint64) *world{func(seed uint64) *world { return draw(seed, subject, "") }}
	if subject.IgnoreAnnotation != "" {
		all = append(all, func(seed uint64) *world { return drawCut(seed, subject, "") })
	}
	for _, d := range slices.Sorted(maps.Keys(Duties)) {
		all = append(all, func(seed uint64) *world { return draw(seed, subject, d) })
	}
	if subject.IgnoreAnnotation != "" {
		for _, d := range slices.Sorted(maps.Keys(cutOffDuties)) {
			all = append(all, func(seed uint64) *world { return drawCut(seed, subject, d) })
		}
	}
	for _, d := range slices.Sorted(maps.Keys(StrategyDuties)) {
		all = append(all, func(seed uint64) *world { return draw(seed, subject, d) })
	}
	w := all[(n-1)%len(all)](uint64(1 + (n-1)/len(all)))
	w.bent, w.ignored = w.ignored, ""
	w.breaks = min(w.breaks, 0.06) // pauses that grow are no fault
	if w.bent != "" && subject.Replicas > 1 && drawn(w.seed, "replicas", w.bent).IntN(4) == 0 {
		w.replicas, w.elects = 2, true
	}
	return w
}

// Untold shows that a controller breaks nothing where some duty matters: it plays the worlds of [Hub.EachDuty] and its kin with a subject that
// is told to leave nothing out. So a controller that forgets a duty without saying so is found.
func (h *Hub) Untold(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, "Untold", 2**flagRollouts, func(seed uint64) *world { return untold(int(seed), subject) })
}

// Find plays the worlds of [Hub.Untold] from one on, until one of them is broken. It returns its number and what was broken, or 0 if all
// so many are whole.
func (h *Hub) Find(t *testing.T, subject *Subject, first, worlds int) (found int, broken []string) {
	t.Helper()
	h.suits(t, subject, needSays)
	for n := first; n < first+worlds; n++ {
		o := h.roll(t, subject, untold(n, subject))
		if o.err != nil {
			return n, []string{o.err.Error()}
		}
		for _, v := range o.violations {
			broken = append(broken, v.String())
		}
		if *flagHistory {
			t.Logf("%s", o.world)
		}
		if len(broken) > 0 {
			return n, broken
		}
	}
	return 0, nil
}

// bentTo names the duty that a world is bent towards, for people.
func (w *world) bentTo() string {
	if w.bent == "" {
		return ""
	}
	return fmt.Sprintf("; where it matters to %s", w.bent)
}
