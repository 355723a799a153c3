// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/trial/internal/seeds"
)

var (
	flagWithout = flag.String("without", "", "parts that are left out of each world, with commas between them, as a failing test says")
	flagShrink  = flag.Int("shrink", 200, "in how many plays a world that broke something is made smaller; 0 leaves it as it is")
)

// playable is a world that can be made smaller.
type playable interface {
	fmt.Stringer
	// parts are what can be left out of it. The name of one stays what it is without others.
	parts() []string
	// without leaves one of them out, and says whether it was there.
	without(part string) bool
	// choose has selects take other cases where several are ready.
	choose(choices uint64)
}

// leaveOut takes parts out of a world.
func leaveOut[W playable](w W, parts []string) (W, error) {
	for _, part := range parts {
		if !w.without(part) {
			return w, fmt.Errorf("there is no part %q; there are: %s", part, strings.Join(w.parts(), ", "))
		}
	}
	return w, nil
}

// A kindOf is all that is to be known of worlds of a kind.
type kindOf[W playable, O outcome] struct {
	name string
	draw func(seed uint64) W
	play func(w W) O
}

func (k *kindOf[W, O]) story(t *testing.T, s seeds.Story, choices uint64) O {
	t.Helper()
	w, err := leaveOut(k.draw(s.Seed), s.Without)
	if err != nil {
		t.Fatalf("%s %d: %v", k.name, s.Seed, err)
	}
	w.choose(choices)
	return k.play(w)
}

// shrink leaves out of a world whatever it can without which the same invariant is still broken, until nothing is left of which that is so, or it
// has played often enough.
func (k *kindOf[W, O]) shrink(s seeds.Story, invariant Invariant, most int) (smallest seeds.Story, last O, plays int) {
	smallest = s
	for again := true; again; {
		again = false
		w, err := leaveOut(k.draw(s.Seed), smallest.Without)
		if err != nil {
			break
		}
		for _, part := range w.parts() {
			if plays == most {
				return smallest, last, plays
			}
			less := seeds.Story{Seed: s.Seed, Without: append(slices.Clip(smallest.Without), part)}
			w, err := leaveOut(k.draw(s.Seed), less.Without)
			if err != nil {
				continue // it went with another part
			}
			plays++
			if o := k.play(w); brokeIn(o, invariant) != nil {
				smallest, last, again = less, o, true
			}
		}
	}
	return smallest, last, plays
}

// brokeIn is how a world broke an invariant; nil if it did not, or was not judged.
func brokeIn(o outcome, invariant Invariant) *violation {
	_, broken, err := o.told()
	if i := slices.IndexFunc(broken, func(v violation) bool { return v.invariant == invariant }); err == nil && i >= 0 {
		return &broken[i]
	}
	return nil
}

// again says how a story is played again.
func (k *kindOf[W, O]) again(test string, s seeds.Story) string {
	without := ""
	line := fmt.Sprint(k.name, " ", s.Seed)
	if len(s.Without) > 0 {
		without = fmt.Sprintf(" -without='%s'", strings.Join(s.Without, ","))
		line += " (" + strings.Join(s.Without, ", ") + ")"
	}
	return fmt.Sprintf("again: go test -run '%s$' -rollouts=1 -seed=%d%s -history\nfor ever: a line in %s: %s WHY",
		strings.ReplaceAll(test, "/", "$/"), s.Seed, without, seeds.File, line)
}
