// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// drawObject draws a policy of the hub in namespace n, as it is read. A field "new" is in all that it consists of.
func drawObject(t *rapid.T) *unstructured.Unstructured {
	dependencies := func(name string) any {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any {
			d := map[string]any{"new": "field"}
			for field, values := range map[string][]string{
				"apiVersion": {policyVersion, policyVersion + "beta1"},
				"compliance": {"", "Compliant", "NonCompliant"}, "namespace": {"", "n", "m"},
				"kind": {"", "Policy", "PolicySet", "ConfigurationPolicy"}, "name": {"", "a", "b", "n.a", "set", "empty"},
			} {
				if value := rapid.SampledFrom(values).Draw(t, field); value != "" {
					d[field] = value
				}
			}
			return d
		}), 0, 3).Draw(t, name)
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": policyVersion, "kind": "Policy",
		"metadata": map[string]any{
			"namespace": "n", "name": rapid.SampledFrom([]string{"x", "1.2"}).Draw(t, "policy"),
			"labels": map[string]any{"team": "platform"}, "annotations": map[string]any{"why": "because"},
		},
		"spec": map[string]any{
			"new": "field", "rolloutStrategy": map[string]any{"type": "Progressive"}, "dependencies": dependencies("dependencies"),
			"policy-templates": []any{nil, map[string]any{"new": "field", "extraDependencies": dependencies("extraDependencies")}},
		},
	}}
}

// drawnSets are the sets that drawn policies may depend on.
func drawnSets() map[types.NamespacedName]*policyv1.PolicySet {
	return map[types.NamespacedName]*policyv1.PolicySet{
		{Namespace: "n", Name: "set"}:   {Spec: policyv1.PolicySetSpec{Policies: []string{"a", "1.2"}}},
		{Namespace: "n", Name: "empty"}: {},
	}
}

// P2: all of the spec stays as it was read, but the names of dependencies on policies, and sets, and the strategy.
func TestReplicateChangesNothingButNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := drawObject(t)
		before := text(t, u)
		got, err := dependency.Replicate(u, cluster, drawnSets())
		if err != nil {
			t.Fatal(err)
		}
		want := u.DeepCopy()
		want.SetNamespace(cluster)
		want.SetName("n." + u.GetName())
		want.SetLabels(map[string]string{
			"team": "platform", "policy.open-cluster-management.io/root-policy": want.GetName(),
			"policy.open-cluster-management.io/cluster-name": cluster, "policy.open-cluster-management.io/cluster-namespace": cluster,
		})
		want.SetAnnotations(map[string]string{"why": "because", "argocd.argoproj.io/compare-options": "IgnoreExtraneous"})
		spec := want.Object["spec"].(map[string]any)
		delete(spec, "rolloutStrategy")
		template := spec["policy-templates"].([]any)[1].(map[string]any)
		spec["dependencies"] = renamed(spec["dependencies"].([]any))
		template["extraDependencies"] = renamed(template["extraDependencies"].([]any))
		if diff := cmp.Diff(text(t, want), text(t, got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		got.Object["spec"].(map[string]any)["new"] = "changed"
		for _, d := range got.Object["spec"].(map[string]any)["dependencies"].([]any) {
			d.(map[string]any)["new"] = "changed"
		}
		if after := text(t, u); after != before {
			t.Fatal("the policy was changed")
		}
	})
}

// renamed is what P2 makes of dependencies of a policy in namespace n; a set has the policies a and 1.2.
func renamed(dependencies []any) []any {
	all := []any{}
	for _, d := range dependencies {
		old := d.(map[string]any)
		namespace, _ := old["namespace"].(string)
		name, _ := old["name"].(string)
		of := map[string]string{"": "n", "n": "n", "m": "m"}[namespace]
		add := func(newName string) {
			renamed := maps.Clone(old)
			delete(renamed, "namespace")
			renamed["apiVersion"], renamed["kind"], renamed["name"] = policyVersion, "Policy", newName
			all = append(all, renamed)
		}
		switch {
		case old["kind"] == "Policy" && old["apiVersion"] == policyVersion && name != "" && !(namespace == "" && name == "n.a"):
			add(of + "." + name)
		case old["kind"] == "PolicySet" && old["apiVersion"] == policyVersion+"beta1" && of == "n" && name == "set":
			add("n.a")
			add("n.1.2")
		case old["kind"] == "PolicySet" && old["apiVersion"] == policyVersion+"beta1":
			stays := maps.Clone(old)
			stays["namespace"] = of
			all = append(all, stays)
		default:
			all = append(all, d)
		}
	}
	return all
}

