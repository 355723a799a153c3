package rollout

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
)

// compile checks the limit and copies it.
func (l *StartLimit) compile(path *field.Path) (_ limits.Starts, errs field.ErrorList) {
	if l.Count < 1 {
		errs = append(errs, field.Invalid(path.Child("count"), l.Count, "must be at least 1"))
	}
	if l.Per.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("per"), l.Per.Duration.String(), "must be more than 0"))
	}
	return limits.Starts{Most: l.Count, Per: l.Per.Duration}, errs
}

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

// blocked says whether clusters of an active stage are blocked that no gate blocks.
func (g *grant) blocked() bool { return g.slots < g.open[fleet.Unreported]+g.open[fleet.ToApply] }
