// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"maps"
	"slices"
	"testing"
)

// The gaps in what a trace shows are at most four: duties without a trace that have a reason in common are one.
func TestFewDutiesLeaveNoTrace(t *testing.T) {
	if reasons := slices.Compact(slices.Sorted(maps.Values(untraced))); len(reasons) > 4 {
		t.Errorf("%d gaps, expected at most 4: %q", len(reasons), reasons)
	}
}

// TestEachDutyFromTraces shows that a controller that ignores a duty is found from the trace alone. The lag and the patience are those that its
// world allows.
func TestEachDutyFromTraces(t *testing.T) {
	all := maps.Clone(Duties)
	maps.Copy(all, StrategyDuties)
	theHub.dutiesFromTraces(t, all, subject, func(seed uint64, d Duty) *world { return draw(seed, subject, d) })
}

// TestEachDutyOfCutOffFromTraces shows that of the duties of a controller with deselected clusters.
func TestEachDutyOfCutOffFromTraces(t *testing.T) {
	theHub.dutiesFromTraces(t, cutOffDuties, subject, func(seed uint64, d Duty) *world { return drawCut(seed, subject, d) })
}

// TestEachDutyOfAddOnsFromTraces shows that of the duties of one that rolls add-ons out.
func TestEachDutyOfAddOnsFromTraces(t *testing.T) {
	theHub.trialDutiesFromTraces(t, dutiesOfAddOns(), ofAddOns)
}
