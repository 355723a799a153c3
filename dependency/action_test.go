package dependency_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/dependency"
)

func TestActions(t *testing.T) {
	failed := dependency.Observation{Problem: dependency.ReadFailed, Detail: "timeout"}
	for _, test := range []struct {
		name         string
		policy       string
		observations dependency.Observations
		active       []string
		want         string
	}{
		{"P6 create the ready that is missing", "x: a", nil, nil, "Create ConfigurationPolicy a"},
		{"P6 leave the ready that is active", "x: a", nil, []string{"#a"}, "Keep ConfigurationPolicy a"},
		{
			"P6 delete the active that is no longer ready", "x: a(y)", observed("y!"), []string{"#a"},
			"Delete ConfigurationPolicy a: Dependencies were not satisfied: 1 is still pending (Policy y)",
		}, {
			"P6 leave what is neither", "x: a(y)", observed("y!"), nil,
			"Wait ConfigurationPolicy a: Dependencies were not satisfied: 1 is still pending (Policy y)",
		}, {
			"P6 a failed read deletes nothing, and says so", "x: a(y)", dependency.Observations{object("y"): failed}, []string{"#a"},
			"Keep ConfigurationPolicy a: kept, since it could not be read what it waits for: Dependencies were not satisfied: 1 is still pending (Policy y); Policy y can't be read: timeout",
		}, {
			"P6 nor creates anything", "x: a(y)", dependency.Observations{object("y"): failed}, nil,
			"Wait ConfigurationPolicy a: Dependencies were not satisfied: 1 is still pending (Policy y); Policy y can't be read: timeout",
		}, {
			"P6 what was read decides beside what was not", "x: a(y z)",
			dependency.Observations{object("y"): failed, object("z"): {Problem: dependency.NotFound}}, []string{"#a"},
			"Delete ConfigurationPolicy a: Dependencies were not satisfied: 2 are still pending (Policy y, Policy z); Policy y can't be read: timeout",
		}, {
			"P6 what no template creates any more goes", "x: a", nil, []string{"#old", "#a", "#elder"},
			"Keep ConfigurationPolicy a\nDelete ConfigurationPolicy elder: no template of the policy creates it\nDelete ConfigurationPolicy old: no template of the policy creates it",
		}, {
			"P6 an invalid template keeps what it has", "x: a(y y!)", nil, []string{"#a"},
			"Keep ConfigurationPolicy a: kept, since the template is invalid: spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: \"NonCompliant\": conflicts with Compliant at spec.policy-templates[0].extraDependencies[0].compliance for the same Policy y",
		}, {
			"P6 of two templates with one object the first decides", "x: a(y) a", observed("y!"), []string{"#a"},
			"Delete ConfigurationPolicy a: Dependencies were not satisfied: 1 is still pending (Policy y)\nWait ConfigurationPolicy a: spec.policy-templates[1].objectDefinition.metadata.name: Duplicate value: \"a\": spec.policy-templates[0] creates this ConfigurationPolicy, too",
		}, {
			"P6 a disabled policy has nothing", "-x: a b", nil, []string{"#a"},
			"Delete ConfigurationPolicy a: the policy is disabled\nWait ConfigurationPolicy b: the policy is disabled",
		}, {
			"P6 P8 a template on a cycle is pending, so it goes", "x: a(#a)", observed("#a"), []string{"#a"},
			"Delete ConfigurationPolicy a: Dependencies were not satisfied: 1 is still pending (ConfigurationPolicy a); it waits for itself: ConfigurationPolicy a → ConfigurationPolicy a",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var active []dependency.Object
			for _, word := range test.active {
				active = append(active, object(word))
			}
			if diff := cmp.Diff(test.want, texts(evaluate(world(test.policy), test.observations)[0].Actions(active))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

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
	actions := evaluate(world("x: a"), nil)[0].Actions([]dependency.Object{older, object("#a")})
	want := []dependency.Action{{Verb: dependency.Keep, Object: object("#a")}}
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Error(diff)
	}
	actions = evaluate(world("x: a"), nil)[0].Actions([]dependency.Object{older})
	want[0].Object = older
	if diff := cmp.Diff(want, actions); diff != "" {
		t.Error(diff)
	}
}

// P6: while a template doesn't say what it creates, an object without a template may be its.
func TestActionsKeepWhatAnUnreadableTemplateMayHaveCreated(t *testing.T) {
	policies := world("x: a b")
	policies[0].Spec.PolicyTemplates[1].ObjectDefinition.Raw = []byte(`{"kind": 7}`)
	got := texts(evaluate(policies, nil)[0].Actions([]dependency.Object{object("#old")}))
	for _, want := range []string{
		"Create ConfigurationPolicy a\n",
		"Keep ConfigurationPolicy old: kept, since template 1 does not say what it creates",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
	for _, action := range (dependency.PolicyResult{}).Actions([]dependency.Object{object("#a")}) {
		if action.Verb != dependency.Delete || action.Template != -1 {
			t.Errorf("of a policy that is gone: %+v, want Delete without a template", action)
		}
	}
}

// P6: an object that its creator put into a namespace, since the template's definition has none, is the
// template's: it is not created again and again, and deleted as nobody's in between.
func TestActionsMatchObjectsInANamespaceThatTheDefinitionLeavesOpen(t *testing.T) {
	foo := func(namespace string) dependency.Object {
		return dependency.Object{APIVersion: "example.com/v1", Kind: "FooPolicy", Namespace: namespace, Name: "foo"}
	}
	open := dependency.TemplateResult{Object: foo(""), State: dependency.StateReady}
	exact := dependency.TemplateResult{Object: foo("b"), State: dependency.StateReady}
	for _, test := range []struct {
		why       string
		templates []dependency.TemplateResult
		active    []dependency.Object
		want      []string
	}{
		{"P6 in any namespace", []dependency.TemplateResult{open}, []dependency.Object{foo("a")}, []string{"Keep a/foo"}},
		{"P6 the first of several, and the others are nobody's", []dependency.TemplateResult{open}, []dependency.Object{foo("c"), foo("a")}, []string{"Keep a/foo", "Delete c/foo"}},
		{"P6 not that of a template that says its namespace", []dependency.TemplateResult{open, exact}, []dependency.Object{foo("b")}, []string{"Create /foo", "Keep b/foo"}},
		{"P6 the exact one rather than another", []dependency.TemplateResult{open}, []dependency.Object{foo("a"), foo("")}, []string{"Keep /foo", "Delete a/foo"}},
	} {
		var got []string
		for _, a := range (dependency.PolicyResult{Templates: test.templates}).Actions(test.active) {
			got = append(got, string(a.Verb)+" "+a.Object.Namespace+"/"+a.Object.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.why, diff)
		}
	}
}
