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
func (s *schedule) newPace(choice *choice, observed *observed) pace {
	pace := pace{all: observed.All, left: limits.All(), recent: observed.recent}
	if shares := s.options.shares; shares != nil {
		pace.shares = limits.Shares{Most: shares.Concurrency, Used: pace.all.InFlight(), MaxFailures: shares.Failures, Failures: pace.all.Failures()}
		pace.left[limits.KindShares], pace.noShare = pace.shares.Left(), pace.shares.IsNone()
	}
	pace.ramp = limits.Ramp{Initial: s.options.ramp, Soaked: pace.all.Soaked(), Used: s.slotsUsed(&pace.all)}
	pace.left[limits.KindRamp] = pace.ramp.Left()
	if s.isOutOfTurn(choice, &observed.Totals) {
		pace.exposes = s.exposes(choice, &observed.Totals)
		pace.left[limits.KindExposure] = max(0, pace.exposes-pace.all.Exposed())
	}
	pace.left[limits.KindStarts] = s.options.starts.Left(pace.recent)
	return pace
}

// blocked says whether clusters of an active stage are blocked that no gate blocks.
func (g *grant) blocked() bool { return g.slots < g.open[fleet.Unreported]+g.open[fleet.ToApply] }
