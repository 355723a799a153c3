package decisionupdate

import (
	"cmp"
	"slices"
)

// mostInOrder is the most objects for which inOrder looks for an order: it takes time quadratic in them.
const mostInOrder = 1000

// order is a plan that writes one object after the other: first those that keep fewest clusters for others. What an object
// still keeps in its turn has to come early.
type order struct {
	*stage
	turns   []int32 // vertices
	turn    []int   // by vertex
	acts    []act
	groups  []Group
	inPlace int // the most surges of objects with room instead of writes of an object of the surge
}

// inOrder plans one write after the other, and then puts as many as possible into one step. It may write an object of the
// surge again when the clusters that it had have arrived. That makes many steps and few writes.
func (m *moves) inOrder(inPlace int) plan {
	if len(m.objects) > mostInOrder {
		return m.atOnce(0)
	}
	s := &order{stage: m.newStage(0), inPlace: inPlace}
	s.turns = m.turns()
	s.turn = make([]int, len(s.turns))
	for i, v := range s.turns {
		s.turn[v] = i
	}
	for i, v := range s.turns {
		if s.done[v] {
			continue
		}
		missing := make(map[Group][]int32)
		for _, cluster := range m.held[v] {
			if !s.elsewhere(cluster) {
				missing[m.groupFor(cluster)] = append(missing[m.groupFor(cluster)], cluster)
			}
		}
		for _, g := range sortedGroups(missing) {
			s.letIn(i, g, missing[g])
		}
		s.act(act{vertex: v, last: true})
	}
	for x := range s.extras {
		s.acts = append(s.acts, act{vertex: nobody, extra: x, last: true})
	}
	return m.inSteps(s.acts, len(s.extras))
}

// turns returns the vertices in the order of their last writes.
func (m *moves) turns() []int32 {
	n := len(m.objects)
	keeps, waited, from := make([]int, n), make([]int, n), make([][]int32, n)
	for v := range m.held {
		keeps[v] = len(m.held[v])
		for _, cluster := range m.held[v] {
			goal := m.goalOf(cluster)
			waited[goal]++
			from[goal] = append(from[goal], int32(v))
		}
	}
	turns, done := make([]int32, 0, n), make([]bool, n)
	for range n {
		next := nobody
		for v := range int32(n) {
			if !done[v] && (next == nobody || cmp.Or(keeps[v]-keeps[next], waited[next]-waited[v]) < 0) {
				next = v
			}
		}
		done[next] = true
		turns = append(turns, next)
		for _, v := range from[next] {
			keeps[v]--
		}
		for _, cluster := range m.held[next] {
			waited[m.goalOf(cluster)]--
		}
	}
	return turns
}

func (s *order) act(a act) {
	s.acts = append(s.acts, a)
	s.do(a)
}

// letIn finds room for clusters of one group that leave the i-th object in its turn. A goal that keeps nothing by now is not surged, but
// has its last write.
func (s *order) letIn(i int, g Group, missing []int32) {
	for _, cluster := range missing {
		if v := s.goalOf(cluster); !s.done[v] && s.keeps(v) == 0 {
			s.act(act{vertex: v, last: true})
		}
	}
	missing = slices.DeleteFunc(missing, s.elsewhere)
	goals := make(map[int32]int) // by vertex: how many of the clusters
	for _, cluster := range missing {
		goals[s.goalOf(cluster)]++
	}
	fit := len(goals) <= s.inPlace
	for v, n := range goals {
		fit = fit && n <= s.room(v, s.keeps(v)+s.arrived(v))
	}
	if fit {
		for _, v := range s.turns {
			if goals[v] > 0 {
				s.act(act{vertex: v, clusters: s.upcoming(i, s.room(v, s.keeps(v)+s.arrived(v)), func(cluster int32) bool {
					return s.goalOf(cluster) == v
				})})
			}
		}
		return
	}
	for len(missing) > 0 {
		x, left := s.roomiest(g)
		if len(missing) > s.limit-len(left) {
			s.extras, s.groups = append(s.extras, nil), append(s.groups, g)
			x, left = len(s.extras)-1, nil
		}
		more := s.upcoming(i, s.limit-len(left), func(cluster int32) bool { return s.groupFor(cluster) == g })
		s.act(act{vertex: nobody, extra: x, clusters: append(left, more...)})
		missing = slices.DeleteFunc(missing, s.elsewhere)
	}
}

