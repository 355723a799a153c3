// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Totals has the tallies of a fleet, over the clusters that count.
type Totals struct {
	Groups []Tally
	Stages []Tally
	All    Tally

	Ignored    []Tally // the ignored clusters of each group; nil where all are counted
	IgnoredAll Tally
}

// InFlight counts the clusters in flight, counted or not.
func (totals *Totals) InFlight() int { return totals.All.InFlight() + totals.IgnoredAll.InFlight() }

// In counts the clusters in a state, counted or not.
func (totals *Totals) In(state State) int { return totals.All.In(state) + totals.IgnoredAll.In(state) }

// Clone gives a copy.
func (totals *Totals) Clone() Totals {
	return Totals{slices.Clone(totals.Groups), slices.Clone(totals.Stages), totals.All, slices.Clone(totals.Ignored), totals.IgnoredAll}
}

// sum makes totals of the tallies of the groups, over all clusters.
func (r *Roster) sum(groups []Tally, states []State) Totals {
	totals := Totals{Groups: groups, Stages: make([]Tally, r.Graph.Len()), Ignored: r.SplitIgnored(r.Members, groups, states)}
	for group := range r.Graph.NumGroups() {
		totals.Stages[r.Graph.Of(group)].Sum(&groups[group])
	}
	for stage := range totals.Stages {
		totals.All.Sum(&totals.Stages[stage])
	}
	for group := range totals.Ignored {
		totals.IgnoredAll.Sum(&totals.Ignored[group])
	}
	return totals
}

// Firsts gives the first stage that is not complete and the first that is breached (R10, R12), each the number of
// stages if there is none. It takes time linear in the stages.
func (r *Roster) Firsts(totals *Totals) (active, breached stages.Stage) {
	active, breached = r.Graph.Len(), r.Graph.Len()
	for stage := r.Graph.Len() - 1; stage >= 0; stage-- {
		if !r.IsComplete(stage, &totals.Stages[stage]) {
			active = stage
		}
		if r.IsBreached(stage, &totals.Stages[stage]) {
			breached = stage
		}
	}
	return active, breached
}
