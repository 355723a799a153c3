// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P10: two policies of a cluster have a template for the same object. The policy that owns it keeps it, and the others say so.
func TestTwoPoliciesWithTheSameObject(t *testing.T) {
	const keeps, creates, first = "update ConfigurationPolicy a", "create ConfigurationPolicy a", "also has a template for ConfigurationPolicy a, and comes first by name"
	observed := func(policy string, c policyv1.ComplianceState) dependency.Observation {
		return dependency.Observation{Compliance: c, Policy: policy}
	}
	for _, test := range []struct {
		why  string
		own  dependency.Observation
		p, q string // what they do
		// their compliances
		pIs, qIs policyv1.ComplianceState
	}{
		{"the second has it, as it came first", observed("q", "Compliant"), "Policy q owns ConfigurationPolicy a already: rename one of the templates", keeps, "NonCompliant", "Compliant"},
		{"the first has it", observed("p", "Pending"), keeps, "Policy p owns ConfigurationPolicy a already: rename one of the templates", "Pending", "NonCompliant"},
		{"a third has it, which is gone", observed("gone", "Compliant"), "Policy gone owns", "Policy gone owns", "NonCompliant", "NonCompliant"},
		{"it belongs to no policy", observed("", "Compliant"), "exists already and belongs to no policy: delete it", "exists already and belongs to no policy: delete it", "NonCompliant", "NonCompliant"},
		{"it is not there", dependency.Observation{Problem: dependency.ReasonNotFound}, creates, "Policy p " + first, "", "NonCompliant"},
		{"the cluster has no API for it", dependency.Observation{Problem: dependency.ReasonNoAPI}, "the cluster has no API for", "Policy p " + first, "NonCompliant", "NonCompliant"},
		{"it cannot be read", dependency.Observation{Problem: dependency.ReasonReadFailed, Detail: "timeout"}, "it cannot be read: timeout", "it cannot be read: timeout", "", ""},
		{"it was not read", dependency.Observation{}, "it has not been read yet", "it has not been read yet", "", ""},
	} {
		own := known{object("#a"): test.own}
		for i, e := range evaluate(world("p: a", "q: a"), nil) {
			action, compliance := []string{test.p, test.q}[i], []policyv1.ComplianceState{test.pIs, test.qIs}[i]
			if got := e.Actions(own)[0].String(); !strings.Contains(got, action) {
				t.Errorf("%s: policy %s: %q, want %q in it", test.why, e.Policy, got, action)
			}
			if got := e.Compliance(own, ""); got != compliance {
				t.Errorf("%s: policy %s is %q, want %q", test.why, e.Policy, got, compliance)
			}
		}
	}
}

// P10: disabled policies and invalid templates create nothing, so they take no place.
func TestWhoCreatesNothingTakesNoPlace(t *testing.T) {
	for _, other := range []string{"-p: a", "p: a a", "p: a(y y!)"} {
		results := evaluate(world(other, "q: a"), nil)
		q := results[1]
		if got := q.Actions(nil)[0]; got.Verb != dependency.VerbCreate || q.Templates[0].Message() != "" {
			t.Errorf("beside %s: %s, %q", other, got, q.Templates[0].Message())
		}
		// What the other has is not q's, all the same.
		if got := q.Actions(having("p", object("#a")))[0]; got.Verb != dependency.VerbLeave {
			t.Errorf("beside %s, which has it: %s", other, got)
		}
	}
}