// arrived returns how many clusters surges have let in.
func (s *order) arrived(v int32) int {
	n := 0
	if obj := s.object(v); obj.desired != nil {
		for i := range obj.desired.Status.Decisions {
			if id := obj.first + int32(i); s.early[id] && !s.stays[id] {
				n++
			}
		}
	}
	return n
}

// upcoming returns the next clusters that have to come early, from the i-th turn on.
func (s *order) upcoming(i, most int, such func(cluster int32) bool) []int32 {
	var found []int32
	for _, v := range s.turns[i:] {
		for _, cluster := range s.held[v] {
			if len(found) == most {
				return found
			}
			if s.turn[s.goalOf(cluster)] > s.turn[v] && such(cluster) && !s.elsewhere(cluster) {
				found = append(found, cluster)
			}
		}
	}
	return found
}

// roomiest returns the object of the surge with most room for a group, and the clusters that it still has to have. No surge of
// another object lets one of them in.
func (s *order) roomiest(g Group) (x int, left []int32) {
	x, left = nobodyExtra, make([]int32, s.limit)
	for i := range s.extras {
		if s.groups[i] != g {
			continue
		}
		needed := slices.DeleteFunc(slices.Clone(s.extras[i]), func(cluster int32) bool {
			return s.done[s.goalOf(cluster)]
		})
		if len(needed) < len(left) {
			x, left = i, needed
		}
	}
	return x, left
}

const nobodyExtra = -1

// inSteps puts writes that follow one another into as few steps as their order allows. A write waits for the one before of the same
// object. One that lets a cluster go waits for the write that put the cluster elsewhere. For an object of the surge
// that is always its goal's last.
func (m *moves) inSteps(acts []act, extras int) plan {
	s := m.newStage(extras)
	p := plan{extras: extras}
	ofVertex, ofExtra := make([]int, len(m.objects)), make([]int, extras) // the steps of the last writes
	placed := make(map[int32]int)                                         // by cluster: the step in which it came elsewhere
	lastStep := make([]int, len(m.objects))
	for _, a := range acts {
		after := 0
		if a.vertex != nobody {
			after = ofVertex[a.vertex]
			for _, cluster := range m.held[a.vertex] {
				if s.elsewhere(cluster) {
					after = max(after, placed[cluster])
				}
			}
			ofVertex[a.vertex] = after + 1
			if a.last {
				lastStep[a.vertex] = after + 1
			}
		} else {
			after = ofExtra[a.extra]
			for _, cluster := range s.extras[a.extra] {
				if slices.Contains(a.clusters, cluster) {
					continue
				}
				after = max(after, lastStep[m.goalOf(cluster)])
			}
			ofExtra[a.extra] = after + 1
		}
		p.add(after+1, a)
		note := func(cluster int32) {
			if !s.elsewhere(cluster) {
				placed[cluster] = after + 1
			}
		}
		for _, cluster := range a.clusters {
			note(cluster)
		}
		if a.vertex != nobody && a.last {
			m.arriving(a.vertex, note)
		}
		s.do(a)
	}
	return p
}

// arriving calls visit for each cluster that the vertex gets from another object.
func (m *moves) arriving(v int32, visit func(cluster int32)) {
	obj := m.object(v)
	if obj.desired == nil {
		return
	}
	for i := range obj.desired.Status.Decisions {
		if id := obj.first + int32(i); m.holder[id] != nobody {
			visit(id)
		}
	}
}

// sortedGroups returns the keys in order.
func sortedGroups[V any](of map[Group]V) []Group {
	var groups []Group
	for g := range of {
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name)) })
	return groups
}
