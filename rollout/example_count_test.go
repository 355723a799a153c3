// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// oneAtATime is a strategy that tolerates no failure.
func oneAtATime() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			MaxConcurrency: intstr.FromInt32(1), RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m"},
		},
	}
}

// Athens hibernates. It has the new version when it wakes up, and nothing waits for that.
func ExampleOptions_ignored() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"athens", "berlin", "cairo"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ignored := rollout.Options{Ignored: []string{"athens"}}

	result := must(rollout.Plan(oneAtATime(), groups, nil, noon(), ignored))
	fmt.Println(result)

	reports := []status.Report{
		{Cluster: "athens", Status: status.ToApply, Applied: noon()},
		{Cluster: "berlin", Status: status.Succeeded, LastTransitionTime: noon()},
		{Cluster: "cairo", Status: status.Succeeded, LastTransitionTime: noon()},
	}
	result = must(rollout.Plan(oneAtATime(), groups, reports, noon().Add(time.Minute), ignored))
	fmt.Println(result)
	fmt.Println(result.Summary().Aggregate(), result.Summary())
	// Output:
	// starting athens, berlin; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): berlin is starting
	// in flight athens; recheck after 9m0s
	// Succeeded 2 of 2 clusters done, 1 more ignored
}

// Athens was failing before there was a new version. That stops nothing; that Berlin fails does.
func ExampleOptions_failedBefore() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"athens", "berlin", "cairo"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	baseline := rollout.Options{FailedBefore: []string{"athens"}} // as reported when the rollout began, and kept in the owner's status

	reports := []status.Report{{Cluster: "athens", Status: status.TimeOut}}
	fmt.Println(must(rollout.Plan(oneAtATime(), groups, reports, noon(), baseline)))

	reports = append(reports, status.Report{Cluster: "berlin", Status: status.TimeOut})
	fmt.Println(must(rollout.Plan(oneAtATime(), groups, reports, noon(), baseline)))
	// Output:
	// starting berlin; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): berlin is starting
	// 1 cluster blocked: the rollout is stopped: berlin failed, maxFailures is 0; the rollout continues once berlin is no longer failed or timed out
}

// A rollout has failed on two clusters. Someone mends what they have in common, and raises the attempt.
func ExampleOptions_attempt() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"athens", "berlin", "cairo"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	reports := []status.Report{
		{Cluster: "athens", Status: status.Succeeded, LastTransitionTime: noon()},
		{Cluster: "berlin", Status: status.Failed, LastTransitionTime: noon()},
		{Cluster: "cairo", Status: status.TimeOut},
	}
	fmt.Println(must(rollout.Plan(oneAtATime(), groups, reports, noon(), rollout.Options{})))
	fmt.Println(must(rollout.Plan(oneAtATime(), groups, reports, noon(), rollout.Options{Attempt: 1})))

	// Berlin's object is written and stamped with the Attempt that the result has for it, and fails again.
	reports[1] = status.Report{Cluster: "berlin", Status: status.Failed, LastTransitionTime: noon(), Applied: noon(), Attempt: 1}
	fmt.Println(must(rollout.Plan(oneAtATime(), groups, reports, noon(), rollout.Options{Attempt: 1})))
	// Output:
	// in flight berlin; the rollout is stopped: berlin, cairo failed, maxFailures is 0; the rollout continues once none of these is failed or timed out; recheck after 10m0s
	// starting berlin; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): berlin is starting
	// in flight berlin; 1 cluster blocked: the rollout is stopped: berlin failed, maxFailures is 0; the rollout continues once berlin is no longer failed or timed out; recheck after 10m0s
}
