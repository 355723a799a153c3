// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"iter"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// A scheduler cuts groups anew where clusters leave and join. What a version may do to a fleet must not grow by that. Two limits see to
// it.
//
// For example, the groups are 0 {a} and 1 {b}. The version kills the agent of a, the hub drops a, and the scheduler divides again by
// size: 0 {b}. Then a counts in group 0 and is not selected there. Therefore a has a place that b waits for.

// placesOf gives the places of an active stage that clusters keep without being selected there (R65).
func (s *schedule) placesOf(grant *grant) limits.Places {
	if !s.AnyFormer() || !s.Graph.IsSingle(grant.stage) {
		return limits.Places{}
	}
	return limits.Places{Kept: s.places.keptIn(grant.stage), Waiting: grant.used.Waiting(), IsUnderWay: grant.used.IsUnderWay()}
}

// isOutOfTurn says whether a cluster counts where the current groups do not have it, or clusters are exposed where the current groups would
// not have exposed them. Only then can more be exposed than by the current groups (R66).
func (s *schedule) isOutOfTurn(choice *choice, totals *fleet.Totals) bool {
	return s.isBounded() && (s.AnyFormer() || s.isFull(choice, totals) || s.isRampedBehind(choice, totals))
}

// isRampedBehind says whether a cluster has soaked in a stage whose turn has not come, so that the ramp is steeper than the current groups
// have it.
func (s *schedule) isRampedBehind(choice *choice, totals *fleet.Totals) bool {
	for stage := stages.Stage(0); s.options.ramp > 0 && stage < s.Graph.Len(); stage++ {
		if _, waits := choice.waitsFor(stage); waits && totals.Stages[stage].Soaked() > 0 {
			return true
		}
	}
	return false
}

// isFull says whether more clusters are exposed in a stage than the current groups expose there: in one whose turn has not come any.
func (s *schedule) isFull(choice *choice, totals *fleet.Totals) bool {
	grants, elsewhere := choice.grants(), totals.All.Exposed()
	for i := range grants {
		elsewhere -= grants[i].used.Exposed()
	}
	if len(grants) == 0 || len(grants) == 1 && elsewhere == 0 { // a stage bounds itself
		return false
	}
	exposure := s.exposure(s.areSlotsFreed(totals))
	for stage := range s.Graph.Len() {
		if n := totals.Stages[stage].Exposed(); n > 0 && n > s.exposesNow(choice, stage, exposure) {
			return true
		}
	}
	return false
}

// exposesNow gives the most clusters that the current groups expose in a stage as it is: active, complete, or before its turn.
func (s *schedule) exposesNow(choice *choice, stage stages.Stage, exposure limits.Exposure) int {
	if _, is := choice.grantOf(stage); is {
		return exposure.Active(s.loadOf(stage))
	} else if _, waits := choice.waitsFor(stage); waits {
		return 0
	}
	return exposure.Passed(s.loadOf(stage))
}

// exposes gives the most clusters that may be exposed: as many as the current groups expose, and while a deselected or moved cluster counts, as
// many as the groups of any time since. In a graph it is what the stages expose one after the other, or those that are active now
// together.
func (s *schedule) exposes(choice *choice, totals *fleet.Totals) int {
	exposure := s.exposure(s.areSlotsFreed(totals))
	most := max(exposure.InOrder(s.loads()), s.places.exposed)
	if s.Graph.IsChain() {
		return most
	}
	return max(most, exposure.AtOnce(func(yield func(limits.Load, int) bool) {
		for stage := range s.Graph.Len() {
			if _, waits := choice.waitsFor(stage); !waits && !yield(s.loadOf(stage), s.exposesNow(choice, stage, exposure)) {
				return
			}
		}
	}))
}

// exposure says how many clusters are exposed. Frees says whether failed clusters release their slots.
func (s *schedule) exposure(frees bool) limits.Exposure {
	return limits.Exposure{Ramp: s.options.ramp, Frees: frees}
}

// loads gives the load of each stage, in order.
func (s *schedule) loads() iter.Seq[limits.Load] {
	return func(yield func(limits.Load) bool) {
		for stage := range s.Graph.Len() {
			if !yield(s.loadOf(stage)) {
				return
			}
		}
	}
}

// freesSlots says whether failed clusters release their slots, at once or at their deadline.
func (s *schedule) freesSlots() bool { return s.options.freeFailed || s.rules.deadline != nil }

// areSlotsFreed says so of what is reported, too: a failure that timed out holds no slot.
func (s *schedule) areSlotsFreed(totals *fleet.Totals) bool {
	return s.freesSlots() || totals.All.TimedOut() > 0
}

// isBounded says whether the groups bound how many are exposed. Under All nothing does, and a rollback exposes no cluster to anything new.
func (s *schedule) isBounded() bool {
	return s.rules.typ != clusterv1alpha1.All && s.options.rollback == nil
}

// ceiling gives the most clusters that the groups of this schedule and, while a deselected or moved cluster counts, of those before it
// expose.
func (s *schedule) ceiling() int {
	switch {
	case !s.isBounded():
		return 0
	case s.AnyFormer():
		return s.places.exposed
	default:
		return s.exposure(s.freesSlots()).InOrder(s.loads())
	}
}

// loadOf gives the load of a stage by the current groups.
func (s *schedule) loadOf(stage stages.Stage) limits.Load {
	own := &s.limits[stage]
	n := -s.places.keptIn(stage)
	for _, group := range s.Graph.Groups(stage) {
		n += s.SizeOf(group) - s.IgnoredIn(group)
	}
	budget := s.Budgets[stage]
	if s.rules.typ == clusterv1alpha1.Progressive && !s.Graph.IsMandatory(stage) {
		budget = s.maxFailures
	}
	return limits.Load{Clusters: n, Slots: min(n, own.maxConcurrency), Tolerated: min(n, budget+s.places.baselineIn(stage))}
}
