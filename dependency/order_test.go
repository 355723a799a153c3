package dependency_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/dependency"
)

func TestOrder(t *testing.T) {
	for _, test := range []struct {
		name     string
		policies []dependency.Policy
		want     string
	}{
		{"P8 without dependencies all at once", world("y: b", "x: a c"), "1: x[0] x[1] y[0]"},
		{"P8 a policy is waited for with all of its templates", world("x(y): a", "y: b c(#b)"), "1: y[0]\n2: y[1]\n3: x[0]"},
		{"P8 as soon as what it waits for", world("x: a b(#a) c(#b) d(#a)"), "1: x[0]\n2: x[1] x[3]\n3: x[2]"},
		{"P8 what is outside of the policies is there", world("x: a(elsewhere #outside!)"), "1: x[0]"},
		{"P8 a cycle and what hangs on it is blocked, the rest is not", world("x: a(#a) b(#a) c", "y(x): d", "z: e"),
			"1: x[2] z[0]\nx[0] waits for ConfigurationPolicy a\nx[1] waits for ConfigurationPolicy a\ny[0] waits for Policy x"},
		{"P8 an invalid template blocks what waits for it", world("x: a(y y!) b(#a) c(x)"),
			"x[0] is not processed\nx[1] waits for ConfigurationPolicy a\nx[2] waits for Policy x"},
		{"P8 its policy is not compliant, for who waits for that", world("x: a(y y!)", "z: b(x!)"), "1: z[0]\nx[0] is not processed"},
		{"P8 a disabled policy says nothing", world("-x: a", "y: b(x) c(#a) d(x!)"),
			"x[0] is not processed\ny[0] waits for Policy x\ny[1] waits for ConfigurationPolicy a\ny[2] waits for Policy x"},
		{"P8 nor does one without templates", world("x:", "y: b(x?)"), "y[0] waits for Policy x"},
		{"P8 a blocked template that is ignored does not block those that wait for its policy", world("x: a(#a)~ b", "y: c(x)"),
			"1: x[1]\n2: y[0]\nx[0] waits for ConfigurationPolicy a"},
		{"P8 what waits for a policy to be pending need not wait for its blocked", world("x: a(#a)", "y: c(x?)"),
			"1: y[0]\nx[0] waits for ConfigurationPolicy a"},
		{"P8 one of two that create an object is enough", world("x: a(#a)", "y: a", "z: b(#a)"),
			"1: y[0]\n2: z[0]\nx[0] waits for ConfigurationPolicy a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := dependency.NewEvaluator(cluster)
			if _, err := e.Set(test.policies...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, e.Order().String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// P8: what to watch, and from an object to the templates that name it.
func TestWatchesAndDependents(t *testing.T) {
	e := dependency.NewEvaluator(cluster)
	changes, err := e.Set(world("x(y): a(#b) b", "z: c(#b!)", "-off(gone): d", "bad: e(w w!)")...)
	if err != nil {
		t.Fatal(err)
	}
	b, w, y := object("#b"), object("w"), object("y")
	if diff := cmp.Diff([]dependency.Object{b, w, y}, changes.Watch); diff != "" {
		t.Errorf("watch: %s", diff)
	}
	ref := func(policy string, index int) dependency.TemplateRef {
		return dependency.TemplateRef{Policy: policy, Index: index}
	}
	if diff := cmp.Diff([]dependency.TemplateRef{ref("x", 0), ref("z", 0)}, e.Dependents(b)); diff != "" {
		t.Errorf("dependents: %s", diff)
	}
	compliant := dependency.Observation{Compliance: dependency.Compliant}
	if diff := cmp.Diff([]dependency.TemplateRef{ref("x", 0), ref("x", 1)}, e.Observe(y, compliant)); diff != "" {
		t.Errorf("observed: %s", diff)
	}
	if again := e.Observe(y, compliant); again != nil {
		t.Errorf("known before: %v", again)
	}
	if stranger := e.Observe(object("stranger"), compliant); stranger != nil {
		t.Errorf("nobody names it: %v", stranger)
	}

	// A policy that is set again with the same dependency keeps what was observed.
	changes, err = e.Set(world("x(y): a")...)
	if err != nil {
		t.Fatal(err)
	}
	if len(changes.Watch)+len(changes.Unwatch) > 0 {
		t.Errorf("watch %v and unwatch %v, want neither", changes.Watch, changes.Unwatch)
	}
	if result, _ := e.Policy("x"); result.Templates[0].State != dependency.StateReady {
		t.Errorf("%s is not ready: the observation was forgotten", result)
	}
	changes = e.Delete("x", "none")
	if diff := cmp.Diff([]dependency.Object{y}, changes.Unwatch); diff != "" {
		t.Errorf("unwatch: %s", diff)
	}
}
