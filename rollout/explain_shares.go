// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// sharesUsedUp gives the reason for clusters that the shares block.
func (s *schedule) sharesUsedUp(choice *choice) BlockReason {
	shares, all, reason := s.options.shares, &choice.pace.all, BlockReason{Type: BlockShares, AllGroups: true}
	switch failures := all.Failures(); {
	case shares.Concurrency == 0:
	case failures > shares.Failures:
		reason.Failures, reason.MaxFailures = failures, shares.Failures
	default:
		reason.InFlight, reason.Starting, reason.MaxConcurrency = all.InFlight(), choice.starting(), shares.Concurrency
		s.countSlow(&reason, all, false)
	}
	return reason
}

// shares gives the sentence of BlockShares.
func (reason BlockReason) shares() string {
	switch taken := reason.InFlight + reason.Starting; {
	case reason.Failures > 0:
		failed := reason.Detail
		if failed == "" {
			failed = clusters(reason.Failures)
		}
		return fmt.Sprintf("the rollout is stopped on this hub: %s failed, and this hub's share of failures is %d", failed, reason.MaxFailures)
	case reason.MaxConcurrency == 0:
		return "this hub's share of concurrency is 0"
	case taken <= reason.MaxConcurrency:
		return reason.detailed(fmt.Sprintf("this hub's share of concurrency is used up (%d of %d %s)", taken, reason.MaxConcurrency, reason.takers()))
	default: // some were asked back
		return reason.detailed(fmt.Sprintf("this hub's share of concurrency is exceeded (%d in flight, the share is %d now)", taken, reason.MaxConcurrency))
	}
}

// sharesDetail describes the clusters that use up the shares; empty where there are none.
func (r *Result) sharesDetail(reason *BlockReason) string {
	switch {
	case reason.Failures > 0:
		top, _, _, _ := r.failedHere()
		return top.names()
	case reason.MaxConcurrency > 0:
		waitSet := r.fleetWaitSet()
		return waitSet.sentences(waitSet.excess, 0)
	}
	return ""
}

// explainShares says how a share comes free here. Where this hub has none to use, only a larger share ends the wait.
func (r *Result) explainShares(link *Link) (others ignorableClusters) {
	switch reason := &link.Reason; {
	case reason.Failures == 0 && reason.MaxConcurrency == 0:
		link.Remedies = []Remedy{{Type: RemedyRaiseShares}}
	case reason.Failures > 0:
		top, fixable, untold, attempt := r.failedHere()
		link.Blockers, link.More, others = top.list()
		if n := reason.Failures - reason.MaxFailures; fixable.n >= n {
			link.Remedies = []Remedy{{Type: RemedyFix, Count: n, Of: fixable.n, Clusters: fixable.listed()}}
		}
		link.Remedies = append(append(link.Remedies, untold.rulesRemedy()...), Remedy{Type: RemedyTryAgain, Count: attempt + 1}, Remedy{Type: RemedyRaiseShares, Count: reason.Failures})
	case reason.MaxConcurrency > 0:
		waitSet := r.fleetWaitSet()
		link.Blockers, link.More, others = waitSet.first.list()
		link.Remedies = r.slotRemedies(waitSet, 0)
	}
	return others
}

// failedHere gives the clusters that failed and count, by name, the ones among them that can be fixed, those that timed out only because
// nothing says when they are done, and the last attempt. It takes time linear in the fleet.
func (r *Result) failedHere() (top topN, fixable, untold stateGroup, attempt int) {
	for position, state := range r.table.All() {
		if !fleet.FailureStates.Has(state) || r.schedule.Ignores(position) {
			continue
		}
		blocker := r.blocker(position)
		blocker.Until = time.Time{} // a cluster that timed out has failed as well
		attempt = max(attempt, r.table.Attempt(position))
		r.sort(position, blocker, &fixable, &untold)
		top.ignorable.add(&blocker)
		if top.n++; top.n <= maxNamed {
			top.blockers = append(top.blockers, blocker)
		}
	}
	return top, fixable, untold, attempt
}
