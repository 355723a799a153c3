// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P2, P3: a dependency that was mistaken on the hub is told on the cluster, with what it may mean there.
func TestAMistakenDependencyIsToldOnTheCluster(t *testing.T) {
	const policies = "policy.open-cluster-management.io/"
	for _, test := range []struct {
		why, apiVersion, kind, namespace, name string
		want                                   string // Of the message, "" where nothing is named.
	}{
		{"a Policy in a wrong group", "policies.io/v1", "Policy", "", "y", "Policy y is not found in policies.io/v1, but there is Policy default.y in " + policies + "v1, must be Compliant"},
		{"of another namespace", "policies.io/v1", "Policy", "security", "y", "Policy y is not found in policies.io/v1, but there is Policy security.y in " + policies + "v1"},
		{"of one in which there is none", "policies.io/v1", "Policy", "apps", "y", ""},
		{"with dots in the name, and a namespace", "policies.io/v1", "Policy", "default", "1.2", "there is Policy default.1.2 in"},
		{"with dots alone, as on the cluster", "policies.io/v1", "Policy", "", "default.1.2", "Policy default.1.2 is not found in policies.io/v1, but there is one in " + policies + "v1"},
		{"the core group", "v1", "Policy", "", "y", "Policy y is not found in v1, but there is Policy default.y in"},
		{"a namespaced kind of another group", "kyverno.io/v1", "Policy", "", "y", "Policy y is not found in kyverno.io/v1, but there is Policy default.y in"},
		{"a wrong version of the right group", policies + "v2", "Policy", "", "y", "Policy y is not found in " + policies + "v2, but there is Policy default.y in " + policies + "v1"},
		{"and with its name on the cluster", policies + "v2", "Policy", "", "default.y", "Policy default.y is not found in " + policies + "v2, but there is one in " + policies + "v1"},
		{"a Policy in wrong letters", policies + "v1", "policy", "", "y", "policy y is not found in " + policies + "v1, but there is Policy default.y in " + policies + "v1"},
		{"letters and group", "policies.io/v1", "POLICY", "security", "y", "POLICY y is not found in policies.io/v1, but there is Policy security.y in"},
		{"a policy that is not there", "policies.io/v1", "Policy", "", "z", ""},
		{"a plural is another kind", policies + "v1", "Policies", "", "y", ""},
		{"a template's object in a wrong group", "policies.io/v1", "ConfigurationPolicy", "", "b", "ConfigurationPolicy b is not found in policies.io/v1, but there is one in " + policies + "v1"},
		{"in a wrong version", policies + "v1beta1", "ConfigurationPolicy", "apps", "b", "ConfigurationPolicy b is not found in " + policies + "v1beta1, but there is one in " + policies + "v1"},
		{"in wrong letters", policies + "v1", "configurationPolicy", "", "b", "configurationPolicy b is not found in " + policies + "v1, but there is ConfigurationPolicy b in " + policies + "v1"},
		{"of another kind and version", policies + "v1", "OperatorPolicy", "", "o", "OperatorPolicy o is not found in " + policies + "v1, but there is one in " + policies + "v1beta1"},
		{"it is no policy, so it has no name of the hub", "policies.io/v1", "ConfigurationPolicy", "default", "y", ""},
		{"a ConstraintTemplate, which has no namespace", "gatekeeper.sh/v1", "ConstraintTemplate", "apps", "g", "ConstraintTemplate g is not found in gatekeeper.sh/v1, but there is one in templates.gatekeeper.sh/v1"},
		{"a constraint, likewise", "gatekeeper.sh/v1", "K8sThing", "apps", "k", "K8sThing k is not found in gatekeeper.sh/v1, but there is one in constraints.gatekeeper.sh/v1beta1"},
		{"in wrong letters", "constraints.gatekeeper.sh/v1beta1", "k8sthing", "", "k", "there is K8sThing k in constraints.gatekeeper.sh/v1beta1"},
		{"a set in a wrong group", "policies.io/v1", "PolicySet", "", "s", "PolicySet s is not found in policies.io/v1, but sets of policies are PolicySets in " + policies + "v1beta1, must be Compliant"},
		{"in wrong letters", policies + "v1beta1", "policyset", "", "s", "policyset s is not found in " + policies + "v1beta1, but sets of policies are PolicySets in " + policies + "v1beta1"},
		{"in a wrong version", policies + "v1", "PolicySet", "", "s", "PolicySet s is not found in " + policies + "v1, but sets of policies are PolicySets in " + policies + "v1beta1, must be Compliant"},
		{"one that the hub does not have", policies + "v1beta1", "PolicySet", "", "none", "PolicySet none is not found on the hub, or has no policies, must be Compliant"},
	} {
		given := []*policyv1.Policy{replicaOf(t, "default", "x", test.apiVersion, test.kind, test.namespace, test.name)}
		given = append(given, world("default.y: b", "security.y: +g", "default.1.2: =k @o")...)
		observations := known{}
		e := dependency.NewEvaluator(cluster, scopeOfKyverno)
		watches, err := e.Set(given...)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range watches.Add {
			observations[o] = dependency.Observation{Problem: dependency.ReasonNotFound}
			e.Observe(o, observations[o])
		}
		evaluation, _ := e.Policy("default.x")
		message := evaluation.Templates[0].Message()
		if test.want == "" && strings.Contains(message, "there is") || !strings.Contains(message, test.want) {
			t.Errorf("%s:\n%s\nwant\n%s", test.why, message, test.want)
		}
		for _, o := range watches.Add {
			e.Observe(o, dependency.Observation{Problem: dependency.ReasonNoAPI})
		}
		evaluation, _ = e.Policy("default.x")
		_, want, _ := strings.Cut(strings.TrimSuffix(test.want, ", must be Compliant"), ", but")
		if strings.Contains(test.want, "on the hub") {
			want = test.want
		}
		if message := evaluation.Templates[0].Message(); !strings.Contains(message, want) {
			t.Errorf("%s, without an API:\n%s\nwant\n%s", test.why, message, want)
		}
	}
}

