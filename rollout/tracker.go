package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/internal/bitset"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// tracker is the view that keeps every selected cluster, as of one time, in sets by state. So a change of one cluster,
// and the choice that follows, cost little more than looking at that cluster.
//
// Between two calls of its methods:
//   - states[p] is what schedule.stateAt gives for the report of p and now;
//   - waiting[s] has the ranks of the clusters in the waiting state s, and each set of listed has the positions of the
//     clusters in its states;
//   - totals are the tallies of states, and incomplete and breached are the stages that are so by these tallies;
//   - timers has exactly the positions whose state changes at a time after now, and inSpan those that leave the span of
//     MaxStarts after now.
//
// For example, the deadline is 10 minutes, a is Progressing since 11:55, b waits, and it is 12:00. Then listed has a in
// flight, waiting[unreported] has the rank of b, and timers has a, due at 12:05. Now advance(12:06) takes a out of
// timers and in flight, puts it into timed out and failures, and counts it as timedOutNow. The stage stays incomplete,
// since b waits, and is breached if it tolerates no failure.
type tracker struct {
	schedule *schedule
	now      time.Time

	reports fleet.Reports
	states  []fleet.State // the state of each position at the time now
	timers  *fleet.Timers

	inSpan   *fleet.Timers // with MaxStarts, the positions that started within its span; otherwise nil
	departed []departure   // clusters of which only the start or the success counts
	unknown  int           // how many clusters in flight have no time

	successes []lastSuccess // of each stage; nil without WaitBetweenGroups

	totals     totals
	incomplete bitset.Set // of stages
	breached   bitset.Set // of stages

	ranks   *fleet.Ranks
	waiting [2]bitset.Set                 // of ranks, by state: unreported, toApply
	listed  [len(listedStates)]bitset.Set // of positions
}

// listedStates are the sets of states that a tracker can list.
var listedStates = [...]fleet.States{
	fleet.InFlightStates, fleet.TimedOutNowStates, fleet.FailureStates, fleet.UndatedStates, fleet.UndatedSuccess, fleet.UntrackedStates,
}

// fill puts every cluster into the sets of its state, and gives the tracker. It needs schedule, facts and now, and keeps the
// ranks if there are any. It takes time linear in the clusters.
func (t *tracker) fill() *tracker {
	s, n := t.schedule, t.reports.Len()
	if t.ranks == nil {
		t.ranks = s.newRanks()
	}
	t.states = make([]fleet.State, n)
	t.incomplete, t.breached = bitset.New(len(s.limits)), bitset.New(len(s.limits))
	t.waiting = [2]bitset.Set{bitset.New(n), bitset.New(n)}
	for i := range t.listed {
		t.listed[i] = bitset.New(n)
	}
	t.timers = fleet.NewTimers(n, t.isDueBefore)
	if s.wait > 0 {
		t.successes = make([]lastSuccess, len(s.limits))
	}
	if s.options.starts.IsSet() {
		t.inSpan = fleet.NewTimers(n, t.leavesBefore)
	}
	tallies := make([]fleet.Tally, s.Len())
	for position := range fleet.Position(n) {
		state := s.StateAt(position, t.reports.Of(position), t.now)
		t.states[position] = state
		tallies[s.GroupOf(position)].Add(state, 1)
		t.mark(position, state)
		t.time(position)
		t.start(position)
	}
	t.totals = s.sum(tallies, s.SplitIgnored(s.Members, tallies, t.states))
	for stage := range s.Graph.Len() {
		t.markStage(stage)
	}
	return t
}

// due gives the time at which time alone changes the state of a position.
func (t *tracker) due(position fleet.Position) time.Time {
	if t.states[position].IsFrozen() {
		return t.schedule.Freezes.End(position)
	}
	limit := t.schedule.Phases.Limit(t.reports.Kind(position))
	return t.reports.Since(position).Add(limit)
}

// isDueBefore says whether a is due before b. Positions of one kind have the same limit.
func (t *tracker) isDueBefore(a, b fleet.Position) bool {
	if t.reports.Kind(a) == t.reports.Kind(b) && !t.states[a].IsFrozen() && !t.states[b].IsFrozen() {
		return t.reports.Since(a).Before(t.reports.Since(b))
	}
	return t.due(a).Before(t.due(b))
}

// report replaces the report of a position.
func (t *tracker) report(position fleet.Position, r fleet.Report) {
	t.timers.Clear(position)
	t.unstart(position)
	before := t.success(position)
	t.reports.Note(position, r)
	t.settle(position)
	t.time(position)
	t.start(position)
	t.succeeded(position, before)
}

