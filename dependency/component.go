// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"slices"
)

// node is a template or a target.
type node struct {
	template *template
	target   *target
	// component has the cycles that the node is on. It is nil if there are none. place is the node's place among
	// the component's members.
	component *component
	place     int32
	// search is the last search that came here, id the node's number in it, and closed says that its component is
	// known. They belong to findComponents.
	id     int32
	search uint32
	closed bool
	// turn belongs to Order.
	turn turn
}

// next appends the nodes that n leads to, in an order that follows from the policies alone.
func (n *node) next(to []*node) []*node {
	if n.template != nil {
		for _, named := range n.template.named {
			to = append(to, &named.object.target.node)
		}
		return to
	}
	if n.target.policy != nil {
		for _, template := range n.target.policy.templates {
			to = append(to, &template.node)
		}
	}
	for _, template := range n.target.creators {
		to = append(to, &template.node)
	}
	return to
}

// compare orders nodes: templates before targets, both in the order of results.
func (n *node) compare(other *node) int {
	switch {
	case n.template != nil && other.template != nil:
		return n.template.compare(other.template)
	case n.template != nil:
		return -1
	case other.template != nil:
		return 1
	default:
		return n.target.object.compare(other.target.object)
	}
}

// findComponents calls found with each strongly connected component that the roots lead to. A component comes after the
// components that it leads to. This is Tarjan's algorithm with a stack of its own, since chains of policies may be
// long. It is linear in nodes and edges.
func (e *Evaluator) findComponents(roots []*node, found func(members []*node)) {
	// frame is a node on the path from a root, with the rest of its edges and the earliest open node it leads to.
	type frame struct {
		node      *node
		edge, end int
		open      int
		low       int32
	}
	var (
		frames []frame
		edges  []*node
		open   []*node
		ids    int32
	)
	e.searches++
	enter := func(node *node) {
		node.search, node.id, node.closed = e.searches, ids, false
		ids++
		begin := len(edges)
		edges = node.next(edges)
		frames = append(frames, frame{node: node, edge: begin, end: len(edges), low: node.id, open: len(open)})
		open = append(open, node)
	}
	leave := func() {
		frame := frames[len(frames)-1]
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			parent := &frames[len(frames)-1]
			parent.low = min(parent.low, frame.low)
			edges = edges[:parent.end]
		} else {
			edges = edges[:0]
		}
		if frame.low < frame.node.id {
			return
		}
		members := open[frame.open:]
		open = open[:frame.open]
		for _, node := range members {
			node.closed = true
		}
		found(members)
	}
	for _, root := range roots {
		if root.search == e.searches {
			continue
		}
		for enter(root); len(frames) > 0; {
			frame := &frames[len(frames)-1]
			if frame.edge == frame.end {
				leave()
				continue
			}
			node := edges[frame.edge]
			frame.edge++
			switch {
			case node.search != e.searches:
				enter(node)
			case !node.closed:
				frame.low = min(frame.low, node.id)
			}
		}
	}
}

// cyclic says whether the nodes of a component are on a cycle. A single node is not, since templates lead only to
// targets and targets only to templates.
func cyclic(members []*node) bool { return len(members) > 1 }

// component is a set of nodes that all lead to each other: templates that wait for each other, and what is between
// them.
//
// One cycle of the component is called the ring. Each member that is not on the ring has a path to the ring and a path from
// it. Together with a part of the ring they make a cycle through the member. For example, with x: a(y) and y: b(#a #c)
// c(#a), the ring is a → y → b → a. The path from c leads to a, and the path to c comes from b, so c is on the cycle
// c → a → y → b → c.
type component struct {
	// members are sorted. The first is a template: the root.
	members []*node
	// ring is a shortest cycle through the root, each node once, from the root on. ringWaiters has, for each place in the
	// ring, how many waiters come before it.
	ring        []*node
	ringWaiters []int32
	// at has, by place, the member's place in the ring, or -1.
	at []int32
	// ahead has the paths to the ring, and behind the paths from it.
	ahead, behind ways
}

// ways has, by place, a shortest path between the ring and each member that is not on it.
type ways struct {
	// step is the next node on the path, and ring the place in the ring where the path ends.
	step []*node
	ring []int32
	// waiters counts the waiters on the path: without the member, with the one in the ring.
	waiters []int32
}

// newComponent makes members a component; they are copied.
func newComponent(members []*node) *component {
	component := &component{members: slices.Clone(members), at: make([]int32, len(members))}
	slices.SortFunc(component.members, (*node).compare)
	for i, node := range component.members {
		node.component, node.place, component.at[i] = component, int32(i), -1
	}
	root := component.members[0]
	back := component.search([]*node{root}, (*node).next).step
	for node := back[root.place]; node != root; node = back[node.place] {
		component.ring = append(component.ring, node)
	}
	component.ring = append(component.ring, root)
	slices.Reverse(component.ring)
	component.ringWaiters = make([]int32, len(component.ring)+1)
	for i, node := range component.ring {
		component.at[node.place] = int32(i)
		component.ringWaiters[i+1] = component.ringWaiters[i] + node.waiters()
	}
	leadTo := component.edges()
	component.behind = component.search(component.ring, (*node).next)
	component.ahead = component.search(component.ring, func(node *node, to []*node) []*node { return append(to, leadTo[node.place]...) })
	return component
}

// edges gives, by place, the members that lead to each member.
func (c *component) edges() (leadTo [][]*node) {
	leadTo = make([][]*node, len(c.members))
	var to []*node
	for _, node := range c.members {
		to = node.next(to[:0])
		for _, next := range to {
			if next.component == c {
				leadTo[next.place] = append(leadTo[next.place], node)
			}
		}
	}
	return leadTo
}

// search gives shortest paths from the given nodes to each member. The function edges appends the nodes that a node
// leads to. The given nodes are the ring, or the root while there is no ring yet; they have a step, too.
func (c *component) search(from []*node, edges func(n *node, to []*node) []*node) ways {
	ways := ways{make([]*node, len(c.members)), slices.Clone(c.at), make([]int32, len(c.members))}
	queue := slices.Clone(from)
	var to []*node
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		to = edges(at, to[:0])
		for _, next := range to {
			if next.component != c || ways.step[next.place] != nil {
				continue
			}
			ways.step[next.place] = at
			queue = append(queue, next)
			if c.at[next.place] < 0 {
				ways.ring[next.place] = ways.ring[at.place]
				ways.waiters[next.place] = ways.waiters[at.place] + at.waiters()
			}
		}
	}
	return ways
}
