// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/internal/fielderrs"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// wrongField is a field of a policy with a value that it must not have. Want is the error behind the path: of the field, or of one
// below it, and then it begins with the rest of the path.
type wrongField struct{ why, path, value, want string }

// wrongFields has each field that PolicyOf and Validate read. Paths are below spec.
func wrongFields() []wrongField {
	const template, definition = "policy-templates[0]", "policy-templates[0].objectDefinition"
	all := []wrongField{
		{"a text", "disabled", `"yes"`, `Invalid value: "a string": must be a boolean`},
		{"a number", "copyPolicyMetadata", `0`, `Invalid value: "a number": must be a boolean`},
		{"a boolean", "remediationAction", `true`, `Invalid value: "a boolean": must be a string`},
		{"a text", "rolloutStrategy", `"All"`, `Invalid value: "a string": must be of the form that the API gives it`},
		{"an object", "dependencies", `{}`, `Invalid value: "an object": must be an array`},
		{"an array", "hubTemplateOptions", `[]`, `Invalid value: "an array": must be an object`},
		{"a number", "hubTemplateOptions.serviceAccountName", `3`, `Invalid value: "a number": must be a string`},
		{"an object", "policy-templates", `{}`, `Invalid value: "an object": must be an array`},
		{"a number", template, `3`, `Invalid value: "a number": must be an object`},
		{"a text", template + ".ignorePending", `"true"`, `Invalid value: "a string": must be a boolean`},
		{"a number", template + ".ignorePending", `1`, `Invalid value: "a number": must be a boolean`},
		{"a text", template + ".extraDependencies", `"x"`, `Invalid value: "a string": must be an array`},
		{"missing", definition, `null`, `Required value: must be the object that the template creates`},
		{"a text", definition, `"x"`, `Invalid value: "a string": must be an object`},
		{"empty", definition + ".apiVersion", `""`, `Required value: must be given`},
		{"a number", definition + ".apiVersion", `1`, `Invalid value: "a number": must be a string`},
		{"three parts", definition + ".apiVersion", `"policy.open-cluster-management.io/v1/x"`, `Invalid value: "policy.open-cluster-management.io/v1/x": must be version or group/version`},
		{"no version", definition + ".apiVersion", `"policy.open-cluster-management.io/"`, `Invalid value: "policy.open-cluster-management.io/": must be version or group/version`},
		{"empty", definition + ".kind", `""`, `Required value: must be given`},
		{"an object", definition + ".kind", `{}`, `Invalid value: "an object": must be a string`},
		{"unknown", definition + ".kind", `"configurationpolicy"`, `Unsupported value: "configurationpolicy.policy.open-cluster-management.io": supported values: "ConfigurationPolicy.`},
		{"a text", definition + ".metadata", `"x"`, `Invalid value: "a string": must be an object`},
		{"empty", definition + ".metadata.name", `""`, `Required value: must be given`},
		{"a number", definition + ".metadata.name", `1`, `Invalid value: "a number": must be a string`},
		{"a boolean", definition + ".metadata.namespace", `false`, `Invalid value: "a boolean": must be a string`},
		{"an array", definition + ".metadata.labels", `[]`, `Invalid value: "an array": must be an object`},
		{"a number", definition + ".metadata.labels", `{"tier":1}`, `[tier]: Invalid value: "a number": must be a string`},
		{"a text", definition + ".metadata.annotations", `"x"`, `Invalid value: "a string": must be an object`},
		{"a boolean", definition + ".metadata.annotations", `{"policy.open-cluster-management.io/hub-templates-error":true}`,
			`[policy.open-cluster-management.io/hub-templates-error]: Invalid value: "a boolean": must be a string`},
		{"an array", definition + ".spec", `[]`, `Invalid value: "an array": must be an object`},
		{"missing", definition + ".spec", `null`, ".remediationAction: Required value: must be given, since the policy has none"},
		{"missing", definition + ".spec.remediationAction", `null`, `Required value: must be given, since the policy has none`},
		{"empty", definition + ".spec.remediationAction", `""`, `Unsupported value: "": supported values: "inform", "enforce", "informOnly"`},
		{"a number", definition + ".spec.remediationAction", `3`, `Invalid value: "a number": must be a string`},
		{"an array", definition + ".spec.remediationAction", `["inform"]`, `Invalid value: "an array": must be a string`},
		{"misspelled", definition + ".spec.remediationAction", `"inform-only"`, `Unsupported value: "inform-only"`},
		{"letters that the API refuses", definition + ".spec.remediationAction", `"ENFORCE"`, `Unsupported value: "ENFORCE"`},
	}
	for _, list := range []string{"dependencies", template + ".extraDependencies"} {
		one := list + "[0]"
		all = append(all,
			wrongField{"a number", one, `3`, `Invalid value: "a number": must be an object`},
			wrongField{"empty", one + ".apiVersion", `""`, `Required value: must be given`},
			wrongField{"an array", one + ".apiVersion", `[]`, `Invalid value: "an array": must be a string`},
			wrongField{"three parts", one + ".apiVersion", `"a/b/c"`, `Invalid value: "a/b/c": must be version or group/version`},
			wrongField{"no version", one + ".apiVersion", `"a/"`, `Invalid value: "a/": must be version or group/version`},
			wrongField{"a slash", one + ".apiVersion", `"/"`, `Invalid value: "/": must be version or group/version`},
			wrongField{"no group", one + ".apiVersion", `"/v1"`, `Invalid value: "/v1": must be version or group/version`},
			wrongField{"empty", one + ".kind", `""`, `Required value: must be given`},
			wrongField{"a number", one + ".kind", `3`, `Invalid value: "a number": must be a string`},
			wrongField{"empty", one + ".name", `""`, `Required value: must be given`},
			wrongField{"a number", one + ".name", `3`, `Invalid value: "a number": must be a string`},
			wrongField{"a number", one + ".namespace", `3`, `Invalid value: "a number": must be a string`},
			wrongField{"missing", one + ".compliance", `null`, `Unsupported value: "": supported values: "Compliant", "NonCompliant", "Pending"`},
			wrongField{"other letters", one + ".compliance", `"compliant"`, `Unsupported value: "compliant"`},
			wrongField{"unknown", one + ".compliance", `"Terminating"`, `Unsupported value: "Terminating"`},
			wrongField{"a boolean", one + ".compliance", `true`, `Invalid value: "a boolean": must be a string`},
		)
	}
	return all
}

