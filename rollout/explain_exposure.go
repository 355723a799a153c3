// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// placesTaken gives the reason for clusters that R65 blocks.
func (s *schedule) placesTaken(grant *grant) BlockReason {
	return BlockReason{Type: BlockPlaces, Group: s.keyOf(grant.stage)}
}

// exposureReached gives the reason for clusters that R66 blocks.
func (c *choice) exposureReached() BlockReason {
	return BlockReason{Type: BlockExposed, AllGroups: true, InFlight: c.pace.all.Exposed(), Starting: c.starting(), MaxConcurrency: c.pace.exposes}
}

// exposure gives the sentence of BlockExposed.
func (reason BlockReason) exposure() string {
	n := reason.InFlight + reason.Starting
	has := plural(n > 1, "has it", "have it")
	if reason.Starting > 0 {
		has += plural(n > 1, " or gets it now", " or get it now")
	}
	return reason.detailed(fmt.Sprintf("since the decision groups changed, at most %s may have the version without being done, and %d %s", clusters(reason.MaxConcurrency), n, has))
}

// exposed gives the wait set of all clusters that are exposed or start. It takes time linear in the fleet.
func (r *Result) exposed() *waitSet {
	waitSet, schedule := &waitSet{}, r.schedule
	for position, is := range r.table.All() {
		if !r.isStarting(position) && !fleet.ExposedStates.Has(is) || schedule.Ignores(position) {
			continue
		}
		blocker := r.blocker(position)
		if is == fleet.TimedOutNow {
			is = fleet.TimedOut
		}
		waitSet.byKind[waitKindOf(&blocker, is)].add(blocker)
		waitSet.first.add(&blocker, -1)
		switch {
		case is == fleet.SoakingUndated:
			waitSet.undatedSlots.add(blocker)
		case is == fleet.Soaking:
			waitSet.ends = append(waitSet.ends, end{blocker.Until, true})
		}
	}
	waitSet.excess = waitSet.first.n // as one of them ends, fewer may be exposed, too: by a stage that is complete, or by a failure that is fixed
	waitSet.needed = waitSet.excess
	waitSet.close(waitSet.isFree)
	return waitSet
}

// exposureRemedies says how fewer clusters are exposed: they succeed, or are fixed.
func (r *Result) exposureRemedies(waitSet *waitSet) (remedies []Remedy) {
	if !waitSet.frees.IsZero() {
		remedies = append(remedies, r.waitUntil(waitSet.frees))
	}
	var fixable stateGroup
	for _, state := range [...]fleet.State{fleet.Failed, fleet.FailedUndated, fleet.TimedOut} {
		fixable.merge(&waitSet.byKind[state])
	}
	undated, lost, untracked := &waitSet.undatedSlots, waitSet.byKind[failedLost].n, waitSet.untracked()
	stuck, able := 1<<waitSoakingUndated|1<<failedLost|untrackedKinds, waitSet.first.n-undated.n-lost-untracked.n
	dates := waitSet.dates
	if able < waitSet.needed && dates == 0 && waitSet.frees.IsZero() {
		dates = undated.n // and others have to succeed as well
	}
	if dates > 0 {
		remedies = append(remedies, Remedy{Type: RemedyReportTime, Count: dates, Of: undated.n, Clusters: undated.listed(), Succeeded: true})
	}
	if able-fixable.n >= waitSet.needed { // or some have to be fixed
		stuck, able = stuck|failedKinds|1<<waitTimedOut, able-fixable.n
	}
	if able >= waitSet.needed && able > fixable.n {
		remedies = append(remedies, Remedy{Type: RemedyAnswer, Count: waitSet.needed, Of: able, Clusters: waitSet.namesExcept(stuck)})
	}
	remedies = append(append(remedies, untracked.rulesRemedy()...), waitSet.validateRemedy(waitSet.needed)...)
	if fixable.n >= waitSet.needed {
		remedies = append(remedies, Remedy{Type: RemedyFix, Count: waitSet.needed, Of: fixable.n, Clusters: fixable.listed()})
	}
	return remedies
}
