// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P10: an agent creates with its own permissions what authors of policies ask for, so it takes only kinds of policies.
func TestKindsOfTemplates(t *testing.T) {
	widgets := schema.GroupKind{Group: "example.com"}
	for _, test := range []struct {
		why, apiVersion, kind string
		kinds                 []schema.GroupKind
		valid                 bool
	}{
		{"OCM's", "policy.open-cluster-management.io/v1", "ConfigurationPolicy", nil, true},
		{"in any version", "policy.open-cluster-management.io/v1beta1", "OperatorPolicy", nil, true},
		{"certificates", "policy.open-cluster-management.io/v1", "CertificatePolicy", nil, true},
		{"a ConstraintTemplate", "templates.gatekeeper.sh/v1", "ConstraintTemplate", nil, true},
		{"any constraint", "constraints.gatekeeper.sh/v1beta1", "K8sAnything", nil, true},
		{"no other kind of the group", "templates.gatekeeper.sh/v1", "Other", nil, false},
		{"no Policy: it would replicate itself", "policy.open-cluster-management.io/v1", "Policy", nil, false},
		{"no ConfigMap", "v1", "ConfigMap", nil, false},
		{"no RBAC objects", "rbac.authorization.k8s.io/v1", "ClusterRoleBinding", nil, false},
		{"no group that only looks like it", "open-cluster-management.io/v1", "ConfigurationPolicy", nil, false},
		{"what is listed", "example.com/v1", "Widget", []schema.GroupKind{widgets}, true},
		{"and then nothing else", "policy.open-cluster-management.io/v1", "ConfigurationPolicy", []schema.GroupKind{widgets}, false},
		{"unless it is listed, too", "policy.open-cluster-management.io/v1", "ConfigurationPolicy", append(dependency.Kinds(), widgets), true},
	} {
		policies := world("x: a")
		raw := &policies[0].Spec.PolicyTemplates[0].ObjectDefinition.Raw
		*raw = []byte(`{"apiVersion":"` + test.apiVersion + `","kind":"` + test.kind + `","metadata":{"name":"a"},"spec":{"remediationAction":"inform"}}`)
		results, err := dependency.Evaluate(cluster, policies, nil, nil, test.kinds...)
		if err != nil {
			t.Fatal(err)
		}
		template, faults := results[0].Templates[0], dependency.Validate(policies[0], nil, test.kinds...)
		if valid := template.State == dependency.StateReady; valid != test.valid || (len(faults) == 0) != test.valid {
			t.Errorf("%s: %s, %v", test.why, template, faults)
		}
		action := results[0].Actions(nil)[0]
		if !test.valid && (action.Verb != dependency.VerbLeave || !strings.Contains(action.Message, "objectDefinition.kind: Unsupported value")) {
			t.Errorf("%s: %s", test.why, action)
		}
		if got := results[0].Compliance(nil, ""); !test.valid && got != policyv1.NonCompliant {
			t.Errorf("%s: the policy is %q", test.why, got)
		}
	}
}

// P10: the status of a policy tells its templates apart by name.
func TestNamesOfTemplatesAreUniqueWhateverTheirKinds(t *testing.T) {
	policy := world("x: a b @a")[0]
	results := evaluate([]*policyv1.Policy{policy}, nil)
	var states []dependency.State
	for _, template := range results[0].Templates {
		states = append(states, template.State)
	}
	if got := states; got[0] != dependency.StateInvalid || got[1] != dependency.StateReady || got[2] != dependency.StateInvalid {
		t.Errorf("states %v, want both of the name Invalid, and the other Ready", states)
	}
	faults := dependency.Validate(policy, nil).ToAggregate()
	for _, want := range []string{"spec.policy-templates[0].objectDefinition.metadata.name", "spec.policy-templates[2].objectDefinition.metadata.name"} {
		if faults == nil || !strings.Contains(faults.Error(), want) {
			t.Errorf("no %q in %v", want, faults)
		}
	}
}

