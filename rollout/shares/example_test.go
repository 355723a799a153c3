// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
	"github.com/cohort-ocm/cohort/status"
)

// A rollout over two hubs with three clusters each, at most three in flight over both. The map stands for the API server of the hub of
// hubs, where the HubShares are.
func Example() {
	strategy := clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(3)},
	}
	timing := shares.Timing{Lease: 10 * time.Minute, ClockError: 5 * time.Second, SlowestWrite: 30 * time.Second, Every: 10 * time.Second}
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	accounts := map[string]shares.HubShares{"hub-eu": {Hub: "hub-eu"}, "hub-us": {Hub: "hub-us"}}

	// The coordinator hub. It writes each grant on top of the HubShares that it has read, and keeps what it sent.
	granted := map[string]shares.Grant{}
	divide := func() {
		var all []shares.HubShares
		for _, hub := range []string{"hub-eu", "hub-us"} {
			all = append(all, accounts[hub])
		}
		total, err := shares.Total(strategy, all)
		if err != nil {
			fmt.Println(err)
			return
		}
		division, err := shares.Divide(total, all, granted, now, timing)
		if err != nil {
			fmt.Println(err)
			return
		}
		for hub, grant := range division.Grants {
			granted[hub] = grant
			account := accounts[hub]
			account.Grant = grant
			accounts[hub] = account
		}
	}

	// A hub. It plans with the shares that it may use, counts, and reports.
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	clusters := map[string][]status.Report{}
	reported := map[string]shares.Report{}
	reconcile := func(hub string) {
		account := accounts[hub]
		may := account.May(reported[hub], now, timing)
		result, err := rollout.Plan(shares.Local(strategy), groups, clusters[hub], now, rollout.Options{Shares: &may})
		if err != nil {
			fmt.Println(err)
			return
		}
		if report, must := account.Next(reported[hub], shares.UseOf(result), now, timing); must {
			reported[hub] = report
			account.Report = report
			accounts[hub] = account
		}
		for _, c := range result.Start {
			fmt.Println(hub, "starts", c.Name)
			clusters[hub] = append(clusters[hub], status.Report{Cluster: c.Name, Status: status.Progressing})
		}
	}

	for range 6 { // the hubs report, are granted shares, take them, and start
		divide()
		reconcile("hub-eu")
		reconcile("hub-us")
	}
	fmt.Println(shares.Explain("hub-us", slices.Collect(maps.Values(accounts)), now))

	fmt.Println("\na minute later both are done on hub-eu, and its last cluster needs one of the two units")
	now = now.Add(time.Minute)
	for i := range clusters["hub-eu"] {
		clusters["hub-eu"][i].Status = status.Succeeded
	}
	for range 4 {
		reconcile("hub-eu")
		reconcile("hub-us")
		divide()
	}
	// Output:
	// hub-eu starts a
	// hub-eu starts b
	// hub-us starts a
	// blocked: this hub's share of concurrency is 1, and 3 clusters are not done; asked at 2026-01-02T10:00:00Z
	//
	// a minute later both are done on hub-eu, and its last cluster needs one of the two units
	// hub-eu starts c
	// hub-us starts b
}
