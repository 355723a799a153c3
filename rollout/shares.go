package rollout

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// Shares are a hub's parts of limits that several hubs have in common. Package rollout/shares divides the limits.
//
// They hold under all types, over all groups together, in mandatory groups too, and in addition to all other limits. With a
// share of concurrency of 0 nothing starts. Each cluster in flight uses one of Concurrency, also one that failed with
// FailedFreesSlot. Each failed cluster uses one of Failures, also one in FailedBefore. Deselected clusters that count use
// theirs as if they were selected. Clusters in Ignored use none; they start only while others could.
//
// Too many failures are no breach, since another hub may have an unused share: nothing starts until the share is large
// enough. Larger shares never start fewer clusters. If several groups may start, those earlier in [Schedule].Stages start
// first.
type Shares struct {
	// Concurrency is how many clusters may be in flight at a time. It must not be negative.
	Concurrency int `json:"start"`
	// Failures is how many clusters may have failed, in flight or not, for another one to start. It must not be negative.
	Failures int `json:"fail"`
}

// check returns the faults of the shares.
func (r *Shares) check(path *field.Path) (errs field.ErrorList) {
	if r.Concurrency < 0 {
		errs = append(errs, field.Invalid(path.Child("start"), r.Concurrency, "must not be negative"))
	}
	if r.Failures < 0 {
		errs = append(errs, field.Invalid(path.Child("fail"), r.Failures, "must not be negative"))
	}
	return errs
}

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
		return h.detailed(fmt.Sprintf("%s failed on this hub, whose share of failures is %d", clusters(h.Failures), h.MaxFailures))
	case h.MaxConcurrency == 0:
		return "this hub's share of concurrency is 0"
	case taken <= h.MaxConcurrency:
		return h.detailed(fmt.Sprintf("this hub's share of concurrency is used up (%d of %d in flight)", taken, h.MaxConcurrency))
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

// explainShares says how a share comes free here. Where this hub has none to use, nothing here ends the wait.
func (r *Result) explainShares(l *Link) (others ignorableClusters) {
	switch h := &l.Reason; {
	case h.Failures > 0:
		f, fixable, untold, attempt := r.failedHere()
		l.Blockers, l.More, others = f.list()
		if n := h.Failures - h.MaxFailures; fixable.n >= n {
			l.Remedies = []Remedy{{Type: RemedyFix, Count: n, Of: fixable.n, Clusters: fixable.listed()}}
		}
		l.Remedies = append(append(l.Remedies, untold.rulesRemedy()...), Remedy{Type: RemedyTryAgain, Count: attempt + 1})
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
	for position, state := range r.states {
		if !fleet.FailureStates.Has(state) || r.schedule.ignoresAt(position) {
			continue
		}
		b := r.blocker(position)
		b.Until = time.Time{} // a cluster that timed out has failed as well
		attempt = max(attempt, r.attempt(position))
		r.sort(position, b, &fixable, &untold)
		f.ignorable.add(&b)
		if f.n++; f.n <= maxNamed {
			f.blockers = append(f.blockers, b)
		}
	}
	return f, fixable, untold, attempt
}
