// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// mistake spoils a dependency.
type mistake struct {
	name  string
	spoil func(d *policyv1.PolicyDependency)
	// names says that the dependency still names its object.
	names bool
}

func mistakes() []mistake {
	return []mistake{
		{"the compliance is spelled wrong", func(d *policyv1.PolicyDependency) { d.Compliance = "compliant" }, true},
		{"the compliance is missing", func(d *policyv1.PolicyDependency) { d.Compliance = "" }, true},
		{"the name is missing", func(d *policyv1.PolicyDependency) { d.Name = "" }, false},
		{"the kind is missing", func(d *policyv1.PolicyDependency) { d.Kind = "" }, false},
		{"the apiVersion is missing", func(d *policyv1.PolicyDependency) { d.APIVersion = "" }, false},
		{"the apiVersion cannot be read", func(d *policyv1.PolicyDependency) { d.APIVersion = "a/b/c" }, false},
		{"nothing is given", func(d *policyv1.PolicyDependency) { *d = policyv1.PolicyDependency{} }, false},
	}
}

// P1: x and y wait for each other. However y's dependency is spoiled, x does not become ready.
func TestAMistakeLeavesACycleClosed(t *testing.T) {
	for _, m := range mistakes() {
		for _, line := range []string{"y: b(x)", "y(x): b"} {
			policies := world("x: a(y)", line)
			m.spoil(dependenciesOf(policies)[1])
			results := evaluate(policies, observed("x", "y"))
			x, y := results[0].Templates[0], results[1].Templates[0]
			if x.State != dependency.StatePending || y.State != dependency.StateInvalid {
				t.Errorf("%s in %s:\n%s", m.name, line, lines(results))
			}
			if (x.Cycle != nil) != m.names {
				t.Errorf("%s in %s: the cycle is %q", m.name, line, x.Cycle)
			}
			if verb := results[0].Actions(having("x", x.Object))[0].Verb; verb != dependency.VerbLeave {
				t.Errorf("%s in %s: %s what x has", m.name, line, verb)
			}
		}
	}
}

// P1, P6: where it is unknown what an object leads to, it may be Pending because of the template. Nothing is deleted then.
func TestWhatIsPendingForAnUnnamedDependencyDeletesNothing(t *testing.T) {
	results := evaluate(world("x: a(y)", "y: b(#)"), observed("y?"))
	template := results[0].Templates[0]
	if len(template.Unmet) != 1 || template.Unmet[0].Reason != dependency.ReasonUnnamed {
		t.Errorf("x waits for %v", template.Unmet)
	}
	if verb := results[0].Actions(having("x", template.Object))[0].Verb; verb != dependency.VerbLeave {
		t.Errorf("%s what x has", verb)
	}
}

// dependenciesOf gives all dependencies of the policies, to change them.
func dependenciesOf(policies []*policyv1.Policy) []*policyv1.PolicyDependency {
	var all []*policyv1.PolicyDependency
	list := func(dependencies []policyv1.PolicyDependency) {
		for i := range dependencies {
			all = append(all, &dependencies[i])
		}
	}
	for _, p := range policies {
		list(p.Spec.Dependencies)
		for _, template := range p.Spec.PolicyTemplates {
			list(template.ExtraDependencies)
		}
	}
	return all
}

// checkMistake spoils one dependency, and compares the other templates with what they were without the mistake. None
// became ready or is deleted for it. Where the dependency still names its object, all are as before.
func checkMistake(t fataler, policies []*policyv1.Policy, observations known, at int, m mistake) {
	t.Helper()
	wrong := clone(policies)
	m.spoil(dependenciesOf(wrong)[at])
	before, after := evaluate(policies, observations), evaluate(wrong, observations)
	wasReady, wasDeleted := ready(before), deletions(before)
	for ref := range ready(after) {
		if !wasReady[ref] {
			t.Fatalf("%s: %s became ready:\n%s\nbefore\n%s", m.name, ref, lines(after), lines(before))
		}
	}
	for ref := range deletions(after) {
		if !wasDeleted[ref] {
			t.Fatalf("%s: %s is deleted:\n%s\nbefore\n%s", m.name, ref, lines(after), lines(before))
		}
	}
	for i := range after {
		for j, template := range after[i].Templates {
			was := before[i].Templates[j]
			if m.names && template.State != dependency.StateInvalid && render(template) != render(was) {
				t.Fatalf("%s: %s is no longer as before:\n%s\nbefore\n%s", m.name, template.Object, template, was)
			}
		}
	}
	checkAgainstOracle(t, wrong, observations)
}

// P1: three templates in two policies, with every set of dependencies that each could have, and every mistake in each.
func TestNoMistakeMakesAnotherTemplateReadyInAnySmallWorld(t *testing.T) {
	words := []string{"p", "q", "#a", "#b", "#c"}
	subset := func(bits int) string {
		var chosen []string
		for i, word := range words {
			if bits>>i&1 == 1 {
				chosen = append(chosen, word)
			}
		}
		return strings.Join(chosen, " ")
	}
	step := exhaustive.Of(997, 199, 41)
	for bits := 0; bits < 1<<15; bits += step {
		policies := world(
			fmt.Sprintf("p: a(%s) b(%s)", subset(bits&31), subset(bits>>5&31)),
			fmt.Sprintf("q: c(%s)", subset(bits>>10)),
		)
		for at := range dependenciesOf(policies) {
			for _, m := range mistakes() {
				checkMistake(t, policies, observed(words...), at, m)
			}
		}
	}
}

// P1: whatever is observed, and however many mistakes there are already.
func TestNoMistakeMakesAnotherTemplateReady(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := rapid.Custom(func(t *rapid.T) []*policyv1.Policy { return drawPolicies(t, allWants()...) }).
			Filter(func(policies []*policyv1.Policy) bool { return len(dependenciesOf(policies)) > 0 }).Draw(t, "policies")
		observations := drawObservations(t, policies)
		at := rapid.IntRange(0, len(dependenciesOf(policies))-1).Draw(t, "dependency to spoil")
		checkMistake(t, policies, observations, at, rapid.SampledFrom(mistakes()).Draw(t, "mistake"))
	})
}
