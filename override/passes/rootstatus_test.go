// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// S8: the root policy's compliance follows from its clusters', its rollout status from the summary.
func TestPolicyStatus(t *testing.T) {
	for _, test := range []struct {
		why         string
		compliances string
		summary     status.Summary
		want        string
	}{
		{"S8 no cluster", "", status.Summary{}, " Succeeded"},
		{"S8 no cluster reported", "- -", status.Summary{Counts: status.Counts{Progressing: 2}}, " Progressing"},
		{"P7 one that has not reported makes it unknown, unlike in the design document", "Compliant - -", status.Summary{Counts: status.Counts{ToApply: 2, Succeeded: 1}}, " Progressing"},
		{"S8 pending comes before compliant", "Compliant Pending", status.Summary{Counts: status.Counts{Progressing: 1}}, "Pending Progressing"},
		{"S8 one that does not comply decides", "Pending NonCompliant Compliant -", status.Summary{Counts: status.Counts{Failed: 1}, Breach: "stopped"}, "NonCompliant Failed"},
		{"S8 a timeout is not reflected", "Compliant Compliant", status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, "Compliant Failed"},
		{"S8 a state that is not known counts for nothing", "Terminating", status.Summary{}, " Succeeded"},
	} {
		var clusters []policyv1.PolicyClusterStatus
		for i, compliance := range strings.Fields(test.compliances) {
			clusters = append(clusters, policyv1.PolicyClusterStatus{ClusterName: fmt.Sprint("c", i), ComplianceState: policyv1.ComplianceState(strings.Trim(compliance, "-"))})
		}
		var st policyv1.PolicyStatus
		passes.SetPolicyStatus(&st, nil, clusters, test.summary)
		if got := fmt.Sprintf("%s %s", st.ComplianceState, st.RolloutStatus); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}

// S8: the order of the clusters changes nothing, they are not changed, and what did not change says so.
func TestPolicyStatusSaysWhetherItChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		st := policyv1.PolicyStatus{Details: []policyv1.PolicyDetails{{ComplianceState: "Compliant"}}}
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			var clusters []policyv1.PolicyClusterStatus
			for i := range rapid.IntRange(0, 3).Draw(t, "clusters") {
				clusters = append(clusters, policyv1.PolicyClusterStatus{
					ClusterName:      fmt.Sprint("c", i),
					ClusterNamespace: rapid.SampledFrom([]string{"", "elsewhere"}).Draw(t, "namespace"),
					ComplianceState:  rapid.SampledFrom([]policyv1.ComplianceState{"", "Compliant", "NonCompliant"}).Draw(t, "compliance"),
					RolloutStatus:    rapid.SampledFrom([]string{"ToApply", "Succeeded"}).Draw(t, "status"),
				})
				if rapid.Bool().Draw(t, "remains") {
					name := rapid.SampledFrom([]string{"b0", "b1"}).Draw(t, "remaining")
					clusters[i].RemainingBindings = []policyv1.PolicyRemainingBinding{{PlacementBinding: name}}
				}
			}
			var placements []policyv1.PolicyPlacement
			for i := range rapid.IntRange(0, 3).Draw(t, "bindings") {
				p := policyv1.PolicyPlacement{PlacementBinding: fmt.Sprint("b", i/2), PolicySet: fmt.Sprint("s", i%2)}
				if rapid.Bool().Draw(t, "decided") {
					p.Decisions = []policyv1.PolicyDecision{{ClusterName: rapid.SampledFrom([]string{"c0", "c1"}).Draw(t, "decision")}}
				}
				if rapid.Bool().Draw(t, "excludes") {
					p.Exclusions = []policyv1.PolicyDecision{{ClusterName: rapid.SampledFrom([]string{"c0", "c1"}).Draw(t, "exclusion")}}
				}
				placements = append(placements, p)
			}
			given, bound := slices.Clone(clusters), slices.Clone(placements)
			before := st
			s := status.Summary{Counts: status.Counts{
				Progressing: rapid.IntRange(0, 1).Draw(t, "progressing"), Failed: rapid.IntRange(0, 1).Draw(t, "failed"),
				TimeOut: rapid.IntRange(0, 1).Draw(t, "timed out"), Succeeded: rapid.IntRange(0, 1).Draw(t, "succeeded"),
			}}
			if changed := passes.SetPolicyStatus(&st, placements, clusters, s); changed == cmp.Equal(before, st) {
				t.Fatalf("changed is %v, but before and after are\n%+v\n%+v", changed, before, st)
			}
			if passes.SetPolicyStatus(&st, rapid.Permutation(placements).Draw(t, "order of bindings"), rapid.Permutation(clusters).Draw(t, "order"), s) {
				t.Fatal("the same in another order changed something")
			}
			if !cmp.Equal(given, clusters) || !cmp.Equal(bound, placements) {
				t.Fatalf("what was given became %+v and %+v", clusters, placements)
			}
			if !cmp.Equal(st.Placement, bound) || len(st.Details) != 1 {
				t.Fatalf("placement %+v, want %+v, and the details that were there: %+v", st.Placement, bound, st.Details)
			}
			for i, c := range st.Status {
				want := given[i].ClusterNamespace
				if want == "" {
					want = c.ClusterName
				}
				if c.ClusterNamespace != want {
					t.Fatalf("%+v, want the namespace %q", c, want)
				}
			}
		}
	})
}

