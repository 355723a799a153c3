// SPDX-License-Identifier: Apache-2.0

package stages

import "slices"

// IsChain says whether each stage comes after the one before it.
func (g *Graph) IsChain() bool { return g.links == nil }

// DirectlyBefore gives the stages that a stage comes directly after. They are not to be changed.
func (g *Graph) DirectlyBefore(stage Stage) []Stage {
	if g.links == nil {
		return DirectlyBefore(nil, stage)
	}
	return g.links.after[stage]
}

// DirectlyBefore gives the stages that a stage comes directly after, from a list of these for each stage. There is none for a chain.
func DirectlyBefore[S Stage | int](after [][]S, stage S) []S {
	switch {
	case after != nil:
		return after[stage]
	case stage == 0:
		return nil
	default:
		return []S{stage - 1}
	}
}

// SamePredecessors gives the first stage that shares its list of direct predecessors with the given one, which may be that one.
func (g *Graph) SamePredecessors(stage Stage) Stage {
	if g.links == nil {
		return stage
	}
	return g.links.samePredecessors[stage]
}

// Behind lists the stages that come after the given one, directly or not, in order.
func (g *Graph) Behind(stage Stage) (stages []Stage) {
	if g.links == nil {
		for later := stage + 1; later < g.Len(); later++ {
			stages = append(stages, later)
		}
		return stages
	}
	is := make([]bool, g.Len())
	is[stage] = true
	for later := stage + 1; later < g.Len(); later++ {
		if slices.ContainsFunc(g.links.after[later], func(before Stage) bool { return is[before] }) {
			is[later] = true
			stages = append(stages, later)
		}
	}
	return stages
}

// Before says for each stage whether the given one comes after it, directly or not.
func (g *Graph) Before(stage Stage) []bool {
	is := make([]bool, g.Len())
	if g.links == nil {
		for before := range is[:stage] {
			is[before] = true
		}
		return is
	}
	for _, direct := range g.links.after[stage] {
		is[direct] = true
	}
	for later := range slices.Backward(is[:stage]) { // a stage stands behind those that it comes after
		if is[later] {
			for _, direct := range g.links.after[later] {
				is[direct] = true
			}
		}
	}
	return is
}

// After gives for each stage the stages that it comes directly after, as numbers; nil for a chain. Stages that come after the same ones
// share a slice. All of it is the caller's.
func (g *Graph) After() [][]int {
	if g.links == nil {
		return nil
	}
	all := make([][]int, g.Len())
	for stage := range g.Len() {
		if same := g.links.samePredecessors[stage]; same < stage {
			all[stage] = all[same]
			continue
		}
		all[stage] = make([]int, len(g.links.after[stage]))
		for i, before := range g.links.after[stage] {
			all[stage][i] = int(before)
		}
	}
	return all
}

// links say which stages of a graph come directly after which.
type links struct {
	after            [][]Stage // for each stage those that it comes directly after, in order
	samePredecessors []Stage   // for each stage the first that comes directly after the same ones; they share a slice of after
}

// link notes what each stage comes directly after, where each is a group of the graph, in its order. It gives nil for a chain.
func link(edges *edges, stageOf []Stage) *links {
	n, isChain := len(edges.order), true
	links := &links{after: make([][]Stage, n), samePredecessors: make([]Stage, n)}
	first := make([]Stage, len(edges.sets)) // for each set 1 + the first stage that comes after it
	for i, group := range edges.order {
		stage, set := Stage(i), edges.before[group]
		if first[set] == 0 {
			row := make([]Stage, len(edges.sets[set]))
			for i, before := range edges.sets[set] {
				row[i] = stageOf[before]
			}
			slices.Sort(row)
			first[set], links.after[stage] = stage+1, row
		}
		links.samePredecessors[stage] = first[set] - 1
		links.after[stage] = links.after[links.samePredecessors[stage]]
		last := len(links.after[stage]) - 1
		isChain = isChain && (stage == 0 || last >= 0 && links.after[stage][last] == stage-1)
	}
	if isChain {
		return nil
	}
	return links
}
