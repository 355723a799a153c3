// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// WouldStart says what an approval would do now: which clusters would start beside those in Start if all closed gates with the key were
// open ([ClosedGate].Group, so a name counts whatever its index). If none would, the block reason says what else blocks the first group behind
// these gates in which clusters wait. Where each cluster that waits in that group is frozen ([Options].Freezes, or a review), it is
// the block reason of the first of them. It is zero if no cluster waits behind the gates. An approval that starts nothing can then say so.
//
// It takes time linear in the fleet.
func (r *Result) WouldStart(gate grouping.Key) (clusters []Cluster, otherwise BlockReason) {
	if r.schedule == nil {
		return nil, BlockReason{}
	}
	schedule := *r.schedule
	schedule.options.gates = r.schedule.options.gates.Without(gate)
	opened := r.again(&schedule)
	for _, cluster := range opened.Start {
		if position, _ := schedule.Position(cluster.Name); !r.isStarting(position) {
			clusters = append(clusters, cluster)
		}
	}
	if len(clusters) > 0 {
		return clusters, BlockReason{}
	}
	for group := range opened.numGroups() { // in a group, the frozen clusters are named last
		if !r.isBehind(gate, group) {
			continue
		}
		if opened.blocked(group) > 0 {
			return nil, opened.blockReason(group)
		}
		if frozen := opened.frozen(); frozen != nil && len(frozen.inGroup[group]) > 0 {
			return nil, frozen.inGroup[group][0]
		}
	}
	return nil, BlockReason{}
}

// isBehind says whether the gates with a key block a group, as long as they are closed.
func (r *Result) isBehind(gate grouping.Key, group stages.Group) bool {
	schedule := r.schedule
	for other := range r.numGroups() {
		if !limits.IsGateBefore(gate, schedule.KeyOf(other)) {
			continue
		}
		stage, its := schedule.Graph.Of(other), schedule.Graph.Of(group)
		if other == group || stage == its && schedule.Graph.IsSingle(stage) || schedule.Graph.IsSingle(stage) && schedule.Graph.Before(its)[stage] {
			return true
		}
	}
	return false
}

// again chooses once more, with another schedule over the same groups and what was observed.
func (r *Result) again(schedule *schedule) *Result {
	next := *r
	next.schedule, next.choice, next.marks, next.waitSets = schedule, choice{}, marks{}, &waitSets{}
	observed := observed{Totals: r.table.Totals, departed: r.table.Departed}
	observed.active, observed.breached = schedule.Firsts(&observed.Totals)
	observed.recent = r.choice.pace.recent
	view := &fleet.Scan{Table: &next.table}
	next.choice.last = r.choice.last
	schedule.choose(&next.choice, &status.Record{More: r.choice.full.n, Until: r.choice.full.until}, view, &observed, r.table.Now)
	next.Start = schedule.start(view, &next.choice, &next.marks)
	return &next
}
