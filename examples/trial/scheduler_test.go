// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"testing"
)

// Division by size is unsteady, as OCM's is: a cluster that leaves has each one behind it move up, into the group before. Only its own label group sees
// that, and without a size none moves.
func TestAClusterThatLeavesMovesOthersUp(t *testing.T) {
	s := &scheduler{named: []string{"canary"}, groupOf: func(c string) string { return map[string]string{"a": "canary", "b": "canary", "c": "canary"}[c] }}
	for _, test := range []struct {
		selected string
		size     int
		want     string
	}{
		{"abcdefgh", 2, "[{canary [a b]} {canary [c]} { [d e]} { [f g]} { [h]}]"},
		{"bcdefgh", 2, "[{canary [b c]} { [d e]} { [f g]} { [h]}]"},
		{"abcefgh", 2, "[{canary [a b]} {canary [c]} { [e f]} { [g h]}]"},
		{"abcefgh", 0, "[{canary [a b c]} { [e f g h]}]"},
		{"", 2, "[{ []}]"},
	} {
		var selected []string
		for _, c := range test.selected {
			selected = append(selected, string(c))
		}
		if got := fmt.Sprint(s.divide(selected, test.size)); got != test.want {
			t.Errorf("%s by %d: %s, want %s", test.selected, test.size, got, test.want)
		}
	}
}

// So clusters move where no user moved them, in many worlds.
func TestInManyWorldsGroupsShift(t *testing.T) {
	shift, worlds := 0, uint64(100)
	for seed := range worlds {
		w := draw(seed, subject, "")
		s := &scheduler{named: w.named, groupOf: func(c string) string { return w.groupOf[c] }}
		places := func(clusters []string) map[string]int {
			all := map[string]int{}
			for i, g := range s.divide(clusters, w.size) {
				for _, c := range g.clusters {
					all[c] = i
				}
			}
			return all
		}
		before, after := places(w.initial), places(w.initial[1:])
		moved := 0
		for c, i := range after {
			if before[c] != i {
				moved++
			}
		}
		if moved > 0 {
			shift++
		}
	}
	if shift < 10 {
		t.Errorf("in %d of %d worlds clusters move into another group when one leaves", shift, worlds)
	}
	t.Logf("in %d of %d worlds clusters move into another group when one leaves", shift, worlds)
}
