package status_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	all      = clusterv1alpha1.All
	single   = clusterv1alpha1.Progressive
	perGroup = clusterv1alpha1.ProgressivePerGroup
)

// S3, R27: Progressing lasts since the start, an outcome since it was reported but not since before the start.
func TestFromPolicyTransitionTime(t *testing.T) {
	compliant := status.PolicyState{RemediationAction: "enforce", Compliance: "Compliant"}
	failed := status.PolicyState{RemediationAction: "enforce", Compliance: "NonCompliant"}
	progressing := status.PolicyState{RemediationAction: "enforce"}
	waiting := status.PolicyState{RemediationAction: "enforce", Strategy: single}
	started := status.PolicyState{RemediationAction: "enforce", Strategy: single, Started: true, Compliance: "Compliant"}
	for _, test := range []struct {
		reason            string
		state             status.PolicyState
		start, compliance time.Time
		want              time.Time
	}{
		{"in flight since it started", progressing, at(5), at(9), at(5)},
		{"in flight since an unknown time", progressing, time.Time{}, at(9), time.Time{}},
		{"complied after the start", compliant, at(5), at(9), at(9)},
		{"complied while it still informed: the soak begins with the start", compliant, at(9), at(5), at(9)},
		{"complied at an unknown time: a soak must not end early", compliant, at(5), time.Time{}, time.Time{}},
		{"failed at an unknown time: the deadline runs from the start", failed, at(5), time.Time{}, at(5)},
		{"started at an unknown time, where nothing waits for a start", compliant, time.Time{}, at(5), at(5)},
		{"started at an unknown time under a rollout: it may have complied while it informed", started, time.Time{}, at(5), time.Time{}},
		{"started under a rollout, then complied", started, at(5), at(9), at(9)},
		{"waiting has no beginning", waiting, at(5), at(9), time.Time{}},
	} {
		t.Run("S3 "+test.reason, func(t *testing.T) {
			test.state.Applied, test.state.ComplianceTime = test.start, test.compliance
			r := status.FromPolicy(test.state)
			got := r.Applied
			if r.LastTransitionTime.After(got) {
				got = r.LastTransitionTime
			}
			if !got.Equal(test.want) {
				t.Errorf("since %v, want %v", got, test.want)
			}
			if !r.Applied.IsZero() && !r.Applied.Equal(test.start) {
				t.Errorf("applied %v, want the start %v", r.Applied, test.start)
			}
		})
	}
}

// S3: over every combination of the inputs, the row that applies gives the status.
func TestFromPolicyEveryCombination(t *testing.T) {
	seen := map[status.RolloutStatus]int{}
	for _, strategy := range []clusterv1alpha1.RolloutType{"", all, single, perGroup} {
		for _, action := range []policyv1.RemediationAction{"", "inform", "Inform", "enforce", "Enforce"} {
			for _, selected := range []bool{false, true} {
				for _, compliance := range []policyv1.ComplianceState{"", "Compliant", "NonCompliant", "Pending"} {
					for _, evaluated := range []int64{1, 2} {
						p := status.PolicyState{
							Strategy: strategy, RemediationAction: action, Started: selected,
							Compliance: compliance, Generation: 2, LastEvaluatedGeneration: evaluated,
						}
						got := status.FromPolicy(p).Status
						if want := naivePolicy(p); got != want {
							t.Fatalf("%+v: %s, want %s", p, got, want)
						}
						seen[got]++
					}
				}
			}
		}
	}
	if len(seen) != 4 {
		t.Errorf("the combinations lead to %v, expected four statuses", seen)
	}
}

// naivePolicy returns the first row of the Phase 3 table that applies, in the order not started, done,
// failed, under way.
func naivePolicy(p status.PolicyState) status.RolloutStatus {
	isAll := p.Strategy == "" || p.Strategy == "All"
	inform := strings.ToLower(string(p.RemediationAction)) == "inform"
	matches := p.LastEvaluatedGeneration == p.Generation

	if !isAll && !inform && !p.Started {
		return "ToApply"
	}
	if (inform && p.Compliance != "") || (p.Compliance == "Compliant" && matches) {
		return "Succeeded"
	}
	if p.Compliance == "NonCompliant" && matches {
		return "Failed"
	}
	return "Progressing"
}

// A policy is first replicated as inform and then, cluster by cluster, enforced.
func ExampleFromPolicy() {
	p := status.PolicyState{Cluster: "cluster1", Strategy: clusterv1alpha1.Progressive, RemediationAction: "enforce", Generation: 1}
	fmt.Println("replicated as inform:", status.FromPolicy(p).Status)

	p.Compliance, p.LastEvaluatedGeneration = "NonCompliant", 1
	fmt.Println("reported by inform:", status.FromPolicy(p).Status)

	p.Started, p.Generation = true, 2
	fmt.Println("enforced:", status.FromPolicy(p).Status)

	p.Compliance, p.LastEvaluatedGeneration = "Compliant", 2
	fmt.Println("evaluated:", status.FromPolicy(p).Status)
	// Output:
	// replicated as inform: ToApply
	// reported by inform: ToApply
	// enforced: Progressing
	// evaluated: Succeeded
}
