// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// sharesUsedUp gives the reason for clusters that the shares block.
func (s *schedule) sharesUsedUp(c *choice) BlockReason {
	r, all, h := s.options.shares, &c.pace.all, BlockReason{Type: BlockShares, AllGroups: true}
	switch failures := all.Failures(); {
	case r.Concurrency == 0:
	case failures > r.Failures:
		h.Failures, h.MaxFailures = failures, r.Failures
	default:
		h.InFlight, h.Starting, h.MaxConcurrency = all.InFlight(), c.starting(), r.Concurrency
		s.countSlow(&h, all, false)
	}
	return h
}

// shares gives the sentence of BlockShares.
func (h BlockReason) shares() string {
	switch taken := h.InFlight + h.Starting; {
	case h.Failures > 0:
		failed := h.Detail
		if failed == "" {
			failed = clusters(h.Failures)
		}
		return fmt.Sprintf("the rollout is stopped on this hub: %s failed, and this hub's share of failures is %d", failed, h.MaxFailures)
	case h.MaxConcurrency == 0:
		return "this hub's share of concurrency is 0"
	case taken <= h.MaxConcurrency:
		return h.detailed(fmt.Sprintf("this hub's share of concurrency is used up (%d of %d %s)", taken, h.MaxConcurrency, h.takers()))
	default: // some were asked back
		return h.detailed(fmt.Sprintf("this hub's share of concurrency is exceeded (%d in flight, the share is %d now)", taken, h.MaxConcurrency))
	}
}

// sharesDetail describes the clusters that use up the shares; empty where there are none.
func (r *Result) sharesDetail(h *BlockReason) string {
	switch {
	case h.Failures > 0:
		f, _, _, _ := r.failedHere()
		return f.names()
	case h.MaxConcurrency > 0:
		f := r.fleetWaitSet()
		return f.sentences(f.excess, 0)
	}
	return ""
}

// explainShares says how a share comes free here. Where this hub has none to use, only a larger share ends the wait.
func (r *Result) explainShares(l *Link) (others ignorableClusters) {
	switch h := &l.Reason; {
	case h.Failures == 0 && h.MaxConcurrency == 0:
		l.Remedies = []Remedy{{Type: RemedyRaiseShares}}
	case h.Failures > 0:
		f, fixable, untold, attempt := r.failedHere()
		l.Blockers, l.More, others = f.list()
		if n := h.Failures - h.MaxFailures; fixable.n >= n {
			l.Remedies = []Remedy{{Type: RemedyFix, Count: n, Of: fixable.n, Clusters: fixable.listed()}}
		}
		l.Remedies = append(append(l.Remedies, untold.rulesRemedy()...), Remedy{Type: RemedyTryAgain, Count: attempt + 1}, Remedy{Type: RemedyRaiseShares, Count: h.Failures})
	case h.MaxConcurrency > 0:
		f := r.fleetWaitSet()
		l.Blockers, l.More, others = f.first.list()
		l.Remedies = r.slotRemedies(f, 0)
	}
	return others
}

// failedHere gives the clusters that failed and count, by name, the ones among them that can be fixed, those that timed out only because
// nothing says when they are done, and the last attempt. It takes time linear in the fleet.
func (r *Result) failedHere() (f topN, fixable, untold stateGroup, attempt int) {
	for position, state := range r.table.All() {
		if !fleet.FailureStates.Has(state) || r.schedule.Ignores(position) {
			continue
		}
		b := r.blocker(position)
		b.Until = time.Time{} // a cluster that timed out has failed as well
		attempt = max(attempt, r.table.Attempt(position))
		r.sort(position, b, &fixable, &untold)
		f.ignorable.add(&b)
		if f.n++; f.n <= maxNamed {
			f.blockers = append(f.blockers, b)
		}
	}
	return f, fixable, untold, attempt
}
