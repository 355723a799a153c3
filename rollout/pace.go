package rollout

import (
	"math"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// compile checks the limit and copies it.
func (l *StartLimit) compile(path *field.Path) (_ *startLimit, errs field.ErrorList) {
	if l.Count < 1 {
		errs = append(errs, field.Invalid(path.Child("count"), l.Count, "must be at least 1"))
	}
	if l.Per.Duration <= 0 {
		errs = append(errs, field.Invalid(path.Child("per"), l.Per.Duration.String(), "must be more than 0"))
	}
	return &startLimit{l.Count, l.Per.Duration}, errs
}

// startLimit is a checked StartLimit.
type startLimit struct {
	n   int
	per time.Duration
}

// recent has what MaxStarts has to know of the clusters that started within its span.
type recent struct {
	n       int       // how many started, with the unknown
	unknown int       // how many are in flight and started at an unknown time
	next    time.Time // when enough have left the span for one more to start than now; zero if time alone does not tell
}

// recent looks at the starts within the span, in any order, and at how many clusters in flight started at an unknown
// time.
//
// For example, with at most 3 within an hour, after starts at 12:00, 12:10, 12:20 and 12:30 the next is possible at
// 13:10.
func (l *startLimit) recent(starts []time.Time, unknown int) recent {
	r := recent{n: len(starts) + unknown, unknown: unknown}
	over := max(0, r.n-l.n)
	if over >= len(starts) {
		return r
	}
	slices.SortFunc(starts, time.Time.Compare)
	r.next = starts[over].Add(l.per).UTC()
	return r
}

// pace has what Shares, Ramp and MaxStarts, and the exposure of the groups, leave to all active stages together.
type pace struct {
	all        fleet.Tally
	soaked     int // clusters that succeeded and soaked
	bound      int // how many clusters may hold a slot by Ramp
	rampLeft   int // how many more may start by Ramp
	startsLeft int // how many more may start by MaxStarts
	sharesLeft int // how many more may start by Rights
	exposes    int // how many clusters may be exposed (R66)
	roomLeft   int // how many more may be
	recent     recent
}

// pace gives the limits on all stages together; nil if there are none (R35, R36, R57, R66).
func (s *schedule) pace(c *choice, o *observed) *pace {
	ramp, limit, shares, bounded := s.options.ramp, s.options.startLimit, s.options.shares, s.isOutOfTurn(c, &o.totals)
	if ramp == 0 && limit == nil && shares == nil && !bounded {
		return nil
	}
	p := &pace{all: o.all, soaked: o.all.Soaked(), rampLeft: math.MaxInt, startsLeft: math.MaxInt, sharesLeft: math.MaxInt, roomLeft: math.MaxInt, recent: o.recent}
	if shares != nil {
		p.sharesLeft = shares.remaining(&p.all)
	}
	if ramp > 0 {
		p.bound = max(ramp, p.soaked)
		p.rampLeft = max(0, p.bound-s.slotsUsed(&p.all))
	}
	if bounded {
		p.exposes = s.exposes(c, &o.totals)
		p.roomLeft = max(0, p.exposes-p.all.Exposed())
	}
	if limit != nil {
		p.startsLeft = max(0, limit.n-p.recent.n)
	}
	return p
}

// limit bounds how many clusters of an active stage start by what the limits on all stages leave, and takes these clusters
// off what is left. Own is how many the stage's own limits would let start, of which g.limit is the one that blocks most.
func (p *pace) limit(g *grant, own int) {
	switch least := min(own, p.sharesLeft, p.roomLeft, p.rampLeft, p.startsLeft); least {
	case p.sharesLeft:
		g.limit = BlockShares
	case own: // as it is
	case p.roomLeft:
		g.limit = BlockExposed
	case p.rampLeft:
		g.limit = BlockRamp
	default:
		g.limit = BlockStarts
	}
	g.slots = min(g.slots, p.sharesLeft, p.roomLeft, p.rampLeft, p.startsLeft)
	p.sharesLeft, p.roomLeft, p.rampLeft, p.startsLeft = p.sharesLeft-g.slots, p.roomLeft-g.slots, p.rampLeft-g.slots, p.startsLeft-g.slots
}

// nextStart gives the time from now until MaxStarts lets one more cluster start that it blocks; 0 if there is none.
func (c *choice) nextStart(now time.Time) time.Duration {
	if c.pace == nil || c.pace.recent.next.IsZero() {
		return 0
	}
	grants := c.grants()
	for i := range grants {
		if g := &grants[i]; g.limit == BlockStarts && g.blocked() {
			return c.pace.recent.next.Sub(now)
		}
	}
	return 0
}

// blocked says whether clusters of an active stage are blocked that no gate blocks.
func (g *grant) blocked() bool { return g.slots < g.open[fleet.Unreported]+g.open[fleet.ToApply] }

// rampUsedUp gives the reason for clusters that the ramp blocks.
func (s *schedule) rampUsedUp(c *choice) BlockReason {
	p := c.pace
	h := BlockReason{Type: BlockRamp, AllGroups: true, InFlight: s.slotsUsed(&p.all), Starting: c.starting(), MaxConcurrency: p.bound}
	s.countSlow(&h, &p.all, s.options.freeFailed)
	return h
}

// startsUsedUp gives the reason for clusters that MaxStarts blocks.
func (s *schedule) startsUsedUp(c *choice) BlockReason {
	l := s.options.startLimit
	return BlockReason{
		Type: BlockStarts, AllGroups: true, Starting: c.starting(),
		MaxStarts: l.n, Per: l.per, Until: c.pace.recent.next, WithoutTime: c.pace.recent.unknown,
	}
}
