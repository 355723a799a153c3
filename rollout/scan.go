package rollout

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// scan is the view that looks through all clusters of a result.
type scan struct {
	result *Result
	lookup *lookup // nil until something was looked up
}

// lookup is what a scan computes once, with an Order, a graph or a wait between groups.
type lookup struct {
	sorted []fleet.Position // the positions that the last call of turn sorted; only with an Order
	lasts  []time.Time      // the last success of each stage; nil until needed
	ranks  *fleet.Ranks     // for a graph, where several stages start at a time; nil until the first turn
}

func (v *scan) look() *lookup {
	if v.lookup == nil {
		v.lookup = &lookup{}
	}
	return v.lookup
}

func (v *scan) in(states fleet.States, from fleet.Position) (fleet.Position, fleet.State, bool) {
	for i, s := range v.result.states[from:] {
		if states.Has(s) {
			return from + fleet.Position(i), s, true
		}
	}
	return 0, 0, false
}

func (v *scan) at(position fleet.Position) fleet.State { return v.result.states[position] }

func (v *scan) reported(position fleet.Position) fleet.Report {
	return v.result.knownDetails().evidence[position]
}

func (v *scan) attempt(position fleet.Position) int { return v.result.attempt(position) }

func (v *scan) turn(stage stages.Stage, s fleet.State, from int) (position fleet.Position, place int, ok bool) {
	if !v.result.schedule.Graph.IsChain() {
		return v.ranked(stage, s, from)
	}
	if !v.result.schedule.options.isOrdered() {
		position, ok = v.waiting(stage, s, fleet.Position(from))
		return position, int(position), ok
	}
	l := v.look()
	if from == 0 {
		v.sort(l, stage, s)
	}
	if from == len(l.sorted) {
		return 0, 0, false
	}
	return l.sorted[from], from, true
}

// ranked does what turn does, for a graph: all stages together take time linear in the clusters.
func (v *scan) ranked(stage stages.Stage, s fleet.State, from int) (position fleet.Position, place int, ok bool) {
	l := v.look()
	if l.ranks == nil {
		l.ranks = v.result.schedule.newRanks()
	}
	for i, position := range l.ranks.Of(stage)[from:] {
		if v.result.states[position] == s {
			return position, from + i, true
		}
	}
	return 0, 0, false
}

// waiting gives the first position, from the given one on, of a cluster in the state and the stage.
func (v *scan) waiting(stage stages.Stage, s fleet.State, from fleet.Position) (fleet.Position, bool) {
	groups, graph := v.result.schedule.Members, &v.result.schedule.Graph
	for i, is := range v.result.states[from:] {
		if position := from + fleet.Position(i); is == s && graph.Of(groups.GroupOf(position)) == stage {
			return position, true
		}
	}
	return 0, false
}

// sort collects the positions of the clusters in a state and a stage in the order in which they start.
func (v *scan) sort(l *lookup, stage stages.Stage, s fleet.State) {
	l.sorted = slices.Grow(l.sorted[:0], v.result.schedule.limits[stage].clusters)
	for position, ok := v.waiting(stage, s, 0); ok; position, ok = v.waiting(stage, s, position+1) {
		l.sorted = append(l.sorted, position)
	}
	slices.SortFunc(l.sorted, v.result.schedule.compare)
}

// lastSuccess implements view. The first call takes time linear in the clusters.
func (v *scan) lastSuccess(stage stages.Stage) time.Time {
	l := v.look()
	if l.lasts != nil {
		return l.lasts[stage]
	}
	s := v.result.schedule
	l.lasts = make([]time.Time, len(s.limits))
	for position, state := range v.result.all() {
		age := v.result.ages.Of(position)
		if !fleet.SucceededStates.Has(state) || age == unknownAge || state == fleet.SucceededUndated || s.Ignores(position) {
			continue
		}
		last := &l.lasts[s.Graph.Of(s.GroupOf(position))]
		if at := v.result.since(position); at.After(*last) {
			*last = at
		}
	}
	for stage := range s.Graph.Len() {
		l.lasts[stage] = latest(l.lasts[stage], s.successOf(v.result.choice.departed, stage))
	}
	return l.lasts[stage]
}
