// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// machine is an evaluator and its inputs, from which all results can be computed again.
type machine struct {
	evaluator    *dependency.Evaluator
	policies     map[string]*policyv1.Policy
	observations known // Of watched objects only.
	watched      map[dependency.Object]bool
}

// P8: after any sequence of changes, the incremental evaluation equals the full one, and what a change returned
// is what differs.
func TestIncrementalEqualsFullAfterAnySequenceOfChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{
			evaluator:    dependency.NewEvaluator(cluster, nil),
			policies:     map[string]*policyv1.Policy{},
			observations: known{},
			watched:      map[dependency.Object]bool{},
		}
		t.Repeat(map[string]func(*rapid.T){
			"set":     m.set,
			"delete":  m.delete,
			"observe": m.observe,
			"":        m.check,
		})
	})
}

func (m *machine) set(t *rapid.T) {
	before := m.texts()
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q", "r"}), 1, 2, rapid.ID).Draw(t, "names")
	var given []*policyv1.Policy
	for _, name := range names {
		p := m.policies[name]
		if p == nil || rapid.Bool().Draw(t, "anew") {
			p = drawPolicy(t, name, allWants()...)
		} else {
			p = drawEdit(t, p, allWants()...)
		}
		given = append(given, p)
		m.policies[name] = p
	}
	changes, err := m.evaluator.Set(given...)
	if err != nil {
		t.Fatal(err)
	}
	m.checkChanges(t, before, changes, names)
}

func (m *machine) delete(t *rapid.T) {
	before := m.texts()
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"p", "q", "r", "none"}), 1, 2).Draw(t, "names")
	for _, name := range names {
		delete(m.policies, name)
	}
	m.checkChanges(t, before, m.evaluator.Delete(names...), nil)
}

func (m *machine) observe(t *rapid.T) {
	before := m.texts()
	o := found(drawDependency(t, policyv1.Compliant))
	observation := drawObservation(t)
	known := m.observations[o]
	got := m.evaluator.Observe(o, observation)
	var want []dependency.TemplateRef
	if m.watched[o] && known != observation {
		m.observations[o] = observation
		want = m.dependents(o)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("Observe returned %v, want %v", got, want)
	}
	m.checkNamed(t, before, got)
}

// checkChanges compares what a change returned with what it did.
func (m *machine) checkChanges(t *rapid.T, before map[dependency.TemplateRef]string, changes dependency.Watches, set []string) {
	now := map[dependency.Object]bool{}
	for _, o := range watches(slices.Collect(maps.Values(m.policies))) {
		now[o] = true
	}
	var watch, unwatch []dependency.Object
	for o := range now {
		if !m.watched[o] {
			watch = append(watch, o)
		}
	}
	for o := range m.watched {
		if !now[o] {
			unwatch = append(unwatch, o)
			delete(m.observations, o)
		}
	}
	slices.SortFunc(watch, compareObjects)
	slices.SortFunc(unwatch, compareObjects)
	if !slices.Equal(changes.Add, watch) || !slices.Equal(changes.Remove, unwatch) {
		t.Fatalf("watch %v and unwatch %v, want %v and %v", changes.Add, changes.Remove, watch, unwatch)
	}
	m.watched = now
	for _, name := range set {
		for i := range m.policies[name].Spec.PolicyTemplates {
			if ref := (dependency.TemplateRef{Policy: name, Index: i}); !slices.Contains(changes.Templates, ref) {
				t.Fatalf("%s was set and is not to be evaluated again", ref)
			}
		}
	}
	m.checkNamed(t, before, changes.Templates)
}

// checkNamed requires that every template with another result than before is returned, and that what is
// returned exists, once, in order.
func (m *machine) checkNamed(t *rapid.T, before map[dependency.TemplateRef]string, returned []dependency.TemplateRef) {
	after := m.texts()
	for ref, text := range after {
		if before[ref] != text && !slices.Contains(returned, ref) {
			t.Fatalf("%s changed from\n%s\nto\n%s\nand is not among %v", ref, before[ref], text, returned)
		}
	}
	for i, ref := range returned {
		if _, found := after[ref]; !found || i > 0 && compareRefs(returned[i-1], ref) >= 0 {
			t.Fatalf("%v has a template that is not there, or is not sorted", returned)
		}
	}
}

func (m *machine) texts() map[dependency.TemplateRef]string {
	texts := map[dependency.TemplateRef]string{}
	for _, r := range m.evaluator.All() {
		for i, template := range r.Templates {
			texts[dependency.TemplateRef{Policy: r.Policy, Index: i}] = template.String() + "; behind " + template.Behind
		}
	}
	return texts
}

func (m *machine) dependents(o dependency.Object) []dependency.TemplateRef {
	var refs []dependency.TemplateRef
	for _, t := range newOracle(m.list(), m.observations).templates {
		if _, needs := t.needs[o]; needs {
			refs = append(refs, t.ref)
		}
	}
	return m.andLater(refs)
}

// andLater adds the templates that come after these while they are ready (P10).
func (m *machine) andLater(refs []dependency.TemplateRef) []dependency.TemplateRef {
	o := newOracle(m.list(), m.observations)
	for i, later := range o.templates {
		earlier := func(j int) bool { return slices.Contains(refs, o.templates[j].ref) }
		if !slices.Contains(refs, later.ref) && !later.invalid && !later.disabled && o.comesAfter(i, earlier) {
			refs = append(refs, later.ref)
		}
	}
	slices.SortFunc(refs, compareRefs)
	return refs
}

func (m *machine) list() []*policyv1.Policy {
	var list []*policyv1.Policy
	for _, name := range slices.Sorted(maps.Keys(m.policies)) {
		list = append(list, m.policies[name])
	}
	return list
}

func (m *machine) check(t *rapid.T) {
	if got, want := lines(m.evaluator.All()), lines(evaluate(m.list(), m.observations)); got != want {
		t.Fatalf("incremental\n%s\nfull\n%s", got, want)
	}
	full := dependency.NewEvaluator(cluster, nil)
	if _, err := full.Set(m.list()...); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(m.evaluator.Order()), fmt.Sprint(full.Order()); got != want {
		t.Fatalf("incremental order\n%s\nfull\n%s", got, want)
	}
	for _, r := range m.evaluator.All() {
		if got, found := m.evaluator.Policy(r.Policy); !found || got.String() != r.String() {
			t.Fatalf("policy %s is\n%s\nalone, and among all\n%s", r.Policy, got, r)
		}
	}
}
