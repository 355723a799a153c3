package dependency_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/dependency"
)

// P1: real policies, read in each of the ways a controller may have them.
func TestRealPoliciesAreRead(t *testing.T) {
	for file, want := range map[string]string{
		"policy-multiple-dependencies.yaml": `Policy case12-policy-multi
  [0] ConfigurationPolicy case12-config-policy-multi: Pending: Dependencies were not satisfied: 2 are still pending (Policy namespace-foo-setup-policy, Policy namespace-foo-setup-policy-b)`,
		"policy-two-templates.yaml": `Policy case12-policy-2-templates
  [0] ConfigurationPolicy case12-config-policy-2-templates-a: Pending: Dependencies were not satisfied: 1 is still pending (Policy namespace-foo-setup-policy)
  [1] ConfigurationPolicy case12-config-policy-2-templates-b: Pending: Dependencies were not satisfied: 1 is still pending (Policy namespace-foo-setup-policy-b)`,
		"selective-enforcement-policy.yaml": `Policy case16-test-policy
  [0] ConfigurationPolicy case16-test-policy-namespace: Ready`,
	} {
		t.Run(file, func(t *testing.T) {
			u := read(t, file)[0]
			checked, err := dependency.PolicyOf(u)
			if err != nil {
				t.Fatal(err)
			}
			var converted, decoded dependency.Policy
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &converted); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join("testdata", file))
			if err != nil {
				t.Fatal(err)
			}
			data, _, _ = bytes.Cut(data, []byte("\n---\n"))
			if err := yaml.Unmarshal(data, &decoded); err != nil {
				t.Fatal(err)
			}
			for _, p := range []dependency.Policy{checked, converted, decoded} {
				policies := []dependency.Policy{p}
				got := lines(evaluate(policies, missing(policies, dependency.Observations{})))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestTemplatesSayWhatTheyCreate(t *testing.T) {
	for _, test := range []struct{ name, definition, want string }{
		{"a name in a namespace", `{"apiVersion":"v1","kind":"A","metadata":{"name":"n","namespace":"s"}}`, "v1 A s/n"},
		{"everything else is any JSON", ` {"spec":[1,{"x":null}],"apiVersion":"g/v1","kind":"A","metadata":{"name":"n","labels":7}} `, "g/v1 A /n"},
		{"keys are taken as they are written", `{"apiVersion":"v1","kind":"A","Kind":7,"metadata":{"name":"n","NAME":"m"}}`, "v1 A /n"},
		{"of a key that stands twice the last counts", `{"apiVersion":"v1","kind":"A","metadata":5,"metadata":{"name":"n"}}`, "v1 A /n"},
		{"nothing", ``, "objectDefinition: Required value: a template has an object to create"},
		{"null", `null`, "objectDefinition: Required value: a template has an object to create"},
		{"no JSON", `{"kind":`, `objectDefinition: Invalid value: "{\"kind\":": not JSON: unexpected end of JSON input`},
		{"more than JSON", `{} {}`, `objectDefinition: Invalid value: "{} {}": not JSON: invalid character '{' after top-level value`},
		{"an array", `[{"kind":"A"}]`, `objectDefinition: Invalid value: "an array": want an object`},
		{"a string", `"A"`, `objectDefinition: Invalid value: "a string": want an object`},
		{"a number", `1`, `objectDefinition: Invalid value: "a number": want an object`},
		{"a boolean", `true`, `objectDefinition: Invalid value: "a boolean": want an object`},
		{"an object without names", `{}`, `objectDefinition.apiVersion: Required value: a template says which object it creates
objectDefinition.kind: Required value: a template says which object it creates
objectDefinition.metadata.name: Required value: a template says which object it creates`},
		{"names of other types", `{"apiVersion":1,"kind":["A"],"metadata":{"name":{},"namespace":false}}`, `objectDefinition.apiVersion: Invalid value: "a number": want a string
objectDefinition.kind: Invalid value: "an array": want a string
objectDefinition.metadata.name: Invalid value: "an object": want a string
objectDefinition.metadata.namespace: Invalid value: "a boolean": want a string`},
		{"metadata of another type", `{"apiVersion":"v1","kind":"A","metadata":"n"}`, `objectDefinition.metadata: Invalid value: "a string": want an object`},
		{"an empty name", `{"apiVersion":"v1","kind":"A","metadata":{"name":""}}`, `objectDefinition.metadata.name: Required value: a template says which object it creates`},
	} {
		t.Run(test.name, func(t *testing.T) {
			template := dependency.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: []byte(test.definition)}}
			o, err := template.Object()
			got := fmt.Sprintf("%s %s %s/%s", o.APIVersion, o.Kind, o.Namespace, o.Name)
			var fieldError *field.Error
			if err != nil {
				got = err.Error()
				if !errors.As(err, &fieldError) || o != (dependency.Object{}) {
					t.Errorf("object %v beside the error %#v", o, err)
				}
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A definition may hold an object rather than JSON, as typed clients make it.
func TestTemplatesOfTypedObjects(t *testing.T) {
	u := read(t, "observed.yaml")[1]
	o, err := dependency.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Object: u}}.Object()
	if err != nil || o != dependency.ObjectOf(u) {
		t.Errorf("got %v, %v, want %v", o, err, dependency.ObjectOf(u))
	}
}

// P1: a fault of one template leaves the others as they are, and its field has the path from the policy on.
func TestFaultsOfTemplatesAreTheirOwn(t *testing.T) {
	policies := world("x: a b a c")
	policies[0].Spec.PolicyTemplates[1].ObjectDefinition.Raw = []byte(`{"apiVersion":"v1","kind":"B"}`)
	want := `Policy x
  [0] ConfigurationPolicy a: Ready
  [1] unnamed object: Invalid: spec.policy-templates[1].objectDefinition.metadata.name: Required value: a template says which object it creates
  [2] ConfigurationPolicy a: Invalid: spec.policy-templates[2].objectDefinition.metadata.name: Duplicate value: "a": spec.policy-templates[0] creates this ConfigurationPolicy, too
  [3] ConfigurationPolicy c: Ready`
	if diff := cmp.Diff(want, lines(evaluate(policies, nil))); diff != "" {
		t.Error(diff)
	}
}

func TestPolicyOfSaysWhichFieldIsWrong(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"another kind", `{"apiVersion":"v1","kind":"Policy"}`, `kind: Invalid value: "Policy of v1": want a Policy of policy.open-cluster-management.io`},
		{"P6 no spec, which is not one without templates", `{"metadata":{"name":"x"}}`, `spec: Required value`},
		{"a spec that is none", `{"spec":[]}`, `spec: Invalid value: "an array": want an object`},
		{"all fields at once", `{"spec":{"disabled":"no","dependencies":{"kind":"Policy"},"policy-templates":[{"ignorePending":1,"extraDependencies":["x",{"name":5,"compliance":true}]},7]}}`,
			`spec.dependencies: Invalid value: "an object": want an array
spec.disabled: Invalid value: "a string": want a boolean
spec.policy-templates[0].extraDependencies[0]: Invalid value: "a string": want an object
spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "a boolean": want a string
spec.policy-templates[0].extraDependencies[1].name: Invalid value: "a number": want a string
spec.policy-templates[0].ignorePending: Invalid value: "a number": want a boolean
spec.policy-templates[1]: Invalid value: "a number": want an object`},
		{"metadata is the converter's to refuse", `{"metadata":{"name":"x","labels":"none"},"spec":{}}`, "policy x: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			u := policyObject(t, test.in)
			_, err := dependency.PolicyOf(u)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got\n%v\nwant\n%s", err, test.want)
			}
		})
	}
	p, err := dependency.PolicyOf(policyObject(t, `{"metadata":{"name":"x"},"spec":{"dependencies":null,"policy-templates":[null]}}`))
	if err != nil || p.Name != "x" || len(p.Spec.PolicyTemplates) != 1 {
		t.Errorf("null is accepted anywhere in the spec, got %v, %v", p, err)
	}
}

// policyObject reads a Policy from JSON that need not say that it is one.
func policyObject(t testing.TB, in string) *unstructured.Unstructured {
	t.Helper()
	content := map[string]any{"apiVersion": policyVersion, "kind": "Policy"}
	if err := yaml.Unmarshal([]byte(in), &content); err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}
