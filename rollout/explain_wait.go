// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// waitNotOver gives the reason for the clusters of a stage that has to wait.
func (s *schedule) waitNotOver(w *interval) BlockReason {
	if w.unknown {
		return BlockReason{Type: BlockWait, Group: s.keyOf(w.unknownOf), Per: s.Wait}
	}
	return BlockReason{Type: BlockWait, Group: s.keyOf(w.lastOf), Per: s.Wait, Until: w.last.Add(s.Wait).UTC()}
}

// wait gives the sentence of BlockWait.
func (h BlockReason) wait() string {
	if h.Until.IsZero() {
		return fmt.Sprintf("waiting %v after the last success in %v; until when is unknown, because no status says when that success was", h.Per, h.Group)
	}
	return fmt.Sprintf("waiting until %s, %v after the last success in %v", inUTC(h.Until), h.Per, h.Group)
}

// explainWait says when the wait before a stage ends. Where that is unknown, it lists the clusters that succeeded at an
// unknown time.
func (r *Result) explainWait(l *Link, stage stages.Stage) (others ignorableClusters) {
	if !l.Reason.Until.IsZero() {
		l.Remedies = []Remedy{r.waitUntil(l.Reason.Until)}
		return others
	}
	var f topN
	before := r.schedule.Graph.Before(stage)
	for position := range r.table.All() {
		if r.isUndatedSuccess(position) && before[r.schedule.Graph.Of(r.schedule.GroupOf(position))] {
			b := r.blocker(position)
			f.add(&b, 1)
		}
	}
	l.Blockers, l.More, others = f.list()
	l.Remedies = []Remedy{{Type: RemedyReportTime, Count: f.n, Of: f.n, Clusters: f.names(), Succeeded: true}}
	return others
}

// isUndatedSuccess says whether the cluster at a position counts and succeeded at an unknown time, so that a stage may
// wait for that time.
func (r *Result) isUndatedSuccess(position fleet.Position) bool {
	return r.table.State(position) == fleet.SucceededUndated && !r.schedule.Ignores(position)
}

// blockedForTimes counts for each stage the clusters that wait because some of its clusters succeeded at an unknown time.
func (r *Result) blockedForTimes() []int {
	s, c := r.schedule, &r.choice
	waiting, blocked := make([]int, len(s.limits)), make([]int, len(s.limits))
	for group := range r.numGroups() {
		stage := s.Graph.Of(group)
		if c.isWaiting(stage) && c.waits[stage].unknown && s.barrierOf(c, stage) < 0 && !c.isClosed(group) {
			waiting[stage] += r.blocked(group) + r.frozenIn(group)
		}
	}
	for stage := range s.Graph.Len() {
		if waiting[stage] == 0 {
			continue // as all complete ones
		}
		for before, is := range s.Graph.Before(stage) {
			if is {
				blocked[before] += waiting[stage]
			}
		}
	}
	return blocked
}
