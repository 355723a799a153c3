package rollout

import (
	"cmp"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/internal/bitset"
)

// tracker is the state of every selected cluster at one time, indexed so that a change of one cluster and
// the choice that follows cost little more than looking at it.
type tracker struct {
	schedule *schedule
	now      time.Time

	kinds  []state     // of each position, as reported; unreported if it was not
	since  []time.Time // of each position: the time of the report's transition
	states []state     // of each position, at the time now
	timers *timers     // the positions whose state changes by time alone
	// The positions in flight whose time of transition is unknown, by kind, so that they are looked at again
	// after one limit (R4, R5).
	undated tally

	totals     totals
	incomplete bitset.Set // the stages that are not complete

	// Ranks number the clusters stage by stage, within a stage in the order in which they start.
	rankOf   []int32 // of each position
	atRank   []int32 // the position of each rank
	begins   []int32 // of each stage: its first rank
	waiting  [2]bitset.Set
	timedOut bitset.Set // the positions that are timedOutNow
	inFlight bitset.Set // the positions that are in flight
}

// newTracker puts clusters of the given kinds under a schedule at the time now. It keeps the slices. It
// takes time linear in the clusters but for an Order, by which it sorts.
func newTracker(s *schedule, kinds []state, since []time.Time, now time.Time) *tracker {
	n := len(kinds)
	t := &tracker{
		schedule: s, now: now, kinds: kinds, since: since,
		states:     make([]state, n),
		incomplete: bitset.New(len(s.Stages)),
		waiting:    [2]bitset.Set{bitset.New(n), bitset.New(n)},
		timedOut:   bitset.New(n),
		inFlight:   bitset.New(n),
	}
	t.timers = newTimers(n, t.due)
	t.rank()
	tallies := make([]tally, s.groups.Len())
	for position, kind := range kinds {
		state, _ := s.rules.at(kind, since[position], now)
		t.states[position] = state
		tallies[s.groups.GroupAt(position)][state]++
		t.mark(position, state)
		t.time(position)
	}
	t.totals = s.sum(tallies)
	for stage := range s.Stages {
		t.markStage(stage)
	}
	return t
}

// rank orders the clusters stage by stage.
func (t *tracker) rank() {
	s, n := t.schedule, len(t.kinds)
	t.rankOf, t.atRank, t.begins = make([]int32, n), make([]int32, n), make([]int32, len(s.Stages)+1)
	for i, stage := range s.Stages {
		t.begins[i+1] = t.begins[i] + int32(stage.Clusters)
	}
	next := slices.Clone(t.begins)
	for position := range n {
		stage := s.stageOf[s.groups.GroupAt(position)]
		t.atRank[next[stage]] = int32(position)
		next[stage]++
	}
	if compare := s.options.order; compare != nil {
		for i := range s.Stages {
			slices.SortFunc(t.atRank[t.begins[i]:t.begins[i+1]], func(a, b int32) int {
				return cmp.Or(compare(s.groups.Cluster(int(a)), s.groups.Cluster(int(b))), cmp.Compare(a, b))
			})
		}
	}
	for rank, position := range t.atRank {
		t.rankOf[position] = int32(rank)
	}
}

// due is when the state of a position changes by time alone.
func (t *tracker) due(position int32) time.Time {
	limit, _, _ := t.schedule.rules.phase(t.kinds[position])
	return t.since[position].Add(limit)
}

// report changes what was reported of a position.
func (t *tracker) report(position int, kind state, since time.Time) {
	t.untime(position)
	t.kinds[position], t.since[position] = kind, since
	t.settle(position)
	t.time(position)
}

// advance moves on to a later time. It costs time in proportion to the clusters that change.
func (t *tracker) advance(now time.Time) {
	t.now = now
	for position, ok := t.timers.next(); ok && !now.Before(t.due(position)); position, ok = t.timers.next() {
		t.timers.clear(position)
		t.settle(int(position))
	}
}

// recheck is the time after which a cluster's state changes or is looked at again; 0 if never.
func (t *tracker) recheck() (after time.Duration) {
	if position, ok := t.timers.next(); ok {
		after = t.due(position).Sub(t.now)
	}
	for kind, n := range t.undated {
		if n > 0 {
			limit, _, _ := t.schedule.rules.phase(state(kind))
			after = sooner(after, limit)
		}
	}
	return after
}

// choose is the choice at the tracker's time.
func (t *tracker) choose() choice {
	active, ok := t.incomplete.Next(0)
	if !ok {
		active = len(t.schedule.Stages)
	}
	return t.schedule.choose(&t.totals, active, t.now)
}

// settle brings the state of a position and all that is counted from it up to date.
func (t *tracker) settle(position int) {
	before := t.states[position]
	after, _ := t.schedule.rules.at(t.kinds[position], t.since[position], t.now)
	if before == after {
		return
	}
	t.unmark(position, before)
	t.states[position] = after
	t.mark(position, after)

	group := t.schedule.groups.GroupAt(position)
	stage := t.schedule.stageOf[group]
	for _, counted := range []*tally{&t.totals.groups[group], &t.totals.stages[stage], &t.totals.all} {
		counted[before]--
		counted[after]++
	}
	t.markStage(int(stage))
}

func (t *tracker) markStage(stage int) {
	if t.schedule.complete(stage, &t.totals.stages[stage]) {
		t.incomplete.Remove(stage)
	} else {
		t.incomplete.Add(stage)
	}
}

// mark puts a position into the sets of its state.
func (t *tracker) mark(position int, s state) {
	switch {
	case s.waiting():
		t.waiting[s].Add(int(t.rankOf[position]))
	case s.inFlight():
		t.inFlight.Add(position)
	case s == timedOutNow:
		t.timedOut.Add(position)
	}
}

// unmark undoes mark.
func (t *tracker) unmark(position int, s state) {
	switch {
	case s.waiting():
		t.waiting[s].Remove(int(t.rankOf[position]))
	case s.inFlight():
		t.inFlight.Remove(position)
	case s == timedOutNow:
		t.timedOut.Remove(position)
	}
}

// time keeps in mind that the state of a position changes by time alone, if it does.
func (t *tracker) time(position int) {
	if _, again := t.schedule.rules.at(t.kinds[position], t.since[position], t.now); again == 0 {
		return
	}
	if t.since[position].IsZero() {
		t.undated[t.kinds[position]]++
	} else {
		t.timers.set(int32(position))
	}
}

// untime undoes time.
func (t *tracker) untime(position int) {
	limit, _, _ := t.schedule.rules.phase(t.kinds[position])
	if limit > 0 && t.since[position].IsZero() {
		t.undated[t.kinds[position]]--
	}
	t.timers.clear(int32(position))
}

// start lists the clusters that start (R8).
func (t *tracker) start(c *choice) []Cluster {
	if c.slots == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, c.slots)
	begin, end := int(t.begins[c.active]), int(t.begins[c.active+1])
	for _, s := range []state{toApply, unreported} {
		for rank := range t.waiting[s].From(begin) {
			if len(clusters) == c.slots || rank >= end {
				break
			}
			position := int(t.atRank[rank])
			if t.schedule.mayStart(c, t.schedule.groups.GroupAt(position)) {
				clusters = append(clusters, t.schedule.cluster(position, s))
			}
		}
	}
	return clusters
}

// list gives the n clusters whose positions are in a set.
func (t *tracker) list(positions *bitset.Set, n int) []Cluster {
	if n == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, n)
	for position := range positions.From(0) {
		clusters = append(clusters, t.schedule.cluster(position, t.states[position]))
	}
	return clusters
}
