// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// oracle is the rules over again, without an index, a graph algorithm or a thought of speed. It knows the
// policies that world makes: every definition can be read, and all objects are in one API version.
type oracle struct {
	templates    []oracleTemplate
	policies     map[string][]int // The templates of each policy.
	observations known
	// waits says that a template waits for another, over any number of others.
	waits [][]bool
}

type oracleTemplate struct {
	ref           dependency.TemplateRef
	object        dependency.Object
	disabled      bool
	invalid       bool
	unnamed       bool // A dependency names no object.
	ignorePending bool
	needs         map[dependency.Object]policyv1.ComplianceState
}

func newOracle(policies []*policyv1.Policy, observations known) *oracle {
	o := &oracle{policies: map[string][]int{}, observations: observations}
	for _, p := range policies {
		o.policies[p.Name] = nil
	}
	for _, p := range policies {
		called := map[string]int{}
		for _, template := range p.Spec.PolicyTemplates {
			called[created(template).Name]++
		}
		for i, template := range p.Spec.PolicyTemplates {
			object := created(template)
			// P1: the union, and the same object with two compliances.
			t := oracleTemplate{ref: dependency.TemplateRef{Policy: p.Name, Index: i}, object: object, disabled: p.Spec.Disabled,
				ignorePending: template.IgnorePending, needs: map[dependency.Object]policyv1.ComplianceState{}}
			for _, list := range [][]policyv1.PolicyDependency{p.Spec.Dependencies, template.ExtraDependencies} {
				for _, d := range list {
					// P1: a mistake.
					never := (d.Kind == "ConstraintTemplate" || d.Kind == "K8sThing") && d.Compliance == policyv1.Pending
					if never || !slices.Contains(allWants(), d.Compliance) {
						t.invalid = true
					}
					if d.Name == "" || d.Kind == "" || d.APIVersion == "" || strings.Count(d.APIVersion, "/") > 1 {
						t.invalid, t.unnamed = true, true
						continue
					}
					named := found(d)
					if want, found := t.needs[named]; found && want != d.Compliance {
						t.invalid = true
					}
					if _, found := t.needs[named]; !found {
						t.needs[named] = d.Compliance
					}
				}
			}
			// P10: names are unique, and kinds known.
			t.invalid = t.invalid || called[object.Name] > 1 || object.Kind == "ConfigMap"
			if t.disabled {
				t.needs, t.unnamed = nil, false
			}
			o.policies[p.Name] = append(o.policies[p.Name], len(o.templates))
			o.templates = append(o.templates, t)
		}
	}
	o.close()
	return o
}

// providers are the templates that an object leads to.
func (o *oracle) providers(object dependency.Object) []int {
	var providers []int
	for i, t := range o.templates {
		if object == t.object || object.Kind == "Policy" && object.Name == t.ref.Policy {
			providers = append(providers, i)
		}
	}
	return providers
}

// close computes waits, after Warshall.
func (o *oracle) close() {
	n := len(o.templates)
	o.waits = make([][]bool, n)
	for i := range o.waits {
		o.waits[i] = make([]bool, n)
		for object := range o.templates[i].needs {
			for _, j := range o.providers(object) {
				o.waits[i][j] = true
			}
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				o.waits[i][j] = o.waits[i][j] || o.waits[i][k] && o.waits[k][j]
			}
		}
	}
}

// vague says that an object leads to a dependency that names none (P1).
func (o *oracle) vague(object dependency.Object) bool {
	for _, j := range o.providers(object) {
		for k, t := range o.templates {
			if t.unnamed && (j == k || o.waits[j][k]) {
				return true
			}
		}
	}
	return false
}

// result says what TemplateEvaluation must: the state, whether there is a cycle, and each unmet dependency.
func (o *oracle) result(i int) string {
	t := o.templates[i]
	switch {
	case t.disabled:
		return "Disabled"
	case t.invalid:
		return "Invalid"
	}
	var unmet []string
	for object, want := range t.needs {
		observation, read := o.observations[object]
		reason := ""
		switch {
		// P3.
		case !read:
			reason = "NotRead"
		case object.Kind == "ConstraintTemplate" && want == policyv1.NonCompliant && observation.Problem == "NotFound":
			reason = ""
		// It exists, whatever it says.
		case object.Kind == "ConstraintTemplate" && want == policyv1.NonCompliant && slices.Contains([]string{"", "FieldMissing", "UnknownValue"}, string(observation.Problem)):
			reason = "OtherCompliance"
		case observation.Problem != "":
			reason = string(observation.Problem)
		case observation.Compliance != want:
			reason = "OtherCompliance"
		}
		// P8: what waits for the template itself does not count as met, and is Pending for that.
		undecided := reason == "" || reason == "OtherCompliance" && observation.Compliance == policyv1.Pending
		// P1: nor does what may wait for it.
		if undecided && o.vague(object) {
			reason = "Unnamed"
		}
		for _, j := range o.providers(object) {
			if undecided && (i == j || o.waits[j][i]) {
				reason = "OnCycle"
			}
		}
		if reason != "" {
			unmet = append(unmet, fmt.Sprintf("%s %s %s %s", object.Kind, object.Name, want, reason))
		}
	}
	sort.Strings(unmet)
	// P4.
	state := "Ready"
	if len(unmet) > 0 {
		state = "Pending"
	}
	return fmt.Sprintf("%s cycle=%t %v", state, o.waits[i][i], unmet)
}

