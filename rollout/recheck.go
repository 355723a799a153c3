// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// changes gives the time from now until a gate opens, a wait ends, a full record counts no longer, or MaxStarts lets one more held
// cluster start; 0 if none of these happens.
func (s *schedule) changes(choice *choice, totals *fleet.Totals, now time.Time) time.Duration {
	return fleet.Sooner(fleet.Sooner(s.opening(choice, totals, now), s.fullEnds(choice, totals, now)), fleet.Sooner(s.waitEnds(choice, totals, now), choice.nextStart(now)))
}

// opening gives the time from now until a gate opens that blocks clusters of an active stage; 0 if there is none.
func (s *schedule) opening(choice *choice, totals *fleet.Totals, now time.Time) (next time.Duration) {
	if choice.closed == nil || s.stopped(choice) {
		return 0
	}
	for i := range choice.grants() {
		switch grant := &choice.grants()[i]; {
		case grant.used.Waiting() == 0:
		case grant.barrier >= 0:
			next = fleet.Sooner(next, choice.closed[grant.barrier].UntilOpen(now))
		case !s.Graph.IsSingle(grant.stage):
			for group, gate := range choice.closed {
				if s.Graph.Of(group) == grant.stage && totals.Groups[group].Waiting() > 0 {
					next = fleet.Sooner(next, gate.UntilOpen(now))
				}
			}
		}
	}
	for group := range stages.Group(len(totals.Ignored)) {
		if _, waits := choice.waitsFor(s.Graph.Of(group)); waits || totals.Ignored[group].Waiting() == 0 {
			continue
		}
		if barrier := s.barrierOf(choice, s.Graph.Of(group)); barrier >= 0 {
			group = barrier
		}
		if gate, closed := choice.closed[group]; closed {
			next = fleet.Sooner(next, gate.UntilOpen(now))
		}
	}
	return next
}

// waitEnds gives the time from now until a wait ends that alone blocks clusters; 0 if there is none.
func (s *schedule) waitEnds(choice *choice, totals *fleet.Totals, now time.Time) (next time.Duration) {
	if choice.waits == nil || s.stopped(choice) {
		return 0
	}
	for group := range s.Graph.NumGroups() {
		stage := s.Graph.Of(group)
		wait := &choice.waits[stage]
		if !wait.is || wait.unknown || s.barrierOf(choice, stage) >= 0 || choice.isClosed(group) {
			continue
		}
		if totals.Groups[group].Waiting() > 0 || totals.Ignored != nil && totals.Ignored[group].Waiting() > 0 {
			next = fleet.Sooner(next, wait.last.Add(s.Wait).Sub(now))
		}
	}
	return next
}

// fullEnds gives the time from now until a full record blocks clusters no longer, if it alone blocks any; 0 if that never happens.
func (s *schedule) fullEnds(choice *choice, totals *fleet.Totals, now time.Time) time.Duration {
	switch overflow := &choice.full; {
	case overflow.n == 0 || overflow.until.IsZero() || s.options.paused || s.missing != "" || choice.breach != nil:
		return 0
	case totals.All.Waiting() == 0 && totals.IgnoredAll.Waiting() == 0:
		return 0
	default:
		return overflow.until.Sub(now)
	}
}

// nextStart gives the time from now until MaxStarts lets one more cluster start that it blocks; 0 if there is none.
func (c *choice) nextStart(now time.Time) time.Duration {
	if c.pace.recent.Next.IsZero() {
		return 0
	}
	grants := c.grants()
	for i := range grants {
		if grant := &grants[i]; grant.limit == limits.KindStarts && grant.blocked() {
			return c.pace.recent.Next.Sub(now)
		}
	}
	return 0
}
