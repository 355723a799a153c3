package rollout

import (
	"math"
	"math/bits"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// prospect is a schedule before anything starts.
type prospect struct {
	*schedule
	baseline []int // of each stage, how many clusters that count are in no budget (R38); nil where all are
	others   []int // of each stage, how many clusters of the stages that do not come after it count; nil without a ramp
}

func newProspect(r rules, o options, groups *grouping.Groups) *prospect {
	s := &prospect{schedule: newSchedule(r, o, groups)}
	if s.options.ramp != 0 {
		s.others = s.notBehind()
	}
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

// notBehind is how many clusters count of the stages that do not come after each, without those of itself. Of a graph it
// looks from 64 stages at a time, each of which is a bit, at all that come after them.
func (s *prospect) notBehind() []int {
	others, all := make([]int, len(s.Stages)), 0
	for i := range s.Stages {
		others[i] = all
		all += s.counted(i)
	}
	if s.After == nil {
		return others
	}
	is := make([]uint64, len(s.Stages)) // of each stage, whether it is one of the 64, or comes after it
	first := 0
	for some := range slices.Chunk(others, 64) {
		clear(is)
		for i := range some {
			is[first+i], some[i] = 1<<i, all
		}
		for i := first; i < len(is); i++ {
			for _, before := range s.After[i] {
				is[i] |= is[before]
			}
			for left := is[i]; left != 0; left &= left - 1 {
				some[bits.TrailingZeros64(left)] -= s.counted(i)
			}
		}
		first += len(some)
	}
	return others
}

// expose is Expose for what has no fault.
func (s *prospect) expose(life Span, now time.Time) Exposure {
	reach, finish := s.reach(), s.finish(life, now)
	e := Exposure{
		Clusters: s.numCounted(), Exposed: reach.exposed, ExposedIfAllFail: reach.ifAllFail, InFlight: reach.inFlight,
		Stages: make([]StageExposure, len(s.Stages)), Warnings: slices.Concat(s.warnings, s.unprotected()),
	}
	for i, stage := range s.clone().Stages { // of which the keys of the groups are the caller's
		e.Stages[i] = StageExposure{Stage: stage, Exposed: s.mostExposed(i), InFlight: s.mostInFlight(i), Finish: finish[i]}
		e.Finish = Span{max(e.Finish.Shortest, finish[i].Shortest), max(e.Finish.Longest, finish[i].Longest)}
	}
	if e.Clusters > 0 { // also where stages side by side share the starts
		e.Finish.Shortest = max(e.Finish.Shortest, plus(s.startsTake(e.Clusters), plus(life.Shortest, s.MinSuccessTime)))
	}
	return e
}

// reach is how many clusters of all stages can be exposed and in flight.
type reach struct {
	exposed, ifAllFail, inFlight int
}

// reach is R40 for all stages.
func (s *prospect) reach() reach {
	return reach{
		exposed:   s.most(s.releases()),
		inFlight:  s.most(s.options.freeFailed),
		ifAllFail: s.reachIfAllFail(),
	}
}

// releases says whether failed clusters give up their slots, at once or at their deadline.
func (s *prospect) releases() bool { return s.options.freeFailed || s.rules.deadline != nil }

// most is the most clusters of all stages that count at the same time: where failed ones give up their slots (free), those
// that hold one and those that failed, and otherwise those that hold one, the failed among them. While a stage is active,
// all that failed in the stages before it and were tolerated count, too.
//
// With a ramp, where stages go side by side, it is a bound: what all together can be by the ramp, or what they can be without.
func (s *prospect) most(free bool) (most int) {
	failed, passed, all := 0, 0, 0 // clusters of the stages before
	for i := range s.Stages {
		n, tolerated := s.counted(i), s.tolerated(i)
		if slots := s.slots(i); free {
			most = max(most, failed+tolerated+min(slots, n-tolerated, s.rampOf(passed-failed+n-tolerated)))
			failed += tolerated
		} else {
			failed = min(failed, s.rampOf(passed+1)-1) // or none of those that come starts: the first, too, needs a slot
			ramp := s.rampOf(passed + n)
			most = max(most, min(failed+min(slots, n), ramp))
			failed = min(failed+min(slots, n, tolerated), ramp)
		}
		passed += n
		all += tolerated
	}
	if s.After == nil {
		return most
	}
	if !free {
		all = 0
	}
	most = s.together(func(i int) load {
		most := s.mostOf(i, free)
		return load{most, min(s.tolerated(i), most)}
	})
	return min(most-all, s.rampOf(passed-all)) + all
}

// reachIfAllFail is R40 for a version with which no cluster succeeds: it goes on only where all clusters of a stage may fail.
func (s *prospect) reachIfAllFail() (reached int) {
	stops := make([]bool, len(s.Stages)) // whether what comes after a stage is not reached
	ramp := s.rampOf(0)                  // how many slots it leaves
	for i := range s.Stages {
		if slices.ContainsFunc(s.directlyBefore(i), func(before int) bool { return stops[before] }) {
			stops[i] = true
			continue
		}
		n, tolerated := s.counted(i), s.tolerated(i)
		failed := 0 // without a slot
		if s.releases() {
			failed = tolerated
		}
		slots := min(s.slots(i), n-failed, ramp)
		ramp -= slots
		reached += failed + slots
		stops[i] = min(tolerated, failed+slots) < n
	}
	return reached
}

// slots is how many clusters of a stage may hold a slot by its own limit.
func (s *prospect) slots(stage int) int { return s.Stages[stage].MaxConcurrency }

// rampOf is how many clusters of the fleet may hold a slot by R35 where n hold one or have soaked: half of them, or the
// initial number. Without a ramp it is any number.
func (s *prospect) rampOf(n int) int {
	if s.options.ramp == 0 {
		return math.MaxInt
	}
	return max(s.options.ramp, n/2)
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
func (s *prospect) mostExposed(stage int) int { return s.mostOf(stage, s.releases()) }

// mostInFlight is R40 for a stage. Failed clusters are in flight, with a slot or without.
func (s *prospect) mostInFlight(stage int) int { return s.mostOf(stage, s.options.freeFailed) }

// mostOf is what most is, of a stage alone. All that do not come after it may have soaked.
func (s *prospect) mostOf(stage int, free bool) int {
	n, failed, soaked := s.counted(stage), 0, 0
	if free {
		failed = s.tolerated(stage)
	}
	if s.others != nil {
		soaked = s.others[stage]
	}
	return failed + min(s.slots(stage), n-failed, s.rampOf(soaked+n-failed))
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
