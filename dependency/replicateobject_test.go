package dependency_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/dependency"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// P2: an object is replicated as the policy that is read of it.
func TestReplicateObjectAgreesWithReplicate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []policyv1.PolicyDependency {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) policyv1.PolicyDependency {
				d := drawDependency(t, allWants()...)
				d.Namespace = rapid.SampledFrom([]string{"", "n", "m"}).Draw(t, "namespace")
				d.Kind = rapid.SampledFrom([]string{"", "Policy", "PolicySet", "ConfigurationPolicy"}).Draw(t, "kind")
				d.Name = rapid.SampledFrom([]string{"", "a", "b", "n.a", "set", "empty"}).Draw(t, "name")
				return d
			}), 0, 3).Draw(t, name)
		}
		p := world("x: a b")[0]
		p.Namespace, p.Name = "n", "x"
		p.TypeMeta = metav1.TypeMeta{APIVersion: "policy.open-cluster-management.io/v1", Kind: "Policy"}
		p.Labels = map[string]string{"team": "platform"}
		p.Annotations = map[string]string{"why": "because"}
		p.Spec.Dependencies = draw("dependencies")
		for i := range p.Spec.PolicyTemplates {
			p.Spec.PolicyTemplates[i].ExtraDependencies = draw("extraDependencies")
		}
		sets := map[types.NamespacedName]*policyv1.PolicySet{
			{Namespace: "n", Name: "set"}:   {Spec: policyv1.PolicySetSpec{Policies: []string{"a", "1.2"}}},
			{Namespace: "n", Name: "empty"}: {},
		}
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(p)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{Object: content}
		before := text(t, u)
		object, err := dependency.ReplicateObject(u, cluster, sets)
		if err != nil {
			t.Fatal(err)
		}
		got, err := dependency.PolicyOf(object)
		if err != nil {
			t.Fatal(err)
		}
		want, err := dependency.PolicyOf(u)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(text(t, dependency.Replicate(want, cluster, sets)), text(t, got)); diff != "" {
			t.Fatalf("(-Replicate +ReplicateObject):\n%s", diff)
		}
		if after := text(t, u); after != before {
			t.Fatal("the argument was changed")
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

// P2: what the library has no field for is replicated, and what the API server has set is not.
func TestReplicateObjectKeepsTheSpec(t *testing.T) {
	read := func(text string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON([]byte(text)); err != nil {
			t.Fatal(err)
		}
		return u
	}
	got, err := dependency.ReplicateObject(read(`{
		"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy",
		"metadata": {"namespace": "n", "name": "x", "uid": "1", "resourceVersion": "2", "generation": 3, "finalizers": ["f"], "labels": {"team": "platform"}},
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
		"metadata": {"namespace": "cluster1", "name": "n.x", "labels": {"team": "platform", "policy.open-cluster-management.io/root-policy": "n.x"}},
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
	if _, err := dependency.ReplicateObject(read(`{"apiVersion": "policy.open-cluster-management.io/v1", "kind": "Policy", "metadata": {"name": "x"}}`), "cluster1", nil); err == nil {
		t.Error("a policy without a spec is replicated")
	}
}
