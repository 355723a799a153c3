// SPDX-License-Identifier: Apache-2.0

package rollout

// rampUsedUp gives the reason for clusters that the ramp blocks.
func (s *schedule) rampUsedUp(choice *choice) BlockReason {
	pace := &choice.pace
	reason := BlockReason{Type: BlockRamp, AllGroups: true, InFlight: pace.ramp.Used, Starting: choice.starting(), MaxConcurrency: pace.ramp.Bound()}
	s.countSlow(&reason, &pace.all, s.options.freeFailed)
	return reason
}

// startsUsedUp gives the reason for clusters that MaxStarts blocks.
func (s *schedule) startsUsedUp(choice *choice) BlockReason {
	starts := s.options.starts
	return BlockReason{
		Type: BlockStarts, AllGroups: true, Starting: choice.starting(),
		MaxStarts: starts.Most, Per: starts.Per, Until: choice.pace.recent.Next, WithoutTime: choice.pace.recent.Unknown,
	}
}

// explainStarts says when one more cluster may start by MaxStarts. Where that is unknown, it lists the clusters in
// flight without a time.
func (r *Result) explainStarts(link *Link) (others ignorableClusters) {
	switch reason := &link.Reason; {
	case !reason.Until.IsZero():
		link.Remedies = []Remedy{r.waitUntil(reason.Until)}
	case reason.Starting > 0:
		link.Remedies = []Remedy{r.waitUntil(r.table.Now.Add(reason.Per))}
	default:
		var top topN
		for position := range r.table.All() {
			if r.table.IsUnknown(position) {
				blocker := r.blocker(position)
				top.add(&blocker, 1)
			}
		}
		link.Blockers, link.More, others = top.list()
		needed := reason.WithoutTime - reason.MaxStarts + 1
		link.Remedies = []Remedy{{Type: RemedyReportTime, Count: needed, Of: top.n, Clusters: top.names()}}
	}
	return others
}
