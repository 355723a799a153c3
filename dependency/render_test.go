// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// rendered is what Render makes of the first template of a policy with this action.
func rendered(t *testing.T, action policyv1.RemediationAction, definition string) *unstructured.Unstructured {
	t.Helper()
	policies := world("x: a")
	p := policies[0]
	p.UID, p.Spec.RemediationAction = "u", action
	p.Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(definition)
	a := evaluate(policies, nil)[0].Actions(nil)[0]
	object, err := dependency.Render(p, a)
	if err != nil || a.Verb != dependency.VerbCreate {
		t.Fatalf("%s: %v", a, err)
	}
	return object
}

// P11: the action of the policy, the template and the kind together.
func TestRenderedActions(t *testing.T) {
	const configuration, certificate = `"apiVersion":"policy.open-cluster-management.io/v1","kind":"ConfigurationPolicy"`, `"apiVersion":"policy.open-cluster-management.io/v1","kind":"CertificatePolicy"`
	const constraint, template = `"apiVersion":"constraints.gatekeeper.sh/v1beta1","kind":"K"`, `"apiVersion":"templates.gatekeeper.sh/v1","kind":"ConstraintTemplate"`
	for _, test := range []struct {
		why, kind, spec string
		policy          policyv1.RemediationAction
		want            string
	}{
		{"the policy's counts", configuration, `{"remediationAction":"inform"}`, "Enforce", `{"remediationAction":"enforce"}`},
		{"also where the template has none", configuration, `{"x":1}`, "inform", `{"remediationAction":"inform","x":1}`},
		{"without one the template's counts", configuration, `{"remediationAction":"Enforce"}`, "", `{"remediationAction":"Enforce"}`},
		{"what only informs is not enforced", configuration, `{"remediationAction":"InformOnly"}`, "enforce", `{"remediationAction":"inform"}`},
		{"in any case", configuration, `{"remediationAction":"informonly"}`, "", `{"remediationAction":"inform"}`},
		{"other kinds have it, too", certificate, `{}`, "enforce", `{"remediationAction":"enforce"}`},
		{"a spec that is none stays", configuration, `"odd"`, "enforce", `"odd"`},
		{"a constraint that informs", constraint, `{"enforcementAction":"deny","remediationAction":"x"}`, "Inform", `{"enforcementAction":"warn","remediationAction":"x"}`},
		{"one that enforces", constraint, `{}`, "enforce", `{"enforcementAction":"deny"}`},
		{"its own without the policy's", constraint, `{"enforcementAction":"dryrun"}`, "", `{"enforcementAction":"dryrun"}`},
		{"a ConstraintTemplate has none", template, `{"crd":{}}`, "enforce", `{"crd":{}}`},
	} {
		object := rendered(t, test.policy, `{`+test.kind+`,"metadata":{"name":"a"},"spec":`+test.spec+`}`)
		got, err := json.Marshal(object.Object["spec"])
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %s, %v, want %s", test.why, got, err, test.want)
		}
	}
}

