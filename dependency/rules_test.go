package dependency_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/dependency"
)

// P1: what a template depends on, and where it contradicts itself.
func TestDependenciesAreTheUnion(t *testing.T) {
	for _, test := range []struct {
		name     string
		policies []dependency.Policy
		observed []string
		want     string
	}{
		{
			"P1 of the policy's and the template's own",
			world("x(y): a(z) b"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Pending: Dependencies were not satisfied: 2 are still pending (Policy y, Policy z)
  [1] ConfigurationPolicy b: Pending: Dependencies were not satisfied: 1 is still pending (Policy y)`,
		}, {
			"P1 the same object with the same compliance is one dependency",
			world("x(y y): a(y)"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Pending: Dependencies were not satisfied: 1 is still pending (Policy y)`,
		}, {
			"P1 a conflict within extraDependencies is an error of that template",
			world("x: a(y y!) b"), nil,
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.policy-templates[0].extraDependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Ready`,
		}, {
			"P1 a conflict with the policy's is an error of that template, at its own field",
			world("x(y): a(y?) b"), []string{"y"},
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[0].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Ready`,
		}, {
			"P1 a conflict within the policy's is an error of all templates, once each",
			world("x(y z y!): a(y) b"), []string{"y"},
			`Policy x
  [0] ConfigurationPolicy a: Invalid: spec.dependencies[2].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
  [1] ConfigurationPolicy b: Invalid: spec.dependencies[2].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y`,
		}, {
			"P1 names that differ are two objects",
			world("x: a(y #y!)"), []string{"y", "#y!"},
			`Policy x
  [0] ConfigurationPolicy a: Ready`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			results := evaluate(test.policies, missing(test.policies, observed(test.observed...)))
			if diff := cmp.Diff(test.want, lines(results)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// missing adds to observations that every other object that the policies name is not found.
func missing(policies []dependency.Policy, observations dependency.Observations) dependency.Observations {
	for _, o := range watches(policies) {
		if _, found := observations[o]; !found {
			observations[o] = dependency.Observation{Problem: dependency.NotFound}
		}
	}
	return observations
}

// P1: on the cluster, policies in two namespaces of the dependencies are one object (P2), and contradict.
func TestConflictsAreAmongWhatIsLookedUp(t *testing.T) {
	policies := world("x: a(y y!)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[1].Namespace = "elsewhere"
	if got := evaluate(policies, nil)[0].Templates[0].State; got != dependency.StateInvalid {
		t.Errorf("state %s, want Invalid: policies are looked up in the cluster's namespace", got)
	}

	for i := range policies[0].Spec.PolicyTemplates[0].ExtraDependencies {
		d := &policies[0].Spec.PolicyTemplates[0].ExtraDependencies[i]
		d.APIVersion, d.Kind = "example.com/v1", "Widget"
	}
	if got := evaluate(policies, nil)[0].Templates[0].State; got != dependency.StatePending {
		t.Errorf("state %s, want Pending: other kinds are looked up where the dependency says", got)
	}
}

// P1: a dependency that names no object, or no compliance, is an error with the path of each field.
func TestDependenciesThatNameNothingAreErrors(t *testing.T) {
	policies := world("x: a(y)", "z(y): b c")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0] = dependency.Dependency{}
	policies[1].Spec.Dependencies[0].Compliance = "compliant"
	policies[1].Spec.Dependencies[0].APIVersion = "a/b/c"
	results := evaluate(policies, nil)
	want := `Policy x
  [0] ConfigurationPolicy a: Invalid: spec.policy-templates[0].extraDependencies[0].apiVersion: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].kind: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].name: Required value: a dependency names one object; spec.policy-templates[0].extraDependencies[0].compliance: Unsupported value: "": supported values: "Compliant", "NonCompliant", "Pending"
Policy z
  [0] ConfigurationPolicy b: Invalid: spec.dependencies[0].apiVersion: Invalid value: "a/b/c": want version or group/version; spec.dependencies[0].compliance: Unsupported value: "compliant": supported values: "Compliant", "NonCompliant", "Pending"
  [1] ConfigurationPolicy c: Invalid: spec.dependencies[0].apiVersion: Invalid value: "a/b/c": want version or group/version; spec.dependencies[0].compliance: Unsupported value: "compliant": supported values: "Compliant", "NonCompliant", "Pending"`
	if diff := cmp.Diff(want, lines(results)); diff != "" {
		t.Error(diff)
	}
	if named := watches(policies); len(named) > 0 {
		t.Errorf("what names nothing is to be watched: %v", named)
	}
	var fieldError *field.Error
	if err := results[0].Templates[0].Err; !errors.As(err, &fieldError) ||
		fieldError.Field != "spec.policy-templates[0].extraDependencies[0].apiVersion" {
		t.Errorf("errors.As finds %v in %v", fieldError, err)
	}
}

// P1: templates share the faults of their policy, and have their own beside them.
func TestFaultsOfThePolicyAndOfItsTemplates(t *testing.T) {
	policies := world("x(y y! y? z): a(z z!) b(z z?)")
	results := evaluate(policies, nil)
	common := `spec.dependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
spec.dependencies[2].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[0].compliance for the same Policy y
`
	for i, own := range []string{
		`spec.policy-templates[0].extraDependencies[1].compliance: Invalid value: "NonCompliant": conflicts with Compliant at spec.dependencies[3].compliance for the same Policy z`,
		`spec.policy-templates[1].extraDependencies[1].compliance: Invalid value: "Pending": conflicts with Compliant at spec.dependencies[3].compliance for the same Policy z`,
	} {
		if diff := cmp.Diff(common+own, results[0].Templates[i].Err.Error()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReplicate(t *testing.T) {
	policy := func(namespace, name string) dependency.Dependency {
		return dependency.Dependency{APIVersion: policyVersion, Kind: "Policy", Namespace: namespace, Name: name, Compliance: dependency.Pending}
	}
	set := func(namespace, name string) dependency.Dependency {
		return dependency.Dependency{APIVersion: "policy.open-cluster-management.io/v1beta1", Kind: "PolicySet",
			Namespace: namespace, Name: name, Compliance: dependency.Pending}
	}
	other := func(apiVersion, kind string) dependency.Dependency {
		return dependency.Dependency{APIVersion: apiVersion, Kind: kind, Name: "o", Compliance: dependency.Pending}
	}
	sets := dependency.PolicySets{
		types.NamespacedName{Namespace: "n", Name: "s"}:     {Spec: dependency.PolicySetSpec{Policies: []string{"a", "b.c"}}},
		types.NamespacedName{Namespace: "m", Name: "s"}:     {Spec: dependency.PolicySetSpec{Policies: []string{"d"}}},
		types.NamespacedName{Namespace: "n", Name: "empty"}: {},
	}
	for _, test := range []struct {
		name     string
		in, want []dependency.Dependency
	}{
		{"P2 a policy without a namespace takes that of the policy", list(policy("", "a")), list(policy("", "n.a"))},
		{"P2 a policy with one keeps it in its name", list(policy("m", "a")), list(policy("", "m.a"))},
		{"P2 a name with a dot stays", list(policy("", "m.a"), policy("m", "n.a")), list(policy("", "m.a"), policy("m", "n.a"))},
		{"P2 a set is replaced by its policies, in its place", list(policy("", "x"), set("", "s"), policy("", "y")),
			list(policy("", "n.x"), policy("", "n.a"), policy("", "b.c"), policy("", "n.y"))},
		{"P2 policies of a set are in its namespace", list(set("m", "s")), list(policy("", "m.d"))},
		{"P2 a set that does not exist stays as it is", list(set("", "none")), list(set("", "none"))},
		{"P2 an empty set leaves nothing to wait for", list(set("", "empty")), list()},
		{"P2 other kinds stay, also those of other groups that are called Policy",
			list(other("policy.open-cluster-management.io/v1", "ConfigurationPolicy"), other("kyverno.io/v1", "Policy"), other("x/v1", "PolicySet")),
			list(other("policy.open-cluster-management.io/v1", "ConfigurationPolicy"), other("kyverno.io/v1", "Policy"), other("x/v1", "PolicySet"))},
		{"P2 no dependencies stay none", nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, dependency.Replicate(test.in, "n", sets)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func list(dependencies ...dependency.Dependency) []dependency.Dependency {
	return append([]dependency.Dependency{}, dependencies...)
}

// P2: the whole policy, as it stands on the cluster; the one on the hub is not changed.
func TestReplicatedPolicy(t *testing.T) {
	hub := world("x(y): a(z) b")[0]
	hub.Namespace = "default"
	before := clone([]dependency.Policy{hub})[0]
	got := hub.Replicated("cluster1", nil)
	if diff := cmp.Diff(before, hub); diff != "" {
		t.Errorf("the argument was changed:\n%s", diff)
	}
	want := world("default.x(default.y): a(default.z) b")[0]
	want.Namespace = "cluster1"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, got.Replicated("cluster1", nil)); diff != "" {
		t.Errorf("replicated twice:\n%s", diff)
	}
	hub.Namespace = ""
	if got := hub.Replicated("", nil); got.Name != "x" || got.Spec.Dependencies[0].Name != "y" {
		t.Errorf("%s depends on %s: without a namespace there is no name to make", got.Name, got.Spec.Dependencies[0].Name)
	}
}

// P2: a set that is not there is looked up on the cluster as it stands, and its absence reported.
func TestAbsentPolicySetIsReportedOnTheCluster(t *testing.T) {
	hub := world("x: a(s)")[0]
	hub.Spec.PolicyTemplates[0].ExtraDependencies[0].Kind = "PolicySet"
	policies := []dependency.Policy{hub.Replicated(cluster, nil)}
	result := evaluate(policies, missing(policies, dependency.Observations{}))[0].Templates[0]
	if got, want := result.Message(), "Dependencies were not satisfied: 1 is still pending (PolicySet s)"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got, want := result.Unmet[0].String(), "PolicySet s is not found, want Compliant"; got != want {
		t.Errorf("unmet %q, want %q", got, want)
	}
}

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		name             string
		apiVersion, kind string
		want             string
	}{
		{"P2 a policy is in the cluster's namespace", policyVersion, "Policy", cluster},
		{"P2 so is all of the group that ends in Policy", "policy.open-cluster-management.io/v1beta1", "OperatorPolicy", cluster},
		{"P2 a set does not end in Policy", "policy.open-cluster-management.io/v1beta1", "PolicySet", "given"},
		{"P2 another group is another matter", "kyverno.io/v1", "Policy", "given"},
		{"P2 the core group is none", "v1", "Policy", "given"},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := dependency.Dependency{APIVersion: test.apiVersion, Kind: test.kind, Namespace: "given", Name: "o"}
			want := dependency.Object{APIVersion: test.apiVersion, Kind: test.kind, Namespace: test.want, Name: "o"}
			if got := d.Object(cluster); got != want {
				t.Errorf("got %#v, want %#v", got, want)
			}
		})
	}
}

// P3, P4: each reason why a dependency is unmet, and what it adds to the message.
func TestReasonsAndMessages(t *testing.T) {
	const pending = "Dependencies were not satisfied: 1 is still pending (FooPolicy foo)"
	foo := dependency.Object{APIVersion: policyVersion, Kind: "FooPolicy", Namespace: cluster, Name: "foo"}
	policies := world("x: a(foo)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].Kind = "FooPolicy"
	for _, test := range []struct {
		name          string
		observation   dependency.Observation
		reason        dependency.Reason
		message, says string
	}{
		{
			"P3 another compliance", dependency.Observation{Compliance: dependency.NonCompliant},
			dependency.OtherCompliance, pending, "FooPolicy foo is NonCompliant, want Compliant",
		}, {
			"P3 a missing object", dependency.Observation{Problem: dependency.NotFound},
			dependency.NotFound, pending, "FooPolicy foo is not found, want Compliant",
		}, {
			"P3 a missing field, as the message says",
			dependency.Observation{Problem: dependency.FieldMissing, Detail: "status.compliant is missing"},
			dependency.FieldMissing, pending + "; FooPolicy foo has no compliance: status.compliant is missing",
			"FooPolicy foo has no compliance: status.compliant is missing",
		}, {
			"P3 no API", dependency.Observation{Problem: dependency.NoAPI},
			dependency.NoAPI, pending + "; FooPolicy foo can't be read: the cluster has no API for " + policyVersion + " FooPolicy",
			"FooPolicy foo can't be read: the cluster has no API for " + policyVersion + " FooPolicy",
		}, {
			"P3 a failed read, in one line", dependency.Observation{Problem: dependency.ReadFailed, Detail: "connection\nrefused"},
			dependency.ReadFailed, pending + "; FooPolicy foo can't be read: connection refused",
			"FooPolicy foo can't be read: connection refused",
		}, {
			"P3 another value", dependency.Observation{Compliance: "Weird"},
			dependency.UnknownValue,
			pending + `; FooPolicy foo has a compliance that is none of Compliant, NonCompliant and Pending: "Weird"`,
			`FooPolicy foo has a compliance that is none of Compliant, NonCompliant and Pending: "Weird"`,
		}, {
			"P3 not read so far", dependency.Observation{},
			dependency.NotRead, pending + "; FooPolicy foo was not read so far", "FooPolicy foo was not read so far",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := evaluate(policies, dependency.Observations{foo: test.observation})[0].Templates[0]
			want := []dependency.Unmet{{Object: foo, Want: dependency.Compliant, Reason: test.reason, Observation: test.observation}}
			if diff := cmp.Diff(want, result.Unmet); diff != "" {
				t.Error(diff)
			}
			if got := result.Message(); got != test.message {
				t.Errorf("message %q, want %q", got, test.message)
			}
			if got := result.Unmet[0].String(); got != test.says {
				t.Errorf("unmet %q, want %q", got, test.says)
			}
			if strings.Contains(result.Message(), "\n") {
				t.Errorf("more than a line: %q", result.Message())
			}
		})
	}
}

// P4: names are not validated here, and may hold anything.
func TestMessagesAreOneLine(t *testing.T) {
	policies := world("x: a(y #a)", "z: b(c)")
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].Name = "y\ny"
	policies[1].Spec.PolicyTemplates[0].ExtraDependencies = append(policies[1].Spec.PolicyTemplates[0].ExtraDependencies,
		dependency.Dependency{APIVersion: "v1", Kind: "A\r\nB", Compliance: "C\nD"})
	for _, r := range evaluate(policies, nil) {
		for _, template := range r.Templates {
			if strings.ContainsAny(template.Message(), "\r\n") {
				t.Errorf("more than a line: %q", template.Message())
			}
		}
	}
}

// P4: ready with every dependency met, whichever compliance it waits for; the unmet are sorted by kind and name.
func TestTemplatesAreReadyOrPending(t *testing.T) {
	policies := world("x: a(p #q! r?)")
	results := evaluate(policies, observed("p", "#q!", "r?"))
	if got := results[0].Templates[0]; got.State != dependency.StateReady || got.Message() != "" || len(got.Unmet) > 0 {
		t.Errorf("got %s, want ready and no message", got)
	}
	policies = world("x: a(z #z y #b)")
	want := "Dependencies were not satisfied: 4 are still pending (ConfigurationPolicy b, ConfigurationPolicy z, Policy y, Policy z)"
	if got := evaluate(policies, missing(policies, dependency.Observations{}))[0].Templates[0].Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

// P5: a pending template with ignorePending counts as compliant, and says so.
func TestIgnorePending(t *testing.T) {
	policies := world("x: a(y)~ b", "z: c(y) d")
	results := evaluate(policies, missing(policies, dependency.Observations{}))
	observations := observed("#b", "#d")
	ignored, pending := results[0], results[1]
	if got := ignored.Compliance(observations); got != dependency.Compliant {
		t.Errorf("with ignorePending %q, want Compliant", got)
	}
	if got := pending.Compliance(observations); got != dependency.Pending {
		t.Errorf("without ignorePending %q, want Pending", got)
	}
	want := "Dependencies were not satisfied: 1 is still pending (Policy y); it counts as compliant because of ignorePending"
	if got := ignored.Templates[0].Message(); got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	if got := ignored.Templates[0].State; got != dependency.StatePending {
		t.Errorf("state %s: ignorePending makes nothing ready", got)
	}
}

// P7: what each template counts as, and what they make together.
func TestComplianceOfAPolicy(t *testing.T) {
	for _, test := range []struct {
		name     string
		policy   string
		observed []string
		want     dependency.Compliance
	}{
		{"P7 NonCompliant if a template is, whatever else is pending", "x: a b(y) c", []string{"#a", "#c!"}, dependency.NonCompliant},
		{"P7 Pending if one is", "x: a b(y)", []string{"#a"}, dependency.Pending},
		{"P7 Pending if the template's object says so", "x: a", []string{"#a?"}, dependency.Pending},
		{"P7 Pending before unknown", "x: a b(y)", nil, dependency.Pending},
		{"P7 unknown if one is", "x: a b", []string{"#a"}, ""},
		{"P7 Compliant if all are", "x: a b", []string{"#a", "#b"}, dependency.Compliant},
		{"P7 over nothing unknown", "x:", nil, ""},
		{"P7 an invalid template is not compliant", "x: a b(y y!)", []string{"#a", "#b"}, dependency.NonCompliant},
		{"P7 what a pending template's object said before does not count", "x: a(y)", []string{"#a!"}, dependency.Pending},
		{"P7 a disabled policy says nothing", "-x: a", []string{"#a"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			result := evaluate(world(test.policy), nil)[0]
			if got := result.Compliance(observed(test.observed...)); got != test.want {
				t.Errorf("got %q, want %q of\n%s", got, test.want, result)
			}
		})
	}
	result := evaluate(world("x: a"), nil)[0]
	for _, observation := range []dependency.Observation{{Compliance: "Weird"}, {Problem: dependency.ReadFailed}, {}} {
		if got := result.Compliance(dependency.Observations{object("#a"): observation}); got != "" {
			t.Errorf("P7 with %v it is %q, want unknown", observation, got)
		}
	}
}

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

func TestSetRefusesPoliciesThatAreNotOfTheCluster(t *testing.T) {
	named := func(namespace, name string) dependency.Policy {
		return dependency.Policy{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	e := dependency.NewEvaluator(cluster)
	_, err := e.Set(named(cluster, "ok"), named("", ""), named("", "ok"), named("default", "x"))
	want := `metadata.name: Required value: a policy is known by its name
metadata.name: Duplicate value: "ok"
metadata.namespace: Invalid value: "default": policy x is evaluated on the cluster: want its namespace "managed", or none`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	if results := e.Policies(); len(results) > 0 {
		t.Errorf("refused, but set: %v", results)
	}
	if _, err := dependency.Evaluate(cluster, []dependency.Policy{named("", "")}, nil); err == nil {
		t.Error("Evaluate takes a policy without a name")
	}
}

// The zero values that doc comments promise something of.
func TestZeroValues(t *testing.T) {
	var e dependency.Evaluator
	if e.Observe(object("y"), dependency.Observation{}) != nil || e.Dependents(object("y")) != nil || len(e.Watches()) > 0 ||
		len(e.Cycles()) > 0 || len(e.Policies()) > 0 || e.Order().String() != "" || len(e.Delete("x").Templates) > 0 {
		t.Error("an evaluator without policies has something")
	}
	if _, found := e.Policy("x"); found {
		t.Error("a policy was found")
	}
	if s := (dependency.TemplateResult{State: dependency.StateInvalid}).Message(); s != "" {
		t.Errorf("invalid without an error says %q", s)
	}
	if _, err := (dependency.PolicyTemplate{}).Object(); err == nil {
		t.Error("a template without a definition creates something")
	}
	var none dependency.PolicyTemplate
	none.ObjectDefinition = runtime.RawExtension{Raw: []byte("null")}
	if _, err := none.Object(); err == nil {
		t.Error("a template whose definition is null creates something")
	}
}
