// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/internal/bitset"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Index is a table that keeps the clusters in sets by state. A change of one cluster, and the choice that follows, therefore cost little more
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
func (index *Index) At(now time.Time) *Index {
	again := &Index{Table: Table{Roster: index.Roster, Now: now, Reports: index.Reports, recorded: index.recorded}, ranks: index.ranks}
	again.fill()
	return again
}

// Snapshot gives a copy of the table that does not change with the index, with what reports say of the clusters by name.
func (index *Index) Snapshot(says map[string]Message) Table {
	snapshot := index.Table
	snapshot.Reports, snapshot.states, snapshot.recorded, snapshot.Totals = index.Reports.clone(), slices.Clone(index.states), maps.Clone(index.recorded), index.Totals.Clone()
	for cluster, said := range says {
		if position, member := index.Position(cluster); member {
			if _, recorded := index.recorded[position]; !recorded {
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
func (index *Index) fill() {
	n, numStages := index.NumClusters(), int(index.Graph.Len())
	index.states = make([]State, n)
	index.incomplete, index.breached = bitset.New(numStages), bitset.New(numStages)
	index.waiting = [2]bitset.Set{bitset.New(n), bitset.New(n)}
	for i := range index.listed {
		index.listed[i] = bitset.New(n)
	}
	index.timers = NewTimers(n, index.isDueBefore)
	if index.Wait > 0 {
		index.successes = make([]lastSuccess, numStages)
	}
	if index.Span > 0 {
		index.inSpan = NewTimers(n, index.leavesBefore)
	}
	tallies := make([]Tally, index.Graph.NumGroups())
	for position := range Position(n) {
		is := index.StateAt(position, index.Of(position), index.Now)
		index.states[position] = is
		tallies[index.GroupOf(position)].Add(is, 1)
		index.mark(position, is)
		index.time(position)
		index.start(position)
	}
	index.Totals = index.sum(tallies, index.states)
	for stage := range index.Graph.Len() {
		index.markStage(stage)
	}
}

// due gives the time at which time alone changes the state of a position.
func (index *Index) due(position Position) time.Time {
	if index.states[position].IsFrozen() {
		return index.Freezes.End(position)
	}
	limit := index.Phases.Limit(index.Kind(position))
	return index.Since(position).Add(limit)
}

// isDueBefore says whether a is due before b. Positions of one kind have the same limit.
func (index *Index) isDueBefore(a, b Position) bool {
	if index.Kind(a) == index.Kind(b) && !index.states[a].IsFrozen() && !index.states[b].IsFrozen() {
		return index.Since(a).Before(index.Since(b))
	}
	return index.due(a).Before(index.due(b))
}

// Report replaces the report of a position.
func (index *Index) Report(position Position, report Report) {
	index.timers.Clear(position)
	index.unstart(position)
	before := index.success(position)
	index.Note(position, report)
	index.settle(position)
	index.time(position)
	index.start(position)
	index.succeeded(position, before)
}

// succeeded updates the last success of a stage after the success of a position changed. The stage has to be looked
// through again only if that position had the last success and no longer has it.
func (index *Index) succeeded(position Position, before time.Time) {
	if index.successes == nil {
		return
	}
	last := &index.successes[index.Graph.Of(index.GroupOf(position))]
	if now := index.success(position); !now.Before(last.at) {
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
func (index *Index) LastSuccess(stage stages.Stage) time.Time {
	last := index.lastOfMembers(stage)
	if at := index.departedSuccess(stage); at.After(last) {
		return at
	}
	return last
}

// lastOfMembers does what LastSuccess does, for the members of the stage.
func (index *Index) lastOfMembers(stage stages.Stage) time.Time {
	last := &index.successes[stage]
	if last.known {
		return last.at
	}
	*last = lastSuccess{known: true}
	for _, position := range index.ranks.Of(stage) {
		if at := index.success(position); at.After(last.at) {
			last.at = at
		}
	}
	return last.at
}

// leavesSpan gives the time at which a position that started leaves the span of starts.
func (index *Index) leavesSpan(position Position) time.Time {
	return index.Of(position).StartedAt().Add(index.Span)
}

// leavesBefore says whether a leaves the span of starts before b.
func (index *Index) leavesBefore(a, b Position) bool {
	return index.leavesSpan(a).Before(index.leavesSpan(b))
}

// start notes that a position started within the span of starts, or is in flight since an unknown time.
func (index *Index) start(position Position) {
	switch {
	case index.inSpan == nil || index.Ignores(position):
	case index.IsUnknown(position):
		index.unknown++
	case !index.Of(position).StartedAt().IsZero() && index.Now.Before(index.leavesSpan(position)):
		index.inSpan.Set(position)
	}
}

// unstart undoes start.
func (index *Index) unstart(position Position) {
	if index.inSpan != nil {
		index.inSpan.Clear(position)
		index.unknown -= int(one(index.IsUnknown(position)))
	}
}

// NumStarts counts the clusters whose start counts (R36), and among them those that are in flight since an unknown time. It gives when the
// first of the others leaves the span, where all are members; otherwise zero.
func (index *Index) NumStarts() (n, unknown int, leaves time.Time) {
	if index.inSpan == nil {
		return 0, 0, leaves
	}
	if first, any := index.inSpan.Next(); any && len(index.Departed) == 0 {
		leaves = index.leavesSpan(first)
	}
	return len(index.inSpan.All()) + index.unknown, index.unknown, leaves
}

// Starts gives the starts that count (R36), in any order, and how many clusters in flight started at an unknown time.
func (index *Index) Starts() (starts []time.Time, unknown int) {
	for _, position := range index.inSpan.All() {
		starts = append(starts, index.leavesSpan(position).Add(-index.Span))
	}
	return append(starts, index.departedStarts()...), index.unknown
}

// Advance moves on to a later time. It takes time in proportion to the clusters that change.
func (index *Index) Advance(now time.Time) {
	index.Now = now
	for position, ok := index.timers.Next(); ok && !now.Before(index.due(position)); position, ok = index.timers.Next() {
		index.timers.Clear(position)
		if index.settle(position); index.states[position].IsFrozen() { // it timed out and is tried again while it is frozen
			index.time(position)
		}
	}
	if index.inSpan == nil {
		return
	}
	for position, ok := index.inSpan.Next(); ok && !now.Before(index.leavesSpan(position)); position, ok = index.inSpan.Next() {
		index.inSpan.Clear(position)
	}
}

// Recheck gives the time until time alone changes the state of a cluster; 0 if it does not.
func (index *Index) Recheck() time.Duration {
	if position, ok := index.timers.Next(); ok {
		return index.due(position).Sub(index.Now)
	}
	return 0
}

// Firsts gives the first stage that is not complete and the first that is breached (R10, R12), each the number of
// stages if there is none.
func (index *Index) Firsts() (active, breached stages.Stage) {
	return index.first(&index.incomplete), index.first(&index.breached)
}

// first gives the first stage of a set, or the number of stages.
func (index *Index) first(set *bitset.Set) stages.Stage {
	if stage, ok := set.Next(0); ok {
		return stages.Stage(stage)
	}
	return index.Graph.Len()
}

// settle updates the state of a position, and all counts that depend on it.
func (index *Index) settle(position Position) {
	before := index.states[position]
	after := index.StateAt(position, index.Of(position), index.Now)
	if before == after {
		return
	}
	index.unmark(position, before)
	index.states[position] = after
	index.mark(position, after)

	group := index.GroupOf(position)
	stage := index.Graph.Of(group)
	if index.Ignores(position) {
		for _, ignored := range []*Tally{&index.Totals.Ignored[group], &index.Totals.IgnoredAll} {
			ignored.Add(before, -1)
			ignored.Add(after, 1)
		}
		return
	}
	for _, counted := range []*Tally{&index.Totals.Groups[group], &index.Totals.Stages[stage], &index.Totals.All} {
		counted.Add(before, -1)
		counted.Add(after, 1)
		if index.FailedBefore(position) {
			counted.Excuse(one(FailureStates.Has(after)) - one(FailureStates.Has(before)))
		}
	}
	index.markStage(stage)
}

func (index *Index) markStage(stage stages.Stage) {
	tally := &index.Totals.Stages[stage]
	put(&index.incomplete, int(stage), !index.IsComplete(stage, tally))
	put(&index.breached, int(stage), index.IsBreached(stage, tally))
}

func put(set *bitset.Set, i int, in bool) {
	if in {
		set.Add(i)
	} else {
		set.Remove(i)
	}
}

// mark puts a position into the sets of its state.
func (index *Index) mark(position Position, state State) {
	if state.IsWaiting() {
		index.waiting[state].Add(int(index.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(state) {
			index.listed[i].Add(int(position))
		}
	}
}

// unmark undoes mark.
func (index *Index) unmark(position Position, state State) {
	if state.IsWaiting() {
		index.waiting[state].Remove(int(index.ranks.Rank(position)))
		return
	}
	for i, states := range listedStates {
		if states.Has(state) {
			index.listed[i].Remove(int(position))
		}
	}
}

// time sets the timer of a position whose state changes by time alone.
func (index *Index) time(position Position) {
	if index.states[position].IsFrozen() {
		if index.Freezes.UntilUnfrozen(position, index.Now) > 0 {
			index.timers.Set(position)
		}
		return
	}
	if DatedStates.Has(index.states[position]) {
		if limit := index.Phases.Limit(index.Kind(position)); limit > 0 {
			index.timers.Set(position)
		}
	}
}

// In gives the first position, from the given one on, of a cluster in any of some states, with its state. The states are one of
// listedStates.
func (index *Index) In(states States, from Position) (Position, State, bool) {
	for i := range listedStates {
		if listedStates[i] == states {
			if position, ok := index.listed[i].Next(int(from)); ok {
				return Position(position), index.states[position], true
			}
		}
	}
	return 0, 0, false
}

// Turn does what [Scan.Turn] does. Places are ranks, counted from the first of the stage.
func (index *Index) Turn(stage stages.Stage, state State, from int) (position Position, place int, ok bool) {
	begin, own := int(index.ranks.First(stage)), index.ranks.Of(stage)
	rank, ok := index.waiting[state].Next(begin + from)
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
