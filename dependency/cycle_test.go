package dependency_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/dependency"
)

// cycles has the evaluator's cycles, one a line.
func cycles(e *dependency.Evaluator) string {
	var texts []string
	for _, c := range e.Cycles() {
		texts = append(texts, c.String())
	}
	return strings.Join(texts, "\n")
}

func TestCycles(t *testing.T) {
	for _, test := range []struct {
		name     string
		policies []dependency.Policy
		want     string
	}{
		{"P8 none without dependencies", world("x: a b", "y: c"), ""},
		{"P8 none in a diamond", world("x: a(#b #c)", "y: b(#d) c(#d) d"), ""},
		{"P8 a template that waits for its own object", world("x: a(#a)"), "ConfigurationPolicy a → ConfigurationPolicy a"},
		{"P8 a template that waits for its own policy", world("x: a(x) b"), "ConfigurationPolicy a → Policy x → ConfigurationPolicy a"},
		{"P8 a policy that waits for itself: through its first template", world("x(x): a b"), "ConfigurationPolicy a → Policy x → ConfigurationPolicy a"},
		{"P8 two templates of one policy", world("x: b(#a) a(#b)"), "ConfigurationPolicy b → ConfigurationPolicy a → ConfigurationPolicy b"},
		{"P8 two policies, as in the design document", world("y(x): b", "x(y): a"),
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → Policy x → ConfigurationPolicy a"},
		{"P8 through a policy one way and an object the other", world("x: c a(y)", "y: b(#a)"),
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"P8 waiting for NonCompliant is waiting", world("x: a(#b!) b(#a)"), "ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"P8 waiting for Pending, too", world("x: a(y?)", "y: b(x)"),
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → Policy x → ConfigurationPolicy a"},
		{"P8 ignorePending breaks no cycle", world("x: a(y)~", "y: b(x)~"),
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → Policy x → ConfigurationPolicy a"},
		{"P8 an invalid template is on the cycle that it will be on once it is valid", world("x: a(#b #b!) b(#a)"),
			"ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"P8 one of a disabled policy waits for nothing", world("-x(y): a", "y(x): b"), ""},
		{"P8 the shortest through the first template", world("x: a(#b #c) b(#c) c(#a)"), "ConfigurationPolicy a → ConfigurationPolicy c → ConfigurationPolicy a"},
		{"P8 each set of templates that wait for each other has one", world("x: a(#b) b(#a) c(#d #a) d(#c)"),
			"ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a\nConfigurationPolicy c → ConfigurationPolicy d → ConfigurationPolicy c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := dependency.NewEvaluator(cluster)
			if _, err := e.Set(test.policies...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, cycles(e)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// P8: a template on a cycle is pending although all it names was observed as wanted, with its own path; one that
// hangs on it is judged by what was observed.
func TestTemplatesOnACycleArePendingWithThePath(t *testing.T) {
	policies := world("x: a(#b #c) b(#a) c(#a) d(#a)")
	results := evaluate(policies, observed("#a", "#b", "#c"))
	want := `Policy x
  [0] ConfigurationPolicy a: Pending: Dependencies were not satisfied: 2 are still pending (ConfigurationPolicy b, ConfigurationPolicy c); it waits for itself: ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a
  [1] ConfigurationPolicy b: Pending: Dependencies were not satisfied: 1 is still pending (ConfigurationPolicy a); it waits for itself: ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a
  [2] ConfigurationPolicy c: Pending: Dependencies were not satisfied: 1 is still pending (ConfigurationPolicy a); it waits for itself: ConfigurationPolicy a → ConfigurationPolicy c → ConfigurationPolicy a
  [3] ConfigurationPolicy d: Ready`
	if diff := cmp.Diff(want, lines(results)); diff != "" {
		t.Error(diff)
	}
	if got, want := results[0].Templates[1].Unmet[0].String(), "ConfigurationPolicy a waits for this template"; got != want {
		t.Errorf("unmet %q, want %q", got, want)
	}
}

// P1, P8: a dependency that contradicts another makes its template invalid, and no other one ready.
func TestAMistakeBreaksNoCycle(t *testing.T) {
	got := lines(evaluate(world("x: a(#b #b!) b(#a)"), observed("#a", "#b")))
	want := `Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.policy-templates[0].extraDependencies[0].compliance for the same ConfigurationPolicy b
  [1] ConfigurationPolicy b: Pending: Dependencies were not satisfied: 1 is still pending (ConfigurationPolicy a); it waits for itself: ConfigurationPolicy a → ConfigurationPolicy b → ConfigurationPolicy a`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
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

// P8: cycles come and go with the policies on them, and others are told.
func TestCyclesFollowThePolicies(t *testing.T) {
	e := dependency.NewEvaluator(cluster)
	set := func(line string) func() dependency.Changes {
		return func() dependency.Changes {
			changes, err := e.Set(world(line)...)
			if err != nil {
				t.Fatal(err)
			}
			return changes
		}
	}
	remove := func(name string) func() dependency.Changes {
		return func() dependency.Changes { return e.Delete(name) }
	}
	steps := []struct {
		why     string
		do      func() dependency.Changes
		changed string
		cycles  string
	}{
		{"y is not there yet", set("x: a(y)"), "[x[0]]", ""},
		{"it comes and closes a cycle", set("y: b(#a) c"), "[x[0] y[0] y[1]]",
			"ConfigurationPolicy a → Policy y → ConfigurationPolicy b → ConfigurationPolicy a"},
		{"a policy beside it is no matter", set("z: d(#a)"), "[z[0]]",
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

// P8: a chain, and a ring, longer than any fleet has policies.
func TestLongChainsAndRings(t *testing.T) {
	const n = 20_000
	policies := make([]dependency.Policy, n)
	for i := range policies {
		policies[i] = world(fmt.Sprintf("p%05d(p%05d): t%05d", i, i+1, i))[0]
	}
	chain := dependency.NewEvaluator(cluster)
	for _, p := range policies { // One by one: the cost must not grow with the chain behind.
		if _, err := chain.Set(p); err != nil {
			t.Fatal(err)
		}
	}
	if order := chain.Order(); len(order.Stages) != n || len(order.Blocked) > 0 {
		t.Errorf("%d stages and %d blocked, want %d and none", len(order.Stages), len(order.Blocked), n)
	}
	changes, err := chain.Set(world(fmt.Sprintf("p%05d(p00000): last", n))...)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes.Templates) != n+1 {
		t.Errorf("%d templates changed, want %d", len(changes.Templates), n+1)
	}
	if c := chain.Cycles(); len(c) != 1 || len(c[0]) != 2*(n+1)+1 {
		t.Errorf("%d cycles, want one through all", len(c))
	}
	if order := chain.Order(); len(order.Stages) > 0 || len(order.Blocked) != n+1 {
		t.Errorf("%d stages, want none", len(order.Stages))
	}
}

// Methods that change nothing may run at the same time; the race detector says whether they do.
func TestReadingAtTheSameTime(t *testing.T) {
	e := dependency.NewEvaluator(cluster)
	if _, err := e.Set(world("x: a(y) b", "y: c(#a #b)")...); err != nil {
		t.Fatal(err)
	}
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			e.Policies()
			e.Policy("x")
			e.Order()
			e.Cycles()
			e.Watches()
			e.Dependents(object("y"))
		})
	}
	readers.Wait()
}