// validSpec has each field that PolicyOf and Validate read. The policy has no action, so its template needs one.
const validSpec = `{
	"disabled": false, "copyPolicyMetadata": true, "remediationAction": "", "rolloutStrategy": {"type": "All"},
	"dependencies": [{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "namespace": "default", "name": "y", "compliance": "Compliant"}],
	"hubTemplateOptions": {"serviceAccountName": "reader"},
	"policy-templates": [{
		"ignorePending": false,
		"extraDependencies": [{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "namespace": "default", "name": "z", "compliance": "Compliant"}],
		"objectDefinition": {
			"apiVersion": "policy.open-cluster-management.io/v1", "kind": "ConfigurationPolicy",
			"metadata": {"name": "a", "namespace": "", "labels": {"tier": "1"}, "annotations": {"why": "because"}}, "spec": {"remediationAction": "inform"}
		}
	}]
}`

// P1, P10: each field with a wrong value is an error that says where, what was found and what is expected.
func TestEachWrongFieldIsRefused(t *testing.T) {
	if faults := faultsOf(t, validSpec); faults != "" {
		t.Fatalf("the valid policy: %s", faults)
	}
	for _, test := range wrongFields() {
		faults := faultsOf(t, replaced(t, validSpec, test.path, test.value))
		path := "spec." + test.path
		if !strings.Contains(faults, path+": "+test.want) && !strings.Contains(faults, path+test.want) {
			t.Errorf("%s is %s:\n%s\nwant %s: %s", test.path, test.why, faults, path, test.want)
		}
	}
}

// Each field of the type that a policy is read into is among wrongFields, so that a new one is not forgotten.
func TestEachFieldOfAPolicyIsAmongTheWrongOnes(t *testing.T) {
	wrong := map[string]bool{}
	for _, field := range wrongFields() {
		wrong[field.path] = true
	}
	var look func(of reflect.Type, path string)
	look = func(of reflect.Type, path string) {
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			at := strings.TrimPrefix(path+"."+name, ".")
			if name == "" { // embedded
				look(field.Type, path)
				continue
			}
			if !wrong[at] {
				t.Errorf("no wrong value of %s", at)
			}
			switch inner := field.Type; {
			case name == "objectDefinition" || name == "rolloutStrategy":
			case inner.Kind() == reflect.Slice:
				look(inner.Elem(), at+"[0]")
			case inner.Kind() == reflect.Pointer && inner.Elem().Kind() == reflect.Struct:
				look(inner.Elem(), at)
			}
		}
	}
	look(reflect.TypeFor[policyv1.PolicySpec](), "")
}

// P10: the action of the policy overwrites that of a template, so that only a misspelled informOnly matters.
func TestThePolicysActionOverwritesATemplates(t *testing.T) {
	const path = "policy-templates[0].objectDefinition.spec.remediationAction"
	for value, valid := range map[string]bool{`""`: true, `"ENFORCE"`: true, `"INFORMONLY"`: true, `"inform-only"`: false, `3`: false} {
		spec := replaced(t, validSpec, "remediationAction", `"enforce"`)
		if faults := faultsOf(t, replaced(t, spec, path, value)); (faults == "") != valid {
			t.Errorf("%s: %q", value, faults)
		}
	}
}

// faultsOf gives what PolicyOf or, where it reads the policy, Validate says of a policy with this spec.
func faultsOf(t *testing.T, spec string) string {
	t.Helper()
	policy, err := dependency.PolicyOf(policyObject(t, `{"metadata":{"name":"x","namespace":"default"},"spec":`+spec+`}`))
	if err == nil {
		err = fielderrs.Join(dependency.Validate(policy, nil))
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// replaced gives the spec with another value at a path. Lists in the path have one element.
func replaced(t *testing.T, spec, path, value string) string {
	t.Helper()
	var root, other any
	if err := json.Unmarshal([]byte(spec), &root); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(value), &other); err != nil {
		t.Fatal(err)
	}
	steps := strings.Split(strings.ReplaceAll(path, "[0]", ".0"), ".")
	at := root
	for i, step := range steps {
		last := i == len(steps)-1
		switch node := at.(type) {
		case []any:
			if last {
				node[0] = other
			}
			at = node[0]
		case map[string]any:
			if last {
				node[step] = other
			}
			at = node[step]
		default:
			panic(fmt.Sprintf("%s of %s is %T", step, path, at))
		}
	}
	text, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
