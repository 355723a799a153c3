// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/fake"
	kubetesting "k8s.io/client-go/testing"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The status of a set is that of OCM's controller: from the reports on the clusters to which it binds its policies.
func TestStatusOfASet(t *testing.T) {
	type reports map[string]policyv1.ComplianceState // by cluster
	through := policyv1.PolicyPlacement{PlacementBinding: "b", Placement: "all", PolicySet: "base"}
	const placed = `"placement":[{"placementBinding":"b","placement":"all"}]`
	for _, test := range []struct {
		why      string
		policies map[string]reports
		disabled string
		excluded string
		want     string
	}{
		{"all report", map[string]reports{"p": {"a": "Compliant"}, "q": {"a": "Compliant", "b": "NonCompliant"}}, "", "", `{` + placed + `,"compliant":"NonCompliant","statusMessage":"All policies are reporting status"}`},
		{"a cluster that the set does not bind", map[string]reports{"p": {"a": "Compliant", "z": "NonCompliant"}, "q": {"a": "Compliant"}}, "", "", `{` + placed + `,"compliant":"Compliant","statusMessage":"All policies are reporting status"}`},
		{"a cluster that the set excludes", map[string]reports{"p": {"a": "Compliant", "b": "NonCompliant"}, "q": {"a": "Compliant"}}, "", "b", `{` + placed + `,"compliant":"Compliant","statusMessage":"All policies are reporting status"}`},
		{"one has not reported", map[string]reports{"p": {"a": "NonCompliant"}, "q": {"a": ""}}, "", "", `{` + placed + `,"statusMessage":"No status provided while awaiting policy status: q"}`},
		{"one waits, one is missing", map[string]reports{"p": {"a": "Pending"}}, "", "", `{` + placed + `,"compliant":"Pending","statusMessage":"Policies awaiting pending dependencies: p; Deleted policies: q"}`},
		{"one is disabled", map[string]reports{"p": {"a": "Compliant"}, "q": {}}, "q", "", `{` + placed + `,"compliant":"Compliant","statusMessage":"Disabled policies: q"}`},
		{"none is there", nil, "", "", `{"statusMessage":"Deleted policies: p, q"}`},
	} {
		h := newHub(t)
		h.place("all", "a", "b")
		h.set("policies", "base", "p", "q")
		for name, clusters := range test.policies {
			root := &policy{raw: &unstructured.Unstructured{}, root: &policyv1.Policy{}}
			root.Namespace, root.Name, root.root.Spec.Disabled = "policies", name, name == test.disabled
			root.status.Placement = []policyv1.PolicyPlacement{through}
			if test.excluded != "" {
				root.status.Placement[0].Exclusions = []policyv1.PolicyDecision{{ClusterName: test.excluded}}
			}
			for cluster, state := range clusters {
				root.status.Status = append(root.status.Status, policyv1.PolicyClusterStatus{ClusterName: cluster, ComplianceState: state})
			}
			h.must(h.caches.policies.Add(root))
		}
		patched := ""
		h.patchSet(func(patch []byte) { patched = string(patch) })
		h.must(h.setStatuses(t.Context(), types.NamespacedName{Namespace: "policies", Name: "p"}))
		got, err := json.Marshal(h.caches.statusOf(get[policySet](h.caches.sets, types.NamespacedName{Namespace: "policies", Name: "base"})))
		if h.must(err); string(got) != test.want || patched == "" {
			t.Errorf("%s:\ngot  %s\nwant %s\npatched %q", test.why, got, test.want, patched)
		}
	}
}

// An empty set has no status, and one that is as it has to be is not written.
func TestStatusOfASetIsWrittenOnce(t *testing.T) {
	h := newHub(t)
	h.set("policies", "base")
	wrote := 0
	h.patchSet(func([]byte) { wrote++ })
	h.must(h.setStatuses(t.Context(), types.NamespacedName{Namespace: "policies", Name: "p"}))
	if wrote != 0 {
		t.Error("an empty set without a status was written")
	}
	get[policySet](h.caches.sets, types.NamespacedName{Namespace: "policies", Name: "base"}).status.Compliant = policyv1.Compliant
	h.must(h.setStatuses(t.Context(), types.NamespacedName{Namespace: "policies", Name: "p"}))
	if wrote != 1 {
		t.Errorf("an emptied set was written %d times", wrote)
	}
}

// patchSet plays the API server where the controller writes the status of a set.
func (h *hub) patchSet(patched func(patch []byte)) {
	h.client.(*fake.FakeDynamicClient).PrependReactor("patch", "policysets", func(action kubetesting.Action) (bool, runtime.Object, error) {
		patched(action.(kubetesting.PatchActionImpl).Patch)
		return true, &unstructured.Unstructured{Object: map[string]any{}}, nil
	})
}
