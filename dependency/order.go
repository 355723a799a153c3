package dependency

import (
	"fmt"
	"strings"
)

// Order is how templates become ready, one after the other (P8).
type Order struct {
	// Stages hold the templates that can become ready, sorted within a stage. A template stands in the first
	// stage after all of those it waits for.
	Stages [][]TemplateRef
	// Blocked are the others, sorted: those on cycles, the invalid, those of disabled policies, and those that
	// wait for what cannot come about because of them.
	Blocked []Blocked
}

// Blocked is a template that cannot become ready.
type Blocked struct {
	Template TemplateRef
	// By are the objects the template waits for in vain, sorted. It is empty for invalid templates and those of
	// disabled policies.
	By []Object
}

// String is like "default.foo[1] waits for Policy default.bar".
func (b Blocked) String() string {
	if len(b.By) == 0 {
		return b.Template.String() + " is not processed"
	}
	names := make([]string, len(b.By))
	for i, o := range b.By {
		names[i] = o.String()
	}
	return b.Template.String() + " waits for " + strings.Join(names, ", ")
}

// String has a line for each stage and one for each blocked template.
func (o Order) String() string {
	var lines []string
	for i, stage := range o.Stages {
		names := make([]string, len(stage))
		for j, ref := range stage {
			names[j] = ref.String()
		}
		lines = append(lines, fmt.Sprintf("%d: %s", i+1, strings.Join(names, " ")))
	}
	for _, blocked := range o.Blocked {
		lines = append(lines, blocked.String())
	}
	return strings.Join(lines, "\n")
}

// values are the compliances that something can have once it is its turn.
type values uint8

const (
	canBeCompliant values = 1 << iota
	canBeNonCompliant
	canBePending
	canBeUnknown

	canBeAll = canBeCompliant | canBeNonCompliant | canBePending | canBeUnknown
)

func (v values) include(c Compliance) bool {
	return c == Compliant && v&canBeCompliant != 0 ||
		c == NonCompliant && v&canBeNonCompliant != 0 ||
		c == Pending && v&canBePending != 0
}

// turn is what something can be, and after how many stages: none if no template has to be ready before. So it is
// at least one for a template that can become ready, and none for one that cannot.
type turn struct {
	values values
	after  int
}

// Order returns the order in which templates become ready. It follows from the policies alone: objects outside
// of them, and those of templates that are ready, are taken to come to any compliance that is waited for. A
// policy comes to the compliances that those of its templates make together (P7). The cost is linear in all
// that the policies hold, but for sorting.
func (e *Evaluator) Order() Order {
	policies := e.sorted()
	var roots []*node
	for _, p := range policies {
		for _, t := range p.templates {
			roots = append(roots, &t.node)
		}
	}
	turns := make(map[*node]turn, len(roots)+len(e.targets))
	// What a component leads to comes before it. Within one, templates come before the targets they provide:
	// on a cycle their turn never comes whatever the targets say.
	findComponents(roots, func(members []*node) {
		for _, n := range members {
			if n.template != nil {
				turns[n] = n.template.turn(turns)
			}
		}
		for _, n := range members {
			if n.target != nil {
				turns[n] = n.target.turn(turns)
			}
		}
	})
	var order Order
	for _, p := range policies {
		for _, t := range p.templates {
			order.add(t, turns)
		}
	}
	return order
}

// ready says whether the template can become ready, and after which stages.
func (t *template) ready(turns map[*node]turn) (after int, can bool) {
	if t.policy.disabled || t.err != nil || t.component != nil {
		return 0, false
	}
	for _, n := range t.named {
		target := turns[&n.target.node]
		if !target.values.include(n.want) {
			return 0, false
		}
		after = max(after, target.after)
	}
	return after, true
}

// turn returns what the template can count as for its policy.
func (t *template) turn(turns map[*node]turn) turn {
	after, can := t.ready(turns)
	switch {
	case can:
		return turn{canBeAll, after + 1}
	case t.policy.disabled:
		return turn{canBeUnknown, 0}
	case t.err != nil:
		return turn{canBeNonCompliant, 0}
	case t.ignorePending:
		return turn{canBeCompliant, 0}
	default:
		return turn{canBePending, 0}
	}
}

// turn returns what can be observed at the target.
func (t *target) turn(turns map[*node]turn) turn {
	if t.policy == nil && len(t.creators) == 0 {
		return turn{canBeAll, 0}
	}
	var own turn
	if t.policy != nil {
		own = t.policy.turn(turns)
	}
	for _, creator := range t.creators {
		own.after = max(own.after, turns[&creator.node].after)
		if turns[&creator.node].after > 0 {
			own.values = canBeAll
		}
	}
	return own
}

// turn returns the compliances of all ways to aggregate one of each template.
func (p *policy) turn(turns map[*node]turn) turn {
	if len(p.templates) == 0 {
		return turn{canBeUnknown, 0}
	}
	own := turn{canBeCompliant, 0}
	pending := true
	for _, t := range p.templates {
		part := turns[&t.node]
		own.after = max(own.after, part.after)
		if !part.values.include(Compliant) {
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

func (o *Order) add(t *template, turns map[*node]turn) {
	if after, can := t.ready(turns); can {
		for len(o.Stages) <= after {
			o.Stages = append(o.Stages, nil)
		}
		o.Stages[after] = append(o.Stages[after], t.ref())
		return
	}
	blocked := Blocked{Template: t.ref()}
	for _, n := range t.named {
		if t.err != nil {
			break
		}
		target := n.target
		if t.component != nil && target.component == t.component || !turns[&target.node].values.include(n.want) {
			blocked.By = append(blocked.By, n.Object)
		}
	}
	o.Blocked = append(o.Blocked, blocked)
}
