// SPDX-License-Identifier: Apache-2.0

package rollout

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
		l.Remedies = []Remedy{r.waitUntil(r.table.Now.Add(h.Per))}
	default:
		var f topN
		for position := range r.table.All() {
			if r.table.IsUnknown(position) {
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
