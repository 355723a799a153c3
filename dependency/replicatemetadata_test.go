// SPDX-License-Identifier: Apache-2.0

package dependency_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cohort-ocm/cohort/dependency"
)

// P2: a replica has the labels and annotations that OCM's propagator gives it.
func TestReplicatedMetadata(t *testing.T) {
	const policies, cohort = "policy.open-cluster-management.io/", "cohort.open-cluster-management.io/"
	const argo = "argocd.argoproj.io/compare-options=IgnoreExtraneous"
	onCluster := []string{policies + "cluster-name=c1", policies + "cluster-namespace=c1", policies + "root-policy=n.p"}
	for _, test := range []struct {
		why                     string
		spec                    map[string]any
		labels, annotations     []string
		wantLabels, wantAnnotes []string
	}{
		{why: "a policy without any", wantLabels: onCluster, wantAnnotes: []string{argo}},
		{
			why: "all are copied", labels: []string{"team=x", policies + "area=y"}, annotations: []string{"why=z", policies + "standards=s"},
			wantLabels: slices.Concat(onCluster, []string{"team=x", policies + "area=y"}), wantAnnotes: []string{argo, "why=z", policies + "standards=s"},
		},
		{
			why: "also where the field says so", spec: map[string]any{"copyPolicyMetadata": true}, labels: []string{"team=x"},
			wantLabels: slices.Concat(onCluster, []string{"team=x"}), wantAnnotes: []string{argo},
		},
		{
			why: "only those of the policy API where it says no", spec: map[string]any{"copyPolicyMetadata": false},
			labels: []string{"team=x", policies + "area=y", "x" + policies + "a=b"}, annotations: []string{"why=z", policies + "standards=s"},
			wantLabels: slices.Concat(onCluster, []string{policies + "area=y"}), wantAnnotes: []string{argo, policies + "standards=s"},
		},
		{
			why: "what is about the root alone is not copied",
			annotations: []string{
				"kubectl.kubernetes.io/last-applied-configuration={}", policies + "trigger-update=now", cohort + "left={}",
				cohort + "verdict=good", cohort + "pause=true", argo + ",Other",
			},
			wantLabels: onCluster, wantAnnotes: []string{argo},
		},
		{
			why: "labels that were copied from a replica of another policy are overwritten", labels: []string{
				policies + "root-policy=x.y", policies + "cluster-name=c2", policies + "cluster-namespace=c2",
			},
			wantLabels: onCluster, wantAnnotes: []string{argo},
		},
	} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "Policy", "spec": map[string]any{}}}
		u.SetNamespace("n")
		u.SetName("p")
		maps.Copy(u.Object["spec"].(map[string]any), test.spec)
		u.SetLabels(pairs(test.labels))
		u.SetAnnotations(pairs(test.annotations))
		got, err := dependency.Replicate(u, "c1", nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.GetName() != "n.p" {
			t.Errorf("%s: the replica is called %q", test.why, got.GetName())
		}
		if labels := got.GetLabels(); !maps.Equal(labels, pairs(test.wantLabels)) {
			t.Errorf("%s: labels %v, want %v", test.why, labels, test.wantLabels)
		}
		if annotations := got.GetAnnotations(); !maps.Equal(annotations, pairs(test.wantAnnotes)) {
			t.Errorf("%s: annotations %v, want %v", test.why, annotations, test.wantAnnotes)
		}
	}
}

// P2: a replica for another cluster has the labels of that cluster, and keeps all other labels.
func TestAReplicaOfAnotherCluster(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "Policy", "spec": map[string]any{}}}
	u.SetNamespace("n")
	u.SetName("p")
	first, err := dependency.Replicate(u, "c1", nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := dependency.Replicate(first, "c2", nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := dependency.Replicate(u, "c2", nil)
	if err != nil {
		t.Fatal(err)
	}
	if text, wanted := lineOf(second), lineOf(want); text != wanted {
		t.Errorf("by way of c1\n%s\nwant\n%s", text, wanted)
	}
}

// P2: no replica is in the namespace that its label names: a root policy may be called as a replica is.
func TestARootPolicyThatIsCalledLikeAReplica(t *testing.T) {
	for namespace, want := range map[string]string{"n": "n.n.p", "c1": "n.p"} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "Policy", "spec": map[string]any{}}}
		u.SetNamespace(namespace)
		u.SetName("n.p")
		u.SetLabels(map[string]string{"policy.open-cluster-management.io/root-policy": "n.p"})
		got, err := dependency.Replicate(u, "c2", nil)
		if err != nil || got.GetName() != want {
			t.Errorf("in namespace %s: %q, %v, want %q", namespace, got.GetName(), err, want)
		}
	}
}

// P2: a policy without a namespace has no name on clusters: it keeps its own, and no label that was copied from a replica.
func TestAPolicyWithoutANamespaceHasNoRoot(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": policyVersion, "kind": "Policy", "spec": map[string]any{}}}
	u.SetName("p")
	u.SetLabels(map[string]string{"policy.open-cluster-management.io/root-policy": "x.y", "team": "z"})
	got, err := dependency.Replicate(u, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if labels := got.GetLabels(); got.GetName() != "p" || !maps.Equal(labels, map[string]string{"team": "z"}) {
		t.Errorf("%q with the labels %v", got.GetName(), labels)
	}
}

func lineOf(u *unstructured.Unstructured) string {
	data, err := u.MarshalJSON()
	if err != nil {
		panic(err)
	}
	return string(data)
}

// pairs reads "name=value".
func pairs(texts []string) map[string]string {
	all := map[string]string{}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		all[name] = value
	}
	return all
}