// P2: also with names that have dots, and with sets.
func TestReplicatingTwiceDoesNothingMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		once, err := dependency.Replicate(drawObject(t), cluster, drawnSets())
		if err != nil {
			t.Fatal(err)
		}
		twice, err := dependency.Replicate(once, cluster, drawnSets())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(once.Object, twice.Object); diff != "" {
			t.Fatalf("(-once +twice):\n%s", diff)
		}
	})
}

func text(t *rapid.T, value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// P2: canonicalizeDependencies of OCM's propagator leaves these dependencies so. With other ones each replica would be written
// again on the day of the switch.
func TestDependenciesThatAreNotTranslatedAreAsOCMLeavesThem(t *testing.T) {
	const policies = "policy.open-cluster-management.io/"
	for _, test := range []struct {
		why, apiVersion, kind, namespace, name string
		wantNamespace, wantName                string
	}{
		{"a set that does not exist", policies + "v1beta1", "PolicySet", "", "gone", "default", "gone"},
		{"with a namespace", policies + "v1beta1", "PolicySet", "apps", "gone", "apps", "gone"},
		{"a set that exists, in another version", policies + "v1", "PolicySet", "", "s", "", "s"},
		{"a policy in another version", policies + "v1beta1", "Policy", "", "y", "", "y"},
		{"with a namespace", policies + "v2", "Policy", "apps", "y", "apps", "y"},
		{"another kind of the group", policies + "v1", "ConfigurationPolicy", "", "c", "", "c"},
	} {
		got := replicaOf(t, "default", "x", test.apiVersion, test.kind, test.namespace, test.name).Spec.Dependencies
		want := []policyv1.PolicyDependency{{Namespace: test.wantNamespace, Name: test.wantName, Compliance: policyv1.Compliant}}
		want[0].APIVersion, want[0].Kind = test.apiVersion, test.kind
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", test.why, diff)
		}
	}
}

// P2: what the library has no field for is replicated, and what the API server has set is not.
func TestReplicateKeepsTheSpec(t *testing.T) {
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	got, err := dependency.Replicate(read(`{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": {"namespace": "n", "name": "x", "uid": "1", "resourceVersion": "2", "generation": 3, "finalizers": ["f"], "labels": {"team": "platform"},
			"annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}},
		"spec": {
			"copyPolicyMetadata": true, "dependencies": [],
			"policy-templates": [{
				"objectDefinition": {"kind": "ConfigurationPolicy", "metadata": {"name": "a"}}, "new": "field",
				"extraDependencies": [{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "name": "b", "compliance": "Compliant"}]
			}]
		},
		"status": {"compliant": "Compliant"}
	}`), "cluster1", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := read(`{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": {"namespace": "cluster1", "name": "n.x", "labels": {"team": "platform", "policy.open-cluster-management.io/root-policy": "n.x",
				"policy.open-cluster-management.io/cluster-name": "cluster1", "policy.open-cluster-management.io/cluster-namespace": "cluster1"},
			"annotations": {"argocd.argoproj.io/compare-options": "IgnoreExtraneous"}},
		"spec": {
			"copyPolicyMetadata": true, "dependencies": [],
			"policy-templates": [{
				"objectDefinition": {"kind": "ConfigurationPolicy", "metadata": {"name": "a"}}, "new": "field",
				"extraDependencies": [{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "name": "n.b", "compliance": "Compliant"}]
			}]
		}
	}`)
	if diff := cmp.Diff(want.Object, got.Object); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := dependency.Replicate(read(`{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "metadata": {"name": "x"}}`), "cluster1", nil); err == nil {
		t.Error("a policy without a spec is replicated")
	}
}
