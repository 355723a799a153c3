package decisionupdate

import "slices"

// plan gives the clusters of the plan found their names, and adds the final writes.
func (s *search) plan() plan {
	p := plan{}
	for v := range s.objects {
		if !slices.Contains(s.vertices, int32(v)) {
			p.add(1, act{vertex: int32(v), last: true})
		}
	}
	stage := s.newStage(mostExtras)
	path := append(s.found, nil, nil)
	gone := [mostExtras]bool{}
	for number := 1; number <= s.steps; number++ {
		var acts []act
		for _, v := range s.vertices {
			if !stage.done[v] && stage.keeps(v) == 0 {
				acts = append(acts, act{vertex: v, last: true})
			}
		}
		again := make(map[int]bool)
		if number <= len(path) {
			for _, c := range path[number-1] {
				again[c.extra] = true
			}
		}
		for x := range p.extras {
			waits := again[x] || slices.ContainsFunc(stage.extras[x], func(cluster int32) bool {
				return !stage.done[s.goalOf(cluster)] && !stage.early[cluster]
			})
			if !gone[x] && !waits {
				gone[x] = true
				acts = append(acts, act{vertex: nobody, extra: x, last: true})
			}
		}
		if number <= len(path) {
			taken := make(map[int32]bool)
			for _, c := range path[number-1] {
				acts = append(acts, s.named(stage, c, taken))
				p.extras = max(p.extras, c.extra+1)
			}
		}
		for _, a := range acts {
			p.add(number, a)
		}
		for _, a := range acts {
			stage.do(a)
		}
	}
	return p
}

// named turns a choice into a write. Taken are the clusters that other choices of the step have.
func (s *search) named(stage *stage, c choice, taken map[int32]bool) act {
	a := act{vertex: nobody, extra: c.extra}
	if c.vertex >= 0 {
		a.vertex = s.vertices[c.vertex]
	} else {
		for _, cluster := range stage.extras[c.extra] {
			if !stage.done[s.goalOf(cluster)] && !stage.early[cluster] {
				a.clusters = append(a.clusters, cluster)
			}
		}
	}
	for k, kind := range s.kinds {
		fresh, parked := c.fresh[k], c.parked
		for _, cluster := range kind.clusters {
			x, isParked := stage.parked[cluster]
			switch {
			case taken[cluster] || stage.early[cluster] || stage.done[s.vertices[kind.to]]:
			case isParked && parked[x][k] > 0:
				parked[x][k]--
				taken[cluster] = true
				a.clusters = append(a.clusters, cluster)
			case !isParked && fresh > 0:
				fresh--
				taken[cluster] = true
				a.clusters = append(a.clusters, cluster)
			}
		}
	}
	return a
}
