package decisionupdate

import (
	"math"
	"math/bits"
	"slices"
)

// maxExact is how many objects may hang together by moves so that every choice of surges is tried.
const maxExact = 12

// chooseSurges returns the vertices to surge so that all others, written once, are in some order of at most
// maxSteps steps; 0 is no bound. Components are chosen for one by one: small ones with as few surges as there
// can be, the others by a heuristic.
func chooseSurges(g graph, maxSteps int) []bool {
	if maxSteps == 0 {
		maxSteps = math.MaxInt32
	}
	surged := make([]bool, len(g.out))
	if _, latest := g.levels(surged); len(g.out) == 0 || latest > 0 && latest <= maxSteps {
		return surged
	}
	local := make([]int32, len(g.out)) // by vertex: its place in its component
	for _, set := range g.components() {
		sub := g.induced(set, local)
		var chosen []bool
		if len(set) <= maxExact {
			chosen = sub.fewestSurges(maxSteps)
		} else {
			chosen = sub.fewSurges(maxSteps)
		}
		for i, v := range set {
			surged[v] = chosen[i]
		}
	}
	return surged
}

// induced returns a component as a graph of its own, whose vertices are numbered as in the set. Local is room
// for the new numbers.
func (g graph) induced(set, local []int32) graph {
	for i, v := range set {
		local[v] = int32(i)
	}
	sub := newGraph(len(set))
	for i, v := range set {
		sub.over[i] = g.over[v]
		for _, w := range g.out[v] {
			sub.link(int32(i), local[w])
		}
	}
	return sub
}

// fewestSurges tries all sets of vertices, the smallest first. Of the smallest that do, it returns the one that
// goes least over the limit of clusters, then the one with fewest steps, then the first.
func (g graph) fewestSurges(maxSteps int) []bool {
	var candidates uint
	for v := range g.out {
		if g.between(int32(v)) {
			candidates |= 1 << v
		}
	}
	masks := g.masks()
	type cost struct{ over, steps int }
	for size := 0; ; size++ {
		best, found := cost{over: math.MaxInt}, uint(0)
		for set := uint(0); set < 1<<len(g.out); set++ {
			if bits.OnesCount(set) != size || set&^candidates != 0 {
				continue
			}
			steps := stepsNeeded(masks, set, maxSteps)
			if steps == 0 {
				continue
			}
			c := cost{steps: steps}
			for s := set; s != 0; s &= s - 1 {
				c.over += int(g.over[bits.TrailingZeros(s)])
			}
			if c.over < best.over || c.over == best.over && c.steps < best.steps {
				best, found = c, set
			}
		}
		if best.over < math.MaxInt {
			surged := make([]bool, len(g.out))
			for v := range surged {
				surged[v] = found&(1<<v) != 0
			}
			return surged
		}
	}
}

// masks returns the edges of each vertex as bits.
func (g graph) masks() []uint {
	masks := make([]uint, len(g.out))
	for v := range g.out {
		for _, w := range g.out[v] {
			masks[v] |= 1 << w
		}
	}
	return masks
}

// stepsNeeded returns in how many steps all vertices are written for the last time, or 0 if never or in more
// than maxSteps. It is levels for small graphs.
func stepsNeeded(out []uint, surged uint, maxSteps int) int {
	all := uint(1)<<len(out) - 1
	var there, last uint // who has its arriving clusters, and who is done
	for step := 1; step <= maxSteps; step++ {
		before := last
		for v, waits := range out {
			if waits&^there == 0 {
				last |= 1 << v
			}
		}
		if there = last | surged; last == all {
			return step
		}
		if step > 1 && last == before {
			return 0
		}
	}
	return 0
}

// fewSurges breaks all circles, then cuts what is too long, beginning at either end, and takes the better. At
// last it tries of each surge whether it can go without. It is exact for chains and circles, and cuts trees
// exactly whichever way they grow.
func (g graph) fewSurges(maxSteps int) []bool {
	broken := g.breakCircles()
	best := g.cut(slices.Clone(broken), maxSteps)
	if other := g.reversed().cut(broken, maxSteps); count(other) < count(best) {
		best = other
	}
	return g.pruned(best, maxSteps)
}

// breakCircles takes out vertices that are on no circle for as long as there are any; else it surges the one
// with most ways through it, in equal case the one that goes less over the limit.
func (g graph) breakCircles() []bool {
	surged := make([]bool, len(g.out))
	gone := make([]bool, len(g.out))
	outs, ins := degrees(g.out), degrees(g.in)
	var leaving []int32
	remove := func(v int32) {
		gone[v] = true
		leaving = append(leaving, v)
	}
	left := len(g.out)
	for v := range g.out {
		if !g.between(int32(v)) {
			remove(int32(v))
		}
	}
	for {
		for len(leaving) > 0 {
			v := leaving[len(leaving)-1]
			leaving = leaving[:len(leaving)-1]
			left--
			for _, w := range g.out[v] {
				if ins[w]--; ins[w] == 0 && !gone[w] {
					remove(w)
				}
			}
			for _, u := range g.in[v] {
				if outs[u]--; outs[u] == 0 && !gone[u] {
					remove(u)
				}
			}
		}
		if left == 0 {
			return surged
		}
		pick := int32(-1)
		for v := range int32(len(g.out)) {
			if gone[v] {
				continue
			}
			if pick < 0 {
				pick = v
				continue
			}
			ways, most := outs[v]*ins[v], outs[pick]*ins[pick]
			if ways > most || ways == most && g.over[v] < g.over[pick] {
				pick = v
			}
		}
		surged[pick] = true
		remove(pick)
	}
}

func degrees(edges [][]int32) []int {
	degrees := make([]int, len(edges))
	for v := range edges {
		degrees[v] = len(edges[v])
	}
	return degrees
}

// cut surges those vertices of a graph without circles that would be written in the last step while others
// still wait for them. It changes and returns surged.
func (g graph) cut(surged []bool, maxSteps int) []bool {
	level := make([]int, len(g.out))
	g.fromSinks(surged, func(v int32) {
		level[v] = g.levelAfter(v, level, surged)
		if level[v] == maxSteps && len(g.in[v]) > 0 {
			surged[v] = true
		}
	})
	return surged
}

// pruned takes back the surges that the others make unnecessary, as far as that can be found out in about a
// quarter of a million looks at an edge.
func (g graph) pruned(surged []bool, maxSteps int) []bool {
	size := len(g.out)
	for v := range g.out {
		size += len(g.out[v])
	}
	looks := 1 << 18
	for v := range surged {
		if !surged[v] || looks < size {
			continue
		}
		looks -= size
		surged[v] = false
		if _, latest := g.levels(surged); latest == 0 || latest > maxSteps {
			surged[v] = true
		}
	}
	return surged
}

func count(surged []bool) int {
	n := 0
	for _, s := range surged {
		if s {
			n++
		}
	}
	return n
}
