// SPDX-License-Identifier: Apache-2.0

package dependency

import (
	"testing"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A long-lived controller sees policies come and go: nothing of them may stay. This looks inside since from
// outside nothing can be seen of what stays.
func TestNothingStaysOfDeletedPolicies(t *testing.T) {
	policy := func(name, waitsFor string) *policyv1.Policy {
		p := new(policyv1.Policy)
		p.Name = name
		d := policyv1.PolicyDependency{Name: waitsFor, Compliance: policyv1.Compliant}
		d.APIVersion, d.Kind = policyVersion, policyKind
		p.Spec.PolicyTemplates = make([]policyv1.PolicyTemplate, 1)
		template := &p.Spec.PolicyTemplates[0]
		template.ExtraDependencies = []policyv1.PolicyDependency{d}
		template.ObjectDefinition.Raw = []byte(`{"apiVersion":"v1","kind":"A","metadata":{"name":"` + name + `"}}`)
		return p
	}
	var e Evaluator
	if _, err := e.Set(policy("x", "y"), policy("y", "x"), policy("z", "outside")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := e.Set(policy("x", "y"), policy("z", "x")); err != nil {
			t.Fatal(err)
		}
	}
	e.Delete("x", "y", "z")
	if len(e.policies)+len(e.objects)+len(e.targets) > 0 {
		t.Errorf("%d policies, %d objects and %d targets stay", len(e.policies), len(e.objects), len(e.targets))
	}
}
