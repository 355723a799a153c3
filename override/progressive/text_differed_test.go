// SPDX-License-Identifier: Apache-2.0

package progressive_test

import "testing"

// O32, O35, O36, O41, O43, O45, O47: histories in which the hub and the oracle once differed, and what is next to them.
func TestHistoriesThatOnceDifferedAreAsTheDocumentSays(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy textStrategy
		history  []string
	}{{
		"a cluster failed, was deselected, and is selected again: it has got the version, whatever a user writes into the status",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a g1", "restart", "restart", "restart", "restart", "restart", "restart", "restart", "deselect a", "select b g1", "select a g2", "status Succeeded"},
	}, {
		"a cluster joined after the end, and is selected again after a user wrote that the rollout failed: it is not new any more",
		textStrategy{name: "one at a time", kind: "Progressive", concurrency: 1, deadline: true},
		[]string{"select a g1", "complies a", "deselect a", "select a g1", "status Failed", "wait", "deselect a", "select a g1"},
	}, {
		"a cluster in flight is selected again after the failure, and is edited by hand: the deadline in the record stays",
		textStrategy{name: "one at a time", kind: "Progressive", concurrency: 1, deadline: true},
		[]string{
			"select a g1", "complies a", "inform a", "restart", "restart", "restart", "restart", "status Failed", "deselect a", "select a g1",
			"restart", "restart", "inform a",
		},
	}, {
		"a cluster is edited by hand when the rollout fails and is retried: it waits for its turn as it is",
		textStrategy{name: "per group", kind: "ProgressivePerGroup", deadline: true},
		[]string{
			"select a g1", "retry", "select b g1", "complies a", "select a g2", "restart", "restart", "restart", "restart", "fails b",
			"restart", "restart", "inform a",
		},
	}, {
		"a cluster moves while another is missing, and back again: it has not moved, and is no second failure of the group between",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a -", "select b g1", "complies a", "hide b", "select a g1", "fails a", "select a g2", "wait", "select a -", "show"},
	}, {
		"a cluster in flight moves while another is missing, and the controller restarts: it fails where it is then",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a g1", "select b g1", "hide b", "select a g2", "restart", "wait", "show"},
	}, {
		"a failed cluster is selected again, and moves while another is missing: the record has its group, also after a restart",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a g1", "select b -", "wait", "deselect a", "select a g1", "hide b", "select a -", "restart", "wait", "show"},
	}, {
		"a cluster in flight is in a group that is approved later, and moves back: it counts in the earlier group until it is done",
		textStrategy{name: "manual", kind: "manualPerGroup", deadline: true},
		[]string{"select a g2", "approve g2", "select a g1", "select b g2", "approve g1", "select a g2", "complies a"},
	}, {
		"a cluster in flight is selected again while another is missing, and is ignored since: it waits for its group",
		textStrategy{name: "per group with ignored clusters", kind: "ProgressivePerGroup", ignores: true},
		[]string{"select a g1", "deselect a", "select b g1", "hide b", "select a g2", "naughty a", "show", "complies b"},
	}, {
		"a cluster in flight moves while another is missing: it fails where it was",
		textStrategy{name: "per group, one may fail", kind: "ProgressivePerGroup", maxFailures: 1, deadline: true},
		[]string{"select a g1", "select b g1", "hide b", "select a g2", "wait", "show"},
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
