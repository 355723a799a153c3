// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// Cycle is a path on which templates wait for themselves: each element waits for the next, and the last element is the first
// again. No other element occurs twice. Of a long cycle it has the beginning and the end. An element is a template, or a
// policy that stands for all its templates.
type Cycle []struct {
	// TemplateRef names the template. For a policy its index is -1.
	TemplateRef
	// Object is what the template creates, or the policy.
	Object Object `json:"object"`
	// Skipped is how many elements of a long cycle are left out before this one.
	Skipped int `json:"skipped,omitempty"`
}

// String is like "ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a". Of a long cycle
// it has the beginning, how many more there are, and the end.
func (c Cycle) String() string { return c.text(300) }

const arrow = " → "

// text does what String does, with at most limit bytes unless names alone are longer.
func (c Cycle) text(limit int) string {
	const tail = 2
	objects := make([]Object, len(c))
	skipped := 0
	for i, w := range c {
		objects[i] = w.Object
		skipped += w.Skipped
	}
	names := names(objects)
	for i := range names {
		names[i] = clauses.Shorten(names[i], 80)
	}
	if whole := strings.Join(names, arrow); len(c) <= tail || skipped == 0 && (len(whole) <= limit || len(c) == tail+1) {
		return oneLine(whole)
	}
	rest := func(more int) string {
		return arrow + fmt.Sprintf("and %d more", more) + arrow + strings.Join(names[len(names)-tail:], arrow)
	}
	shown, more := names[0], len(c)+skipped-tail-1
	room := limit - len(rest(len(c)+skipped))
	for _, name := range names[1:max(len(c)-tail, 1)] {
		if more == 1 || len(shown)+len(arrow)+len(name) > room {
			break
		}
		shown += arrow + name
		more--
	}
	return oneLine(shown + rest(more))
}

// A cycle of at most wholeWaiters is kept whole. Of a longer cycle, the first keptWaiters and the last are kept. They are among
// the first farthest nodes after the template, since of two nodes in a row one is a template.
const (
	keptWaiters  = 30
	wholeWaiters = 32
	farthest     = 2 * wholeWaiters
)

// cycle gives a cycle that the template is on, beginning with the template, or nil. It takes constant time, however long the
// cycle is.
func (t *template) cycle() Cycle {
	if t.component == nil {
		return nil
	}
	return t.component.cycle(&t.node)
}

func (c *component) cycle(node *node) Cycle {
	way, length := c.wayThrough(node)
	cycle := make(Cycle, 0, min(length, wholeWaiters)+1)
	for _, on := range way {
		if on.waiters() > 0 && len(cycle) < wholeWaiters {
			cycle = cycle.with(on)
		}
	}
	if len(cycle) < length {
		cycle = cycle[:min(len(cycle), keptWaiters)]
		last := c.before(node)
		if last.waiters() == 0 {
			last = c.before(last)
		}
		skipped := length - len(cycle) - 1
		cycle = cycle.with(last)
		cycle[len(cycle)-1].Skipped = skipped
	}
	return append(cycle, cycle[0])
}

// wayThrough gives the nodes of a cycle through n, from n on, each once, and how many waiters the cycle has. Of a long
// cycle it gives the beginning. The cycle leads to the ring, along it, and back to n. But if the paths to the ring and from
// it meet close to n, the cycle ends there. If they meet far from n, the part that is left out may have some nodes twice.
func (c *component) wayThrough(n *node) (way []*node, length int) {
	way = walk(n, c.ahead, c.at, []*node{n})
	back := walk(n, c.behind, c.at, nil)
	for i, at := range way {
		if j := slices.Index(back, at); j >= 0 {
			slices.Reverse(back[:j])
			way = append(way[:i+1], back[:j]...)
			for _, on := range way {
				length += int(on.waiters())
			}
			return way, length
		}
	}
	first, last := c.ahead.ring[n.place], c.behind.ring[n.place]
	waiters := 1 + c.ahead.waiters[n.place] + c.behind.waiters[n.place] - c.ring[last].waiters()
	waiters += c.ringWaiters[last+1] - c.ringWaiters[first+1]
	size := int32(len(c.ring))
	if last <= first {
		waiters += c.ringWaiters[size]
	}
	if length = int(waiters); c.at[way[len(way)-1].place] < 0 {
		return way, length
	}
	for i := (first + 1) % size; i != last && len(way) <= farthest; i = (i + 1) % size {
		way = append(way, c.ring[i])
	}
	if length <= wholeWaiters {
		slices.Reverse(back)
		way = append(way, back...)
	}
	return way, length
}

// walk appends the first nodes on n's path to the ring, at most farthest.
func walk(node *node, ways ways, at []int32, way []*node) []*node {
	for steps := 0; at[node.place] < 0 && steps < farthest; steps++ {
		node = ways.step[node.place]
		way = append(way, node)
	}
	return way
}

// before gives the node before n on its cycle.
func (c *component) before(node *node) *node {
	if i := int(c.at[node.place]); i >= 0 {
		return c.ring[(i+len(c.ring)-1)%len(c.ring)]
	}
	return c.behind.step[node.place]
}

// waiters is 1 for a node that is a waiter on cycles, and 0 for an object that only leads to the templates that create it.
func (n *node) waiters() int32 {
	if n.template != nil || n.target.policy != nil {
		return 1
	}
	return 0
}

// with appends the template or the policy of a node.
func (c Cycle) with(node *node) Cycle {
	c = append(c, make(Cycle, 1)...)
	end := &c[len(c)-1]
	if node.template != nil {
		end.TemplateRef, end.Object = node.template.ref(), node.template.object
		return c
	}
	end.TemplateRef, end.Object = TemplateRef{node.target.policy.name, -1}, node.target.object
	end.Object.APIVersion = policyVersion
	return c
}
