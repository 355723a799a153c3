package rollout

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// choice says what may start. It follows from the tallies alone, so that clusters need be looked at only
// to be listed.
type choice struct {
	active int     // the first stage that is not complete; the number of stages where all are
	used   tally   // of the active stage
	open   [2]int  // of its waiting clusters those behind no closed gate, by state: unreported, toApply
	slots  int     // how many of the open ones start
	breach *Reason // why nothing starts; nil if the budgets hold
	closed []bool  // of each group: a gate is closed before it; nil where none is
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

// firstIncomplete is the active stage (R10, R12). Linear in the stages.
func (s *schedule) firstIncomplete(t *totals) int {
	for i := range t.stages {
		if !s.complete(i, &t.stages[i]) {
			return i
		}
	}
	return len(t.stages)
}

// choose works out what the active stage may start (R9 to R12, R22 to R25). It takes constant time but for
// closed gates, with which it takes time linear in the groups.
func (s *schedule) choose(t *totals, active int, now time.Time) choice {
	c := choice{active: active, closed: s.closedGates(now)}
	if active < len(t.stages) {
		c.used = t.stages[active]
	}
	c.breach = s.breach(&c, &t.all)
	if c.breach == nil && !s.options.paused && active < len(t.stages) {
		s.grant(&c, t.groups)
	}
	return c
}

// complete says whether all clusters of a stage are settled and its failures within its budget (R6).
func (s *schedule) complete(stage int, t *tally) bool {
	return t.unsettled() == 0 && t.failures() <= s.Stages[stage].MaxFailures
}

// breach is the reason why failures stop the rollout, if they do: those of the active stage, or under
// Progressive those of all clusters (R10, R11, R12). Failures in later stages count when their turn comes
// (R13), and earlier ones are complete.
func (s *schedule) breach(c *choice, all *tally) *Reason {
	if c.active < len(s.Stages) {
		stage := &s.Stages[c.active]
		if failures := c.used.failures(); failures > stage.MaxFailures {
			return &Reason{Type: BudgetBreached, Group: stage.Groups[0], Failures: failures, MaxFailures: stage.MaxFailures}
		}
	}
	if failures := all.failures(); s.Type == clusterv1alpha1.Progressive && failures > s.MaxFailures {
		return &Reason{Type: BudgetBreached, AllGroups: true, Failures: failures, MaxFailures: s.MaxFailures}
	}
	return nil
}

// grant sets how many clusters of the active stage start.
func (s *schedule) grant(c *choice, groups []tally) {
	c.open = [2]int{int(c.used[unreported]), int(c.used[toApply])}
	for i, closed := range c.closed {
		if closed && int(s.stageOf[i]) == c.active {
			c.open[unreported] -= int(groups[i][unreported])
			c.open[toApply] -= int(groups[i][toApply])
		}
	}
	free := s.Stages[c.active].MaxConcurrency - s.holdingSlots(&c.used)
	c.slots = min(max(free, 0), c.open[unreported]+c.open[toApply])
}

// holdingSlots is how many clusters of a stage count against its concurrency (R11, R25).
func (s *schedule) holdingSlots(t *tally) int {
	if s.options.freeFailed {
		return t.inFlight() - int(t[failed])
	}
	return t.inFlight()
}

// closedGates says which groups have a closed gate before them; nil if none (R23).
func (s *schedule) closedGates(now time.Time) []bool {
	var closed []bool
	for i := 0; len(s.options.gates) > 0 && i < s.groups.Len(); i++ {
		if _, ok := s.options.gate(s.groups.Key(i), now); ok {
			if closed == nil {
				closed = make([]bool, s.groups.Len())
			}
			closed[i] = true
		}
	}
	return closed
}

// mayStart says whether the waiting clusters of a group are among the open ones.
func (s *schedule) mayStart(c *choice, group int) bool {
	return int(s.stageOf[group]) == c.active && (c.closed == nil || !c.closed[group])
}

// opening is the time from now until a gate opens that alone holds clusters of the active stage; 0 if
// there is none.
func (s *schedule) opening(c *choice, groups []tally, now time.Time) (next time.Duration) {
	if c.breach != nil || s.options.paused {
		return 0
	}
	for i, closed := range c.closed {
		if closed && int(s.stageOf[i]) == c.active && groups[i].waiting() > 0 {
			if gate := s.options.gates[s.groups.Key(i)]; !gate.Opens.IsZero() {
				next = sooner(next, gate.Opens.Sub(now))
			}
		}
	}
	return next
}

// sooner is the smaller of two durations, of which those that are not positive mean never.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}
