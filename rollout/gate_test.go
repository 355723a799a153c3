// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// R23: several gates before a group make a difference only by what they are, not by the order in which they are given; and
// nothing starts whose group has a closed gate among them.
func TestAllGatesBeforeAGroupCountInAnyOrder(t *testing.T) {
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
}

// R23: a cluster which waits behind two gates starts once both are open, and not before.
func TestAClusterStartsOnceAllGatesBeforeItsGroupAreOpen(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	options := rollout.Options{Gates: []rollout.ClosedGate{
		{Gate: rollout.Gate{Name: "window", Opens: now.Add(minute)}}, {Gate: rollout.Gate{Name: "approval", Opens: now}},
	}}
	for after, starts := range map[time.Duration]int{-1: 0, 0: 0, minute - 1: 0, minute: 1} {
		r, err := rollout.Plan(perGroup(config("", "", 0)), groups, nil, now.Add(after), options)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Start) != starts {
			t.Errorf("%v later: %v, want %d to start", after, r, starts)
		}
	}
}