// P11: the owner of an object, and the parts of a definition that are not applied.
func TestRenderedMetadata(t *testing.T) {
	const metadata = `"metadata":{"name":"a","namespace":"elsewhere","labels":{"team":"x","policy.open-cluster-management.io/policy":"forged"},
		"annotations":{"why":"y"},"resourceVersion":"7","uid":"forged","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n","uid":"z"}]},"status":{"compliant":"Compliant"}`
	labels := map[string]any{
		"team": "x", "policy.open-cluster-management.io/policy": "x", "cluster-name": cluster, "cluster-namespace": cluster,
		"policy.open-cluster-management.io/cluster-name": cluster, "policy.open-cluster-management.io/cluster-namespace": cluster,
	}
	namespaced := rendered(t, "", `{"apiVersion":"policy.open-cluster-management.io/v1","kind":"ConfigurationPolicy",`+metadata+`}`)
	want := map[string]any{"apiVersion": policyVersion, "kind": "ConfigurationPolicy", "metadata": map[string]any{
		"name": "a", "namespace": cluster, "labels": labels, "annotations": map[string]any{"why": "y"},
		"ownerReferences": []any{map[string]any{
			"apiVersion": policyVersion, "kind": "Policy", "name": "x", "uid": "u", "controller": true, "blockOwnerDeletion": true,
		}},
	}}
	if diff := cmp.Diff(want, namespaced.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// A namespaced policy cannot own it.
	clusterScoped := rendered(t, "", `{"apiVersion":"templates.gatekeeper.sh/v1","kind":"ConstraintTemplate",`+metadata+`}`)
	want = map[string]any{"apiVersion": gatekeeper, "kind": "ConstraintTemplate", "metadata": map[string]any{
		"name": "a", "labels": labels, "annotations": map[string]any{"why": "y"},
	}}
	if diff := cmp.Diff(want, clusterScoped.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, object := range []*unstructured.Unstructured{namespaced, clusterScoped} {
		if got := dependency.ObservationOf(object, nil).Policy; got != "x" {
			t.Errorf("%s is of policy %q, want x", object.GetKind(), got)
		}
	}
}

// P11: what is deleted or left is only named, also where no template defines it.
func TestRenderNamesWhatIsNotApplied(t *testing.T) {
	e := evaluate(world("x: a(y)"), observed("y!"))[0]
	older := object("#a")
	older.APIVersion = "policy.open-cluster-management.io/v1alpha1"
	for _, a := range e.Actions(having("x", older, object("@old"))) {
		got, err := dependency.Render(world("x: a(y)")[0], a)
		if err != nil || objectOf(got) != a.Object || len(got.Object) != 3 {
			t.Errorf("%s: %v, %v", a, got, err)
		}
	}
}

func TestRenderRefusesWhatDoesNotBelongTogether(t *testing.T) {
	policy := world("x: a")[0]
	policy.UID = "u"
	create := dependency.Action{Verb: dependency.VerbCreate, Object: object("#a")}
	without, odd := world("x: a")[0], world("x: a")[0]
	odd.UID, odd.Spec.RemediationAction = "u", "enfroce"
	broken := world("x: a")[0]
	broken.Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{`)
	at := func(index int, o dependency.Object) dependency.Action {
		return dependency.Action{Verb: dependency.VerbUpdate, Object: o, Template: index}
	}
	for _, test := range []struct {
		why    string
		policy *policyv1.Policy
		action dependency.Action
		want   string
	}{
		{"no policy", nil, create, "policy: Required value"},
		{"no such template", policy, at(1, object("#a")), "spec.policy-templates[1]: Invalid value"},
		{"no template", policy, at(-1, object("#a")), "must be one of the policy's 1 templates"},
		{"another name, as the policy was edited", policy, at(0, object("#b")), "must define the object of the action, ConfigurationPolicy b"},
		{"another kind", policy, at(0, object("@a")), "must define the object of the action, OperatorPolicy a"},
		{"no JSON", broken, create, "spec.policy-templates[0].objectDefinition: Invalid value"},
		{"no uid", without, create, "metadata.uid: Required value"},
		{"an unknown action", odd, create, `spec.remediationAction: Unsupported value: "enfroce"`},
	} {
		_, err := dependency.Render(test.policy, test.action)
		var fault *field.Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", test.why, err, test.want)
		}
	}
}

// P11: a policy owns no object in another namespace, since the API server would delete it: the label says which policy has it.
func TestAnObjectInAnotherNamespaceHasNoOwner(t *testing.T) {
	policies := world("x: a")
	policies[0].UID = "u"
	policies[0].Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"elsewhere"}}`)
	evaluations, err := dependency.Evaluate(cluster, policies, nil, nil, schema.GroupKind{Group: "example.com"})
	if err != nil {
		t.Fatal(err)
	}
	object, err := dependency.Render(policies[0], evaluations[0].Actions(nil)[0])
	if err != nil {
		t.Fatal(err)
	}
	if owners := object.GetOwnerReferences(); object.GetNamespace() != "elsewhere" || len(owners) > 0 || dependency.ObservationOf(object, nil).Policy != "x" {
		t.Errorf("in namespace %s with the owners %v", object.GetNamespace(), owners)
	}
}
