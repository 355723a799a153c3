package rollout

import "slices"

// groupOf gives the group of a stage that has exactly one.
func (s *schedule) groupOf(stage int) (int, bool) {
	if !s.isOneGroup(stage) {
		return 0, false
	}
	return s.alone(stage), true
}

// alone gives the only group of a stage. It takes constant time in a graph.
func (s *schedule) alone(stage int) int {
	if s.After != nil {
		return int(s.members[stage])
	}
	return slices.Index(s.stageOf, int32(stage))
}

// behind lists the stages that come after the given one, directly or not.
func (s *schedule) behind(stage int) (stages []int) {
	if s.After == nil {
		for later := stage + 1; later < len(s.Stages); later++ {
			stages = append(stages, later)
		}
		return stages
	}
	is := make([]bool, len(s.Stages))
	is[stage] = true
	for later := stage + 1; later < len(s.Stages); later++ {
		if slices.ContainsFunc(s.After[later], func(before int) bool { return is[before] }) {
			is[later] = true
			stages = append(stages, later)
		}
	}
	return stages
}

// directlyBefore lists the stages that a stage comes directly after.
func (s *schedule) directlyBefore(stage int) []int {
	switch {
	case s.After != nil:
		return s.After[stage]
	case stage == 0:
		return nil
	default:
		return []int{stage - 1}
	}
}

// before says for each stage whether the given one comes after it, directly or not.
func (s *schedule) before(stage int) []bool {
	is := make([]bool, len(s.Stages))
	for _, direct := range s.directlyBefore(stage) {
		is[direct] = true
	}
	for later := range slices.Backward(is[:stage]) { // a stage stands behind those that it comes after
		if is[later] {
			for _, direct := range s.directlyBefore(later) {
				is[direct] = true
			}
		}
	}
	return is
}
