package rollout

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// prospect is a schedule before anything starts.
type prospect struct {
	*schedule
	baseline []int // of each stage, how many clusters that count are in no budget (R38); nil where all are
}

func newProspect(r rules, o options, groups *grouping.Groups) *prospect {
	s := &prospect{schedule: newSchedule(r, o, groups)}
	if s.exceptions.before == nil {
		return s
	}
	s.baseline = make([]int, len(s.Stages))
	for position := range groups.NumClusters() {
		if s.failedBefore(position) && !s.isAside(position) {
			s.baseline[s.stageOf[groups.GroupAt(position)]]++
		}
	}
	return s
}

// expose is Expose for what has no fault.
func (s *prospect) expose(life Span, now time.Time) Exposure {
	reach, finish := s.reach(), s.finish(life, now)
	e := Exposure{
		Clusters: s.groups.NumClusters() - len(s.aside), Exposed: reach.exposed, ExposedIfAllFail: reach.ifAllFail, InFlight: reach.inFlight,
		Stages: make([]StageExposure, len(s.Stages)), Warnings: slices.Concat(s.warnings, s.unprotected()),
	}
	for i, stage := range s.clone().Stages { // of which the keys of the groups are the caller's
		e.Stages[i] = StageExposure{Stage: stage, Exposed: s.mostExposed(i), InFlight: s.mostInFlight(i), Finish: finish[i]}
		e.Finish = Span{max(e.Finish.Shortest, finish[i].Shortest), max(e.Finish.Longest, finish[i].Longest)}
	}
	return e
}

// reach is how many clusters of all stages can be exposed and in flight.
type reach struct {
	exposed, ifAllFail, inFlight int
}

// reach is R40 for all stages: while some are active, the clusters of those complete that failed and were tolerated are
// exposed, too, and those of them in flight that have not timed out.
func (s *prospect) reach() reach {
	return reach{
		exposed:   s.together(func(i int) load { return load{s.mostExposed(i), min(s.tolerated(i), s.mostExposed(i))} }),
		inFlight:  s.together(func(i int) load { return load{s.mostInFlight(i), min(s.tolerated(i), s.mostInFlight(i))} }),
		ifAllFail: s.reachIfAllFail(),
	}
}

// reachIfAllFail is R40 for a version with which no cluster succeeds: it goes on only where all clusters of a stage may fail.
func (s *prospect) reachIfAllFail() (n int) {
	stops := make([]bool, len(s.Stages)) // whether what comes after a stage is not reached
	for i := range s.Stages {
		if slices.ContainsFunc(s.before(i), func(before int) bool { return stops[before] }) {
			stops[i] = true
			continue
		}
		exposed := s.mostExposed(i)
		n += exposed
		stops[i] = min(s.tolerated(i), exposed) < s.counted(i)
	}
	return n
}

// counted is how many clusters of a stage count.
func (s *prospect) counted(stage int) int {
	return s.Stages[stage].Clusters - s.Stages[stage].Uncounted
}

// budgeted is how many clusters of a stage are in a budget.
func (s *prospect) budgeted(stage int) int {
	n := s.counted(stage)
	if s.baseline != nil {
		n -= s.baseline[stage]
	}
	return n
}

// budget is how many of those may fail while the stage is active: under Progressive as many as may of all clusters, since
// no earlier stage tolerates any (R11, R12).
func (s *prospect) budget(stage int) int {
	if s.Type == clusterv1alpha1.Progressive && !s.Stages[stage].Mandatory {
		return s.MaxFailures
	}
	return s.Stages[stage].MaxFailures
}

// tolerated is how many clusters of a stage may have failed and nothing stops.
func (s *prospect) tolerated(stage int) int {
	n := s.budgeted(stage)
	return min(s.budget(stage), n) + s.counted(stage) - n
}

// mostExposed is R40 for a stage. A cluster starts only while no more hold a slot than may, it included, and no more
// failed than may. An exposed cluster that holds no slot has failed. So both limits together bound the exposed; both are
// reached where a failed cluster gives its slot up and, while others are in flight, the budget is used up.
func (s *prospect) mostExposed(stage int) int {
	n := s.Stages[stage].MaxConcurrency
	if s.rules.deadline != nil || s.options.freeFailed {
		n += s.tolerated(stage)
	}
	return min(n, s.counted(stage))
}

// mostInFlight is R40 for a stage. Failed clusters are in flight, with a slot or without.
func (s *prospect) mostInFlight(stage int) int {
	n := s.Stages[stage].MaxConcurrency
	if s.options.freeFailed {
		n += s.tolerated(stage)
	}
	return min(n, s.counted(stage))
}

// isOutOfReach says whether no number of failures in a stage exceeds its budget. All has none.
func (s *prospect) isOutOfReach(stage int) bool {
	return s.Type != clusterv1alpha1.All && s.counted(stage) > 0 && s.budget(stage) >= min(s.budgeted(stage), s.mostExposed(stage))
}

// isProtected says whether failures in each stage stop the rollout, if they are many enough.
func (s *prospect) isProtected() bool {
	for i := range s.Stages {
		if s.isOutOfReach(i) {
			return false
		}
	}
	return true
}