// action says what to do with the template's object where it is active, and where it is not (P6).
func (o *oracle) action(i int) (active, missing string) {
	result := o.result(i)
	switch {
	case result == "Disabled":
		return "delete", "leave"
	case result == "Invalid":
		return "leave", "leave"
	case strings.HasPrefix(result, "Ready"):
		// P10: of several policies that are ready to create an object the first by name does.
		ready := func(j int) bool { return strings.HasPrefix(o.result(j), "Ready") }
		if o.comesAfter(i, ready) {
			return "update", "leave"
		}
		return "update", "create"
	}
	// Unknown, or nothing but a cycle.
	for _, certain := range []string{"OtherCompliance", "NotFound", "NoAPI", "FieldMissing", "UnknownValue"} {
		if strings.Contains(result, " "+certain) {
			return "delete", "leave"
		}
	}
	return "leave", "leave"
}

// render says of a result what oracle.result does.
func render(r dependency.TemplateEvaluation) string {
	if r.State == dependency.StateDisabled || r.State == dependency.StateInvalid {
		return string(r.State)
	}
	var unmet []string
	for _, u := range r.Unmet {
		unmet = append(unmet, fmt.Sprintf("%s %s %s %s", u.Object.Kind, u.Object.Name, u.Want, u.Reason))
	}
	return fmt.Sprintf("%s cycle=%t %v", r.State, len(r.Cycle) > 0, unmet)
}

// faultOf says how a cycle is none for the template: a path that doesn't close, has something twice, has a step
// that doesn't wait for the next, or doesn't contain the template.
func (o *oracle) faultOf(cycle dependency.Cycle, i int) string {
	if len(cycle) < 2 || cycle[0] != cycle[len(cycle)-1] {
		return "does not close"
	}
	type place struct {
		ref    dependency.TemplateRef
		object dependency.Object
	}
	through, seen := false, map[place]bool{}
	for at, step := range cycle[:len(cycle)-1] {
		here := place{step.TemplateRef, step.Object}
		if seen[here] {
			return "is at " + step.Object.String() + " twice"
		}
		seen[here] = true
		if cycle[at+1].Skipped > 0 {
			through = through || cycle[0].TemplateRef == o.templates[i].ref
			continue
		}
		from, isPolicy := o.step(step.TemplateRef)
		_, toPolicy := o.step(cycle[at+1].TemplateRef)
		next := cycle[at+1]
		found := false
		for _, j := range from {
			through = through || !isPolicy && j == i
			switch {
			case isPolicy:
				found = found || !toPolicy && o.templates[j].ref == dependency.TemplateRef{Policy: next.Policy, Index: next.Index}
			default:
				_, needs := o.templates[j].needs[next.Object]
				found = found || needs
			}
		}
		if !found {
			return fmt.Sprintf("%s does not wait for %s", step.Object, next.Object)
		}
	}
	if !through {
		return "does not pass " + o.templates[i].ref.String()
	}
	return ""
}

// step returns the templates that a step stands for, and whether it is a policy.
func (o *oracle) step(step dependency.TemplateRef) (templates []int, isPolicy bool) {
	if step.Index < 0 {
		return o.policies[step.Policy], true
	}
	return o.policies[step.Policy][step.Index : step.Index+1], false
}

// can says which templates can become ready. What a template waits for is decided before it; nothing else is on no cycle.
func (o *oracle) can() []bool {
	can, decided := make([]bool, len(o.templates)), make([]bool, len(o.templates))
	var decide func(i int)
	decide = func(i int) {
		t := o.templates[i]
		if decided[i] || t.disabled || t.invalid || o.waits[i][i] {
			return
		}
		decided[i], can[i] = true, true
		for object := range t.needs {
			for _, j := range o.providers(object) {
				decide(j)
			}
		}
		for object, want := range t.needs {
			can[i] = can[i] && !o.vague(object) && o.possible(object, want, can)
		}
	}
	for i := range o.templates {
		decide(i)
	}
	return can
}

