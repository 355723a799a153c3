// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// cycles has the evaluator's cycles, one a line.
func cycles(e *dependency.Evaluator) string {
	var texts []string
	for _, c := range e.Order().Cycles {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, "\n")
}

// P8: an object is connected whichever version names it, and in no other namespace or group.
func TestObjectsAreConnectedInAnyVersion(t *testing.T) {
	for _, test := range []struct {
		name, apiVersion, kind, namespace string
		want                              bool
	}{
		{"as the template has it", policyVersion, "ConfigurationPolicy", "", true},
		{"in another version", "policy.open-cluster-management.io/v2", "ConfigurationPolicy", "", true},
		{"policies whatever the namespace", policyVersion, "ConfigurationPolicy", "elsewhere", true},
		{"not in another group", "example.com/v1", "ConfigurationPolicy", cluster, false},
		{"not of another kind", policyVersion, "OperatorPolicy", "", false},
	} {
		t.Run("P8 "+test.name, func(t *testing.T) {
			policies := world("x: a(#a)")
			d := &policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0]
			d.APIVersion, d.Kind, d.Namespace = test.apiVersion, test.kind, test.namespace
			result := evaluate(policies, nil)[0].Templates[0]
			if got := result.Cycle != nil; got != test.want {
				t.Errorf("on a cycle: %t, want %t: %s", got, test.want, result)
			}
		})
	}
}

// P8: a policy that depends on itself is valid. Its templates are pending, with the cycle.
func TestAPolicyThatDependsOnItselfIsValid(t *testing.T) {
	policies := world("x: a(x)")
	if errs := dependency.Validate(policies[0], nil); len(errs) > 0 {
		t.Errorf("refused: %v", errs)
	}
	if result := evaluate(policies, nil)[0].Templates[0]; result.State != dependency.StatePending || result.Cycle == nil {
		t.Errorf("no cycle: %s", result)
	}
}

// P8: cycles appear and disappear with the policies on them, and the templates on them are evaluated again.
func TestCyclesFollowThePolicies(t *testing.T) {
	e := dependency.NewEvaluator(cluster, nil)
	set := func(line string) func() dependency.Watches {
		return func() dependency.Watches {
			changes, err := e.Set(world(line)...)
			if err != nil {
				t.Fatal(err)
			}
			return changes
		}
	}
	remove := func(name string) func() dependency.Watches {
		return func() dependency.Watches { return e.Delete(name) }
	}
	steps := []struct {
		why     string
		do      func() dependency.Watches
		changed string
		cycles  string
	}{
		{"y is not there yet", set("x: a(y)"), "[x[0]]", ""},
		{"it comes and closes a cycle", set("y: b(#a) c"), "[x[0] y[0] y[1]]",
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"an unrelated policy changes nothing", set("z: d(#a)"), "[z[0]]",
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"now that joins, too", set("x: a(y z)"), "[x[0] y[0] z[0]]",
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"one cycle goes, the other stays", remove("y"), "[x[0] z[0]]",
			"ConfigurationPolicy a → Policy z → ConfigurationPolicy d → ConfigurationPolicy a"},
		{"disabled, it is on none", set("-z: d(#a)"), "[x[0] z[0]]", ""},
	}
	for _, step := range steps {
		changes := step.do()
		if got := fmt.Sprint(changes.Templates); got != step.changed {
			t.Errorf("%s: %s changed, want %s", step.why, got, step.changed)
		}
		if got := cycles(e); got != step.cycles {
			t.Errorf("%s: cycles\n%s\nwant\n%s", step.why, got, step.cycles)
		}
	}
}

// P8: an object on a cycle becomes a given policy, and is none any more. Both change the cycle.
func TestACycleThroughAPolicyThatATemplateCreates(t *testing.T) {
	e := dependency.NewEvaluator(cluster, nil)
	policies := world("x: a(#c)", "y: c(z)")
	policies[0].Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{"apiVersion":"` + policyVersion + `","kind":"Policy","metadata":{"name":"z"}}`)
	for _, step := range []struct {
		why, cycle string
		do         func() (dependency.Watches, error)
	}{
		{"z is not given", "Policy z → ConfigurationPolicy c → Policy z", func() (dependency.Watches, error) { return e.Set(policies...) }},
		{"z is given", "Policy z → ConfigurationPolicy c → Policy z → Policy z", func() (dependency.Watches, error) { return e.Set(world("z: b")...) }},
		{"z is deleted", "Policy z → ConfigurationPolicy c → Policy z", func() (dependency.Watches, error) { return e.Delete("z"), nil }},
	} {
		watches, err := step.do()
		if err != nil {
			t.Fatal(err)
		}
		if got := cycles(e); got != step.cycle {
			t.Errorf("%s: %s, want %s", step.why, got, step.cycle)
		}
		if changed := fmt.Sprint(watches.Templates); !strings.Contains(changed, "x[0] y[0]") {
			t.Errorf("%s: %s changed", step.why, changed)
		}
	}
}

// P8: a chain, and a ring, longer than any fleet has policies.
func TestLongChainsAndRings(t *testing.T) {
	n := exhaustive.Of(5_000, 20_000)
	policies := make([]*policyv1.Policy, n)
	for i := range policies {
		policies[i] = world(fmt.Sprintf("p%05d(p%05d): t%05d", i, i+1, i))[0]
	}
	chain := dependency.NewEvaluator(cluster, nil)
	for _, p := range policies { // One by one: the cost must not grow with the chain behind.
		if _, err := chain.Set(p); err != nil {
			t.Fatal(err)
		}
	}
	if order := chain.Order(); len(order.Turns) != n || len(order.Blocked) > 0 {
		t.Errorf("%d turns and %d blocked, want %d and none", len(order.Turns), len(order.Blocked), n)
	}
	changes, err := chain.Set(world(fmt.Sprintf("p%05d(p00000): last", n))...)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes.Templates) != n+1 {
		t.Errorf("%d templates changed, want %d", len(changes.Templates), n+1)
	}
	if c := chain.Order().Cycles; len(c) != 1 || lengthOf(c[0]) != 2*(n+1)+1 {
		t.Errorf("%d cycles, want one through all", len(c))
	}
	if order := chain.Order(); len(order.Turns) > 0 || len(order.Blocked) != n+1 {
		t.Errorf("%d turns, want none", len(order.Turns))
	}
}

// Any methods may run at the same time; the race detector says whether they do.
func TestConcurrentUse(t *testing.T) {
	e := dependency.NewEvaluator(cluster, nil)
	var users sync.WaitGroup
	for i := range 4 {
		users.Go(func() {
			for range 20 {
				if _, err := e.Set(world("x: a(y) b", "y: c(#a #b)")...); err != nil {
					t.Error(err)
				}
				e.Observe(object("y"), dependency.Observation{Compliance: policyv1.Compliant, Detail: strconv.Itoa(i)})
				for _, evaluation := range e.All() {
					_ = evaluation.String()
				}
				e.Policy("x")
				_ = e.Order().String()
				e.Delete("y")
			}
		})
	}
	users.Wait()
}
