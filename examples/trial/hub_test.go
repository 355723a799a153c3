// SPDX-License-Identifier: Apache-2.0

package trial

import "testing"

// TestRollouts shows that a controller that does what the documentation says breaks nothing.
func TestRollouts(t *testing.T) {
	theHub.Rollouts(t, subject)
}

// TestTheSameSeedIsTheSameHistory shows that a second play has the same messages, writes and times.
func TestTheSameSeedIsTheSameHistory(t *testing.T) {
	defer func(n int) { *flagTwice = n }(*flagTwice)
	*flagTwice = 4
	theHub.rollouts(t, subject, "Rollouts", 4, func(seed uint64) *world { return draw(seed, subject, "") })
	theHub.rollouts(t, subject, "CutOff", 4, func(seed uint64) *world { return drawCut(seed, subject, "") })
}

// TestEachDuty shows that the harness finds a controller that ignores a duty of the documentation.
func TestEachDuty(t *testing.T) {
	theHub.EachDuty(t, subject, Duties)
}

// TestEachInvariant shows that the observer sees it where a strategy isn't kept to.
func TestEachInvariant(t *testing.T) {
	theHub.EachDuty(t, subject, StrategyDuties)
}

// TestCutOff shows that a controller that does what the documentation says breaks nothing where versions cut clusters off.
func TestCutOff(t *testing.T) {
	theHub.CutOff(t, subject)
}

// TestEachDutyOfCutOff shows that the harness finds a controller that ignores one of the duties where clusters leave.
func TestEachDutyOfCutOff(t *testing.T) {
	theHub.EachDutyOfCutOff(t, subject)
}

// TestDays shows it in worlds that last for days.
func TestDays(t *testing.T) {
	theHub.Days(t, subject)
}

// TestUntold shows the same where some duty matters, and none is left out.
func TestUntold(t *testing.T) {
	theHub.Untold(t, subject)
}
