// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"math"
	"slices"
)

// chooseSurges returns the vertices to surge so that all others, written once, fit some order of at most maxSteps
// steps; 0 is no bound. It breaks all circles, then cuts what is too long, from either end, and takes the better result. At last it
// takes back surges for circles that the cuts have broken anyway. It is exact for chains and circles, and for trees
// that grow from one object or towards one.
func chooseSurges(graph graph, maxSteps int) []bool {
	if maxSteps == 0 {
		maxSteps = math.MaxInt32
	}
	whole := make([]bool, len(graph.out))
	if _, latest := graph.levels(whole); len(graph.out) == 0 || latest > 0 && latest <= maxSteps {
		return whole
	}
	broken := graph.breakCircles()
	best := graph.cut(slices.Clone(broken), maxSteps)
	if other := graph.reversed().cut(slices.Clone(broken), maxSteps); count(other) < count(best) {
		best = other
	}
	return graph.pruned(best, broken, maxSteps)
}

// breakCircles surges one vertex after the other until no circle is left. Among those that may be on a circle it takes
// the vertex with most ways through it, and among equals the one that goes less over the limit.
func (g graph) breakCircles() []bool {
	surged := make([]bool, len(g.out))
	rest := circles{g: g, gone: make([]bool, len(g.out)), outs: degrees(g.out), ins: degrees(g.in)}
	for v := range g.out {
		if !g.between(int32(v)) {
			rest.remove(int32(v))
		}
	}
	for v := rest.widest(); v != none; v = rest.widest() {
		surged[v] = true
		rest.remove(v)
	}
	return surged
}

// circles is the rest of a graph after removing, again and again, vertices without edges to the rest or from it: these
// are on no circle.
type circles struct {
	g         graph
	gone      []bool
	outs, ins []int // by vertex: edges to and from those that are left
}

// remove takes out a vertex, and all vertices that are on no circle without it.
func (c *circles) remove(v int32) {
	if c.gone[v] {
		return
	}
	c.gone[v] = true
	for leaving := []int32{v}; len(leaving) > 0; {
		v, leaving = leaving[len(leaving)-1], leaving[:len(leaving)-1]
		next := func(w int32, edges []int) {
			if edges[w]--; edges[w] == 0 && !c.gone[w] {
				c.gone[w] = true
				leaving = append(leaving, w)
			}
		}
		for _, w := range c.g.out[v] {
			next(w, c.ins)
		}
		for _, u := range c.g.in[v] {
			next(u, c.outs)
		}
	}
}

// widest returns the remaining vertex with most ways through it, or none.
func (c *circles) widest() int32 {
	pick, most := none, 0
	for v := range int32(len(c.gone)) {
		ways := c.outs[v] * c.ins[v]
		if !c.gone[v] && (ways > most || ways == most && pick != none && c.g.over[v] < c.g.over[pick]) {
			pick, most = v, ways
		}
	}
	return pick
}

func degrees(edges [][]int32) []int {
	degrees := make([]int, len(edges))
	for v := range edges {
		degrees[v] = len(edges[v])
	}
	return degrees
}

// cut surges the vertices of a graph without circles that would be written in the last step while others still wait for
// them. It changes and returns surged.
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

// pruned takes back the surges of broken circles that other surges make unnecessary, as far as a quarter of a million
// looks at edges can tell. A cut is never unnecessary.
func (g graph) pruned(surged, broken []bool, maxSteps int) []bool {
	size := len(g.out)
	for v := range g.out {
		size += len(g.out[v])
	}
	looks := 1 << 18
	for v := range surged {
		if !broken[v] || looks < size {
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
