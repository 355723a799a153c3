// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"fmt"
	"maps"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// completed is what a hub reports to a barrier: the groups in which all is done, of a plan that knows all its groups.
func completed(r *rollout.Result) map[grouping.Key]bool {
	done := map[grouping.Key]bool{}
	for _, g := range r.Summary().Groups {
		done[g.Group] = r.Breach == nil && !g.Partial && g.Done() == g.Total()
	}
	return done
}

// barrier gives the closed gates of all hubs: before each group that comes after one which some hub has not completed. Groups are in their
// order. Reported has what each hub reported, which may be old, and has to have every hub. Groups that a hub does not have are complete there.
func barrier(groups []grouping.Key, reported map[string]map[grouping.Key]bool) (closed []rollout.ClosedGate) {
	open := true
	for _, group := range groups {
		if !open {
			closed = append(closed, rollout.ClosedGate{Group: group, Gate: rollout.Gate{Name: "all hubs"}})
		}
		for _, done := range reported {
			is, has := done[group]
			open = open && done != nil && (is || !has)
		}
	}
	return closed
}

// A canary on one hub before anything on another: the order of groups over hubs is held by a barrier, and not by shares.
func Example_barrier() {
	canary, prod := grouping.Key{Name: "canary"}, grouping.Key{Index: 1, Name: "prod"}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}
	hubs := map[string]map[grouping.Key][]string{
		"hub-eu": {canary: {"e1"}, prod: {"e2"}},
		"hub-us": {prod: {"u1"}},
	}
	clusters, now := map[string][]status.Report{}, time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	reported := map[string]map[grouping.Key]bool{"hub-eu": nil, "hub-us": nil} // a hub that has not reported blocks all

	for range 3 {
		for _, hub := range slices.Sorted(maps.Keys(hubs)) {
			groups, err := grouping.FromNames(hubs[hub])
			if err != nil {
				fmt.Println(err)
				return
			}
			gates := barrier([]grouping.Key{canary, prod}, reported)
			result, err := rollout.Plan(strategy, groups, clusters[hub], now, rollout.Options{Gates: gates})
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%s: %v\n", hub, result)
			reported[hub] = completed(result)
			for _, c := range result.Start { // each succeeds at once
				clusters[hub] = append(clusters[hub], status.Report{Cluster: c.Name, Status: status.Succeeded})
			}
		}
	}
	// Output:
	// hub-eu: starting e1; 1 cluster blocked: waiting for group 0 "canary": 0 of 1 done; e1 is starting
	// hub-us: 1 cluster blocked: the gate "all hubs" before group 1 "prod" is closed
	// hub-eu: 1 cluster blocked: the gate "all hubs" before group 1 "prod" is closed
	// hub-us: starting u1
	// hub-eu: starting e2
	// hub-us: nothing to start or to remove
}
