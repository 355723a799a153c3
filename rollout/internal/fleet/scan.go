// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Scan finds the clusters of a table by looking through all of them.
//
// Clusters are walked through with cursors, which cost no memory:
//
//	for position, is, ok := v.In(states, 0); ok; position, is, ok = v.In(states, position+1) {}
//	for position, place, ok := v.Turn(stage, is, 0); ok; position, place, ok = v.Turn(stage, is, place+1) {}
type Scan struct {
	*Table
	lookup *lookup // nil until something was looked up
}

// lookup is what a scan computes once, with another order than by name, a graph or a wait between groups.
type lookup struct {
	sorted []Position  // the positions that the last call of turn sorted; only with another order
	lasts  []time.Time // the last success of each stage; nil until needed
	ranks  *Ranks      // for a graph, where several stages start at a time; nil until the first turn
}

func (v *Scan) look() *lookup {
	if v.lookup == nil {
		v.lookup = &lookup{}
	}
	return v.lookup
}

// Turn gives the first cluster of a stage in one of the two waiting states, from the given place on: its position and its place. Places are
// in the order in which clusters start.
func (v *Scan) Turn(stage stages.Stage, is State, from int) (position Position, place int, ok bool) {
	if !v.Graph.IsChain() {
		return v.ranked(stage, is, from)
	}
	if v.Compare == nil {
		position, ok = v.waiting(stage, is, Position(from))
		return position, int(position), ok
	}
	lookup := v.look()
	if from == 0 {
		v.sort(lookup, stage, is)
	}
	if from == len(lookup.sorted) {
		return 0, 0, false
	}
	return lookup.sorted[from], from, true
}

// ranked does what Turn does, for a graph: all stages together take time linear in the clusters.
func (v *Scan) ranked(stage stages.Stage, is State, from int) (position Position, place int, ok bool) {
	lookup := v.look()
	if lookup.ranks == nil {
		lookup.ranks = NewRanks(v.Members, &v.Graph, v.Compare)
	}
	for i, position := range lookup.ranks.Of(stage)[from:] {
		if v.states[position] == is {
			return position, from + i, true
		}
	}
	return 0, 0, false
}

// waiting gives the first position, from the given one on, of a cluster in the state and the stage.
func (v *Scan) waiting(stage stages.Stage, waits State, from Position) (Position, bool) {
	for i, is := range v.states[from:] {
		if position := from + Position(i); is == waits && v.StageOf(position) == stage {
			return position, true
		}
	}
	return 0, false
}

// sort collects the positions of the clusters in a state and a stage in the order in which they start.
func (v *Scan) sort(lookup *lookup, stage stages.Stage, is State) {
	lookup.sorted = slices.Grow(lookup.sorted[:0], v.SizeOfStage(stage))
	for position, ok := v.waiting(stage, is, 0); ok; position, ok = v.waiting(stage, is, position+1) {
		lookup.sorted = append(lookup.sorted, position)
	}
	slices.SortFunc(lookup.sorted, v.Compare)
}

// LastSuccess gives the last success among the clusters of a stage that count; zero if there is none. The first call takes time linear in the
// clusters.
func (v *Scan) LastSuccess(stage stages.Stage) time.Time {
	lookup := v.look()
	if lookup.lasts != nil {
		return lookup.lasts[stage]
	}
	lookup.lasts = make([]time.Time, v.Graph.Len())
	for position := range v.All() {
		last := &lookup.lasts[v.StageOf(position)]
		if at := v.success(position); at.After(*last) {
			*last = at
		}
	}
	for stage := range v.Graph.Len() {
		if at := v.departedSuccess(stage); at.After(lookup.lasts[stage]) {
			lookup.lasts[stage] = at
		}
	}
	return lookup.lasts[stage]
}
