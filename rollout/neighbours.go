package rollout

import "slices"

// groupOf gives the group of a stage that has exactly one.
func (s *schedule) groupOf(stage int) (int, bool) {
	if !s.isOneGroup(stage) {
		return 0, false
	}
	return s.alone(stage), true
}

// alone gives the only group of a stage, or the first of several.
func (s *schedule) alone(stage int) int { return int(s.order[s.stages[stage].first]) }

// behind lists the stages that come after the given one, directly or not.
func (s *schedule) behind(stage int) (stages []int) {
	if s.links == nil {
		for later := stage + 1; later < len(s.stages); later++ {
			stages = append(stages, later)
		}
		return stages
	}
	is := make([]bool, len(s.stages))
	is[stage] = true
	for later := stage + 1; later < len(s.stages); later++ {
		if slices.ContainsFunc(s.links.after[later], func(before int) bool { return is[before] }) {
			is[later] = true
			stages = append(stages, later)
		}
	}
	return stages
}

// directlyBefore lists the stages that a stage comes directly after.
func (s *schedule) directlyBefore(stage int) []int {
	switch {
	case s.links != nil:
		return s.links.after[stage]
	case stage == 0:
		return nil
	default:
		return []int{stage - 1}
	}
}

// before says for each stage whether the given one comes after it, directly or not.
func (s *schedule) before(stage int) []bool {
	is := make([]bool, len(s.stages))
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
