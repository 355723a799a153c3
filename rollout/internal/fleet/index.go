// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/internal/bitset"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Index is a table that keeps the clusters in sets by state. So a change of one cluster, and the choice that follows, cost little more
// than looking at that cluster. It finds clusters as a [Scan] does.
//
// Between two calls of its methods:
//   - states[p] is what Roster.StateAt gives for the report of p and Now;
//   - waiting[s] has the ranks of the clusters in the waiting state s, and each set of listed has the positions of the
//     clusters in its states;
//   - Totals are the tallies of states, and incomplete and breached are the stages that are so by these tallies;
//   - timers has exactly the positions whose state changes at a time after Now, and inSpan those that leave the span of
//     starts after Now.
//
// For example, the deadline is 10 minutes, a is Progressing since 11:55, b waits, and it is 12:00. Then listed has a in
// flight, waiting[Unreported] has the rank of b, and timers has a, due at 12:05. Now Advance(12:06) takes a out of
// timers and in flight, puts it into timed out and failures, and counts it as TimedOutNow. The stage stays incomplete,
// since b waits, and is breached if it tolerates no failure.
type Index struct {
	Table
	timers  *Timers
	inSpan  *Timers // where starts count, the positions that started within their span; otherwise nil
	unknown int     // how many clusters in flight have no time

	successes []lastSuccess // of each stage; nil where none is waited for

	incomplete bitset.Set // of stages
	breached   bitset.Set // of stages

	ranks   *Ranks
	waiting [2]bitset.Set                 // of ranks, by state: Unreported, ToApply
	listed  [len(listedStates)]bitset.Set // of positions
}

// NewIndex makes an index of what was reported, which it keeps. Where the record counts for a position, the report is that of the record,
// and seen has what was observed. It takes time linear in the clusters.
func NewIndex(roster *Roster, reports Reports, recorded map[Position]Observation, now time.Time) *Index {
	index := &Index{Table: Table{Roster: roster, Now: now, Reports: reports}}
	for position, seen := range recorded {
		index.record(position, &seen)
	}
	index.ranks = NewRanks(roster.Members, &roster.Graph, roster.Compare)
	index.fill()
	return index
}

// At gives an index of the same reports as of another time. It takes time linear in the clusters.
func (t *Index) At(now time.Time) *Index {
	again := &Index{Table: Table{Roster: t.Roster, Now: now, Reports: t.Reports, recorded: t.recorded}, ranks: t.ranks}
	again.fill()
	return again
}

// Snapshot gives a copy of the table that does not change with the index, with what reports say of the clusters by name.
func (t *Index) Snapshot(says map[string]Message) Table {
	snapshot := t.Table
	snapshot.Reports, snapshot.states, snapshot.recorded, snapshot.Totals = t.Reports.clone(), slices.Clone(t.states), maps.Clone(t.recorded), t.Totals.Clone()
	for cluster, said := range says {
		if position, member := t.Position(cluster); member {
			if _, recorded := t.recorded[position]; !recorded {
				snapshot.say(position, said)
			}
		}
	}
	return snapshot
}

// listedStates are the sets of states that a tracker can list.
var listedStates = [...]States{
	InFlightStates, TimedOutNowStates, FailureStates, UndatedStates, UndatedSuccess, UntrackedStates,
}

// fill puts every cluster into the sets of its state.
func (t *Index) fill() {
	n, numStages := t.NumClusters(), int(t.Graph.Len())
	t.states = make([]State, n)
	t.incomplete, t.breached = bitset.New(numStages), bitset.New(numStages)
	t.waiting = [2]bitset.Set{bitset.New(n), bitset.New(n)}
	for i := range t.listed {
		t.listed[i] = bitset.New(n)
	}
	t.timers = NewTimers(n, t.isDueBefore)
	if t.Wait > 0 {
		t.successes = make([]lastSuccess, numStages)
	}
	if t.Span > 0 {
		t.inSpan = NewTimers(n, t.leavesBefore)
	}
	tallies := make([]Tally, t.Graph.NumGroups())
	for position := range Position(n) {
		is := t.StateAt(position, t.Of(position), t.Now)
		t.states[position] = is
		tallies[t.GroupOf(position)].Add(is, 1)
		t.mark(position, is)
		t.time(position)
		t.start(position)
	}
	t.Totals = t.sum(tallies, t.states)
	for stage := range t.Graph.Len() {
		t.markStage(stage)
	}
}

