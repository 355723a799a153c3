// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// shape makes n policies that depend on each other in some way.
type shape struct {
	name string
	make func(n int) []*policyv1.Policy
	// length is how many elements the cycle of the i-th policy has, the first of them twice; 0 if there is none.
	length func(i, n int) int
}

func shapes() []shape {
	name := func(i int) string { return fmt.Sprintf("default.policy-%05d", i) }
	// Each policy i waits for the policies that on gives, with as many templates.
	policies := func(templates int, on func(i, n int) []int) func(n int) []*policyv1.Policy {
		return func(n int) []*policyv1.Policy {
			var lines []string
			for i := range n {
				line := name(i) + "("
				for _, j := range on(i, n) {
					line += name(j) + " "
				}
				line += "):"
				for t := range templates {
					line += fmt.Sprintf(" template-%05d-%d", i, t)
				}
				lines = append(lines, line)
			}
			return world(lines...)
		}
	}
	next := func(i, n int) []int { return []int{(i + 1) % n} }
	whole := func(_, n int) int { return 2*n + 1 }
	none := func(int, int) int { return 0 }
	return []shape{
		{"ring", policies(1, next), whole},
		{"ring of two templates", policies(2, next), whole},
		{"ring of objects", func(n int) []*policyv1.Policy {
			lines := make([]string, n)
			for i := range n { // Two ways through each policy, so that some templates are off the ring.
				lines[i] = fmt.Sprintf("%s: in-%05d(#one-%05d #two-%05d) one-%05d(#in-%05d) two-%05d(#in-%05d)", name(i), i, i, i, i, (i+1)%n, i, (i+1)%n)
			}
			return world(lines...)
		}, whole},
		{"ring of templates", func(n int) []*policyv1.Policy {
			lines := make([]string, n)
			for i := range n {
				lines[i] = fmt.Sprintf("%s: template-%05d(#template-%05d)", name(i), i, (i+1)%n)
			}
			return world(lines...)
		}, func(_, n int) int { return n + 1 }},
		{"two rings", policies(1, func(i, n int) []int {
			switch {
			case i == 0: // It is on both rings.
				return []int{1, n / 2}
			case i == n/2-1:
				return []int{0}
			default:
				return next(i, n)
			}
		}), func(i, n int) int {
			if i < n/2 {
				return 2*(n/2) + 1
			}
			return 2*(n-n/2) + 3
		}},
		{"chain", policies(1, func(i, n int) []int { return []int{i + 1} }), none},
		{"star", policies(1, func(i, n int) []int { return []int{0}[:min(i, 1)] }), none},
	}
}

func lengthOf(c dependency.Cycle) int {
	length := len(c)
	for _, w := range c {
		length += w.Skipped
	}
	return length
}

// P8: a long cycle has its beginning, how many more there are, and its end, from each template to itself.
func TestALongCycleHasItsBeginningAndItsEnd(t *testing.T) {
	for _, s := range shapes() {
		for _, n := range []int{4, 10, 14, 16, 18, 30, 32, 33, 34, 66, 140}[:exhaustive.Of(10, 11)] {
			policies := s.make(n)
			o := newOracle(policies, nil)
			i := -1
			for at, evaluation := range evaluate(policies, nil) {
				want := s.length(at, n)
				for _, template := range evaluation.Templates {
					i++
					cycle := template.Cycle
					if lengthOf(cycle) != want {
						t.Fatalf("%s of %d: the cycle of %s has %d elements, want %d: %s", s.name, n, template.Object, lengthOf(cycle), want, cycle)
					}
					if fault := o.faultOf(cycle, i); cycle != nil && (fault != "" || cycle[0].Object != template.Object) {
						t.Fatalf("%s of %d: the cycle of %s %s: %s", s.name, n, template.Object, fault, cycle)
					}
					if len(cycle) > 33 || want <= 33 && len(cycle) != want {
						t.Fatalf("%s of %d: of %d elements %d are kept", s.name, n, want, len(cycle))
					}
				}
			}
		}
	}
}

// P4, P8: what a template's evaluation and its message take does not grow with the number of policies, however they
// depend on each other.
func TestMessagesTakeNoMoreInALargeFleet(t *testing.T) {
	for _, s := range shapes() {
		cost := func(n int) float64 {
			e := dependency.NewEvaluator(cluster, nil)
			if _, err := e.Set(s.make(n)...); err != nil {
				t.Fatal(err)
			}
			const asked = 20
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for i := range asked {
				evaluation, _ := e.Policy(fmt.Sprintf("default.policy-%05d", i*n/asked))
				for _, template := range evaluation.Templates {
					_ = template.Message()
				}
			}
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc-before.TotalAlloc) / asked
		}
		if small, large := cost(200), cost(2000); large > 1.2*small+1000 {
			t.Errorf("%s: %.0f bytes for each policy of 200, %.0f of 2000", s.name, small, large)
		}
	}
}

// All policies are evaluated, with their messages.
func BenchmarkMessages(b *testing.B) {
	for _, s := range shapes() {
		b.Run(s.name, func(b *testing.B) {
			sizes(b, func(b *testing.B, n int) {
				e := set(b, s.make(n))
				for b.Loop() {
					for _, evaluation := range e.All() {
						for _, template := range evaluation.Templates {
							_ = template.Message()
						}
					}
				}
			})
		})
	}
}
