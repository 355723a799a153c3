// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Order says in which order templates become ready.
type Order struct {
	// Turns hold the templates that can become ready, sorted within a turn. A template is in the first turn after
	// all templates that it waits for.
	Turns [][]TemplateRef
	// Blocked are the other templates, sorted. They are on a cycle, are invalid, belong to a disabled policy, or wait
	// for something that such a template makes impossible.
	Blocked []struct {
		Template TemplateRef
		// By are the objects that the template waits for and that cannot become as wanted, sorted. It is empty for
		// invalid templates and in disabled policies.
		By []Object
	}
	// Cycles has a cycle for each set of templates that all wait for each other: a shortest one through the first of
	// them, from this one on. They are sorted by it.
	Cycles []Cycle
}

// String has a line for each turn, one for each blocked template and one for each cycle.
func (o Order) String() string {
	var lines []string
	for i, turn := range o.Turns {
		refs := make([]string, len(turn))
		for j, ref := range turn {
			refs[j] = ref.String()
		}
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, strings.Join(refs, " ")))
	}
	for _, blocked := range o.Blocked {
		line := blocked.Template.String() + " is not processed"
		if len(blocked.By) > 0 {
			line = blocked.Template.String() + " waits for " + strings.Join(names(blocked.By), ", ")
		}
		lines = append(lines, line)
	}
	for _, cycle := range o.Cycles {
		lines = append(lines, "cycle: "+cycle.String())
	}
	return strings.Join(lines, "\n")
}

// values are the compliances that something can have when its turn comes.
type values uint8

const (
	canBeCompliant values = 1 << iota
	canBeNonCompliant
	canBePending
	canBeUnknown

	canBeAll = canBeCompliant | canBeNonCompliant | canBePending | canBeUnknown
)

func (v values) include(compliance policyv1.ComplianceState) bool {
	return compliance == policyv1.Compliant && v&canBeCompliant != 0 ||
		compliance == policyv1.NonCompliant && v&canBeNonCompliant != 0 ||
		compliance == policyv1.Pending && v&canBePending != 0
}

// turn says which compliances something can have, and after how many turns. A template that can become ready does so
// after at least one turn. Zero turns mean that no template has to become ready first.
type turn struct {
	after  int32
	values values
}

// Order gives the order in which templates become ready. It follows from the policies alone: it assumes that objects
// that no template creates, and the objects of ready templates, reach any compliance that is waited for. But a
// ConstraintTemplate exists only if one of its templates can become ready. If a policy creates an
// object and waits for nothing, those after it by name that create the same object are NonCompliant. If the first by name waits,
// any of those up to the first that waits for nothing may have it. A policy reaches the compliances that follow from its templates. Order
// takes time linear in the policies, plus sorting.
func (e *Evaluator) Order() Order {
	e.mu.Lock()
	defer e.mu.Unlock()
	policies := e.sorted()
	var roots []*node
	for _, policy := range policies {
		for _, template := range policy.templates {
			roots = append(roots, &template.node)
		}
	}
	// Components come after what they lead to. Within a component, templates come before the targets that they provide.
	// On a cycle the turn of a template never comes, whatever the targets say.
	e.findComponents(roots, func(members []*node) {
		for _, node := range members {
			if node.template != nil {
				node.turn = node.template.findTurn()
			}
		}
		for _, node := range members {
			if node.target != nil {
				node.turn = node.target.findTurn()
			}
		}
	})
	var order Order
	for _, policy := range policies {
		for _, template := range policy.templates {
			order.add(template)
		}
	}
	return order
}

// ready says whether the template can become ready, and after how many turns.
func (t *template) ready() (after int32, can bool) {
	if t.policy.disabled || t.err != nil || t.component != nil {
		return 0, false
	}
	for _, requirement := range t.named {
		if requirement.target.vague || !requirement.target.turn.values.include(requirement.want) {
			return 0, false
		}
		after = max(after, requirement.target.turn.after)
	}
	return after, true
}

// findTurn gives the compliances that the template can count as for its policy.
func (t *template) findTurn() turn {
	after, can := t.ready()
	switch {
	case can && t.loses():
		return turn{after + 1, canBeNonCompliant}
	case can && t.object.isConstraintTemplate():
		return turn{after + 1, canBeCompliant}
	case can:
		return turn{after + 1, canBeAll}
	case t.policy.disabled:
		return turn{0, canBeUnknown}
	case t.err != nil:
		return turn{0, canBeNonCompliant}
	case t.ignorePending:
		return turn{0, canBeCompliant}
	default:
		return turn{0, canBePending}
	}
}

// findTurn gives the compliances that can be observed at the target.
func (t *target) findTurn() turn {
	if t.policy == nil && len(t.creators) == 0 {
		return turn{0, canBeAll}
	}
	var own turn
	if t.policy != nil {
		own = t.policy.findTurn()
	}
	for _, creator := range t.creators {
		if creator.loses() {
			continue
		}
		own.after = max(own.after, creator.turn.after)
		if creator.turn.after > 0 {
			own.values |= creator.turn.values
		}
	}
	if missing := own.values == 0; missing && t.object.APIVersion == constraintTemplateGroup && t.object.Kind == constraintTemplateKind {
		own.values = canBeNonCompliant
	}
	return own
}

// findTurn gives the compliances of all combinations of one from each template.
func (p *policy) findTurn() turn {
	if len(p.templates) == 0 {
		return turn{0, canBeUnknown}
	}
	own := turn{0, canBeCompliant}
	pending := true
	for _, template := range p.templates {
		part := template.turn
		own.after = max(own.after, part.after)
		if !part.values.include(policyv1.Compliant) {
			own.values &^= canBeCompliant
		}
		own.values |= part.values & (canBeNonCompliant | canBePending | canBeUnknown)
		pending = pending && part.values != canBeNonCompliant
	}
	if !pending {
		own.values &^= canBePending
	}
	return own
}

func (o *Order) add(template *template) {
	if template.component != nil && template.component.members[0] == &template.node {
		o.Cycles = append(o.Cycles, template.cycle())
	}
	if after, can := template.ready(); can {
		for len(o.Turns) <= int(after) {
			o.Turns = append(o.Turns, nil)
		}
		o.Turns[after] = append(o.Turns[after], template.ref())
		return
	}
	o.Blocked = slices.Grow(o.Blocked, 1)[:len(o.Blocked)+1]
	blocked := &o.Blocked[len(o.Blocked)-1]
	blocked.Template = template.ref()
	for _, requirement := range template.named {
		if template.err != nil {
			break
		}
		onCycle := template.component != nil && requirement.target.component == template.component
		if onCycle || requirement.target.vague || !requirement.target.turn.values.include(requirement.want) {
			blocked.By = append(blocked.By, requirement.Object)
		}
	}
}
