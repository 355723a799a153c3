package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// totals has the tallies that a choice follows from, over the clusters that count.
type totals struct {
	groups []fleet.Tally
	stages []fleet.Tally
	all    fleet.Tally

	ignored    []fleet.Tally // the ignored clusters of each group; nil where all are counted
	ignoredAll fleet.Tally
}

// inFlight counts the clusters in flight, counted or not.
func (t *totals) inFlight() int { return t.all.InFlight() + t.ignoredAll.InFlight() }

// in counts the clusters in a state, counted or not.
func (t *totals) in(s fleet.State) int { return t.all.In(s) + t.ignoredAll.In(s) }

// sum adds up the tallies of the groups.
func (s *schedule) sum(groups, ignored []fleet.Tally) totals {
	t := totals{groups: groups, stages: make([]fleet.Tally, len(s.limits)), ignored: ignored}
	for group := range s.Graph.NumGroups() {
		t.stages[s.Graph.Of(group)].Sum(&groups[group])
	}
	for i := range t.stages {
		t.all.Sum(&t.stages[i])
	}
	for i := range ignored {
		t.ignoredAll.Sum(&ignored[i])
	}
	return t
}

// isComplete says whether all clusters of a stage are settled and its failures are within its budget (R6).
func (s *schedule) isComplete(stage stages.Stage, t *fleet.Tally) bool {
	return t.Unsettled() == 0 && !s.isBreached(stage, t)
}

// isBreached says whether the failures of a stage exceed its budget.
func (s *schedule) isBreached(stage stages.Stage, t *fleet.Tally) bool {
	return t.InBudget() > s.limits[stage].maxFailures
}

// firsts gives the first stage that is not complete and the first that is breached (R10, R12), each the number of
// stages if there is none. It takes time linear in the stages.
func (s *schedule) firsts(t *totals) (active, breached stages.Stage) {
	active, breached = s.Graph.Len(), s.Graph.Len()
	for stage := s.Graph.Len() - 1; stage >= 0; stage-- {
		if !s.isComplete(stage, &t.stages[stage]) {
			active = stage
		}
		if s.isBreached(stage, &t.stages[stage]) {
			breached = stage
		}
	}
	return active, breached
}
