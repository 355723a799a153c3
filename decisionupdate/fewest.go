// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"cmp"
	"slices"
)

// fewestWrites writes each object once, and lets the clusters that have to be there before in early, in the first step (D4): into their object
// if it has room, otherwise into an object of the surge. With maxSteps 0 any number of steps will do.
func (f *fleet) fewestWrites(maxSteps int) []Step {
	moves := f.moves()
	surged := chooseSurges(moves.g, maxSteps)
	level, latest := moves.g.levels(surged)
	if moves.hurry(level, surged) {
		level, latest = moves.g.levels(surged)
	}
	early := make([][]int32, len(moves.objects)) // by vertex: the clusters that have to come early
	for v := range moves.objects {
		if surged[v] {
			early[v] = moves.early(int32(v), level)
		}
	}
	plan := plan{steps: make([][]act, latest)}
	for v := range moves.objects {
		plan.add(level[v], act{vertex: int32(v), last: true})
	}
	moves.park(&plan, level, moves.surgeInPlace(&plan, early))
	return moves.carryOut(plan)
}

// early returns the clusters of a surged vertex that have to be there before its final write. Its holder drops it no later.
func (m *moves) early(v int32, level []int) []int32 {
	var early []int32
	obj := m.object(v)
	if obj.desired == nil {
		return nil
	}
	for i := range obj.desired.Status.Decisions {
		cluster := obj.first + int32(i)
		from := m.holder[cluster]
		if from != none && (m.fleet.objects[from].dying() || level[m.vertex[from]] <= level[v]) {
			early = append(early, cluster)
		}
	}
	return early
}

// hurry also surges the objects that would be written after the first step and get a cluster that only an object being
// deleted has (D13). It reports whether there are any.
func (m *moves) hurry(level []int, surged []bool) bool {
	found := false
	for _, cluster := range m.urgent {
		if v := m.goalOf(cluster); level[v] > 1 && !surged[v] {
			surged[v], found = true, true
		}
	}
	return found
}

// surgeInPlace adds the surges of objects that have room, and returns the clusters that have to be parked, by the group that
// they go to. Where objects of the surge have room to spare, small surges go there, too: an object of the surge takes two
// writes, however many surges it replaces.
func (m *moves) surgeInPlace(plan *plan, early [][]int32) map[Group][]int32 {
	fits := make(map[Group][]int32) // the vertices with room
	parked := make(map[Group][]int32)
	for v := range early {
		switch group := m.groupOfVertex(int32(v)); {
		case len(early[v]) == 0:
		case len(early[v]) <= m.room(int32(v), len(m.held[v])):
			fits[group] = append(fits[group], int32(v))
		default:
			parked[group] = append(parked[group], early[v]...)
		}
	}
	for group, vertices := range fits {
		slices.SortStableFunc(vertices, func(a, b int32) int { return len(early[a]) - len(early[b]) })
		all, most := len(parked[group]), 0 // how many of them to park
		// The writes, without one for each vertex.
		cost := func(n, clusters int) int { return 2*((clusters+m.limit-1)/m.limit) - n }
		least := cost(0, all)
		for n, v := range vertices {
			if all += len(early[v]); cost(n+1, all) < least {
				least, most = cost(n+1, all), n+1
			}
		}
		for _, v := range vertices[:most] {
			parked[group] = append(parked[group], early[v]...)
		}
		for _, v := range vertices[most:] {
			plan.add(1, act{vertex: v, clusters: early[v]})
		}
	}
	return parked
}

func (m *moves) groupOfVertex(v int32) Group {
	if obj := m.object(v); obj.desired != nil {
		return groupOf(obj.desired.Labels)
	}
	return Group{}
}

// park adds objects of the surge for the clusters. Each is deleted when the goals of its clusters are written.
func (m *moves) park(plan *plan, level []int, parked map[Group][]int32) {
	for _, group := range sortedGroups(parked) {
		for clusters := range slices.Chunk(parked[group], m.limit) {
			plan.add(1, act{vertex: none, extra: plan.extras, clusters: clusters})
			latest := 1
			for _, cluster := range clusters {
				latest = max(latest, level[m.goalOf(cluster)])
			}
			plan.add(latest+1, act{vertex: none, extra: plan.extras, last: true})
			plan.extras++
		}
	}
}

// arriving calls visit for each cluster that the vertex gets from another object.
func (m *moves) arriving(v int32, visit func(cluster int32)) {
	obj := m.object(v)
	if obj.desired == nil {
		return
	}
	for i := range obj.desired.Status.Decisions {
		if id := obj.first + int32(i); m.holder[id] != none {
			visit(id)
		}
	}
}

// sortedGroups returns the keys in order.
func sortedGroups[V any](of map[Group]V) []Group {
	var groups []Group
	for group := range of {
		groups = append(groups, group)
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Name, b.Name)) })
	return groups
}