// order says what Order should.
func (o *oracle) order() string {
	n := len(o.templates)
	can := o.can()
	turn := make([]int, n)
	for range n {
		for i, t := range o.templates {
			for object := range t.needs {
				for _, j := range o.providers(object) {
					if can[i] && can[j] && (o.isOf(object, j) || !o.loses(j)) {
						turn[i] = max(turn[i], turn[j]+1)
					}
				}
			}
		}
	}
	var order dependency.Order
	for i, t := range o.templates {
		if can[i] {
			for len(order.Turns) <= turn[i] {
				order.Turns = append(order.Turns, nil)
			}
			continue
		}
		order.Blocked = slices.Grow(order.Blocked, 1)[:len(order.Blocked)+1]
		blocked := &order.Blocked[len(order.Blocked)-1]
		blocked.Template = t.ref
		for object, want := range t.needs {
			if t.invalid {
				continue
			}
			waitsForMe := false
			for _, j := range o.providers(object) {
				waitsForMe = waitsForMe || i == j || o.waits[j][i]
			}
			if waitsForMe || o.vague(object) || !o.possible(object, want, can) {
				blocked.By = append(blocked.By, object)
			}
		}
		sort.Slice(blocked.By, func(a, b int) bool { return compareObjects(blocked.By[a], blocked.By[b]) < 0 })
	}
	for i, t := range o.templates {
		if can[i] {
			order.Turns[turn[i]] = append(order.Turns[turn[i]], t.ref)
		}
	}
	for _, s := range order.Turns {
		sort.Slice(s, func(a, b int) bool { return compareRefs(s[a], s[b]) < 0 })
	}
	sort.Slice(order.Blocked, func(a, b int) bool { return compareRefs(order.Blocked[a].Template, order.Blocked[b].Template) < 0 })
	return order.String()
}

// loses says that a policy before this one by name creates the object of the template, and waits for nothing (P8).
func (o *oracle) loses(i int) bool {
	return !o.templates[i].invalid && o.comesAfter(i, func(j int) bool { return len(o.templates[j].needs) == 0 })
}

// open says that several policies create an object and the first by name waits, so that it may be another's (P8).
func (o *oracle) open() bool {
	for i, t := range o.templates {
		for j, other := range o.templates {
			rivals := t.object == other.object && t.ref.Policy != other.ref.Policy && !t.invalid && !t.disabled && !other.invalid && !other.disabled
			if rivals && !o.loses(i) && !o.loses(j) {
				return true
			}
		}
	}
	return false
}

// comesAfter says that a policy before this one by name has a template for the same object that takes the place.
func (o *oracle) comesAfter(i int, takes func(j int) bool) bool {
	t := o.templates[i]
	for j, other := range o.templates {
		if other.object == t.object && !other.invalid && !other.disabled && other.ref.Policy < t.ref.Policy && takes(j) {
			return true
		}
	}
	return false
}

// isOf says that the object is the policy of the template.
func (o *oracle) isOf(object dependency.Object, i int) bool {
	return object.Kind == "Policy" && object.Name == o.templates[i].ref.Policy
}

// possible says whether the object can ever be as wanted, given which templates can become ready: it tries every
// way in which its templates can turn out.
func (o *oracle) possible(object dependency.Object, want policyv1.ComplianceState, can []bool) bool {
	parts, isPolicy := o.policies[object.Name]
	if object.Kind != "Policy" || !isPolicy {
		providers := o.providers(object)
		exists := false
		for _, j := range providers {
			exists = exists || can[j] && !o.loses(j)
		}
		// P8: such an object exists, or is NonCompliant.
		if object.Kind == "ConstraintTemplate" && len(providers) > 0 {
			return exists == (want == policyv1.Compliant)
		}
		return exists || len(providers) == 0
	}
	// All that the templates so far can make together.
	together := map[string]bool{}
	for n, part := range parts {
		t := o.templates[part]
		outcomes := []string{"Pending"}
		switch {
		case can[part] && o.loses(part):
			outcomes = []string{"NonCompliant"}
		case can[part] && t.object.Kind == "ConstraintTemplate":
			outcomes = []string{"Compliant"}
		case can[part]:
			outcomes = []string{"Compliant", "NonCompliant", "Pending", ""}
		case t.disabled:
			outcomes = []string{""}
		case t.invalid:
			outcomes = []string{"NonCompliant"}
		case t.ignorePending:
			outcomes = []string{"Compliant"}
		}
		next := map[string]bool{}
		for _, outcome := range outcomes {
			if n == 0 {
				next[outcome] = true
			}
			for before := range together {
				next[naiveAggregate([]string{before, outcome})] = true
			}
		}
		together = next
	}
	return together[string(want)]
}

// naiveAggregate is P7 as it is written.
func naiveAggregate(parts []string) string {
	all := "," + strings.Join(parts, ",") + ","
	switch {
	case len(parts) == 0:
		return ""
	case strings.Contains(all, ",NonCompliant,"):
		return "NonCompliant"
	case strings.Contains(all, ",Pending,"):
		return "Pending"
	case strings.Contains(all, ",,"):
		return ""
	default:
		return "Compliant"
	}
}