// due gives the time at which time alone changes the state of a position.
func (t *Index) due(position Position) time.Time {
	if t.states[position].IsFrozen() {
		return t.Freezes.End(position)
	}
	limit := t.Phases.Limit(t.Kind(position))
	return t.Since(position).Add(limit)
}

// isDueBefore says whether a is due before b. Positions of one kind have the same limit.
func (t *Index) isDueBefore(a, b Position) bool {
	if t.Kind(a) == t.Kind(b) && !t.states[a].IsFrozen() && !t.states[b].IsFrozen() {
		return t.Since(a).Before(t.Since(b))
	}
	return t.due(a).Before(t.due(b))
}

// Report replaces the report of a position.
func (t *Index) Report(position Position, report Report) {
	t.timers.Clear(position)
	t.unstart(position)
	before := t.success(position)
	t.Note(position, report)
	t.settle(position)
	t.time(position)
	t.start(position)
	t.succeeded(position, before)
}

// succeeded updates the last success of a stage after the success of a position changed. The stage has to be looked
// through again only if that position had the last success and no longer has it.
func (t *Index) succeeded(position Position, before time.Time) {
	if t.successes == nil {
		return
	}
	last := &t.successes[t.Graph.Of(t.GroupOf(position))]
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

// LastSuccess gives the last success among the clusters of a stage that count; zero if there is none. It takes time linear in the clusters of the stage if the last success is not known any
// more.
func (t *Index) LastSuccess(stage stages.Stage) time.Time {
	last := t.lastOfMembers(stage)
	if at := t.departedSuccess(stage); at.After(last) {
		return at
	}
	return last
}

// lastOfMembers does what LastSuccess does, for the members of the stage.
func (t *Index) lastOfMembers(stage stages.Stage) time.Time {
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

// leavesSpan gives the time at which a position that started leaves the span of starts.
func (t *Index) leavesSpan(position Position) time.Time {
	return t.Of(position).StartedAt().Add(t.Span)
}

// leavesBefore says whether a leaves the span of starts before b.
func (t *Index) leavesBefore(a, b Position) bool {
	return t.leavesSpan(a).Before(t.leavesSpan(b))
}

// start notes that a position started within the span of starts, or is in flight since an unknown time.
func (t *Index) start(position Position) {
	switch {
	case t.inSpan == nil || t.Ignores(position):
	case t.IsUnknown(position):
		t.unknown++
	case !t.Of(position).StartedAt().IsZero() && t.Now.Before(t.leavesSpan(position)):
		t.inSpan.Set(position)
	}
}

// unstart undoes start.
func (t *Index) unstart(position Position) {
	if t.inSpan != nil {
		t.inSpan.Clear(position)
		t.unknown -= int(one(t.IsUnknown(position)))
	}
}

// NumStarts counts the clusters whose start counts (R36), and among them those that are in flight since an unknown time. It gives when the
// first of the others leaves the span, where all are members; otherwise zero.
func (t *Index) NumStarts() (n, unknown int, leaves time.Time) {
	if t.inSpan == nil {
		return 0, 0, leaves
	}
	if first, any := t.inSpan.Next(); any && len(t.Departed) == 0 {
		leaves = t.leavesSpan(first)
	}
	return len(t.inSpan.All()) + t.unknown, t.unknown, leaves
}

// Starts gives the starts that count (R36), in any order, and how many clusters in flight started at an unknown time.
func (t *Index) Starts() (starts []time.Time, unknown int) {
	for _, position := range t.inSpan.All() {
		starts = append(starts, t.leavesSpan(position).Add(-t.Span))
	}
	return append(starts, t.departedStarts()...), t.unknown
}

// Advance moves on to a later time. It takes time in proportion to the clusters that change.
func (t *Index) Advance(now time.Time) {
	t.Now = now
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

// Recheck gives the time until time alone changes the state of a cluster; 0 if it does not.
func (t *Index) Recheck() time.Duration {
	if position, ok := t.timers.Next(); ok {
		return t.due(position).Sub(t.Now)
	}
	return 0
}

// Firsts gives the first stage that is not complete and the first that is breached (R10, R12), each the number of
// stages if there is none.
func (t *Index) Firsts() (active, breached stages.Stage) {
	return t.first(&t.incomplete), t.first(&t.breached)
}

// first gives the first stage of a set, or the number of stages.
func (t *Index) first(set *bitset.Set) stages.Stage {
	if stage, ok := set.Next(0); ok {
		return stages.Stage(stage)
	}
	return t.Graph.Len()
}

// settle updates the state of a position, and all counts that depend on it.
func (t *Index) settle(position Position) {
	before := t.states[position]
	after := t.StateAt(position, t.Of(position), t.Now)
	if before == after {
		return
	}
	t.unmark(position, before)
	t.states[position] = after
	t.mark(position, after)

	group := t.GroupOf(position)
	stage := t.Graph.Of(group)
	if t.Ignores(position) {
		for _, ignored := range []*Tally{&t.Totals.Ignored[group], &t.Totals.IgnoredAll} {
			ignored.Add(before, -1)
			ignored.Add(after, 1)
		}
		return
	}
	for _, counted := range []*Tally{&t.Totals.Groups[group], &t.Totals.Stages[stage], &t.Totals.All} {
		counted.Add(before, -1)
		counted.Add(after, 1)
		if t.FailedBefore(position) {
			counted.Excuse(one(FailureStates.Has(after)) - one(FailureStates.Has(before)))
		}
	}
	t.markStage(stage)
}

func (t *Index) markStage(stage stages.Stage) {
	tally := &t.Totals.Stages[stage]
	put(&t.incomplete, int(stage), !t.IsComplete(stage, tally))
	put(&t.breached, int(stage), t.IsBreached(stage, tally))
}

func put(set *bitset.Set, i int, in bool) {
	if in {
		set.Add(i)
	} else {
		set.Remove(i)
	}
}

// mark puts a position into the sets of its state.
func (t *Index) mark(position Position, state State) {
	if state.IsWaiting() {
		t.waiting[state].Add(int(t.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(state) {
			t.listed[i].Add(int(position))
		}
	}
}

// unmark undoes mark.
func (t *Index) unmark(position Position, state State) {
	if state.IsWaiting() {
		t.waiting[state].Remove(int(t.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(state) {
			t.listed[i].Remove(int(position))
		}
	}
}

// time sets the timer of a position whose state changes by time alone.
func (t *Index) time(position Position) {
	if t.states[position].IsFrozen() {
		if t.Freezes.UntilUnfrozen(position, t.Now) > 0 {
			t.timers.Set(position)
		}
		return
	}
	if DatedStates.Has(t.states[position]) {
		if limit := t.Phases.Limit(t.Kind(position)); limit > 0 {
			t.timers.Set(position)
		}
	}
}

// In gives the first position, from the given one on, of a cluster in any of some states, with its state. The states are one of
// listedStates.
func (t *Index) In(states States, from Position) (Position, State, bool) {
	for i := range listedStates {
		if listedStates[i] == states {
			if position, ok := t.listed[i].Next(int(from)); ok {
				return Position(position), t.states[position], true
			}
		}
	}
	return 0, 0, false
}

// Turn does what [Scan.Turn] does. Places are ranks, counted from the first of the stage.
func (t *Index) Turn(stage stages.Stage, state State, from int) (position Position, place int, ok bool) {
	begin, own := int(t.ranks.First(stage)), t.ranks.Of(stage)
	rank, ok := t.waiting[state].Next(begin + from)
	if place = rank - begin; !ok || place >= len(own) {
		return 0, 0, false
	}
	return own[place], place, true
}

func one(is bool) int32 {
	if is {
		return 1
	}
	return 0
}
