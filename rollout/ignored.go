package rollout

import (
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// exceptions says which clusters and which failures do not count (R37, R38). The zero value is for a schedule in which all do.
type exceptions struct {
	ignored   []int32 // the positions that are ignored, in order
	isIgnored []bool  // whether each position is ignored; nil where all are counted
	before    []bool  // whether the failures of each position are left out of the budgets; nil where none are
	baseline  []int32 // the positions of these, in order
	atStage   []int   // how many of these are selected in each stage and count; nil where none are
	inGroup   []int   // for each group how many of its clusters are ignored
}

// except finds the clusters that the options name.
func (s *schedule) except() {
	named := s.options.named
	if named == nil || named.failedBefore == nil && named.ignored == nil {
		return
	}
	n, e := s.groups.NumClusters(), &s.exceptions
	if named.failedBefore != nil {
		e.before, e.baseline = make([]bool, n), make([]int32, 0, len(named.failedBefore))
		s.positions(named.failedBefore, func(position int) {
			e.before[position] = true
			e.baseline = append(e.baseline, int32(position))
		})
	}
	if named.ignored == nil {
		return
	}
	e.isIgnored, e.inGroup, e.ignored = make([]bool, n), make([]int, s.groups.Len()), make([]int32, 0, len(named.ignored))
	s.positions(named.ignored, func(position int) {
		e.isIgnored[position] = true
		e.inGroup[s.groups.groupAt(position)]++
		e.ignored = append(e.ignored, int32(position))
	})
}

// positions gives the position of each named cluster that is in a group, in order.
func (s *schedule) positions(named nameSet, take func(position int)) {
	for _, cluster := range named {
		if position, is := s.groups.Position(cluster); is {
			take(position)
		}
	}
}

// ignoresAt says whether the cluster at a position is ignored.
func (e *exceptions) ignoresAt(position int) bool {
	return at(e.isIgnored, position)
}

// failedBefore says whether the failures of the cluster at a position are left out of the budgets.
func (e *exceptions) failedBefore(position int) bool {
	return at(e.before, position)
}

// inBudget says whether the failed cluster at a position is in a budget.
func (e *exceptions) inBudget(position int) bool {
	return !e.ignoresAt(position) && !e.failedBefore(position)
}

// numIgnored counts the ignored clusters.
func (e *exceptions) numIgnored() int { return len(e.ignored) }

// ignoredIn counts the clusters of a group that are ignored.
func (e *exceptions) ignoredIn(group stages.Group) int {
	return at(e.inGroup, group)
}

// baselineIn counts the clusters of the baseline that are selected in a stage and count.
func (e *exceptions) baselineIn(stage stages.Stage) int {
	return at(e.atStage, stage)
}

// splitIgnored moves the ignored clusters from the tallies of the groups into tallies of their own, and notes in
// the others which failures are excused. The tallies of ignored clusters are nil where all clusters count.
func (s *schedule) splitIgnored(groups []fleet.Tally, states []fleet.State) (ignored []fleet.Tally) {
	e := &s.exceptions
	if len(e.ignored) > 0 {
		ignored = make([]fleet.Tally, len(groups))
	}
	for _, position := range e.ignored {
		group := s.groups.groupAt(int(position))
		groups[group].Add(states[position], -1)
		ignored[group].Add(states[position], 1)
	}
	for position, before := range e.before {
		if before && !e.ignoresAt(position) && fleet.FailureStates.Has(states[position]) {
			groups[s.groups.groupAt(position)].Excuse(1)
		}
	}
	return ignored
}

// startsIgnored says whether the waiting, ignored clusters of a group start now. They do once no earlier stage is waited
// for, no closed gate is in the way, and the hub has a share.
func (s *schedule) startsIgnored(c *choice, group stages.Group) bool {
	stage := s.graph.Of(group)
	_, waits := c.waitsFor(stage)
	return !waits && !s.stopped(c) && s.barrierOf(c, stage) < 0 && !c.isClosed(group) && !c.isWaiting(stage) &&
		!c.pace.noShare
}

// barrierOf gives the group whose closed gate blocks a stage and all behind it; -1 if there is none. It takes constant
// time, since it is called for each group: in a chain the first barrier blocks all stages from its own on.
func (s *schedule) barrierOf(c *choice, stage stages.Stage) stages.Group {
	switch {
	case c.closed == nil:
		return stages.None
	case c.activeStages == nil && (c.barrier < 0 || s.graph.Of(c.barrier) > stage):
		return stages.None
	case c.activeStages == nil:
		return c.barrier
	case c.activeStages.barriers[stage] < 0:
		return stages.None
	default:
		return s.graph.First(c.activeStages.barriers[stage])
	}
}

// listIgnored appends the ignored clusters in one of the waiting states that start.
func (s *schedule) listIgnored(v view, c *choice, waiting fleet.State, r *Result, clusters []Cluster) []Cluster {
	last, through := stages.Group(stages.None), false
	for _, at := range s.ignored {
		position := int(at)
		if v.at(position) != waiting {
			continue
		}
		if group := s.groups.groupAt(position); group != last {
			last, through = group, s.startsIgnored(c, group)
		}
		if !through {
			continue
		}
		clusters = s.addCluster(clusters, position, waiting, s.options.attempt)
		if r != nil {
			r.mark(position)
		}
	}
	return clusters
}
