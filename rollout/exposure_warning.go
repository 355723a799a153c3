package rollout

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// unprotected warns where the strategy protects nothing (R40): where all clusters start at once, and where no number of
// failures exceeds a budget. Groups with the same warning share one.
func (s *prospect) unprotected() (warnings []Warning) {
	n := s.numCounted()
	var passed, stuck Warning // budgets that all clusters fit in, and those that all slots fit in
	for i := range s.Stages {
		stage := &s.Stages[i]
		if s.counted(i) == n && n > 1 && s.startsAtOnce(i) {
			warnings = append(warnings, Warning{Type: WarningAllAtOnce, Clusters: n})
		}
		if !s.isOutOfReach(i) {
			continue
		}
		w := Warning{
			Type: WarningBudgetOutOfReach, Group: stage.Groups[0], Clusters: s.budgeted(i), MaxFailures: s.budget(i),
			AllGroups: s.Type == clusterv1alpha1.Progressive,
		}
		if s.mostExposed(i) == s.counted(i) {
			passed = w.and(passed)
		} else {
			w.MaxConcurrency = stage.MaxConcurrency
			stuck = w.and(stuck)
		}
	}
	for _, w := range []Warning{passed, stuck} {
		if w.Groups > 0 {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// startsAtOnce says whether all clusters of a stage start together.
func (s *prospect) startsAtOnce(stage int) bool {
	n, starts := s.counted(stage), s.options.starts
	return s.slots(stage) == n && (s.options.ramp == 0 || s.options.ramp >= n) && (starts == nil || starts.n >= n)
}

// and gives the first of the two, counting one more group.
func (w Warning) and(first Warning) Warning {
	if first.Groups > 0 {
		w = first
	}
	w.Groups++
	return w
}

// budget gives the sentence of WarningBudgetOutOfReach.
func (w Warning) budget() string {
	n := w.Clusters
	if w.MaxConcurrency > 0 {
		n = w.MaxConcurrency
	}
	s := fmt.Sprintf("maxFailures %d can't be exceeded by %s", w.MaxFailures, clusters(n))
	if w.MaxConcurrency > 0 {
		s += " at a time"
	}
	if !w.AllGroups {
		s += fmt.Sprintf(" in %v", w.Group)
		switch w.Groups {
		case 1:
		case 2:
			s += " and in 1 more group"
		default:
			s += fmt.Sprintf(" and in %d more groups", w.Groups-1)
		}
	}
	if w.MaxConcurrency > 0 {
		return s + ", and without a progressDeadline failed ones keep their slots: the rollout stands still without a breach"
	}
	return s + ": no failure there stops the rollout"
}