func scopeOfKyverno(kind schema.GroupKind) meta.RESTScopeName {
	if kind.Group == "kyverno.io" {
		return meta.RESTScopeNameNamespace
	}
	return ""
}

// replicaOf replicates a policy of the hub with one template and one dependency.
func replicaOf(t *testing.T, hubNamespace, policy, apiVersion, kind, namespace, name string) *policyv1.Policy {
	t.Helper()
	on := map[string]any{"apiVersion": apiVersion, "kind": kind, "name": name, "compliance": "Compliant"}
	if namespace != "" {
		on["namespace"] = namespace
	}
	root := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "Policy", "spec": map[string]any{
		"dependencies": []any{on},
		"policy-templates": []any{map[string]any{"objectDefinition": map[string]any{
			"apiVersion": policyVersion, "kind": "ConfigurationPolicy", "metadata": map[string]any{"name": "a"},
		}}},
	}}}
	root.SetNamespace(hubNamespace)
	root.SetName(policy)
	replica, err := dependency.Replicate(root, cluster, drawnSetsOf(hubNamespace))
	if err != nil {
		t.Fatal(err)
	}
	read := new(policyv1.Policy)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(replica.Object, read); err != nil {
		t.Fatal(err)
	}
	return read
}

func drawnSetsOf(namespace string) map[types.NamespacedName]*policyv1.PolicySet {
	return map[types.NamespacedName]*policyv1.PolicySet{{Namespace: namespace, Name: "s"}: {Spec: policyv1.PolicySetSpec{Policies: []string{"member"}}}}
}

