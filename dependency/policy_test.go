// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P1: a real policy, read in each of the ways a controller may have it, is the same.
func TestRealPoliciesAreRead(t *testing.T) {
	for _, file := range []string{"policy-multiple-dependencies.yaml", "policy-two-templates.yaml", "selective-enforcement-policy.yaml"} {
		t.Run(file, func(t *testing.T) {
			u := read(t, file)[0]
			checked, err := dependency.PolicyOf(u)
			if err != nil {
				t.Fatal(err)
			}
			var converted, decoded policyv1.Policy
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
			want := lines(evaluate([]*policyv1.Policy{checked}, nil))
			for _, p := range []*policyv1.Policy{&converted, &decoded} {
				if diff := cmp.Diff(want, lines(evaluate([]*policyv1.Policy{p}, nil))); diff != "" {
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
		{"nothing", ``, "objectDefinition: Required value: must be the object that the template creates"},
		{"null", `null`, "objectDefinition: Required value: must be the object that the template creates"},
		{"no JSON", `{"kind":`, `objectDefinition: Invalid value: "{\"kind\":": must be JSON: unexpected end of JSON input`},
		{"more than JSON", `{} {}`, `objectDefinition: Invalid value: "{} {}": must be JSON: invalid character '{' after top-level value`},
		{"an array", `[{"kind":"A"}]`, `objectDefinition: Invalid value: "an array": must be an object`},
		{"a string", `"A"`, `objectDefinition: Invalid value: "a string": must be an object`},
		{"a number", `1`, `objectDefinition: Invalid value: "a number": must be an object`},
		{"a boolean", `true`, `objectDefinition: Invalid value: "a boolean": must be an object`},
		{"an object without names", `{}`, `objectDefinition.apiVersion: Required value: must be given: a template names the object that it creates
objectDefinition.kind: Required value: must be given: a template names the object that it creates
objectDefinition.metadata.name: Required value: must be given: a template names the object that it creates`},
		{"names of other types", `{"apiVersion":1,"kind":["A"],"metadata":{"name":{},"namespace":false}}`, `objectDefinition.apiVersion: Invalid value: "a number": must be a string
objectDefinition.kind: Invalid value: "an array": must be a string
objectDefinition.metadata.name: Invalid value: "an object": must be a string
objectDefinition.metadata.namespace: Invalid value: "a boolean": must be a string`},
		{"metadata of another type", `{"apiVersion":"v1","kind":"A","metadata":"n"}`, `objectDefinition.metadata: Invalid value: "a string": must be an object`},
		{"an empty name", `{"apiVersion":"v1","kind":"A","metadata":{"name":""}}`, `objectDefinition.metadata.name: Required value: must be given: a template names the object that it creates`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := world("x: a")[0]
			p.Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(test.definition)
			results, err := dependency.Evaluate(cluster, []*policyv1.Policy{p}, nil, nil, schema.GroupKind{Kind: "A"}, schema.GroupKind{Group: "g"})
			if err != nil {
				t.Fatal(err)
			}
			template := results[0].Templates[0]
			o := template.Object
			got := fmt.Sprintf("%s %s %s/%s", o.APIVersion, o.Kind, o.Namespace, o.Name)
			if template.State == dependency.StateInvalid {
				got = strings.ReplaceAll(template.Err.Error(), "spec.policy-templates[0].", "")
				if o != (dependency.Object{}) {
					t.Errorf("object %v beside the error", o)
				}
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A definition may have an object rather than JSON, as typed clients make it.
func TestTemplatesOfTypedObjects(t *testing.T) {
	u := read(t, "observed.yaml")[1]
	p := world("x: a")[0]
	p.Spec.PolicyTemplates[0].ObjectDefinition = runtime.RawExtension{Object: u}
	if got := evaluate([]*policyv1.Policy{p}, nil)[0].Templates[0].Object; got != objectOf(u) {
		t.Errorf("got %v, want %v", got, objectOf(u))
	}
	p.Spec.PolicyTemplates[0].ObjectDefinition.Object = &unstructured.Unstructured{Object: map[string]any{"kind": make(chan int)}}
	const want = `spec.policy-templates[0].objectDefinition: Invalid value: "*unstructured.Unstructured": must be JSON: `
	if err := dependency.Validate(p, nil).ToAggregate(); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s…", err, want)
	}
}

func TestPolicyOfRefusesNoObject(t *testing.T) {
	if p, err := dependency.PolicyOf(nil); err == nil || err.Error() != "policy: Required value: must not be nil" {
		t.Errorf("got %v, %v", p, err)
	}
}

func TestPolicyOfSaysWhichFieldIsWrong(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"another kind", `{"apiVersion":"v1","kind":"Policy"}`, `kind: Invalid value: "Policy of v1": must be Policy of policy.open-cluster-management.io`},
		{"P6 no spec, which is not one without templates", `{"metadata":{"name":"x"}}`, `spec: Required value`},
		{"what only the hub reads", `{"metadata":{"name":"x"},"spec":{"rolloutStrategy":7}}`, `spec.rolloutStrategy: Invalid value: "a number": must be of the form that the API gives it: cannot restore struct from: int64`},
		{"a duration that is none", `{"metadata":{"name":"x"},"spec":{"rolloutStrategy":{"all":{"minSuccessTime":"soon"}}}}`, `spec.rolloutStrategy: Invalid value: "an object": must be of the form that the API gives it: `},
		{"a spec that is none", `{"spec":[]}`, `spec: Invalid value: "an array": must be an object`},
		{"all fields at once", `{"spec":{"disabled":"no","dependencies":{"kind":"Policy"},"policy-templates":[{"ignorePending":1,"extraDependencies":["x",{"name":5,"compliance":true}]},7]}}`,
			`spec.dependencies: Invalid value: "an object": must be an array
spec.disabled: Invalid value: "a string": must be a boolean
spec.policy-templates[0].extraDependencies[0]: Invalid value: "a string": must be an object
spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "a boolean": must be a string
spec.policy-templates[0].extraDependencies[1].name: Invalid value: "a number": must be a string
spec.policy-templates[0].ignorePending: Invalid value: "a number": must be a boolean
spec.policy-templates[1]: Invalid value: "a number": must be an object`},
		{"metadata is the converter's to refuse", `{"metadata":{"name":"x","labels":"none"},"spec":{}}`, `metadata: Invalid value: "an object": must be of the form that the API gives it: cannot restore map from string`},
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

// P1: dependencies of the whole policy that contradict each other are a fault also where no template has any of its own.
func TestDependenciesOfThePolicyAloneMayContradictEachOther(t *testing.T) {
	p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	for _, compliance := range []policyv1.ComplianceState{policyv1.Compliant, policyv1.NonCompliant} {
		d := policyv1.PolicyDependency{Compliance: compliance}
		d.APIVersion, d.Kind, d.Name = "policy.open-cluster-management.io/v1", "Policy", "default.other"
		p.Spec.Dependencies = append(p.Spec.Dependencies, d)
	}
	template := policyv1.PolicyTemplate{}
	template.ObjectDefinition.Raw = []byte(`{"apiVersion":"v1","kind":"A","metadata":{"name":"n"}}`)
	p.Spec.PolicyTemplates = []policyv1.PolicyTemplate{template}
	err := dependency.Validate(p, nil).ToAggregate()
	if err == nil || strings.Count(err.Error(), "spec.dependencies[1]") != 1 {
		t.Errorf("got %v", err)
	}
}
