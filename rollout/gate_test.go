package rollout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout"
)

// R23: several gates before a group make a difference only by what they are, not by the order in which they are given; and
// nobody starts whose group has a closed gate among them.
func TestAllGatesBeforeAGroupCountInAnyOrder(t *testing.T) {
	var started int
	rapid.Check(t, func(t *rapid.T) {
		w := drawn(t).world(10)
		if len(w.groups) == 0 {
			w.groups = plainKeys[:1]
		}
		group := w.groups[drawn(t)(len(w.groups))]
		for range 2 {
			gate := rollout.Gate{Name: from(drawn(t), "", "approval", "window")}
			if !drawn(t).oneIn(3) {
				gate.Opens = now.Add(from(drawn(t), -minute, 0, minute, 2*minute))
			}
			w.gates = append(w.gates, closedGate{group, gate})
		}
		groups := w.read(t)
		first := try(t, w, groups).result
		for _, c := range first.Start {
			for _, g := range w.gates {
				if r23Matches(g.group, c.Group) && (g.gate.Opens.IsZero() || now.Before(g.gate.Opens)) {
					t.Fatalf("%v starts behind the closed %v\n%v", c.Name, g.gate, w)
				}
			}
		}
		if len(first.Start) > 0 {
			started++
		}
		want := allOf(first)
		w.gates = slices.Clone(w.gates)
		for i := range w.gates {
			j := i + drawn(t)(len(w.gates)-i)
			w.gates[i], w.gates[j] = w.gates[j], w.gates[i]
		}
		if got := allOf(try(t, w, groups).result); got != want {
			t.Fatalf("in another order:\n%s\nwant:\n%s\n%v", got, want, w)
		}
	})
	if started == 0 {
		t.Error("nobody starts anywhere")
	}
}
