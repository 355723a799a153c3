// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// faultTeller is a test, or one case of a property.
type faultTeller interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// R29: whatever an explanation says ends the wait, on random fleets under all types with any options together.
func TestFollowingTheAdviceWorksOnRandomFleets(t *testing.T) {
	for round := range exhaustive.Of(10, 100, 400) {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			remedies := map[rollout.RemedyType]int{}
			exhaustive.Check(t, round, func(t *rapid.T) {
				pick := drawn(t)
				pick.advised(t, pick.world(8)).check(t, remedies)
			})
			t.Logf("remedies followed: %v", remedies)
		})
	}
}

// advised makes a world one whose advice can be followed: with one report for a cluster, and one gate at most.
func (pick picker) advised(t fataler, w world) *advised {
	h := &advised{strategy: w.strategy, groups: w.read(t), reports: map[string]status.Report{}, now: w.now, paused: w.paused, attempt: w.attempt}
	if len(w.gates) > 0 {
		h.gate, h.opens = &w.gates[0].group, w.gates[0].gate.Opens
	}
	if w.ramp > 0 { // R35: one that left and is fixed frees its slot, but adds none to the ramp, as it counts no more
		w.reports = slices.DeleteFunc(w.reports, func(r status.Report) bool { return strings.HasSuffix(r.Cluster, "-gone") })
	}
	for i := range w.reports { // nothing waits for centuries to see whether the advice was right
		r := &w.reports[i]
		for _, at := range []*time.Time{&r.LastTransitionTime, &r.Applied, &r.Answered} {
			if !at.IsZero() && at.Sub(w.now).Abs() > 1000*time.Hour {
				*at = w.now
			}
		}
	}
	for _, r := range w.reports {
		h.reports[r.Cluster], _ = r1Merged(w.reports, r.Cluster)
	}
	w.paused, w.gates = false, nil
	if h.others = w.options(); pick.oneIn(3) { // of all options it is the one that explanations depend on most
		h.others.FailedFreesSlot = true
	}
	return h
}
