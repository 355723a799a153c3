// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// timeouts says how many failures a budget still allows, and when deadlines pass that add one each.
type timeouts struct {
	left int
	at   []time.Time
}

// breach gives when they exceed the budget; zero if they do not, or if it is exceeded already.
func (ends *timeouts) breach() time.Time {
	if ends.left < 0 || len(ends.at) <= ends.left {
		return time.Time{}
	}
	slices.SortFunc(ends.at, time.Time.Compare)
	return ends.at[ends.left]
}

// stopsAt gives when deadlines that pass breach the first budget or use up the shares of failures, if nothing else happens; zero if they
// do neither. It takes
// n·log(n) time for n clusters that may time out.
func (r *Result) stopsAt() (first time.Time) {
	schedule := r.schedule
	if schedule.rules.deadline == nil {
		return first
	}
	totals := &r.table.Totals
	budgets := make([]timeouts, len(schedule.limits)+2) // the last two are of all
	for stage := range schedule.Graph.Len() {
		budgets[stage].left = schedule.Budgets[stage] - totals.Stages[stage].InBudget()
	}
	all := &budgets[len(schedule.limits)]
	all.left = schedule.maxFailures - totals.All.InBudget()
	shares := &budgets[len(schedule.limits)+1]
	if shares.left = math.MaxInt; schedule.options.shares != nil {
		shares.left = schedule.options.shares.Failures - totals.All.Failures()
	}
	for position, state := range r.table.All() {
		if !fleet.EndingStates.Has(state) || schedule.Ignores(position) || r.isEarlier(position) {
			continue
		}
		at := r.table.Since(position).In(r.table.Now.Location()).Add(schedule.Phases.LimitOf(state))
		if shares.at = append(shares.at, at); !schedule.InBudget(position) {
			continue
		}
		stage := &budgets[schedule.Graph.Of(schedule.GroupOf(position))]
		stage.at, all.at = append(stage.at, at), append(all.at, at)
	}
	for i := range budgets {
		if at := budgets[i].breach(); !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// waitUntil says that time ends a wait, and whether the rollout stops by then.
func (r *Result) waitUntil(at time.Time) Remedy {
	r.waitSets.stopsOnce.Do(func() {
		stops := r.stopsAt()
		r.waitSets.stops = &stops
	})
	remedy := Remedy{Type: RemedyWait, At: at}
	if stops := *r.waitSets.stops; !stops.After(at) {
		remedy.Stops = stops
	}
	return remedy
}
