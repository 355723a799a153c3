package dependency_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
)

// fataler is testing.T or rapid.T.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkAgainstOracle compares all that follows from policies and observations with the oracle.
func checkAgainstOracle(t fataler, policies []dependency.Policy, observations dependency.Observations) {
	t.Helper()
	e := dependency.NewEvaluator(cluster)
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
		if got.Cycle != nil {
			if fault := o.faultOf(got.Cycle, i); fault != "" {
				t.Fatalf("the cycle of %s, %s, %s", template.ref, got.Cycle, fault)
			}
		}
	}
	if got, want := e.Order().String(), o.order(); got != want {
		t.Fatalf("the order is\n%s\nwant\n%s", got, want)
	}
	if got, want := len(e.Cycles()), o.components(); got != want {
		t.Fatalf("%d cycles, want %d: %v", got, want, e.Cycles())
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
	step := 1
	if testing.Short() {
		step = 7
	}
	for bits := 0; bits < 1<<15; bits += step {
		policies := world(
			fmt.Sprintf("p: a(%s) b(%s)", subset(bits&31), subset(bits>>5&31)),
			fmt.Sprintf("q: c(%s)", subset(bits>>10)),
		)
		checkAgainstOracle(t, policies, observations)
	}
}

func TestRandomWorldsAgreeWithTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		checkAgainstOracle(t, policies, drawObservations(t, policies))
	})
}

// P7: every list of up to four parts.
func TestAggregateAgreesWithTheOracle(t *testing.T) {
	values := []string{"Compliant", "NonCompliant", "Pending", ""}
	for n := range 5 {
		for code := range 1 << (2 * n) {
			parts := make([]string, n)
			compliances := make([]dependency.Compliance, n)
			for i := range parts {
				parts[i] = values[code>>(2*i)&3]
				compliances[i] = dependency.Compliance(parts[i])
			}
			if got, want := dependency.Aggregate(compliances...), naiveAggregate(parts); string(got) != want {
				t.Fatalf("Aggregate(%q) = %q, want %q", parts, got, want)
			}
		}
	}
}

func TestNothingDependsOnTheOrderOfInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policies := drawPolicies(t, allWants()...)
		observations := drawObservations(t, policies)
		e := dependency.NewEvaluator(cluster)
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
		one := dependency.NewEvaluator(cluster)
		for _, p := range mixed {
			if _, err := one.Set(p); err != nil {
				t.Fatal(err)
			}
		}
		for o, observation := range observations {
			e.Observe(o, observation)
			one.Observe(o, observation)
		}
		invalid := func(r dependency.PolicyResult) dependency.PolicyResult {
			for i := range r.Templates {
				r.Templates[i].Err = nil // It says at which place in the lists the fault is.
			}
			return r
		}
		var got, want []dependency.PolicyResult
		for i, r := range e.Policies() {
			want = append(want, invalid(r))
			got = append(got, invalid(one.Policies()[i]))
		}
		if lines(got) != lines(want) {
			t.Fatalf("got\n%s\nwant\n%s", lines(got), lines(want))
		}
		if fmt.Sprint(one.Cycles()) != fmt.Sprint(e.Cycles()) || one.Order().String() != e.Order().String() ||
			!slices.Equal(one.Watches(), e.Watches()) {
			t.Fatalf("cycles, order or watches differ:\n%v\n%v\n%v\n%v", one.Cycles(), e.Cycles(), one.Order(), e.Order())
		}
	})
}
