// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

const (
	all      = clusterv1alpha1.All
	single   = clusterv1alpha1.Progressive
	perGroup = clusterv1alpha1.ProgressivePerGroup
)

// minute is a time in the first hour of a year.
func minute(n int) time.Time { return time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC) }

// S3: the tables of the design document. A scene has the command "policy" and a policy on a cluster in each line: strategy, action,
// started, compliance, stale (evaluated at the generation before), applied and since.
func TestReportsAsTheDesignDocumentHasThem(t *testing.T) {
	at := func(text string) time.Time {
		if text == "" {
			return time.Time{}
		}
		at, err := time.Parse("15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 1, 1, at.Hour(), at.Minute(), 0, 0, time.UTC)
	}
	shown := func(at time.Time) string {
		if at.IsZero() {
			return "-"
		}
		return at.Format("15:04")
	}
	scene.Run(t, "testdata/reports/*.txt", func(t *testing.T) func(scene.Command) string {
		return func(c scene.Command) string {
			var b strings.Builder
			for line := range strings.Lines(c.Input) {
				w := map[string]string{}
				for _, word := range strings.Fields(line) {
					key, value, _ := strings.Cut(word, "=")
					w[key] = value
				}
				_, started := w["started"]
				_, stale := w["stale"]
				_, failAtOnce := w["failAtOnce"]
				p := passes.PolicyState{
					Cluster: "cluster1", Strategy: clusterv1alpha1.RolloutType(w["strategy"]), Started: started, FailAtOnce: failAtOnce,
					RemediationAction: policyv1.RemediationAction(w["action"]), Compliance: policyv1.ComplianceState(w["compliance"]),
					Generation: 2, LastEvaluatedGeneration: 2, Applied: at(w["applied"]), ComplianceTime: at(w["since"]),
				}
				if stale {
					p.LastEvaluatedGeneration = 1
				}
				r := passes.FromPolicy(p)
				fmt.Fprintf(&b, "%s applied=%s since=%s\n", r.Status, shown(r.Applied), shown(r.LastTransitionTime))
			}
			return b.String()
		}
	})
}

// S3, R27: Progressing lasts since the start, an outcome since it was reported but not since before the start.
func TestFromPolicyTransitionTime(t *testing.T) {
	compliant := passes.PolicyState{RemediationAction: "enforce", Compliance: "Compliant"}
	failed := passes.PolicyState{RemediationAction: "enforce", Compliance: "NonCompliant", FailAtOnce: true}
	unfit := passes.PolicyState{RemediationAction: "enforce", Compliance: "NonCompliant"}
	progressing := passes.PolicyState{RemediationAction: "enforce"}
	waiting := passes.PolicyState{RemediationAction: "enforce", Strategy: single}
	started := passes.PolicyState{RemediationAction: "enforce", Strategy: single, Started: true, Compliance: "Compliant"}
	for _, test := range []struct {
		reason            string
		state             passes.PolicyState
		start, compliance time.Time
		want              time.Time
	}{
		{"in flight since it started", progressing, minute(5), minute(9), minute(5)},
		{"in flight since an unknown time", progressing, time.Time{}, minute(9), time.Time{}},
		{"complied after the start", compliant, minute(5), minute(9), minute(9)},
		{"complied while it still informed: the soak begins with the start", compliant, minute(9), minute(5), minute(9)},
		{"complied at an unknown time: a soak must not end early", compliant, minute(5), time.Time{}, time.Time{}},
		{"failed at an unknown time: the deadline runs from the start", failed, minute(5), time.Time{}, minute(5)},
		{"does not comply: its deadline runs from the start, however often it says so", unfit, minute(5), minute(9), minute(5)},
		{"started at an unknown time, where nothing waits for a start", compliant, time.Time{}, minute(5), minute(5)},
		{"started at an unknown time under a rollout: it may have complied while it informed", started, time.Time{}, minute(5), time.Time{}},
		{"started under a rollout, then complied", started, minute(5), minute(9), minute(9)},
		{"waiting has no beginning", waiting, minute(5), minute(9), time.Time{}},
	} {
		t.Run("S3 "+test.reason, func(t *testing.T) {
			test.state.Applied, test.state.ComplianceTime = test.start, test.compliance
			r := passes.FromPolicy(test.state)
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
					for _, evaluated := range []int64{1, 2, -1, -2} {
						p := passes.PolicyState{
							Strategy: strategy, RemediationAction: action, Started: selected, FailAtOnce: evaluated < 0,
							Compliance: compliance, Generation: 2, LastEvaluatedGeneration: max(evaluated, -evaluated),
						}
						got := passes.FromPolicy(p).Status
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
func naivePolicy(p passes.PolicyState) status.RolloutStatus {
	isAll := p.Strategy == "" || p.Strategy == "All"
	inform := strings.ToLower(string(p.RemediationAction)) == "inform"
	matches := p.LastEvaluatedGeneration == p.Generation

	if !isAll && !inform && !p.Started {
		return "ToApply"
	}
	if (inform && p.Compliance != "" && matches) || (p.Compliance == "Compliant" && matches) {
		return "Succeeded"
	}
	if p.Compliance == "NonCompliant" && matches && p.FailAtOnce {
		return "Failed"
	}
	return "Progressing"
}

// A policy is first replicated as inform and then, cluster by cluster, enforced.
func ExampleFromPolicy() {
	p := passes.PolicyState{Cluster: "cluster1", Strategy: clusterv1alpha1.Progressive, RemediationAction: "enforce", Generation: 1}
	fmt.Println("replicated as inform:", passes.FromPolicy(p).Status)

	p.Compliance, p.LastEvaluatedGeneration = "NonCompliant", 1
	fmt.Println("reported by inform:", passes.FromPolicy(p).Status)

	p.Started, p.Generation = true, 2
	fmt.Println("enforced:", passes.FromPolicy(p).Status)

	p.Compliance, p.LastEvaluatedGeneration = "Compliant", 2
	fmt.Println("evaluated:", passes.FromPolicy(p).Status)
	// Output:
	// replicated as inform: ToApply
	// reported by inform: ToApply
	// enforced: Progressing
	// evaluated: Succeeded
}
