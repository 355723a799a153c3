package dependency_test

import (
	"fmt"
	"sort"
	"strings"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// oracle is the rules over again, without an index, a graph algorithm or a thought of speed. It knows the
// policies that world makes: every template can be read, and all objects are in one API version.
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
	ignorePending bool
	needs         map[dependency.Object]policyv1.ComplianceState
}

func newOracle(policies []*policyv1.Policy, observations known) *oracle {
	o := &oracle{policies: map[string][]int{}, observations: observations}
	for _, p := range policies {
		o.policies[p.Name] = nil
	}
	for _, p := range policies {
		twice := map[dependency.Object]bool{}
		for i, template := range p.Spec.PolicyTemplates {
			object := created(template)
			// P1: the union, and the same object with two compliances.
			t := oracleTemplate{ref: dependency.TemplateRef{Policy: p.Name, Index: i}, object: object, disabled: p.Spec.Disabled,
				ignorePending: template.IgnorePending, needs: map[dependency.Object]policyv1.ComplianceState{}}
			for _, list := range [][]policyv1.PolicyDependency{p.Spec.Dependencies, template.ExtraDependencies} {
				for _, d := range list {
					// P2: in the namespace of the cluster.
					named := dependency.Object{APIVersion: d.APIVersion, Kind: d.Kind, Namespace: cluster, Name: d.Name}
					if want, found := t.needs[named]; found && want != d.Compliance {
						t.invalid = true
					}
					if _, found := t.needs[named]; !found {
						t.needs[named] = d.Compliance
					}
				}
			}
			t.invalid = t.invalid || twice[object]
			twice[object] = true
			if t.disabled {
				t.needs = nil
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
		case observation.Problem != "":
			reason = string(observation.Problem)
		case observation.Compliance != want:
			reason = "OtherCompliance"
		}
		// P8: what waits for the template itself does not count as met, and is Pending for that.
		for _, j := range o.providers(object) {
			undecided := reason == "" || reason == "OtherCompliance" && observation.Compliance == policyv1.Pending
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
	through, seen := false, map[dependency.Waiter]bool{}
	for at, step := range cycle[:len(cycle)-1] {
		if seen[step] {
			return "is at " + step.Object.String() + " twice"
		}
		seen[step] = true
		from, isPolicy := o.step(step)
		_, toPolicy := o.step(cycle[at+1])
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
func (o *oracle) step(step dependency.Waiter) (templates []int, isPolicy bool) {
	if step.Index < 0 {
		return o.policies[step.Policy], true
	}
	return o.policies[step.Policy][step.Index : step.Index+1], false
}

// order says what Order should, by trying again and again.
func (o *oracle) order() string {
	n := len(o.templates)
	can := make([]bool, n)
	turn := make([]int, n)
	for changed := true; changed; {
		changed = false
		for i, t := range o.templates {
			if can[i] || t.disabled || t.invalid || o.waits[i][i] {
				continue
			}
			all := true
			for object, want := range t.needs {
				all = all && o.possible(object, want, can)
			}
			if all {
				can[i], changed = true, true
			}
		}
	}
	for range n {
		for i, t := range o.templates {
			for object := range t.needs {
				for _, j := range o.providers(object) {
					if can[i] && can[j] {
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
		blocked := dependency.Blocked{Template: t.ref}
		for object, want := range t.needs {
			if t.invalid {
				continue
			}
			waitsForMe := false
			for _, j := range o.providers(object) {
				waitsForMe = waitsForMe || i == j || o.waits[j][i]
			}
			if waitsForMe || !o.possible(object, want, can) {
				blocked.By = append(blocked.By, object)
			}
		}
		sort.Slice(blocked.By, func(a, b int) bool { return compareObjects(blocked.By[a], blocked.By[b]) < 0 })
		order.Blocked = append(order.Blocked, blocked)
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

// possible says whether the object can ever be as wanted, given which templates can become ready: it tries every
// way in which its templates can turn out.
func (o *oracle) possible(object dependency.Object, want policyv1.ComplianceState, can []bool) bool {
	parts, isPolicy := o.policies[object.Name]
	if object.Kind != "Policy" || !isPolicy {
		providers := o.providers(object)
		for _, j := range providers {
			if can[j] {
				return true
			}
		}
		return len(providers) == 0
	}
	var try func(chosen []string, rest []int) bool
	try = func(chosen []string, rest []int) bool {
		if len(rest) == 0 {
			return naiveAggregate(chosen) == string(want)
		}
		t := o.templates[rest[0]]
		outcomes := []string{"Pending"}
		switch {
		case can[rest[0]]:
			outcomes = []string{"Compliant", "NonCompliant", "Pending", ""}
		case t.disabled:
			outcomes = []string{""}
		case t.invalid:
			outcomes = []string{"NonCompliant"}
		case t.ignorePending:
			outcomes = []string{"Compliant"}
		}
		for _, outcome := range outcomes {
			if try(append(chosen[:len(chosen):len(chosen)], outcome), rest[1:]) {
				return true
			}
		}
		return false
	}
	return try(nil, parts)
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
