// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// Outcome is how a rollout ended.
type Outcome string

const (
	// Complete says that every cluster succeeded and soaked.
	Complete Outcome = "Complete"
	// CompleteWithFailures says that every cluster is settled, and that as many failed as the strategy tolerates.
	CompleteWithFailures Outcome = "CompleteWithFailures"
	// Breached says that more clusters failed than the strategy tolerates, whether or not others wait for that.
	Breached Outcome = "Breached"
	// NothingSelected says that there is no cluster to roll out to.
	NothingSelected Outcome = "NothingSelected"
	// Stuck says that clusters wait or are in flight, and that nothing happens any more, or not before the horizon.
	Stuck Outcome = "Stuck"
	// AtGate says that all that wait do so for a gate that a user has to open.
	AtGate Outcome = "AtGate"
	// Blocked says that all that wait are frozen or not allowed; some perhaps wait for a gate.
	Blocked Outcome = "Blocked"
	// RolledBack says that the rollout was aborted before it came to an end by itself.
	RolledBack Outcome = "RolledBack"
)

// outcome is how a rollout with this last plan ended.
func outcome(final *rollout.Result) Outcome {
	summary := final.Summary()
	switch {
	case summary.Total() == 0 && summary.Incomplete == "":
		return NothingSelected
	case final.Breach != nil:
		return Breached
	case summary.Incomplete == "" && summary.ToApply == 0 && summary.InFlight() == 0:
		if summary.Failures() > 0 {
			return CompleteWithFailures
		}
		return Complete
	}
	return waitsForUser(final)
}

// waitsForUser is AtGate if closed gates are the last reasons of all that wait, Blocked if these are gates, freezes and the allowlist, and else
// Stuck.
func waitsForUser(final *rollout.Result) Outcome {
	asked, is := make(map[rollout.BlockReason]bool), Stuck
	for cluster, hold := range final.Blocked() {
		if asked[hold] {
			continue
		}
		asked[hold] = true
		chain := final.Explain(cluster.Name)
		last := chain[min(1, len(chain)):] // without the cluster's own wait, if it waits for others
		if len(last) == 0 {
			last = chain
		}
		if len(chain) == 0 || slices.ContainsFunc(last, func(l rollout.Link) bool { return l.Reason.Type != rollout.BlockGateClosed && !isParked(l) }) {
			return Stuck
		}
		switch {
		case slices.ContainsFunc(chain, isParked):
			is = Blocked
		case is == Stuck:
			is = AtGate
		}
	}
	return is
}

// isParked says whether a cluster is frozen or not allowed.
func isParked(l rollout.Link) bool {
	return l.Reason.Type == rollout.BlockFrozen || l.Reason.Type == rollout.BlockNotAllowed
}

// stopped is the place of the wave from which on the outcome is as it is.
func (t *Trace) stopped() int {
	last := len(t.Waves) - 1
	since := func(same func(Wave) bool) int {
		i := last
		for i > 0 && len(t.Waves[i].Started) == 0 && same(t.Waves[i-1]) {
			i--
		}
		return i
	}
	switch t.Outcome {
	case Breached:
		return since(func(w Wave) bool { return w.Breached })
	case AtGate:
		return since(func(w Wave) bool { return slices.EqualFunc(w.Blocks, t.Waves[last].Blocks, sameReason) })
	default:
		return since(func(w Wave) bool { return w.Counts == t.Waves[last].Counts })
	}
}

// sameReason says whether as many clusters wait for the same reason, whichever clusters are in flight by then.
func sameReason(a, b rollout.BlockCount) bool {
	reason := func(h rollout.BlockCount) (rollout.BlockType, grouping.Key, rollout.Gate, int) {
		return h.Reason.Type, h.Reason.Group, h.Reason.Gate, h.Clusters
	}
	aType, aGroup, aGate, aClusters := reason(a)
	bType, bGroup, bGate, bClusters := reason(b)
	return aType == bType && aGroup == bGroup && aGate == bGate && aClusters == bClusters
}