// success gives the time at which a position that counts succeeded; zero if it did not, or if that is unknown.
func (t *tracker) success(position fleet.Position) time.Time {
	if !fleet.SucceededStates.Has(t.states[position]) || t.schedule.Ignores(position) {
		return time.Time{}
	}
	return t.reports.Since(position)
}

// succeeded updates the last success of a stage after the success of a position changed. The stage has to be looked
// through again only if that position had the last success and no longer has it.
func (t *tracker) succeeded(position fleet.Position, before time.Time) {
	if t.successes == nil {
		return
	}
	last := &t.successes[t.schedule.Graph.Of(t.schedule.GroupOf(position))]
	if now := t.success(position); !now.Before(last.at) {
		last.at = now
	} else if before.Equal(last.at) {
		last.known = false
	}
}

// lastSuccess has the last time at which a cluster of a stage succeeded, as far as it is known.
type lastSuccess struct {
	at    time.Time
	known bool
}

// lastSuccess implements view. It takes time linear in the clusters of the stage if the last success is not known any
// more.
func (t *tracker) lastSuccess(stage stages.Stage) time.Time {
	return latest(t.lastOfMembers(stage), t.schedule.successOf(t.departed, stage))
}

// lastOfMembers does what lastSuccess does, for the members of the stage.
func (t *tracker) lastOfMembers(stage stages.Stage) time.Time {
	last := &t.successes[stage]
	if last.known {
		return last.at
	}
	*last = lastSuccess{known: true}
	for _, position := range t.ranks.Of(stage) {
		if at := t.success(position); at.After(last.at) {
			last.at = at
		}
	}
	return last.at
}

// leavesSpan gives the time at which a position that started leaves the span of MaxStarts.
func (t *tracker) leavesSpan(position fleet.Position) time.Time {
	return t.reports.Of(position).StartedAt().Add(t.schedule.options.starts.Per)
}

// leavesBefore says whether a leaves the span of MaxStarts before b.
func (t *tracker) leavesBefore(a, b fleet.Position) bool {
	return t.leavesSpan(a).Before(t.leavesSpan(b))
}

// start notes that a position started within the span of MaxStarts, or is in flight since an unknown time.
func (t *tracker) start(position fleet.Position) {
	switch {
	case t.inSpan == nil || t.schedule.Ignores(position):
	case t.isUnknown(position):
		t.unknown++
	case !t.reports.Of(position).StartedAt().IsZero() && t.now.Before(t.leavesSpan(position)):
		t.inSpan.Set(position)
	}
}

// unstart undoes start.
func (t *tracker) unstart(position fleet.Position) {
	if t.inSpan != nil {
		t.inSpan.Clear(position)
		t.unknown -= one(t.isUnknown(position))
	}
}

// isUnknown says whether a position is in flight since an unknown time.
func (t *tracker) isUnknown(position fleet.Position) bool {
	return fleet.InFlightStates.Has(t.states[position]) && t.reports.Since(position).IsZero() && !t.schedule.Ignores(position)
}

// recentStarts looks at the starts within the span of MaxStarts (R36).
func (t *tracker) recentStarts() limits.Recent {
	if t.inSpan == nil {
		return limits.Recent{}
	}
	l, starts := t.schedule.options.starts, t.inSpan.All()
	if first, ok := t.inSpan.Next(); ok && len(t.departed) == 0 && len(starts)+t.unknown <= l.Most { // the usual case, unless more started than may
		return limits.Recent{N: len(starts) + t.unknown, Unknown: t.unknown, Next: t.leavesSpan(first).UTC()}
	}
	within := make([]time.Time, len(starts))
	for i, position := range starts {
		within[i] = t.leavesSpan(position).Add(-l.Per)
	}
	within = append(within, t.schedule.startsOf(t.departed, t.now)...)
	return l.Recent(within, t.unknown)
}

// advance moves on to a later time. It takes time in proportion to the clusters that change.
func (t *tracker) advance(now time.Time) {
	t.now = now
	for position, ok := t.timers.Next(); ok && !now.Before(t.due(position)); position, ok = t.timers.Next() {
		t.timers.Clear(position)
		if t.settle(position); t.states[position].IsFrozen() { // it timed out and is tried again while it is frozen
			t.time(position)
		}
	}
	if t.inSpan == nil {
		return
	}
	for position, ok := t.inSpan.Next(); ok && !now.Before(t.leavesSpan(position)); position, ok = t.inSpan.Next() {
		t.inSpan.Clear(position)
	}
}

