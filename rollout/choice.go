package rollout

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// view finds clusters by where they stand. There are two: a [scan] looks through all of them, for Plan; a [tracker] has
// them in sets, for the Planner. Whatever is decided and listed is so by the one code below, over one of the two.
//
// Views are walked through with cursors, as they cost no memory:
//
//	for position, s, ok := v.in(states, 0); ok; position, s, ok = v.in(states, position+1) {}
//	for position, place, ok := v.turn(stage, s, 0); ok; position, place, ok = v.turn(stage, s, place+1) {}
type view interface {
	// in gives the first position, from the given one on, of a cluster in any of some states, with its state. Positions are
	// in the order of the names.
	in(states stateSet, from int) (position int, s state, ok bool)
	// turn gives the position and the place of the first cluster of a stage in one of the two waiting states, from the
	// given place on. Places are in the order in which clusters start.
	turn(stage int, s state, from int) (position, place int, ok bool)
}

// choice says what may start. It follows from the tallies alone, so that clusters need be looked at only
// to be listed.
//
// For example, with a mandatory group 1 {a succeeded, b succeeded} and the others {c progressing, d toApply, e
// unreported} at most two at a time, the active stage is the second, used has one progressing, open is {1, 1} and slots
// is 1: d starts, e is held for want of a slot.
type choice struct {
	active  int          // the first stage that is not complete; the number of stages where all are
	used    tally        // of the active stage
	open    [2]int       // of its waiting clusters those behind no closed gate, by state: unreported, toApply
	slots   int          // how many of the open ones start
	breach  *Breach      // why nothing starts; nil if the budgets hold
	closed  map[int]Gate // of each group before which a gate is closed; nil where none is
	barrier int          // the group whose closed gate holds the active stage and all behind it; -1 if none

	unselected map[string]time.Time // since when each cluster to remove has not been selected; nil without [RemoveAfter]
}

// totals is the tallies that a choice follows from.
type totals struct {
	groups []tally
	stages []tally
	all    tally
}

// sum adds up the tallies of the groups.
func (s *schedule) sum(groups []tally) totals {
	t := totals{groups: groups, stages: make([]tally, len(s.Stages))}
	for i := range groups {
		t.stages[s.stageOf[i]].add(&groups[i])
		t.all.add(&groups[i])
	}
	return t
}

// isComplete says whether all clusters of a stage are settled and its failures within its budget (R6).
func (s *schedule) isComplete(stage int, t *tally) bool {
	return t.unsettled() == 0 && !s.isBreached(stage, t)
}

// isBreached says whether more clusters of a stage failed than may.
func (s *schedule) isBreached(stage int, t *tally) bool {
	return t.failures() > s.Stages[stage].MaxFailures
}

// firsts are the active stage and the first that is breached (R10, R12), each the number of stages if there is none.
// Linear in the stages.
func (s *schedule) firsts(t *totals) (active, breached int) {
	active, breached = len(t.stages), len(t.stages)
	for i := len(t.stages) - 1; i >= 0; i-- {
		if !s.isComplete(i, &t.stages[i]) {
			active = i
		}
		if s.isBreached(i, &t.stages[i]) {
			breached = i
		}
	}
	return active, breached
}

// choose works out what the active stage may start (R9 to R12, R22 to R25, R28). It takes constant time but for
// closed gates, with which it takes time linear in the groups, and for the names of a breach.
func (s *schedule) choose(v view, o *observed, now time.Time) choice {
	t, active := &o.totals, o.active
	c := choice{active: active, closed: s.closedGates(now)}
	if active < len(t.stages) {
		c.used = t.stages[active]
	}
	c.breach = s.breach(v, t, o.breached)
	c.barrier = s.barrier(&c)
	if !s.stopped(&c) && c.barrier < 0 && active < len(t.stages) {
		s.grant(&c, t.groups)
	}
	return c
}

// stopped says whether nothing starts anywhere.
func (s *schedule) stopped(c *choice) bool {
	return s.options.paused || s.missing != "" || c.breach != nil
}

// barrier is the group of the first stage up to the active one before which a gate is closed, if the stage is one of a
// sequence of groups; -1 if there is none (R23).
func (s *schedule) barrier(c *choice) int {
	first := -1
	for group := range c.closed {
		stage := int(s.stageOf[group])
		if stage <= c.active && s.isOneGroup(stage) && (first < 0 || stage < int(s.stageOf[first])) {
			first = group
		}
	}
	return first
}

// isOneGroup says whether a stage is a group in a sequence, not the pool of All and Progressive.
func (s *schedule) isOneGroup(stage int) bool {
	return s.Type == clusterv1alpha1.ProgressivePerGroup || s.Stages[stage].Mandatory
}

// grant sets how many clusters of the active stage start.
func (s *schedule) grant(c *choice, groups []tally) {
	c.open = [2]int{int(c.used[unreported]), int(c.used[toApply])}
	for group := range c.closed {
		if int(s.stageOf[group]) == c.active {
			c.open[unreported] -= int(groups[group][unreported])
			c.open[toApply] -= int(groups[group][toApply])
		}
	}
	free := s.Stages[c.active].MaxConcurrency - s.holdingSlots(&c.used)
	c.slots = min(max(free, 0), c.open[unreported]+c.open[toApply])
}

// holdingSlots is how many clusters of a stage count against its concurrency (R11, R25).
func (s *schedule) holdingSlots(t *tally) int {
	if s.options.freeFailed {
		return t.inFlight() - t.failed()
	}
	return t.inFlight()
}

// isClosed says whether a gate is closed before a group.
func (c *choice) isClosed(group int) bool {
	_, closed := c.closed[group]
	return closed
}

// start lists the clusters that start, in order (R8), and tells mark their positions unless it is nil.
func (s *schedule) start(v view, c *choice, mark marker) []Cluster {
	if c.slots == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, c.slots)
	for _, waiting := range [...]state{toApply, unreported} {
		if c.open[waiting] == 0 {
			continue
		}
		for position, place, ok := v.turn(c.active, waiting, 0); ok; position, place, ok = v.turn(c.active, waiting, place+1) {
			if c.closed != nil && c.isClosed(s.groups.GroupAt(position)) {
				continue
			}
			clusters = append(clusters, s.cluster(position, waiting))
			if mark != nil {
				mark.mark(position)
			}
			if len(clusters) == c.slots {
				return clusters
			}
		}
	}
	return clusters
}

// marker is told which clusters start.
type marker interface{ mark(position int) }

// list gives the n clusters that are in any of some states.
func (s *schedule) list(v view, states stateSet, n int) []Cluster {
	if n == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, n)
	for position, state, ok := v.in(states, 0); ok; position, state, ok = v.in(states, position+1) {
		clusters = append(clusters, s.cluster(position, state))
	}
	return clusters
}

// sooner is the smaller of two durations, of which those that are not positive mean never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}
