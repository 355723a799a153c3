// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// stuck is a rollout whose canary is not done: berlin has it, oslo has not answered.
func stuck(opts rollout.Options) *rollout.Result {
	reports := []status.Report{
		{Cluster: "berlin", Status: status.Succeeded, LastTransitionTime: noon().Add(-time.Hour)},
		{Cluster: "oslo", Status: status.ToApply, Applied: noon().Add(-20 * time.Minute)},
	}
	strategy := byGroup(clusterv1alpha1.RolloutConfig{ProgressDeadline: "30m"})
	return must(rollout.Plan(strategy, shops(), reports, noon(), opts))
}

// Why does paris not have it yet, until when, and what would end it? Each link of the explanation waits for the next.
func ExampleResult_Explain() {
	fmt.Println(stuck(rollout.Options{}).Explain("paris"))

	// The same while someone has paused the rollout.
	for _, link := range stuck(rollout.Options{Paused: true}).Explain("paris") {
		fmt.Println(link.Reason)
		for _, remedy := range link.Remedies {
			fmt.Println("-", remedy)
		}
	}
	// Output:
	// waiting for group 0 "canary": 1 of 2 done; oslo has not reported on this version and times out at 2026-11-21T12:10:00Z; timeouts stop the rollout at 2026-11-21T12:10:00Z unless the clusters are done by then
	// the rollout is paused
	// - resume the rollout
}

// What to mend first: the clusters that block most come first.
func ExampleResult_Blockers() {
	for _, b := range stuck(rollout.Options{}).Blockers() {
		fmt.Printf("%v; %d clusters wait for it\n", b, b.Waiting)
	}
	// Output:
	// oslo has not reported on this version and times out at 2026-11-21T12:10:00Z; 4 clusters wait for it
}
