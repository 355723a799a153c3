// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Behind a canary two regions go through staging before production, side by side.
func ExampleGroupOrder() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{
		{Index: 0, Name: "canary"}:     {"berlin"},
		{Index: 1, Name: "staging-eu"}: {"bonn"}, {Index: 2, Name: "staging-us"}: {"reno"},
		{Index: 3, Name: "prod-eu"}: {"lyon", "turin"}, {Index: 4, Name: "prod-us"}: {"boston"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	tracks := rollout.Options{GroupOrder: rollout.GroupOrder{
		"staging-eu": {"canary"}, "prod-eu": {"staging-eu"},
		"staging-us": {"canary"}, "prod-us": {"staging-us"},
	}}
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded}, {Cluster: "bonn", Status: status.Succeeded},
		{Cluster: "reno", Status: status.Progressing},
	}
	fmt.Println(must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), groups, reports, noon(), tracks)))
	// Output:
	// starting lyon, turin; in flight reno; 1 cluster blocked: waiting for group 2 "staging-us": 0 of 1 done; reno is progressing, and never times out (no progressDeadline)
}

// Everybody at once, but gently: two clusters soaked, so that two may be in flight.
func ExampleOptions_ramp() {
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded}, {Cluster: "oslo", Status: status.Succeeded},
		{Cluster: "lima", Status: status.Progressing},
	}
	initial := 1
	fmt.Println(must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), reports, noon(), rollout.Options{Ramp: &initial})))
	// Output:
	// starting paris; in flight lima; 2 more clusters blocked: the ramp limit is reached (2 of 2 in flight or starting; it rises once more than 2 are done): lima is progressing, and stays in flight until it is done (no progressDeadline); paris is starting
}

// The registry bears three new clients in an hour.
func ExampleStartLimit() {
	reports := []status.Report{{Cluster: "berlin", Status: status.Succeeded, Applied: noon().Add(-20 * time.Minute)}}
	fmt.Println(must(rollout.Plan(clusterv1alpha1.RolloutStrategy{}, shops(), reports, noon(), rollout.Options{MaxStarts: &rollout.StartLimit{Count: 3, Per: metav1.Duration{Duration: time.Hour}}})))
	// Output:
	// starting lima, oslo; 3 more clusters blocked: the start limit is reached (maxStarts: 3 within 1h0m0s): 2 are starting, the next starts at 2026-11-21T12:40:00Z; recheck after 40m0s
}

// People look at the canary for an hour.
func ExampleOptions_waitBetweenGroups() {
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded, LastTransitionTime: noon().Add(-50 * time.Minute)},
		{Cluster: "oslo", Status: status.Succeeded, LastTransitionTime: noon().Add(-40 * time.Minute)},
	}
	fmt.Println(must(rollout.Plan(byGroup(clusterv1alpha1.RolloutConfig{}), shops(), reports, noon(), rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}})))
	// Output:
	// 4 clusters blocked: waiting until 2026-11-21T12:20:00Z, 1h0m0s after the last success in group 0 "canary"; recheck after 20m0s
}
