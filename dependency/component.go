package dependency

import (
	"slices"
)

// node is a template or a target.
type node struct {
	template *template
	target   *target
	// component holds the cycles that the node is on. It is nil if there are none. place is the node's place among
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
		for _, t := range n.target.policy.templates {
			to = append(to, &t.node)
		}
	}
	for _, t := range n.target.creators {
		to = append(to, &t.node)
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
	// frame is a node on the way from a root, with the rest of its edges and the earliest open node it leads to.
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
	enter := func(n *node) {
		n.search, n.id, n.closed = e.searches, ids, false
		ids++
		begin := len(edges)
		edges = n.next(edges)
		frames = append(frames, frame{node: n, edge: begin, end: len(edges), low: n.id, open: len(open)})
		open = append(open, n)
	}
	leave := func() {
		f := frames[len(frames)-1]
		frames = frames[:len(frames)-1]
		if len(frames) > 0 {
			parent := &frames[len(frames)-1]
			parent.low = min(parent.low, f.low)
			edges = edges[:parent.end]
		} else {
			edges = edges[:0]
		}
		if f.low < f.node.id {
			return
		}
		members := open[f.open:]
		open = open[:f.open]
		for _, n := range members {
			n.closed = true
		}
		found(members)
	}
	for _, root := range roots {
		if root.search == e.searches {
			continue
		}
		for enter(root); len(frames) > 0; {
			f := &frames[len(frames)-1]
			if f.edge == f.end {
				leave()
				continue
			}
			n := edges[f.edge]
			f.edge++
			switch {
			case n.search != e.searches:
				enter(n)
			case !n.closed:
				f.low = min(f.low, n.id)
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
// The ways of a component lead through its root. For example, with x: a(y) and y: b(#a #c) c(#a), the root is a. Then
// after leads from b to a and from c to a, and before leads from c back to policy y and from there to a.
type component struct {
	// members are sorted. The first is a template: the root.
	members []*node
	// after has, by place, the next node on a shortest way to the root. before has the previous node on a shortest way
	// from the root. For the root itself both are on a shortest way back to it.
	after, before []*node
	// first is a shortest cycle through the root. on says, by place, which nodes are on it.
	first Cycle
	on    []bool
}

// newComponent makes members a component; they are copied.
func newComponent(members []*node) *component {
	c := &component{members: slices.Clone(members), on: make([]bool, len(members))}
	slices.SortFunc(c.members, (*node).compare)
	for i, n := range c.members {
		n.component, n.place = c, int32(i)
	}
	leadTo := c.edges()
	c.before = c.waysFromRoot((*node).next)
	c.after = c.waysFromRoot(func(n *node, to []*node) []*node { return append(to, leadTo[n.place]...) })
	way := c.wayThrough(c.members[0])
	c.first = cycleOf(way)
	for _, n := range way {
		c.on[n.place] = true
	}
	return c
}

// edges gives, by place, the members that lead to each member.
func (c *component) edges() (leadTo [][]*node) {
	leadTo = make([][]*node, len(c.members))
	var to []*node
	for _, n := range c.members {
		to = n.next(to[:0])
		for _, next := range to {
			if next.component == c {
				leadTo[next.place] = append(leadTo[next.place], n)
			}
		}
	}
	return leadTo
}

// waysFromRoot gives, by place, the node before each member on a shortest way from the root. The function edges appends
// the nodes that a node leads to.
func (c *component) waysFromRoot(edges func(n *node, to []*node) []*node) []*node {
	before := make([]*node, len(c.members))
	queue := []*node{c.members[0]}
	var to []*node
	for i := 0; i < len(queue); i++ {
		to = edges(queue[i], to[:0])
		for _, next := range to {
			if next.component == c && before[next.place] == nil {
				before[next.place] = queue[i]
				queue = append(queue, next)
			}
		}
	}
	return before
}

// wayThrough gives the nodes of a cycle through n, from n on, each once. It goes towards the root until it meets the
// way from the root to n. Through the root it is a shortest cycle. It takes time linear in the two ways.
func (c *component) wayThrough(n *node) []*node {
	root := c.members[0]
	var down []*node // From n backwards to the root.
	onDown := map[*node]int{}
	for at := c.before[n.place]; ; at = c.before[at.place] {
		onDown[at] = len(down)
		down = append(down, at)
		if at == root {
			break
		}
	}
	way := []*node{n}
	if n == root {
		slices.Reverse(down[:len(down)-1])
		return append(way, down[:len(down)-1]...)
	}
	for at := c.after[n.place]; ; at = c.after[at.place] {
		if i, meets := onDown[at]; meets {
			slices.Reverse(down[:i+1])
			return append(way, down[:i+1]...)
		}
		way = append(way, at)
	}
}