// S8: what a binding selects and excludes is part of the status.
func TestPolicyStatusChangesWithItsBindings(t *testing.T) {
	var st policyv1.PolicyStatus
	for _, p := range []policyv1.PolicyPlacement{
		{PlacementBinding: "b"},
		{PlacementBinding: "b", PolicySet: "s"},
		{PlacementBinding: "b", PolicySet: "s", Exclusions: []policyv1.PolicyDecision{{ClusterName: "c"}}},
		{PlacementBinding: "b", PolicySet: "s", Exclusions: []policyv1.PolicyDecision{{ClusterName: "d"}}},
		{PlacementBinding: "b", PolicySet: "s", Decisions: []policyv1.PolicyDecision{{ClusterName: "c"}}},
		{PlacementBinding: "b", PolicySet: "s", Decisions: []policyv1.PolicyDecision{{ClusterName: "d"}}},
		{PlacementBinding: "b", Placement: "p"},
		{PlacementBinding: "b", PlacementRule: "p"},
	} {
		if !passes.SetPolicyStatus(&st, []policyv1.PolicyPlacement{p}, nil, status.Summary{}) || !cmp.Equal(st.Placement, []policyv1.PolicyPlacement{p}) {
			t.Errorf("%+v became %+v, or was no change", p, st.Placement)
		}
	}
}

// The root policy's status in the form of the Policy API.
func ExampleSetPolicyStatus() {
	var st policyv1.PolicyStatus // what the root policy has
	changed := passes.SetPolicyStatus(&st, []policyv1.PolicyPlacement{
		{PlacementBinding: "sample-placementbinding", Placement: "sample-placement"},
	}, []policyv1.PolicyClusterStatus{
		{ClusterName: "cluster2", RolloutStatus: "Progressing"},
		{ClusterName: "cluster1", RolloutStatus: "Succeeded", ComplianceState: "Compliant"},
	}, status.Summary{Counts: status.Counts{Succeeded: 1, Progressing: 1}})
	text, err := json.Marshal(st)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(changed)
	fmt.Println(strings.ReplaceAll(string(text), "{", "\n{"))
	// Output:
	// true
	//
	// {"rolloutStatus":"Progressing","placement":[
	// {"placementBinding":"sample-placementbinding","placement":"sample-placement"}],"status":[
	// {"compliant":"Compliant","rolloutStatus":"Succeeded","clustername":"cluster1","clusternamespace":"cluster1"},
	// {"rolloutStatus":"Progressing","clustername":"cluster2","clusternamespace":"cluster2"}]}
}

// S8: the types read and write what a real policy has, and nothing is lost.
func TestPolicyStatusHasTheNamesOfTheRealObject(t *testing.T) {
	for _, text := range []string{
		`{"compliant":"NonCompliant","rolloutStatus":"Progressing",` +
			`"placement":[{"placementBinding":"b","placement":"p","policySet":"s","decisions":[{"clusterName":"c","clusterNamespace":"c"}],"exclusions":[{"clusterName":"d"}]},{"placementBinding":"b2","placementRule":"r"}],` +
			`"status":[{"compliant":"NonCompliant","rolloutStatus":"Failed","clustername":"c","clusternamespace":"c","remainingBindings":[{"placementBinding":"b2"}]}]}`,
		`{"compliant":"Compliant","rolloutStatus":"Succeeded",` +
			`"details":[{"templateMeta":{"name":"t"},"compliant":"Compliant","history":[{"lastTimestamp":"2026-11-21T12:00:00Z","message":"Compliant; ok","eventName":"ns.p.17"}]}]}`,
	} {
		var st policyv1.PolicyStatus
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&st); err != nil {
			t.Fatal(err)
		}
		// encoding/json writes templateMeta's creationTimestamp, as the real type does.
		got, err := json.Marshal(st)
		if err != nil || strings.ReplaceAll(string(got), `,"creationTimestamp":null`, "") != text {
			t.Errorf("%s\nbecame\n%s (%v)", text, got, err)
		}
	}
}
