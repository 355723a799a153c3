// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
)

// pace has the limits on all active stages together (R35, R36, R57, R66), and what they leave. The zero pace is that of a rollout that is
// stopped.
type pace struct {
	all     fleet.Tally
	left    limits.Left // by all stages together, beside what starts
	noShare bool        // nothing may start, whatever is in flight
	shares  limits.Shares
	ramp    limits.Ramp
	recent  limits.Recent
	exposes int // how many clusters may be exposed; 0 where nothing bounds that
}

// newPace computes the limits on all stages together.
func (s *schedule) newPace(c *choice, o *observed) pace {
	p := pace{all: o.All, left: limits.All(), recent: o.recent}
	if shares := s.options.shares; shares != nil {
		p.shares = limits.Shares{Most: shares.Concurrency, Used: p.all.InFlight(), MaxFailures: shares.Failures, Failures: p.all.Failures()}
		p.left[limits.KindShares], p.noShare = p.shares.Left(), p.shares.IsNone()
	}
	p.ramp = limits.Ramp{Initial: s.options.ramp, Soaked: p.all.Soaked(), Used: s.slotsUsed(&p.all)}
	p.left[limits.KindRamp] = p.ramp.Left()
	if s.isOutOfTurn(c, &o.Totals) {
		p.exposes = s.exposes(c, &o.Totals)
		p.left[limits.KindExposure] = max(0, p.exposes-p.all.Exposed())
	}
	p.left[limits.KindStarts] = s.options.starts.Left(p.recent)
	return p
}

// blocked says whether clusters of an active stage are blocked that no gate blocks.
func (g *grant) blocked() bool { return g.slots < g.open[fleet.Unreported]+g.open[fleet.ToApply] }
