// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// fleet is n policies of 5 templates with 3 dependencies each: on a policy, on a template of another policy and
// on an object outside. There is no cycle: all lead to earlier policies.
func fleet(n int) []*policyv1.Policy {
	policies := make([]*policyv1.Policy, n)
	for i := range policies {
		p := new(policyv1.Policy)
		policies[i] = p
		p.ObjectMeta = metav1.ObjectMeta{Name: fmt.Sprintf("default.policy-%05d", i), Namespace: cluster}
		for j := range 5 {
			earlier := (i*7 + j*13) % max(i, 1)
			p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, policyv1.PolicyTemplate{
				ObjectDefinition: definition(fmt.Sprintf("template-%05d-%d", i, j)),
				ExtraDependencies: []policyv1.PolicyDependency{
					dependencyOf(fmt.Sprintf("default.policy-%05d", earlier)),
					dependencyOf(fmt.Sprintf("#template-%05d-%d", earlier, (j+1)%5)),
					dependencyOf(fmt.Sprintf("#outside-%05d", i%100)),
				},
			})
		}
	}
	if n > 0 {
		for j := range policies[0].Spec.PolicyTemplates {
			policies[0].Spec.PolicyTemplates[j].ExtraDependencies = nil
		}
	}
	return policies
}

// ring is fleet with the last policy for the first to wait for, so that nearly all is one component.
func ring(n int) []*policyv1.Policy {
	policies := fleet(n)
	for i := range policies {
		previous := dependencyOf(fmt.Sprintf("default.policy-%05d", (i+n-1)%n))
		policies[i].Spec.Dependencies = append(policies[i].Spec.Dependencies, previous)
	}
	return policies
}

func sizes(b *testing.B, f func(b *testing.B, n int)) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000) {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			f(b, n)
		})
	}
}

// set returns an evaluator that knows the policies and every object, half of them as they are waited for.
func set(tb testing.TB, policies []*policyv1.Policy) *dependency.Evaluator {
	e := dependency.NewEvaluator(cluster, nil)
	changes, err := e.Set(policies...)
	if err != nil {
		tb.Fatal(err)
	}
	for i, o := range changes.Add {
		observation := dependency.Observation{Compliance: policyv1.Compliant}
		if i%2 == 1 {
			observation.Compliance = policyv1.NonCompliant
		}
		e.Observe(o, observation)
	}
	return e
}

// All at once from nothing: read the policies, index them, find cycles, evaluate.
func BenchmarkEvaluate(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		policies := fleet(n)
		observations := observed("#outside-00001", "default.policy-00001")
		for b.Loop() {
			if _, err := dependency.Evaluate(cluster, policies, observations, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// The results of all policies from an evaluator that knows them.
func BenchmarkEvaluatorPolicies(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		e := set(b, fleet(n))
		for b.Loop() {
			e.All()
		}
	})
}

// One object changes, and the policies of the templates that name it, about ten, are evaluated again.
func BenchmarkEvaluatorObserve(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		policies := fleet(n)
		e := set(b, policies)
		named := map[string]int{}
		for _, p := range policies {
			for _, template := range p.Spec.PolicyTemplates {
				for _, d := range template.ExtraDependencies {
					named[d.Kind+" "+d.Name]++
				}
			}
		}
		var o dependency.Object
		for _, o = range watches(policies) {
			if named := named[o.String()]; named >= 8 && named <= 12 {
				break
			}
		}
		values := []policyv1.ComplianceState{policyv1.Compliant, policyv1.NonCompliant}
		templates := 0
		for i := 0; b.Loop(); i++ {
			for _, ref := range e.Observe(o, dependency.Observation{Compliance: values[i%2]}) {
				e.Policy(ref.Policy)
				templates++
			}
		}
		b.ReportMetric(float64(templates)/float64(b.N), "templates/op")
	})
}

// One policy changes.
func BenchmarkEvaluatorSet(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		policies := fleet(n)
		e := set(b, policies)
		for i := 0; b.Loop(); i++ {
			if _, err := e.Set(policies[(n-1)-i%(n/2)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// All policies are on cycles with each other: what BenchmarkEvaluate does but for evaluating, and cycles.
func BenchmarkEvaluatorSetRing(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		policies := ring(n)
		for b.Loop() {
			e := dependency.NewEvaluator(cluster, nil)
			if _, err := e.Set(policies...); err != nil {
				b.Fatal(err)
			}
			if p, _ := e.Policy(policies[0].Name); len(p.Templates[0].Cycle) == 0 {
				b.Fatal("no cycle")
			}
		}
	})
}

// One policy of a ring of all policies is set again, so that all cycles are searched for again: the search alone.
func BenchmarkEvaluatorSetInRing(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		policies := ring(n)
		e := set(b, policies)
		for b.Loop() {
			changes, err := e.Set(policies[n/2])
			if err != nil {
				b.Fatal(err)
			}
			if len(changes.Templates) != 5*n {
				b.Fatalf("%d templates are on the cycles, want %d", len(changes.Templates), 5*n)
			}
		}
	})
}

// Includes the search for components in all that the policies hold.
func BenchmarkEvaluatorOrder(b *testing.B) {
	sizes(b, func(b *testing.B, n int) {
		e := set(b, fleet(n))
		for b.Loop() {
			e.Order()
		}
	})
}
