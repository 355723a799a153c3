// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// placesTaken gives the reason for clusters that R65 blocks.
func (s *schedule) placesTaken(g *grant) BlockReason {
	return BlockReason{Type: BlockPlaces, Group: s.keyOf(g.stage)}
}

// exposureReached gives the reason for clusters that R66 blocks.
func (c *choice) exposureReached() BlockReason {
	return BlockReason{Type: BlockExposed, AllGroups: true, InFlight: c.pace.all.Exposed(), Starting: c.starting(), MaxConcurrency: c.pace.exposes}
}

// exposure gives the sentence of BlockExposed.
func (h BlockReason) exposure() string {
	n := h.InFlight + h.Starting
	has := plural(n > 1, "has the version", "have the version")
	if h.Starting > 0 {
		has += plural(n > 1, " or gets it now", " or get it now")
	}
	is := plural(n > 1, "is", "are")
	return h.detailed(fmt.Sprintf("because the decision groups changed, at most %s may be exposed, and %d %s (%s, and %s not done with it)", clusters(h.MaxConcurrency), n, is, has, is))
}

// exposed gives the wait set of all clusters that are exposed or start. It takes time linear in the fleet.
func (r *Result) exposed() *waitSet {
	f, s := &waitSet{}, r.schedule
	for position, is := range r.table.All() {
		if !r.isStarting(position) && !fleet.ExposedStates.Has(is) || s.Ignores(position) {
			continue
		}
		b := r.blocker(position)
		if is == fleet.TimedOutNow {
			is = fleet.TimedOut
		}
		f.byKind[waitKindOf(&b, is)].add(b)
		f.first.add(&b, -1)
		switch {
		case is == fleet.SoakingUndated:
			f.undatedSlots.add(b)
		case is == fleet.Soaking:
			f.ends = append(f.ends, end{b.Until, true})
		}
	}
	f.excess = f.first.n // as one of them ends, fewer may be exposed, too: by a stage that is complete, or by a failure that is fixed
	f.needed = f.excess
	f.close(f.isFree)
	return f
}

// exposureRemedies says how fewer clusters are exposed: they succeed, or are fixed.
func (r *Result) exposureRemedies(f *waitSet) (remedies []Remedy) {
	if !f.frees.IsZero() {
		remedies = append(remedies, r.waitUntil(f.frees))
	}
	var fixable stateGroup
	for _, s := range [...]fleet.State{fleet.Failed, fleet.FailedUndated, fleet.TimedOut} {
		fixable.merge(&f.byKind[s])
	}
	u, lost, untracked := &f.undatedSlots, f.byKind[failedLost].n, f.untracked()
	stuck, able := 1<<waitSoakingUndated|1<<failedLost|untrackedKinds, f.first.n-u.n-lost-untracked.n
	dates := f.dates
	if able < f.needed && dates == 0 && f.frees.IsZero() {
		dates = u.n // and others have to succeed as well
	}
	if dates > 0 {
		remedies = append(remedies, Remedy{Type: RemedyReportTime, Count: dates, Of: u.n, Clusters: u.listed(), Succeeded: true})
	}
	if able-fixable.n >= f.needed { // or some have to be fixed
		stuck, able = stuck|failedKinds|1<<waitTimedOut, able-fixable.n
	}
	if able >= f.needed && able > fixable.n {
		remedies = append(remedies, Remedy{Type: RemedyAnswer, Count: f.needed, Of: able, Clusters: f.namesExcept(stuck)})
	}
	remedies = append(append(remedies, untracked.rulesRemedy()...), f.validateRemedy(f.needed)...)
	if fixable.n >= f.needed {
		remedies = append(remedies, Remedy{Type: RemedyFix, Count: f.needed, Of: fixable.n, Clusters: fixable.listed()})
	}
	return remedies
}
