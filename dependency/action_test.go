// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/dependency"
)

func texts(actions []dependency.Action) string {
	texts := make([]string, len(actions))
	for i, a := range actions {
		texts[i] = a.String()
	}
	return strings.Join(texts, "\n")
}

// P6: an object in another version is the same object; it is kept and deleted as it was given.
func TestActionsMatchObjectsInAnyVersion(t *testing.T) {
	older := object("#a")
	older.APIVersion = "policy.open-cluster-management.io/v1alpha1"
	actions := evaluate(world("x: a"), nil)[0].Actions(having("x", older, object("#a")))
	want := []dependency.Action{{Verb: dependency.VerbUpdate, Object: object("#a")}}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Error(diff)
	}
	actions = evaluate(world("x: a"), nil)[0].Actions(having("x", older))
	want[0].Object = older
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Error(diff)
	}
}

// P6: what a disabled policy has is deleted, also where a template doesn't say what it creates.
func TestActionsDeleteWhatADisabledPolicyHas(t *testing.T) {
	policies := world("-x: a b")
	policies[0].Spec.PolicyTemplates[1].ObjectDefinition.Raw = []byte(`{"kind": 7}`)
	got := texts(evaluate(policies, nil)[0].Actions(having("x", object("#a"), object("#old")))[2:])
	if want := "delete ConfigurationPolicy old; reason: no template of the policy creates it"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// P6: while a template doesn't say what it creates, an object without a template may be its.
func TestActionsKeepWhatAnUnreadableTemplateMayHaveCreated(t *testing.T) {
	for unreadable, created := range []string{"b", "a"} {
		policies := world("x: a b")
		policies[0].Spec.PolicyTemplates[unreadable].ObjectDefinition.Raw = []byte(`{"kind": 7}`)
		got := texts(evaluate(policies, nil)[0].Actions(having("x", object("#old"))))
		for _, want := range []string{
			"create ConfigurationPolicy " + created + "\n",
			fmt.Sprintf("leave ConfigurationPolicy old as it is: template %d does not say what it creates", unreadable),
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got\n%s\nwant %q in it", got, want)
			}
		}
	}
	for _, action := range (dependency.Evaluation{Policy: "x"}).Actions(having("x", object("#a"))) {
		if action.Verb != dependency.VerbDelete || action.Template != -1 {
			t.Errorf("of a deleted policy: %+v, want Delete without a template", action)
		}
	}
}

// P6: an object that its creator put into a namespace, since the template's definition has none, is the
// template's: it is not created again and again, and deleted as unowned in between.
func TestActionsMatchObjectsInANamespaceThatTheDefinitionLeavesOpen(t *testing.T) {
	foo := func(namespace string) dependency.Object {
		return dependency.Object{APIVersion: "example.com/v1", Kind: "FooPolicy", Namespace: namespace, Name: "foo"}
	}
	open := dependency.TemplateEvaluation{Object: foo(""), State: dependency.StateReady}
	exact := dependency.TemplateEvaluation{Object: foo("b"), State: dependency.StateReady}
	for _, test := range []struct {
		why       string
		templates []dependency.TemplateEvaluation
		active    []dependency.Object
		want      []string
	}{
		{"P6 in any namespace", []dependency.TemplateEvaluation{open}, []dependency.Object{foo("a")}, []string{"update a/foo"}},
		{"P6 the first of several, and the others are deleted", []dependency.TemplateEvaluation{open}, []dependency.Object{foo("c"), foo("a")}, []string{"update a/foo", "delete c/foo"}},
		{"P6 not that of a template that says its namespace", []dependency.TemplateEvaluation{open, exact}, []dependency.Object{foo("b")}, []string{"create /foo", "update b/foo"}},
		{"P6 the exact one rather than another", []dependency.TemplateEvaluation{open}, []dependency.Object{foo("a"), foo("")}, []string{"update /foo", "delete a/foo"}},
	} {
		var got []string
		for _, a := range (dependency.Evaluation{Policy: "x", Templates: test.templates}).Actions(having("x", test.active...)) {
			got = append(got, string(a.Verb)+" "+a.Object.Namespace+"/"+a.Object.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.why, diff)
		}
	}
}
