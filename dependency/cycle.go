package dependency

import (
	"slices"
	"strings"
)

// Cycle is a way on which a template waits for itself (P8): each step waits for the next, and the last is the
// first again. It begins with its first template by policy and place, and no step but this one is on it twice.
type Cycle []Step

// Step is a template, or a policy whose templates are waited for together.
type Step struct {
	// Policy is the name of the template's policy, or of the policy.
	Policy string `json:"policy"`
	// Template is the template's place in its policy, or -1 if the step is the policy.
	Template int `json:"template"`
	// Object is what the template creates, or the policy.
	Object Object `json:"object"`
}

// String is like "ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a".
func (c Cycle) String() string {
	names := make([]string, len(c))
	for i, step := range c {
		names[i] = step.Object.String()
	}
	return strings.Join(names, " → ")
}

// Cycles returns a cycle for each set of templates that all wait for each other: a shortest one through the
// first of them. They are sorted by their first template. A template's own cycle is in its result.
func (e *Evaluator) Cycles() []Cycle {
	var roots []*node
	for _, p := range e.sorted() {
		for _, t := range p.templates {
			if t.component != nil && t.component.members[0] == &t.node {
				roots = append(roots, &t.node)
			}
		}
	}
	cycles := make([]Cycle, len(roots))
	for i, root := range roots {
		cycles[i] = root.component.first
	}
	return cycles
}

// cycle returns one that the template is on, nil if it is on none. Templates on the component's first cycle
// share that, so results of a long ring don't each hold all of it.
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

// cycleOf returns the cycle that leads along the nodes and back to the first of them.
func cycleOf(way []*node) Cycle {
	first := 0
	for i, n := range way {
		if n.compare(way[first]) < 0 {
			first = i
		}
	}
	cycle := make(Cycle, 0, len(way)+1)
	for _, n := range slices.Concat(way[first:], way[:first], way[first:first+1]) {
		switch {
		case n.template != nil:
			cycle = append(cycle, Step{Policy: n.template.policy.name, Template: n.template.index, Object: n.template.object})
		case n.target.policy != nil:
			cycle = append(cycle, Step{Policy: n.target.policy.name, Template: -1, Object: n.target.policyObject()})
		}
	}
	return cycle
}

// policyObject is the policy that the target is, as it is looked up.
func (t *target) policyObject() Object {
	o := t.object
	o.APIVersion = policyGroup + "/v1"
	return o
}