// P6, P10: what the hub could not resolve is neither created nor brought to the cluster, and nothing is deleted for it.
func TestTheHubCouldNotResolveATemplate(t *testing.T) {
	policies := world("x: a b")
	policies[0].Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{"apiVersion":"policy.open-cluster-management.io/v1","kind":"ConfigurationPolicy",
		"metadata":{"name":"a","annotations":{"policy.open-cluster-management.io/hub-templates-error":"ConfigMap x not found"}},"spec":{}}`)
	e := evaluate(policies, nil)[0]
	for _, a := range []dependency.Action{e.Actions(nil)[0], e.Actions(having("x", object("#a")))[0]} {
		if a.Verb != dependency.VerbLeave || !strings.Contains(a.Message, "ConfigMap x not found") || a.Object != object("#a") {
			t.Errorf("got %s", a)
		}
	}
	own := known{object("#a"): {Compliance: policyv1.Compliant, Policy: "x"}, object("#b"): {Compliance: policyv1.Compliant, Policy: "x"}}
	if got := e.Compliance(own, ""); got != policyv1.NonCompliant {
		t.Errorf("the policy is %q, want NonCompliant", got)
	}
	if e.Templates[1].State != dependency.StateReady {
		t.Errorf("the other template is %s", e.Templates[1])
	}
}

// P10: what OCM's webhook refuses, and what is misspelled: an unknown action of a template would be overwritten by the policy's.
func TestActionsOfTemplatesAreValidated(t *testing.T) {
	const path = "spec.policy-templates[0].objectDefinition.spec.remediationAction: "
	for _, test := range []struct{ why, policy, kind, spec, want string }{
		{"neither has one", "", "ConfigurationPolicy", `{}`, path + "Required value: must be given, since the policy has none"},
		{"nor a spec", "", "ConfigurationPolicy", `null`, path + "Required value"},
		{"the policy has one", "inform", "ConfigurationPolicy", `{}`, ""},
		{"the template has one", "", "ConfigurationPolicy", `{"remediationAction":"Enforce"}`, ""},
		{"an OperatorPolicy has a default", "", "OperatorPolicy", `{}`, ""},
		{"it only informs", "enforce", "ConfigurationPolicy", `{"remediationAction":"InformOnly"}`, ""},
		{"that is misspelled, and would be enforced", "enforce", "ConfigurationPolicy", `{"remediationAction":"inform-only"}`, path + `Unsupported value: "inform-only"`},
		{"of any kind", "", "CertificatePolicy", `{"remediationAction":"enfroce"}`, path + `Unsupported value: "enfroce"`},
		{"a hub template stands for something", "", "ConfigurationPolicy", `{"remediationAction":"{{hub .X hub}}"}`, ""},
	} {
		policy := world("x: a")[0]
		policy.Spec.RemediationAction = policyv1.RemediationAction(test.policy)
		policy.Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(
			`{"apiVersion":"policy.open-cluster-management.io/v1","kind":"` + test.kind + `","metadata":{"name":"a"},"spec":` + test.spec + `}`)
		got := ""
		if err := dependency.Validate(policy, nil).ToAggregate(); err != nil {
			got = err.Error()
		}
		if (got == "") != (test.want == "") || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// P3: a dependency in a wrong apiVersion is named, as long as there is something that it may mean.
func TestADependencyInAnotherVersionIsNamed(t *testing.T) {
	policies := world("x: a(y #b +g)", "y: b", "z: +g")
	extra := policies[0].Spec.PolicyTemplates[0].ExtraDependencies
	extra[0].APIVersion, extra[1].APIVersion, extra[2].APIVersion = "policies.io/v1", "policy.open-cluster-management.io/v1beta1", "templates.gatekeeper.sh/v9"
	observations := known{}
	for _, o := range watches(policies) {
		observations[o] = dependency.Observation{Problem: dependency.ReasonNoAPI}
	}
	message := func(policies []*policyv1.Policy) string {
		return evaluate(policies, observations)[0].Templates[0].Message()
	}
	for _, want := range []string{
		"no API for policies.io/v1 Policy, but there is one in policy.open-cluster-management.io/v1",
		"no API for policy.open-cluster-management.io/v1beta1 ConfigurationPolicy, but there is one in policy.open-cluster-management.io/v1",
		"no API for templates.gatekeeper.sh/v9 ConstraintTemplate, but there is one in templates.gatekeeper.sh/v1",
	} {
		if got := message(policies); !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
	if got := message(policies[:1]); strings.Contains(got, "but there is one") {
		t.Errorf("alone: %q", got)
	}
	for o := range observations {
		observations[o] = dependency.Observation{Problem: dependency.ReasonNotFound}
	}
	const want = "Policy y is not found in policies.io/v1, but there is one in policy.open-cluster-management.io/v1, must be Compliant"
	if got := message(policies); !strings.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
}

// P3: where the version is right, there is no mistake: the policy has not arrived yet.
func TestADependencyInItsOwnVersionIsNoMistake(t *testing.T) {
	e := evaluate(world("x: a(y)", "y: b"), known{object("y"): {Problem: dependency.ReasonNotFound}})[0]
	if got, want := e.Templates[0].Message(), "Dependencies were not satisfied: Policy y is not found, must be Compliant"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// P3, P8: a template that names a wrong version is evaluated again once an object of another version appears or disappears.
func TestAMistakenVersionIsToldAgain(t *testing.T) {
	policies := world("x: a(y #b)", "y: b")
	for i := range policies[0].Spec.PolicyTemplates[0].ExtraDependencies {
		policies[0].Spec.PolicyTemplates[0].ExtraDependencies[i].APIVersion = "policy.open-cluster-management.io/v1beta1"
	}
	e := dependency.NewEvaluator(cluster, nil)
	watches, err := e.Set(policies[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range watches.Add {
		e.Observe(o, dependency.Observation{Problem: dependency.ReasonNoAPI})
	}
	hinted := func() bool {
		p, _ := e.Policy("x")
		return strings.Count(p.Templates[0].Message(), "but there is one in") == 2
	}
	told := func(w dependency.Watches) bool {
		return slices.Contains(w.Templates, dependency.TemplateRef{Policy: "x", Index: 0})
	}
	if watches, err = e.Set(policies[1]); err != nil || !told(watches) || !hinted() {
		t.Errorf("y came: %v, %v, hinted %t", watches.Templates, err, hinted())
	}
	if watches = e.Delete("y"); !told(watches) || hinted() {
		t.Errorf("y went: %v, hinted %t", watches.Templates, hinted())
	}
}
