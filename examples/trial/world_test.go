// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"slices"
	"testing"
	"time"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Among the worlds are some in which another controller than OCM's scheduler writes the decisions, and some in which every cluster
// answers a tenth of a second before its deadline. Where a duty is ignored nothing of this is drawn.
func TestRareWorldsAreDrawn(t *testing.T) {
	isPunctual := func(w *world) bool {
		for _, c := range w.pool {
			if !slices.Equal(w.agentMode[c], []agentMode{punctual}) {
				return false
			}
		}
		return w.longestDeadline() > 0
	}
	for ignored, want := range map[Duty]bool{"": true, DutyStatus: false} {
		foreign, last := 0, 0
		for seed := uint64(1); seed <= 60; seed++ {
			w := draw(seed, subject, ignored)
			if w.foreign {
				foreign++
			}
			if isPunctual(w) {
				last++
			}
		}
		if (foreign >= 5) != want || (last >= 3) != want {
			t.Errorf("%q: of 60 worlds %d are of a foreign scheduler, %d of agents that answer last", ignored, foreign, last)
		}
	}
	if got := steps(punctual, nil, 4*time.Second); len(got) != 1 || got[0] != (step{3900 * time.Millisecond, ok}) {
		t.Error(got)
	}
}

// G13: where scheduling is disabled the Placement's status is not written, and the decisions are whole as they are.
func TestDecisionsOfAForeignSchedulerAreComplete(t *testing.T) {
	for disabled, complete := range map[string]bool{"true": true, "": false, "false": false} {
		s := &tale{}
		s.set("v1", "p")
		s.decide("p", 0, "", "a", "b")
		s.place("p") // its status speaks of nothing
		s.events[len(s.events)-1].object.SetAnnotations(map[string]string{clusterv1beta1.PlacementDisableAnnotation: disabled})
		if truth := s.history().truth(s.now()); (truth.incomplete() == "") != complete || !truth.selects("a") {
			t.Errorf("%q: incomplete %q, selects a: %v", disabled, truth.incomplete(), truth.selects("a"))
		}
	}
}

// Where several processes act, or one alone, none leads. To cut the leader off does nothing then.
func TestCutLeaderWithoutALock(t *testing.T) {
	p := &player{replicas: []*replica{{net: &transport{}}}}
	p.cutLeader(context.Background())
	if p.replicas[0].net.hold != 0 {
		t.Error("a write is held back")
	}
}
