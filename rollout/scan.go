package rollout

import (
	"slices"
	"time"
)

// scan is the view that looks through all clusters.
type scan struct {
	schedule *schedule
	states   []state     // of each position
	sorted   []int32     // the positions that the last call of turn sorted; only with an Order
	result   *Result     // has how long clusters have been in their states
	lasts    []time.Time // the last success of each stage; nil until somebody asks
	once     []past      // clusters of which only the start or the success counts
	ranks    *ranks      // for a graph, where several stages start at a time; nil until the first turn
}

func (v *scan) in(states stateSet, from int) (int, state, bool) {
	for i, s := range v.states[from:] {
		if states.has(s) {
			return from + i, s, true
		}
	}
	return 0, 0, false
}

func (v *scan) at(position int) state { return v.states[position] }

func (v *scan) reported(position int) report { return v.result.evidence[position] }

func (v *scan) attempts() *attempts { return &v.result.tries }

func (v *scan) turn(stage int, s state, from int) (position, place int, ok bool) {
	if v.schedule.links != nil {
		return v.ranked(stage, s, from)
	}
	if !v.schedule.options.isOrdered() {
		position, ok = v.waiting(stage, s, from)
		return position, position, ok
	}
	if from == 0 {
		v.sort(stage, s)
	}
	if from == len(v.sorted) {
		return 0, 0, false
	}
	return int(v.sorted[from]), from, true
}

// ranked does what turn does, for a graph: all stages together take time linear in the clusters.
func (v *scan) ranked(stage int, s state, from int) (position, place int, ok bool) {
	if v.ranks == nil {
		v.ranks = newRanks(v.schedule)
	}
	begin := int(v.ranks.begins[stage])
	for i, position := range v.ranks.atRank[begin+from : v.ranks.begins[stage+1]] {
		if v.states[position] == s {
			return int(position), from + i, true
		}
	}
	return 0, 0, false
}

// waiting gives the first position, from the given one on, of a cluster in the state and the stage.
func (v *scan) waiting(stage int, s state, from int) (int, bool) {
	groups, stageOf := v.schedule.groups, v.schedule.stageOf
	for i, is := range v.states[from:] {
		if is == s && int(stageOf[groups.GroupAt(from+i)]) == stage {
			return from + i, true
		}
	}
	return 0, false
}

// sort collects the positions of the clusters in a state and a stage in the order in which they start.
func (v *scan) sort(stage int, s state) {
	v.sorted = slices.Grow(v.sorted[:0], v.schedule.stages[stage].clusters)
	for position, ok := v.waiting(stage, s, 0); ok; position, ok = v.waiting(stage, s, position+1) {
		v.sorted = append(v.sorted, int32(position))
	}
	slices.SortFunc(v.sorted, v.schedule.compare)
}

// lastSuccess implements view. The first call takes time linear in the clusters.
func (v *scan) lastSuccess(stage int) time.Time {
	if v.lasts != nil {
		return v.lasts[stage]
	}
	s := v.schedule
	v.lasts = make([]time.Time, len(s.stages))
	for position, state := range v.states {
		age := v.result.ages.of(position)
		if !succeededStates.has(state) || age == unknownAge || state == succeededUndated || s.isAside(position) {
			continue
		}
		last := &v.lasts[s.stageOf[s.groups.GroupAt(position)]]
		if at := v.result.since(position); at.After(*last) {
			*last = at
		}
	}
	for stage := range v.lasts {
		v.lasts[stage] = latest(v.lasts[stage], s.successOf(v.once, stage))
	}
	return v.lasts[stage]
}