// P3: where there is one as the dependency says, it is no mistake, whatever else has the name.
func TestADependencyOnWhatIsThereIsNoMistake(t *testing.T) {
	policies := world("x: a(@b)", "y: #b", "z: @b")
	if message := waitingFor(t, policies, "x"); message != "Dependencies were not satisfied: OperatorPolicy b is not found, must be Compliant" {
		t.Error(message)
	}
	policies[0].Spec.PolicyTemplates[0].ExtraDependencies[0].Kind = "operatorPolicy"
	if message := waitingFor(t, policies, "x"); !strings.Contains(message, "but there is OperatorPolicy b in") {
		t.Error(message)
	}
	policies[1].Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{"apiVersion":"policy.open-cluster-management.io/v1beta1","kind":"operatorPolicy","metadata":{"name":"b"}}`)
	if message := waitingFor(t, policies, "x"); strings.Contains(message, "but there is") {
		t.Error(message)
	}
}

// P3, P8: a mistake is none any more once there is one as the dependency says, and again when that goes.
func TestWhatADependencyNamesComesLater(t *testing.T) {
	policies := world("x: a(@b)", "y: #b", "z: @b")
	policies[1].Spec.PolicyTemplates[0].ObjectDefinition.Raw = []byte(`{"apiVersion":"policy.open-cluster-management.io/v1","kind":"OperatorPolicy","metadata":{"name":"b"}}`)
	e := dependency.NewEvaluator(cluster, nil)
	if _, err := e.Set(policies[:2]...); err != nil {
		t.Fatal(err)
	}
	e.Observe(object("@b"), dependency.Observation{Problem: dependency.ReasonNoAPI})
	for _, step := range []struct {
		why    string
		change func() dependency.Watches
		hinted bool
	}{
		{"it comes", func() dependency.Watches { watches, _ := e.Set(policies[2]); return watches }, false},
		{"it goes", func() dependency.Watches { return e.Delete("z") }, true},
	} {
		watches := step.change()
		evaluation, _ := e.Policy("x")
		message := evaluation.Templates[0].Message()
		if !slices.Contains(watches.Templates, dependency.TemplateRef{Policy: "x"}) || strings.Contains(message, "but there is") != step.hinted {
			t.Errorf("%s: told %v, message %q", step.why, watches.Templates, message)
		}
	}
}

// waitingFor gives the message of the policy's first template where nothing is on the cluster.
func waitingFor(t *testing.T, policies []*policyv1.Policy, name string) string {
	t.Helper()
	e := dependency.NewEvaluator(cluster, nil)
	watches, err := e.Set(policies...)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range watches.Add {
		e.Observe(o, dependency.Observation{Problem: dependency.ReasonNotFound})
	}
	evaluation, _ := e.Policy(name)
	return evaluation.Templates[0].Message()
}

// drawMistakenPolicy draws a replica with dependencies, and templates, in all spellings.
func drawMistakenPolicy(t *rapid.T, name string) *policyv1.Policy {
	versions := rapid.SampledFrom([]string{policyVersion, "policy.open-cluster-management.io/v2", "policies.io/v1"})
	p := &policyv1.Policy{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cluster}}
	for range rapid.IntRange(0, 2).Draw(t, "dependencies") {
		d := policyv1.PolicyDependency{Compliance: policyv1.Compliant}
		d.APIVersion, d.Kind = versions.Draw(t, "version"), rapid.SampledFrom([]string{"Policy", "policy", "ConfigurationPolicy", "configurationpolicy"}).Draw(t, "kind")
		d.Namespace = rapid.SampledFrom([]string{"", "", "n", "m", cluster}).Draw(t, "namespace")
		d.Name = rapid.SampledFrom([]string{"a", "b", "n.a", "1.2"}).Draw(t, "name")
		p.Spec.Dependencies = append(p.Spec.Dependencies, d)
	}
	for i := range rapid.IntRange(1, 2).Draw(t, "templates") {
		version, kind := versions.Draw(t, "version"), rapid.SampledFrom([]string{"ConfigurationPolicy", "configurationpolicy"}).Draw(t, "kind")
		p.Spec.PolicyTemplates = append(p.Spec.PolicyTemplates, policyv1.PolicyTemplate{ObjectDefinition: runtime.RawExtension{Raw: fmt.Appendf(nil,
			`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q}}`, version, kind, []string{"a", "b"}[i])}})
	}
	return p
}

// P3, P8: while policies come and go, each message is what one look at all of them says, and all whose message changed are told.
func TestEachChangeTellsWhatItNamesElsewhere(t *testing.T) {
	every := []schema.GroupKind{{Group: "policy.open-cluster-management.io"}, {Group: "policies.io"}}
	rapid.Check(t, func(t *rapid.T) {
		e := dependency.NewEvaluator(cluster, nil, every...)
		policies := map[string]*policyv1.Policy{}
		before := map[dependency.TemplateRef]string{}
		for range rapid.IntRange(2, 6).Draw(t, "changes") {
			name := rapid.SampledFrom([]string{"n.a", "m.a", "n.1.2", "n.x", "a"}).Draw(t, "policy")
			watches := dependency.Watches{}
			if rapid.Bool().Draw(t, "goes") {
				watches = e.Delete(name)
				delete(policies, name)
			} else {
				policies[name] = drawMistakenPolicy(t, name)
				var err error
				if watches, err = e.Set(policies[name]); err != nil {
					t.Fatal(err)
				}
			}
			told := append([]dependency.TemplateRef(nil), watches.Templates...)
			for _, o := range watches.Add {
				told = append(told, e.Observe(o, dependency.Observation{Problem: dependency.ReasonNotFound})...)
			}
			after := map[dependency.TemplateRef]string{}
			for _, evaluation := range e.All() {
				for i, template := range evaluation.Templates {
					ref := dependency.TemplateRef{Policy: evaluation.Policy, Index: i}
					after[ref] = template.String()
					for _, unmet := range template.Unmet {
						if want := meantElsewhere(policies, evaluation.Policy, unmet.Object); unmet.Elsewhere != want {
							t.Fatalf("%s waits for %+v: elsewhere is %+v, want %+v", ref, unmet.Object, unmet.Elsewhere, want)
						}
					}
					if after[ref] != before[ref] && !slices.Contains(told, ref) {
						t.Fatalf("%s is not told:\n%s\nbefore\n%s", ref, after[ref], before[ref])
					}
				}
			}
			before = after
		}
	})
}

// meantElsewhere looks at all policies and templates.
func meantElsewhere(policies map[string]*policyv1.Policy, dependent string, o dependency.Object) (first dependency.Object) {
	var all []dependency.Object
	for name, p := range policies {
		all = append(all, dependency.Object{APIVersion: policyVersion, Kind: "Policy", Namespace: cluster, Name: name})
		for _, template := range p.Spec.PolicyTemplates {
			all = append(all, created(template))
		}
	}
	if slices.Contains(all, o) {
		return dependency.Object{}
	}
	namespace, _, _ := strings.Cut(dependent, ".")
	for _, other := range all {
		names := []string{o.Name}
		renamed := o.APIVersion == policyVersion && o.Kind == "Policy"
		if !renamed && other.Kind == "Policy" {
			if o.Namespace != "" {
				names = append(names, o.Namespace+"."+o.Name)
			}
			if (o.Namespace == "" || o.Namespace == cluster) && !strings.Contains(o.Name, ".") {
				names = append(names, namespace+"."+o.Name)
			}
		}
		inPlace := other.Namespace == o.Namespace || other.Namespace == cluster && other.Kind != strings.ToLower(other.Kind) &&
			strings.HasPrefix(other.APIVersion, "policy.open-cluster-management.io/")
		if strings.EqualFold(o.Kind, other.Kind) && slices.Contains(names, other.Name) && inPlace && (first == (dependency.Object{}) || compareObjects(other, first) < 0) {
			first = other
		}
	}
	return first
}
