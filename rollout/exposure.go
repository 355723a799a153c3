package rollout

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
)

// Exposure says, before a rollout begins, how far a version can get that does not work, and how long the rollout takes.
//
// A cluster is exposed while it has the version and has neither succeeded with it and soaked, nor been skipped: it is in
// flight or it failed. What is said of exposed clusters holds whatever they report and in whatever order, also where many
// fail at once, fail and recover, or never answer. It takes for granted that the clusters of the groups stay the same, and
// that a cluster that succeeded and soaked goes on working. Pauses and gates may end at any time, and so have no part in
// these numbers.
//
// The times are those of a rollout in which every cluster succeeds.
type Exposure struct {
	// Clusters is the number of selected clusters.
	Clusters int `json:"clusters"`
	// Exposed is the most clusters that are exposed at the same time. Where a budget is breached nothing starts, so that
	// it is also the most that are exposed at a breach and after it. Some version, on some clusters, reaches it.
	Exposed int `json:"exposed"`
	// ExposedIfAllFail is the most clusters that get a version with which none succeeds.
	ExposedIfAllFail int `json:"exposedIfAllFail"`
	// InFlight is the most clusters that are in flight at the same time, where none comes back that timed out.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning until all clusters are done.
	Finish Span `json:"finish"`
	// Stages are those of the rollout's [Schedule], each with what is said of its clusters alone.
	Stages []StageExposure `json:"stages"`
	// Warnings say where the strategy protects nothing, after those that a plan has before anything is reported.
	Warnings []Warning `json:"warnings,omitempty"`
}

// StageExposure is a stage with what an [Exposure] says of its clusters.
type StageExposure struct {
	Stage
	// Exposed is the most clusters of the stage that are exposed at the same time.
	Exposed int `json:"exposed"`
	// InFlight is the most clusters of the stage that are in flight at the same time.
	InFlight int `json:"inFlight"`
	// Finish is how long it takes from the beginning of the rollout until the stage is complete.
	Finish Span `json:"finish"`
}

// Expose works out the exposure of a rollout by strategy over groups that begins at the time now. A cluster takes as
// long as life says from its start to its success; the strategy adds its MinSuccessTime. The options are those of [Plan].
//
// The errors are those of [Plan], and one where life is negative or its Longest below its Shortest. Inputs are not
// changed. It takes time linear in the groups, however many clusters they have.
func Expose(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, life Span, now time.Time, opts ...Option) (Exposure, error) {
	rules, o, err := compile(strategy, opts)
	if err = errors.Join(err, fielderrs.Join(life.errs())); err != nil {
		return Exposure{}, err
	}
	return newSchedule(rules, o, groups).expose(life, now.Round(0)), nil
}

// expose is Expose for what has no fault.
func (s *schedule) expose(life Span, now time.Time) Exposure {
	reach, finish := s.reach(), s.finish(life, now)
	e := Exposure{
		Clusters: s.groups.NumClusters(), Exposed: reach.exposed, ExposedIfAllFail: reach.ifAllFail, InFlight: reach.inFlight,
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
func (s *schedule) reach() reach {
	return reach{
		exposed:   s.together(func(i int) load { return load{s.mostExposed(i), min(s.budget(i), s.mostExposed(i))} }),
		inFlight:  s.together(func(i int) load { return load{s.mostInFlight(i), min(s.budget(i), s.mostInFlight(i))} }),
		ifAllFail: s.reachIfAllFail(),
	}
}

// reachIfAllFail is R40 for a version with which no cluster succeeds: it goes on only where all clusters of a stage may fail.
func (s *schedule) reachIfAllFail() (n int) {
	stops := make([]bool, len(s.Stages)) // whether what comes after a stage is not reached
	for i := range s.Stages {
		if slices.ContainsFunc(s.before(i), func(before int) bool { return stops[before] }) {
			stops[i] = true
			continue
		}
		exposed := s.mostExposed(i)
		n += exposed
		stops[i] = min(s.budget(i), exposed) < s.Stages[i].Clusters
	}
	return n
}

// budget is how many clusters of a stage may fail while it is the active one: those of all clusters under Progressive,
// since no earlier stage tolerates any (R11, R12).
func (s *schedule) budget(stage int) int {
	if s.Type == clusterv1alpha1.Progressive && !s.Stages[stage].Mandatory {
		return s.MaxFailures
	}
	return s.Stages[stage].MaxFailures
}

// mostExposed is R40 for a stage. A cluster starts only while no more hold a slot than may, it included, and no more
// failed than may. An exposed cluster that holds no slot has failed. So both limits together bound the exposed; both are
// reached where a failed cluster gives its slot up and, while others are in flight, the budget is used up.
func (s *schedule) mostExposed(stage int) int {
	n := s.Stages[stage].MaxConcurrency
	if s.rules.deadline != nil || s.options.freeFailed {
		n += s.budget(stage)
	}
	return min(n, s.Stages[stage].Clusters)
}

// mostInFlight is R40 for a stage. Failed clusters are in flight, with a slot or without.
func (s *schedule) mostInFlight(stage int) int {
	n := s.Stages[stage].MaxConcurrency
	if s.options.freeFailed {
		n += s.budget(stage)
	}
	return min(n, s.Stages[stage].Clusters)
}

// tolerates says whether the failures of all clusters of some stage are tolerated, or of as many as get a slot there.
func (s *schedule) tolerates() bool {
	for i := range s.Stages {
		if s.isOutOfReach(i) {
			return true
		}
	}
	return false
}

// String is a sentence without its full stop: `at most 12 of 320 clusters get a version that fails them, 1 where it fails
// all; at most 10 in flight at a time; done after 3h20m0s to 6h0m0s if none fails`.
func (e Exposure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "at most %d of %s get a version that fails them", e.Exposed, clusters(e.Clusters))
	if e.ExposedIfAllFail != e.Exposed {
		fmt.Fprintf(&b, ", %d where it fails all", e.ExposedIfAllFail)
	}
	fmt.Fprintf(&b, "; at most %d in flight at a time; done after %v if none fails", e.InFlight, e.Finish)
	return b.String()
}

// String is `[group 0 "canary"]: at most 3 of 3 clusters exposed, 3 in flight; done after 10m0s to 30m0s`.
func (e StageExposure) String() string {
	return fmt.Sprintf("%v: at most %d of %s exposed, %d in flight; done after %v",
		e.Stage, e.Exposed, clusters(e.Clusters), e.InFlight, e.Finish)
}

func clusters(n int) string {
	if n == 1 {
		return "1 cluster"
	}
	return fmt.Sprintf("%d clusters", n)
}
