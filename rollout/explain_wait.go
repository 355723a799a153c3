// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"fmt"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// waitNotOver gives the reason for the clusters of a stage that has to wait.
func (s *schedule) waitNotOver(wait *interval) BlockReason {
	if wait.unknown {
		return BlockReason{Type: BlockWait, Group: s.keyOf(wait.unknownOf), Per: s.Wait}
	}
	return BlockReason{Type: BlockWait, Group: s.keyOf(wait.lastOf), Per: s.Wait, Until: wait.last.Add(s.Wait).UTC()}
}

// wait gives the sentence of BlockWait.
func (reason BlockReason) wait() string {
	if reason.Until.IsZero() {
		return fmt.Sprintf("waiting %v after the last success in %v; until when is unknown, because no status says when that success was", reason.Per, reason.Group)
	}
	return fmt.Sprintf("waiting until %s, %v after the last success in %v", inUTC(reason.Until), reason.Per, reason.Group)
}

// explainWait says when the wait before a stage ends. Where that is unknown, it lists the clusters that succeeded at an
// unknown time.
func (r *Result) explainWait(link *Link, stage stages.Stage) (others ignorableClusters) {
	if !link.Reason.Until.IsZero() {
		link.Remedies = []Remedy{r.waitUntil(link.Reason.Until)}
		return others
	}
	var top topN
	before := r.schedule.Graph.Before(stage)
	for position := range r.table.All() {
		if r.isUndatedSuccess(position) && before[r.schedule.Graph.Of(r.schedule.GroupOf(position))] {
			blocker := r.blocker(position)
			top.add(&blocker, 1)
		}
	}
	link.Blockers, link.More, others = top.list()
	link.Remedies = []Remedy{{Type: RemedyReportTime, Count: top.n, Of: top.n, Clusters: top.names(), Succeeded: true}}
	return others
}

// isUndatedSuccess says whether the cluster at a position counts and succeeded at an unknown time, so that a stage may
// wait for that time.
func (r *Result) isUndatedSuccess(position fleet.Position) bool {
	return r.table.State(position) == fleet.SucceededUndated && !r.schedule.Ignores(position)
}

// blockedForTimes counts for each stage the clusters that wait because some of its clusters succeeded at an unknown time.
func (r *Result) blockedForTimes() []int {
	schedule, choice := r.schedule, &r.choice
	waiting, blocked := make([]int, len(schedule.limits)), make([]int, len(schedule.limits))
	for group := range r.numGroups() {
		stage := schedule.Graph.Of(group)
		if choice.isWaiting(stage) && choice.waits[stage].unknown && schedule.barrierOf(choice, stage) < 0 && !choice.isClosed(group) {
			waiting[stage] += r.blocked(group) + r.frozenIn(group)
		}
	}
	for stage := range schedule.Graph.Len() {
		if waiting[stage] == 0 {
			continue // as all complete ones
		}
		for before, is := range schedule.Graph.Before(stage) {
			if is {
				blocked[before] += waiting[stage]
			}
		}
	}
	return blocked
}
