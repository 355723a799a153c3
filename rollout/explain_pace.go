package rollout

import "github.com/cohort-ocm/cohort/rollout/internal/fleet"

// rampUsedUp gives the reason for clusters that the ramp blocks.
func (s *schedule) rampUsedUp(c *choice) BlockReason {
	p := &c.pace
	h := BlockReason{Type: BlockRamp, AllGroups: true, InFlight: p.ramp.Used, Starting: c.starting(), MaxConcurrency: p.ramp.Bound()}
	s.countSlow(&h, &p.all, s.options.freeFailed)
	return h
}

// startsUsedUp gives the reason for clusters that MaxStarts blocks.
func (s *schedule) startsUsedUp(c *choice) BlockReason {
	l := s.options.starts
	return BlockReason{
		Type: BlockStarts, AllGroups: true, Starting: c.starting(),
		MaxStarts: l.Most, Per: l.Per, Until: c.pace.recent.Next, WithoutTime: c.pace.recent.Unknown,
	}
}

// explainStarts says when one more cluster may start by MaxStarts. Where that is unknown, it lists the clusters in
// flight without a time.
func (r *Result) explainStarts(l *Link) (others ignorableClusters) {
	switch h := &l.Reason; {
	case !h.Until.IsZero():
		l.Remedies = []Remedy{r.waitUntil(h.Until)}
	case h.Starting > 0:
		l.Remedies = []Remedy{r.waitUntil(r.now.Add(h.Per))}
	default:
		var f topN
		for position, state := range r.all() {
			if r.isUnknown(position, state) {
				b := r.blocker(position)
				f.add(&b, 1)
			}
		}
		l.Blockers, l.More, others = f.list()
		needed := h.WithoutTime - h.MaxStarts + 1
		l.Remedies = []Remedy{{Type: RemedyReportTime, Count: needed, Of: f.n, Clusters: f.names()}}
	}
	return others
}

// isUnknown says whether the cluster at a position is in flight since an unknown time.
func (r *Result) isUnknown(position fleet.Position, s fleet.State) bool {
	return fleet.InFlightStates.Has(s) && r.ages.Of(position) == unknownAge && !r.schedule.Ignores(position)
}
