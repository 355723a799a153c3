package dependency

import (
	"fmt"
	"slices"
	"strings"
)

// Cycle is a way on which templates wait for themselves: each element waits for the next, and the last is the first
// again. It begins with its first template by policy and place. Only this one is on it twice.
type Cycle []Waiter

// Waiter is a template on a cycle, or a policy whose templates are waited for together.
type Waiter struct {
	// TemplateRef names the template. For a policy its index is -1.
	TemplateRef
	// Object is what the template creates, or the policy.
	Object Object `json:"object"`
}

// String is like "ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a". Of a long cycle
// it has the beginning, how many more there are, and the end.
func (c Cycle) String() string { return c.text(300) }

const arrow = " → "

// text does what String does, with at most limit bytes unless names alone are longer.
func (c Cycle) text(limit int) string {
	const head, tail = 30, 2
	shown := c
	if len(c) > head+tail {
		shown = slices.Concat(c[:head], c[len(c)-tail:])
	}
	objects := make([]Object, len(shown))
	for i, w := range shown {
		objects[i] = w.Object
	}
	names := names(objects)
	for i := range names {
		names[i] = clip(names[i], 80)
	}
	if whole := strings.Join(names, arrow); len(shown) == len(c) && len(whole) <= limit || len(names) <= tail+1 {
		return oneLine(whole)
	}
	end := fmt.Sprintf("and %d more", len(c)) + arrow + strings.Join(names[len(names)-tail:], arrow)
	begin, more := names[0], len(c)-tail-1
	for _, name := range names[1 : len(names)-tail] {
		if more == 1 || len(begin)+len(name)+len(end)+2*len(arrow) > limit {
			break
		}
		begin += arrow + name
		more--
	}
	return oneLine(begin + arrow + fmt.Sprintf("and %d more", more) + arrow + strings.Join(names[len(names)-tail:], arrow))
}

// from gives the cycle so that it begins and ends with the template that creates the object; unchanged if it has none.
func (c Cycle) from(created Object) Cycle {
	at := max(slices.IndexFunc(c, func(w Waiter) bool { return w.Index >= 0 && w.Object == created }), 0)
	return slices.Concat(c[at:], c[1:at+1])
}

// cycle gives a cycle that the template is on, or nil. Templates on the component's first cycle share that one, so the
// evaluations of a long ring do not each hold all of it.
func (t *template) cycle() Cycle {
	switch {
	case t.component == nil:
		return nil
	case t.component.on[t.place]:
		return t.component.first
	default:
		return cycleOf(t.component.wayThrough(&t.node))
	}
}

// cycleOf gives the cycle that leads along the nodes and back to the first of them.
func cycleOf(way []*node) Cycle {
	first := 0
	for i, n := range way {
		if n.compare(way[first]) < 0 {
			first = i
		}
	}
	round := slices.Concat(way[first:], way[:first], way[first:first+1])
	cycle := make(Cycle, 0, len(round))
	for _, n := range round {
		switch {
		case n.template != nil:
			cycle = append(cycle, Waiter{n.template.ref(), n.template.object})
		case n.target.policy != nil:
			cycle = append(cycle, Waiter{TemplateRef{n.target.policy.name, -1}, n.target.policyObject()})
		}
	}
	return cycle
}

// policyObject gives the name under which the target's policy is found.
func (t *target) policyObject() Object {
	o := t.object
	o.APIVersion = policyVersion
	return o
}
