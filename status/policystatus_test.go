package status_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
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
		{"S8 nobody reported", "- -", status.Summary{Counts: status.Counts{Progressing: 2}}, " Progressing"},
		{"S8 as far as reported, as in the design document", "Compliant - -", status.Summary{Counts: status.Counts{ToApply: 2, Succeeded: 1}}, "Compliant Progressing"},
		{"S8 pending comes before compliant", "Compliant Pending", status.Summary{Counts: status.Counts{Progressing: 1}}, "Pending Progressing"},
		{"S8 one that does not comply decides", "Pending NonCompliant Compliant -", status.Summary{Counts: status.Counts{Failed: 1}, Breach: "stopped"}, "NonCompliant Failed"},
		{"S8 a timeout is not reflected", "Compliant -", status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, "Compliant Failed"},
		{"S8 a state that is not known counts for nothing", "Terminating", status.Summary{}, " Succeeded"},
	} {
		var clusters []status.PolicyClusterStatus
		for i, compliance := range strings.Fields(test.compliances) {
			clusters = append(clusters, status.PolicyClusterStatus{ClusterName: fmt.Sprint("c", i), ComplianceState: strings.Trim(compliance, "-")})
		}
		var st status.PolicyStatus
		status.SetPolicyStatus(&st, clusters, test.summary)
		if got := fmt.Sprintf("%s %s", st.ComplianceState, st.RolloutStatus); got != test.want {
			t.Errorf("%s: got %q, want %q", test.why, got, test.want)
		}
	}
}

// S8: the order of the clusters changes nothing, they are not changed, and what did not change says so.
func TestPolicyStatusSaysWhetherItChanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var st status.PolicyStatus
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			var clusters []status.PolicyClusterStatus
			for i := range rapid.IntRange(0, 3).Draw(t, "clusters") {
				clusters = append(clusters, status.PolicyClusterStatus{
					ClusterName:      fmt.Sprint("c", i),
					ClusterNamespace: rapid.SampledFrom([]string{"", "elsewhere"}).Draw(t, "namespace"),
					ComplianceState:  rapid.SampledFrom([]string{"", "Compliant", "NonCompliant"}).Draw(t, "compliance"),
					RolloutStatus:    rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.Succeeded}).Draw(t, "status"),
				})
			}
			given := slices.Clone(clusters)
			before := st
			s := status.Summary{Counts: anyCounts(t)}
			if changed := status.SetPolicyStatus(&st, clusters, s); changed == cmp.Equal(before, st) {
				t.Fatalf("changed is %v, but before and after are\n%+v\n%+v", changed, before, st)
			}
			if status.SetPolicyStatus(&st, rapid.Permutation(clusters).Draw(t, "order"), s) {
				t.Fatal("the same in another order changed something")
			}
			if !slices.Equal(given, clusters) {
				t.Fatalf("the clusters became %+v", clusters)
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

// The root policy's status in the form of the Policy API.
func ExampleSetPolicyStatus() {
	var st status.PolicyStatus // what the root policy has
	changed := status.SetPolicyStatus(&st, []status.PolicyClusterStatus{
		{ClusterName: "cluster2", RolloutStatus: status.Progressing},
		{ClusterName: "cluster1", RolloutStatus: status.Succeeded, ComplianceState: "Compliant"},
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
	// {"compliant":"Compliant","rolloutStatus":"Progressing","status":[
	// {"compliant":"Compliant","rolloutStatus":"Succeeded","clustername":"cluster1","clusternamespace":"cluster1"},
	// {"rolloutStatus":"Progressing","clustername":"cluster2","clusternamespace":"cluster2"}]}
}
