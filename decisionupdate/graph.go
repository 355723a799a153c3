// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import "slices"

// graph says in which order objects have to be written. An edge u→v says that v has to be written before u is written
// for the last time, since a cluster moves from u to v. There are no loops and no double edges.
type graph struct {
	out, in [][]int32
	over    []int32 // by vertex: clusters beyond the limit if it is surged
}

func newGraph(n int) graph {
	return graph{out: make([][]int32, n), in: make([][]int32, n), over: make([]int32, n)}
}

// link adds an edge, once.
func (g graph) link(u, v int32) {
	if slices.Contains(g.out[u], v) {
		return
	}
	g.out[u] = append(g.out[u], v)
	g.in[v] = append(g.in[v], u)
}

// reversed returns the graph with its edges reversed. It shares them.
func (g graph) reversed() graph {
	return graph{out: g.in, in: g.out, over: g.over}
}

// between reports whether the vertex has edges both ways. Other vertices gain nothing by a surge: nothing waits for
// them, or they wait for nothing.
func (g graph) between(v int32) bool {
	return len(g.out[v]) > 0 && len(g.in[v]) > 0
}

// levels returns for each vertex the earliest step for its last write, from 1, and the latest of all. A surged vertex
// has its first write in step 1, and others wait only for that. Vertices on a circle that no surge breaks have level 0;
// then the latest is 0, too.
//
//	edges      a ──→ b ──→ c ──→ d            a ──→ b ──→ c*──→ d     c is surged
//	levels     4     3     2     1            3     2     2     1
func (g graph) levels(surged []bool) (level []int, latest int) {
	level = make([]int, len(g.out))
	visited := g.fromSinks(surged, func(v int32) {
		level[v] = g.levelAfter(v, level, surged)
		latest = max(latest, level[v])
	})
	if visited < len(g.out) {
		return level, 0
	}
	return level, latest
}

// levelAfter returns the level of a vertex from the levels of the vertices that it waits for.
func (g graph) levelAfter(v int32, level []int, surged []bool) int {
	l := 1
	for _, w := range g.out[v] {
		if surged[w] {
			l = max(l, 2)
		} else {
			l = max(l, level[w]+1)
		}
	}
	return l
}

// fromSinks calls visit once for each vertex, after all vertices that it waits for: the ends of its edges, except for
// surged ones. A visit may surge the vertex itself. It returns the number of vertices visited. The others are on
// circles, or wait for one.
func (g graph) fromSinks(surged []bool, visit func(v int32)) int {
	waits := make([]int32, len(g.out))
	ready := make([]int32, 0, len(g.out))
	for v := range g.out {
		for _, w := range g.out[v] {
			if !surged[w] {
				waits[v]++
			}
		}
		if waits[v] == 0 {
			ready = append(ready, int32(v))
		}
	}
	for i := 0; i < len(ready); i++ {
		v := ready[i]
		counted := !surged[v]
		visit(v)
		if !counted {
			continue
		}
		for _, u := range g.in[v] {
			if waits[u]--; waits[u] == 0 {
				ready = append(ready, u)
			}
		}
	}
	return len(ready)
}
