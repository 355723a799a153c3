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
func (s *schedule) changes(c *choice, t *fleet.Totals, now time.Time) time.Duration {
	return fleet.Sooner(fleet.Sooner(s.opening(c, t, now), s.fullEnds(c, t, now)), fleet.Sooner(s.waitEnds(c, t, now), c.nextStart(now)))
}

// opening gives the time from now until a gate opens that blocks clusters of an active stage; 0 if there is none.
func (s *schedule) opening(c *choice, t *fleet.Totals, now time.Time) (next time.Duration) {
	if c.closed == nil || s.stopped(c) {
		return 0
	}
	for i := range c.grants() {
		switch g := &c.grants()[i]; {
		case g.used.Waiting() == 0:
		case g.barrier >= 0:
			next = fleet.Sooner(next, c.closed[g.barrier].UntilOpen(now))
		case !s.Graph.IsSingle(g.stage):
			for group, gate := range c.closed {
				if s.Graph.Of(group) == g.stage && t.Groups[group].Waiting() > 0 {
					next = fleet.Sooner(next, gate.UntilOpen(now))
				}
			}
		}
	}
	for group := range stages.Group(len(t.Ignored)) {
		if _, waits := c.waitsFor(s.Graph.Of(group)); waits || t.Ignored[group].Waiting() == 0 {
			continue
		}
		if barrier := s.barrierOf(c, s.Graph.Of(group)); barrier >= 0 {
			group = barrier
		}
		if gate, closed := c.closed[group]; closed {
			next = fleet.Sooner(next, gate.UntilOpen(now))
		}
	}
	return next
}

// waitEnds gives the time from now until a wait ends that alone blocks clusters; 0 if there is none.
func (s *schedule) waitEnds(c *choice, t *fleet.Totals, now time.Time) (next time.Duration) {
	if c.waits == nil || s.stopped(c) {
		return 0
	}
	for group := range s.Graph.NumGroups() {
		stage := s.Graph.Of(group)
		w := &c.waits[stage]
		if !w.is || w.unknown || s.barrierOf(c, stage) >= 0 || c.isClosed(group) {
			continue
		}
		if t.Groups[group].Waiting() > 0 || t.Ignored != nil && t.Ignored[group].Waiting() > 0 {
			next = fleet.Sooner(next, w.last.Add(s.Wait).Sub(now))
		}
	}
	return next
}

// fullEnds gives the time from now until a full record blocks clusters no longer, if it alone blocks any; 0 if that never happens.
func (s *schedule) fullEnds(c *choice, t *fleet.Totals, now time.Time) time.Duration {
	switch f := &c.full; {
	case f.n == 0 || f.until.IsZero() || s.options.paused || s.missing != "" || c.breach != nil:
		return 0
	case t.All.Waiting() == 0 && t.IgnoredAll.Waiting() == 0:
		return 0
	default:
		return f.until.Sub(now)
	}
}

// nextStart gives the time from now until MaxStarts lets one more cluster start that it blocks; 0 if there is none.
func (c *choice) nextStart(now time.Time) time.Duration {
	if c.pace.recent.Next.IsZero() {
		return 0
	}
	grants := c.grants()
	for i := range grants {
		if g := &grants[i]; g.limit == limits.KindStarts && g.blocked() {
			return c.pace.recent.Next.Sub(now)
		}
	}
	return 0
}
