// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"time"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Two clusters at a time; one fails.
func ExampleRun() {
	groups, strategy := groupsOf("abcd"), progressive(2, 0, "")
	plan := func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		return rollout.Plan(strategy, groups, reports, now, rollout.Options{})
	}
	lives := func(cluster string) simulation.Life {
		if cluster == "c" {
			return simulation.Life{{After: time.Minute, Status: status.Failed}}
		}
		return simulation.Life{{After: 10 * time.Minute, Status: status.Succeeded}}
	}
	trace, err := simulation.Run(plan, lives, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, wave := range trace.Waves {
		fmt.Println(wave.After, wave.Started, wave.Counts)
	}
	fmt.Println(trace.Outcome, "-", trace.Final.Breach)
	// Output:
	// 0s [a b] 0 of 4 clusters done, 2 in flight, 2 not started
	// 10m0s [c d] 2 of 4 clusters done, 2 in flight
	// 11m0s [] 2 of 4 clusters done, 2 in flight (of these 1 failed)
	// 20m0s [] 3 of 4 clusters done, 1 in flight (of these 1 failed)
	// Breached - the rollout is stopped: c failed, maxFailures is 0; the rollout continues once c is no longer failed or timed out
}