// tell puts into o what the tracker knows for a decision.
func (t *tracker) tell(o *observed) {
	o.totals, o.active, o.breached = t.totals, first(&t.incomplete, t.schedule), first(&t.breached, t.schedule)
	if position, ok := t.timers.Next(); ok {
		o.recheck = t.due(position).Sub(t.now)
	}
	o.recent = t.recentStarts()
}

// first gives the first stage of a set, or the number of stages.
func first(set *bitset.Set, s *schedule) stages.Stage {
	if stage, ok := set.Next(0); ok {
		return stages.Stage(stage)
	}
	return s.Graph.Len()
}

// settle updates the state of a position, and all counts that depend on it.
func (t *tracker) settle(position fleet.Position) {
	before := t.states[position]
	after := t.schedule.StateAt(position, t.reports.Of(position), t.now)
	if before == after {
		return
	}
	t.unmark(position, before)
	t.states[position] = after
	t.mark(position, after)

	group := t.schedule.GroupOf(position)
	stage := t.schedule.Graph.Of(group)
	if t.schedule.Ignores(position) {
		for _, ignored := range []*fleet.Tally{&t.totals.ignored[group], &t.totals.ignoredAll} {
			ignored.Add(before, -1)
			ignored.Add(after, 1)
		}
		return
	}
	for _, counted := range []*fleet.Tally{&t.totals.groups[group], &t.totals.stages[stage], &t.totals.all} {
		counted.Add(before, -1)
		counted.Add(after, 1)
		if t.schedule.FailedBefore(position) {
			counted.Excuse(int32(one(fleet.FailureStates.Has(after)) - one(fleet.FailureStates.Has(before))))
		}
	}
	t.markStage(stage)
}

func (t *tracker) markStage(stage stages.Stage) {
	tally := &t.totals.stages[stage]
	put(&t.incomplete, int(stage), !t.schedule.isComplete(stage, tally))
	put(&t.breached, int(stage), t.schedule.isBreached(stage, tally))
}

func put(set *bitset.Set, i int, in bool) {
	if in {
		set.Add(i)
	} else {
		set.Remove(i)
	}
}

// mark puts a position into the sets of its state.
func (t *tracker) mark(position fleet.Position, s fleet.State) {
	if s.IsWaiting() {
		t.waiting[s].Add(int(t.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(s) {
			t.listed[i].Add(int(position))
		}
	}
}

// unmark undoes mark.
func (t *tracker) unmark(position fleet.Position, s fleet.State) {
	if s.IsWaiting() {
		t.waiting[s].Remove(int(t.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(s) {
			t.listed[i].Remove(int(position))
		}
	}
}

// time sets the timer of a position whose state changes by time alone.
func (t *tracker) time(position fleet.Position) {
	if t.states[position].IsFrozen() {
		if t.schedule.Freezes.UntilUnfrozen(position, t.now) > 0 {
			t.timers.Set(position)
		}
		return
	}
	if fleet.DatedStates.Has(t.states[position]) {
		if limit := t.schedule.Phases.Limit(t.reports.Kind(position)); limit > 0 {
			t.timers.Set(position)
		}
	}
}

// in implements view. The states are one of listedStates.
func (t *tracker) in(states fleet.States, from fleet.Position) (fleet.Position, fleet.State, bool) {
	for i := range listedStates {
		if listedStates[i] == states {
			if position, ok := t.listed[i].Next(int(from)); ok {
				return fleet.Position(position), t.states[position], true
			}
		}
	}
	return 0, 0, false
}

// at implements view.
func (t *tracker) at(position fleet.Position) fleet.State { return t.states[position] }

// attempt implements view.
func (t *tracker) attempt(position fleet.Position) int { return t.reports.Attempt(position) }

// reported implements view.
func (t *tracker) reported(position fleet.Position) fleet.Report { return t.reports.Of(position) }

// turn implements view. Places are ranks, counted from the first of the stage.
func (t *tracker) turn(stage stages.Stage, s fleet.State, from int) (position fleet.Position, place int, ok bool) {
	begin, own := int(t.ranks.First(stage)), t.ranks.Of(stage)
	rank, ok := t.waiting[s].Next(begin + from)
	if place = rank - begin; !ok || place >= len(own) {
		return 0, 0, false
	}
	return own[place], place, true
}
