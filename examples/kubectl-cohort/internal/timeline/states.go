// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/scenario"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// States are those of the selected clusters by a plan, by position. Nothing is ignored if that is nil.
func States(groups *grouping.Groups, plan *rollout.Result, ignored func(cluster string) bool) []picture.State {
	states := slices.Repeat([]picture.State{picture.Waiting}, groups.NumClusters())
	set := func(c rollout.Cluster, is picture.State) {
		if position, found := groups.Position(c.Name); found {
			states[position] = is
		}
	}
	for c := range plan.Settled() {
		set(c, settled(c.Status))
	}
	for _, c := range plan.TimedOut {
		set(c, picture.TimedOut)
	}
	for _, c := range plan.InFlight {
		set(c, inFlight(c.Status))
	}
	for c, block := range plan.Blocked() {
		if block.Type == rollout.BlockFrozen || block.Type == rollout.BlockNotAllowed {
			set(c, picture.Frozen)
		}
	}
	for i := range states {
		if ignored != nil && ignored(groups.Cluster(i)) {
			states[i] = picture.Ignored
		}
	}
	return states
}

func settled(s status.RolloutStatus) picture.State {
	switch s {
	case status.TimeOut:
		return picture.TimedOut
	case status.Failed:
		return picture.Failed
	}
	return picture.Succeeded
}

func inFlight(s status.RolloutStatus) picture.State {
	switch s {
	case status.Succeeded:
		return picture.Soaking
	case status.Failed:
		return picture.Failed
	case status.Validating:
		return picture.Validating
	}
	return picture.InFlight
}

const (
	// mostPast is how many times before now a course has at most, and mostPlanned how many clusters may be planned for them in all.
	mostPast    = 200
	mostPlanned = 2_000_000
)

// Course is a rollout from the first time of which its objects know until it ends, by a plan of now and a simulation from now on. Its
// times count from Begin.
type Course struct {
	picture.Timeline
	Begin, Now time.Time
	// Missing says why nothing is known of the time before now; empty where something is.
	Missing string
}

// CourseOf puts the past and the forecast of a rollout together.
func CourseOf(s *scenario.Scenario, plan *rollout.Result, trace *simulation.Trace, now time.Time) (c Course, err error) {
	c = Course{Begin: now, Now: now}
	states := States(s.Groups, plan, s.Ignored)
	kept := s.Kept()
	if c.Missing = kept.Missing; !s.Live {
		c.Missing = ""
	}
	moments := slices.DeleteFunc(kept.Moments, func(at time.Time) bool { return !at.Before(now) })
	most := min(mostPast, mostPlanned/max(1, s.Groups.NumClusters()))
	if more := len(moments) - most; more > 0 {
		moments = moments[more:]
	}
	var past []snapshot
	for _, at := range moments {
		_, then := s.Then(at)
		plan, err := then.Now(then.Options(), at)
		if err != nil {
			return c, err
		}
		past = append(past, snapshot{at, States(s.Groups, plan, s.Ignored)})
	}
	if len(past) > 0 {
		c.Begin = past[0].at
	}
	changed := changes(s.Groups, trace)
	changed = append(changed, soaks(s, states, plan, now)...)
	sortChanges(changed)
	offset := now.Sub(c.Begin)
	for i := range changed {
		changed[i].after += offset
	}
	var all []change
	first := states
	if len(past) > 0 {
		first = past[0].states
		before := first
		for _, shot := range append(past[1:], snapshot{now, states}) {
			all = append(all, differing(before, shot.states, shot.at.Sub(c.Begin))...)
			before = shot.states
		}
	}
	c.Groups = ofGroups(s.Groups, append(all, changed...), first)
	c.Points = together(c.Groups, 0)
	c.Mark = mark(trace)
	c.Mark.After += offset
	return c, nil
}

// snapshot is how clusters stood at a time.
type snapshot struct {
	at     time.Time
	states []picture.State
}

// differing are the changes from some states to others, at a time.
func differing(before, states []picture.State, after time.Duration) (all []change) {
	for position, is := range states {
		if is != before[position] {
			all = append(all, change{after, position, is})
		}
	}
	return all
}

// soaks are the ends of the soaks that go on now; a simulation does not say these.
func soaks(s *scenario.Scenario, states []picture.State, plan *rollout.Result, now time.Time) (all []change) {
	for _, report := range s.Reports(rollout.Options{}) {
		position, found := s.Groups.Position(report.Cluster)
		if !found || states[position] != picture.Soaking {
			continue
		}
		if ends := scenario.Since(&report).Add(plan.Schedule.MinSuccessTime); ends.After(now) {
			all = append(all, change{ends.Sub(now), position, picture.Succeeded})
		}
	}
	return all
}
