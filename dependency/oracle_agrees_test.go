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

// fataler is testing.T or rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkAgainstOracle compares all that follows from policies and observations with the oracle.
func checkAgainstOracle(t fataler, policies []*policyv1.Policy, observations known) {
	t.Helper()
	e := dependency.NewEvaluator(cluster, nil)
	if _, err := e.Set(policies...); err != nil {
		t.Fatalf("%v", err)
	}
	for o, observation := range observations {
		e.Observe(o, observation)
	}
	o := newOracle(policies, observations)
	for i, template := range o.templates {
		p, _ := e.Policy(template.ref.Policy)
		got := p.Templates[template.ref.Index]
		if text, want := render(got), o.result(i); text != want {
			t.Fatalf("%s is\n%s, want\n%s", template.ref, text, want)
		}
		alone := dependency.Evaluation{Policy: template.ref.Policy, Templates: []dependency.TemplateEvaluation{got}}
		active, missing := o.action(i)
		if verb := alone.Actions(having(template.ref.Policy, template.object))[0].Verb; string(verb) != active {
			t.Fatalf("%s, active: %s, want %s", got, verb, active)
		}
		if verb := alone.Actions(nil)[0].Verb; string(verb) != missing {
			t.Fatalf("%s, missing: %s, want %s", got, verb, missing)
		}
		if got.Cycle != nil {
			if fault := o.faultOf(got.Cycle, i); fault != "" {
				t.Fatalf("the cycle of %s, %s, %s", template.ref, got.Cycle, fault)
			}
		}
	}
	order := e.Order()
	order.Cycles = nil
	if got, want := order.String(), o.order(); got != want {
		t.Fatalf("the order is\n%s\nwant\n%s", got, want)
	}
	if got, want := len(e.Order().Cycles), o.components(); got != want {
		t.Fatalf("%d cycles, want %d: %v", got, want, e.Order().Cycles)
	}
}

// components counts the sets of templates that wait for each other.
func (o *oracle) components() int {
	count := 0
	for i := range o.templates {
		first := true
		for j := range i {
			first = first && !(o.waits[i][j] && o.waits[j][i])
		}
		if first && o.waits[i][i] {
			count++
		}
	}
	return count
}

// P1, P3, P4, P8: three templates in two policies, with every set of dependencies that each could have.
func TestEverySmallWorldAgreesWithTheOracle(t *testing.T) {
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
	observations := observed(words...)
	step := exhaustive.Of(37, 7, 1)
	for bits := 0; bits < 1<<15; bits += step {
		policies := world(
			fmt.Sprintf("p: a(%s) b(%s)", subset(bits&31), subset(bits>>5&31)),
			fmt.Sprintf("q: c(%s)", subset(bits>>10)),
		)
		checkAgainstOracle(t, policies, observations)
	}
}

// P3, P8: two templates of two policies wait for a ConstraintTemplate that the second creates, and a third for what becomes
// of their policies, in every way and whatever is observed.
func TestEverySmallWorldWithAConstraintTemplateAgreesWithTheOracle(t *testing.T) {
	wants := []string{"", "!", "?", "*"}
	for _, a := range []string{"+g", "+h", "p", "q"} {
		for _, b := range []string{"", "+g", "#a", "#outside", "p", "q", "#"} {
			for _, want := range wants {
				for _, other := range wants {
					if b != "" && b != "#" {
						b = strings.TrimRight(b, "!?*") + other
					}
					policies := world(fmt.Sprintf("p: a(%s%s)", a, want), fmt.Sprintf("q: +g(%s)", b), fmt.Sprintf("r: c(q%s)", other))
					for _, g := range []dependency.Observation{{Compliance: policyv1.Compliant}, {Problem: dependency.ReasonNotFound}, {Problem: dependency.ReasonReadFailed}} {
						observations := observed("p", "q", "#a", "#outside")
						observations[object("+g")], observations[object("+h")] = g, g
						checkAgainstOracle(t, policies, observations)
					}
				}
			}
		}
	}
}

func TestRandomWorldsAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		checkAgainstOracle(t, policies, drawObservations(t, policies))
	})
}

// P8: neither the order of policies nor the order of what they name matters.
func TestNothingDependsOnTheOrderOfInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		observations := drawObservations(t, policies)
		e := dependency.NewEvaluator(cluster, nil)
		if _, err := e.Set(policies...); err != nil {
			t.Fatal(err)
		}

		mixed := rapid.Permutation(clone(policies)).Draw(t, "policies mixed")
		for i := range mixed {
			mixed[i].Spec.Dependencies = rapid.Permutation(mixed[i].Spec.Dependencies).Draw(t, "dependencies mixed")
			for j := range mixed[i].Spec.PolicyTemplates {
				extra := &mixed[i].Spec.PolicyTemplates[j].ExtraDependencies
				*extra = rapid.Permutation(*extra).Draw(t, "extra mixed")
			}
		}
		one := dependency.NewEvaluator(cluster, nil)
		for _, p := range mixed {
			if _, err := one.Set(p); err != nil {
				t.Fatal(err)
			}
		}
		for o, observation := range observations {
			e.Observe(o, observation)
			one.Observe(o, observation)
		}
		invalid := func(r dependency.Evaluation) dependency.Evaluation {
			for i := range r.Templates {
				r.Templates[i].Err = nil // It says at which place in the lists the fault is.
			}
			return r
		}
		var got, want []dependency.Evaluation
		for i, r := range e.All() {
			want = append(want, invalid(r))
			got = append(got, invalid(one.All()[i]))
		}
		if lines(got) != lines(want) {
			t.Fatalf("got\n%s\nwant\n%s", lines(got), lines(want))
		}
		if fmt.Sprint(one.Order()) != fmt.Sprint(e.Order()) {
			t.Fatalf("the orders differ:\n%v\n%v", one.Order(), e.Order())
		}
	})
}
