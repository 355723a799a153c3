// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// ordersGroups says whether groups go one after the other under the type (R34).
func (s *schedule) ordersGroups() bool {
	behindMandatory := s.rules.typ == clusterv1alpha1.Progressive && len(s.rules.mandatory) > 0 && s.options.rollback == nil
	return s.rules.typ == clusterv1alpha1.ProgressivePerGroup || behindMandatory
}

// interval is what a stage waits for after all stages before it are complete. The zero interval is over.
type interval struct {
	// The last success of the clusters that count in the stages that it comes after, zero if there is none, and the first
	// stage with that success.
	last   time.Time
	lastOf stages.Stage
	// Whether one of these clusters succeeded at an unknown time, and the first stage with such a cluster.
	unknown   bool
	unknownOf stages.Stage
	// is says whether the wait goes on now.
	is bool
}

// join waits for what both do.
func (span *interval) join(other interval) {
	switch {
	case other.last.After(span.last):
		span.last, span.lastOf = other.last, other.lastOf
	case other.last.Equal(span.last):
		span.lastOf = min(span.lastOf, other.lastOf)
	}
	switch {
	case other.unknown && span.unknown:
		span.unknownOf = min(span.unknownOf, other.unknownOf)
	case other.unknown:
		span.unknown, span.unknownOf = true, other.unknownOf
	}
}

// waits gives the wait of each stage; nil without the option. A stage with an incomplete predecessor has none. It takes time
// linear in the stages, and in the clusters of complete stages that have changed.
func (s *schedule) waits(view view, choice *choice, totals *fleet.Totals, now time.Time) []interval {
	if s.Wait <= 0 {
		return nil
	}
	all := make([]interval, len(s.limits))
	for stage := range s.Graph.Len() {
		if _, waits := choice.waitsFor(stage); waits {
			continue
		}
		wait := &all[stage]
		if same := s.Graph.SamePredecessors(stage); same < stage {
			*wait = all[same]
			continue
		}
		for _, before := range s.Graph.DirectlyBefore(stage) {
			own := interval{last: view.LastSuccess(before), lastOf: before, unknown: totals.Stages[before].In(fleet.SucceededUndated) > 0, unknownOf: before}
			wait.join(own)
			wait.join(all[before])
		}
		wait.is = wait.unknown || !wait.last.IsZero() && now.Before(wait.last.Add(s.Wait))
	}
	return all
}

// isWaiting says whether a stage has to wait although all stages before it are complete.
func (c *choice) isWaiting(stage stages.Stage) bool { return c.waits != nil && c.waits[stage].is }
