package rollout

import (
	"iter"
	"slices"
)

// scan is the view that looks through all clusters.
type scan struct {
	schedule *schedule
	states   []state // of each position
}

func (v scan) in(states stateSet) iter.Seq2[int, state] {
	return func(yield func(int, state) bool) {
		for position, s := range v.states {
			if states.has(s) && !yield(position, s) {
				return
			}
		}
	}
}

func (v scan) turn(stage int, s state) iter.Seq[int] {
	inTurn := func(yield func(int) bool) {
		for position, is := range v.states {
			if is == s && int(v.schedule.stageOf[v.schedule.groups.GroupAt(position)]) == stage && !yield(position) {
				return
			}
		}
	}
	if v.schedule.options.order == nil {
		return inTurn
	}
	return func(yield func(int) bool) {
		var positions []int32
		for position := range inTurn {
			if positions == nil {
				positions = make([]int32, 0, v.schedule.Stages[stage].Clusters)
			}
			positions = append(positions, int32(position))
		}
		slices.SortFunc(positions, v.schedule.compare)
		for _, position := range positions {
			if !yield(int(position)) {
				return
			}
		}
	}
}
