// SPDX-License-Identifier: Apache-2.0

package progressive_test

import "testing"

// O35: histories in which the hub once showed something else than the document says.
func TestHistoriesThatOnceDifferedAreAsTheDocumentSays(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy textStrategy
		history  []string
	}{{
		"a cluster failed, was deselected, and is selected again: it has got the version, whatever a user writes into the status",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a g1", "restart", "restart", "restart", "restart", "restart", "restart", "restart", "deselect a", "select b g1", "select a g2", "status Succeeded"},
	}} {
		t.Run(test.name, func(t *testing.T) {
			p := newTextPair(test.strategy, "g1", "g2", "")
			for i, step := range test.history {
				if happened, err := p.do(step); err != nil || !happened {
					t.Fatalf("%q: happened %t: %v", test.history[:i+1], happened, err)
				}
			}
		})
	}
}