// P10: a template that waits takes no place, even if it waits for the policy that comes after it. What that creates, it owns.
func TestATemplateThatWaitsTakesNoPlace(t *testing.T) {
	gone := known{object("#a"): {Problem: dependency.ReasonNotFound}}
	for _, test := range []struct {
		why      string
		policies []string
		q        dependency.Verb
		p        string // once q is Compliant, and so is y
	}{
		{"the first waits for another policy", []string{"p: a(y)", "q: a"}, dependency.VerbCreate, "Policy q owns ConfigurationPolicy a already"},
		{"the first waits for the second", []string{"p: a(q)", "q: a"}, dependency.VerbCreate, "Policy q owns ConfigurationPolicy a already"},
		{"a third is ready, and comes before", []string{"o: a", "p: a(y)", "q: a"}, dependency.VerbLeave, "Policy q owns ConfigurationPolicy a already"},
	} {
		e := dependency.NewEvaluator(cluster, nil)
		if _, err := e.Set(world(test.policies...)...); err != nil {
			t.Fatal(err)
		}
		p, q := dependency.TemplateRef{Policy: "p"}, dependency.TemplateRef{Policy: "q"}
		for _, on := range []string{"y", "q"} {
			e.Observe(object(on), dependency.Observation{Compliance: policyv1.NonCompliant})
		}
		evaluation, _ := e.Policy("q")
		if got := evaluation.Actions(gone)[0]; got.Verb != test.q {
			t.Errorf("%s: %s, want %s", test.why, got, test.q)
		}
		if got, want := evaluation.Compliance(gone, "") == policyv1.NonCompliant, test.q == dependency.VerbLeave; got != want {
			t.Errorf("%s: q is NonCompliant: %t, want %t", test.why, got, want)
		}
		// q has created it. Once p is ready, it is told that it comes too late, and q that p is ready.
		var told []dependency.TemplateRef
		for _, on := range []string{"y", "q"} {
			told = append(told, e.Observe(object(on), dependency.Observation{Compliance: policyv1.Compliant})...)
		}
		if !slices.Contains(told, p) || !slices.Contains(told, q) {
			t.Errorf("%s: told %v, want p and q", test.why, told)
		}
		evaluation, _ = e.Policy("p")
		if got := evaluation.Actions(having("q", object("#a")))[0]; got.Verb != dependency.VerbLeave || !strings.Contains(got.Message, test.p) {
			t.Errorf("%s: %s, want %q", test.why, got, test.p)
		}
		evaluation, _ = e.Policy("q")
		if got := evaluation.Actions(having("q", object("#a")))[0]; got.Verb != dependency.VerbUpdate {
			t.Errorf("%s: %s, want update", test.why, got)
		}
	}
}

// P10: whatever a policy does with its templates, it deletes no object of another policy, or of none.
func TestNothingIsTouchedThatAnotherHas(t *testing.T) {
	for _, policy := range []string{"x: a", "-x: a", "x: b", "x: a(y)", "x: a a", "x:"} {
		e := evaluate(world(policy), observed("y!"))[0]
		for _, owner := range []string{"q", ""} {
			own := known{object("#a"): {Compliance: policyv1.Compliant, Policy: owner}}
			for _, a := range e.Actions(own) {
				if a.Object == object("#a") && a.Verb != dependency.VerbLeave {
					t.Errorf("%s, of %q: %s", policy, owner, a)
				}
			}
			if got := (dependency.Evaluation{}).Actions(own); len(got) > 0 {
				t.Errorf("the zero evaluation: %v", got)
			}
		}
	}
}

// P10: a template that waits does not count as what another policy's object says.
func TestAnObjectOfAnotherPolicySaysNothing(t *testing.T) {
	own := known{object("#a"): {Compliance: policyv1.Compliant, Policy: "q"}}
	if got := evaluate(world("x: a(z)"), nil)[0].Compliance(own, ""); got != policyv1.Pending {
		t.Errorf("got %q, want Pending", got)
	}
}

// P10: an object belongs to the policy that owns it, and without an owner that is a policy to the one that its label names.
func TestThePolicyOfAnObject(t *testing.T) {
	const policies = "policy.open-cluster-management.io/"
	owner := func(apiVersion, kind, name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name}
	}
	for _, test := range []struct {
		why    string
		owners []metav1.OwnerReference
		label  string
		want   string
	}{
		{"the owner, whatever the label says", []metav1.OwnerReference{owner(policies+"v1", "Policy", "x")}, "y", "x"},
		{"in any version", []metav1.OwnerReference{owner(policies+"v2", "Policy", "x")}, "y", "x"},
		{"behind another owner", []metav1.OwnerReference{owner("v1", "ConfigMap", "c"), owner(policies+"v1", "Policy", "x")}, "y", "x"},
		{"another kind of the group is no policy", []metav1.OwnerReference{owner(policies+"v1beta1", "PolicySet", "x")}, "y", "y"},
		{"nor is a Policy of another group", []metav1.OwnerReference{owner("kyverno.io/v1", "Policy", "x")}, "y", "y"},
		{"the label alone", nil, "y", "y"},
		{"neither", nil, "", ""},
	} {
		object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "ConfigurationPolicy"}}
		object.SetName("a")
		object.SetOwnerReferences(test.owners)
		if test.label != "" {
			object.SetLabels(map[string]string{policies + "policy": test.label})
		}
		if got := dependency.ObservationOf(object, nil).Policy; got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// P8, P10: what waits for a policy that is NonCompliant, since another one comes first, has its turn after that policy's template.
func TestTheOrderBehindAPolicyThatComesSecond(t *testing.T) {
	e := dependency.NewEvaluator("", nil)
	policies := world("p: a", "q: a", "r: b(q!)")
	for i := range policies {
		policies[i].Namespace = ""
	}
	if _, err := e.Set(policies...); err != nil {
		t.Fatal(err)
	}
	if got, want := e.Order().String(), "1: p[0] q[0]\n2: r[0]"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
