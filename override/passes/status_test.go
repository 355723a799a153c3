// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"encoding/json"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O20: a cluster that a set excludes, and that other bindings select all the same, names these.
func TestRemainingBindings(t *testing.T) {
	set, direct := to("a", "b"), to("b", "c")
	set.Name, set.PlacementRef.Name, set.PolicySets, set.Excluded = "set", "all", []string{"base"}, []string{"b"}
	direct.Name, direct.PlacementRef.Name, direct.Direct, direct.Enforce = "direct", "some", true, true
	r := resolve(t, policy(policyv1.Inform, naiveLimits{typ: clusterv1alpha1.All}), set, direct)
	var st policyv1.PolicyStatus
	propagate(t, r, nil, rollout.Options{}).SetStatus(&st)
	got, err := json.Marshal(st.Status)
	const want = `[{"rolloutStatus":"Progressing","clustername":"a","clusternamespace":"a"},` +
		`{"rolloutStatus":"Progressing","clustername":"b","clusternamespace":"b","remainingBindings":[{"placementBinding":"direct"}]},` +
		`{"rolloutStatus":"Progressing","clustername":"c","clusternamespace":"c"}]`
	if err != nil || string(got) != want {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// O20: a binding that selects a cluster directly, and through a set that excludes it, is not among the others.
func TestABindingThatExcludesIsNoOther(t *testing.T) {
	b := to("a", "b")
	b.PolicySets, b.Direct, b.Exclusions = []string{"base"}, true, map[string][]string{"base": {"b"}}
	var st policyv1.PolicyStatus
	propagate(t, resolve(t, policy(policyv1.Inform, naiveLimits{typ: clusterv1alpha1.All}), b), nil, rollout.Options{}).SetStatus(&st)
	if got := st.Status[1]; got.ClusterName != "b" || len(got.RemainingBindings) > 0 {
		t.Errorf("got %+v, want b without other bindings", got)
	}
	if got := st.Placement[1].Exclusions; len(got) != 1 || got[0].ClusterName != "b" {
		t.Errorf("the set excludes %v, want b", got)
	}
}
