// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A workload follows two placements with a strategy each. Both select rome, which belongs to the first. None selects
// cairo any more. At first the decisions of edge are not read yet, so it is unknown whether it selects cairo and lima. Each plan
// gets all reports. A controller also passes RemoveAfter, Previous, Ignored and Memory, with the result before and the record
// of the same placement.
func ExamplePlan_severalPlacements() {
	named := func(clusters ...string) *grouping.Groups {
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusters})
		if err != nil {
			panic(err)
		}
		return groups
	}
	placements := []string{"web", "edge"}
	strategies := []clusterv1alpha1.RolloutStrategy{{Type: clusterv1alpha1.Progressive}, {Type: clusterv1alpha1.All}}
	now := time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC)

	for _, edge := range []*grouping.Groups{nil, named("rome", "lima")} {
		parts, err := grouping.Apart(
			grouping.PlacementGroups{Placement: "web", Groups: named("oslo", "rome")},
			grouping.PlacementGroups{Placement: "edge", Groups: edge},
		)
		if err != nil {
			panic(err)
		}
		var reports []status.Report
		for _, cluster := range []string{"cairo", "lima", "oslo", "rome"} { // those that have the workload
			reports = append(reports, status.Report{Cluster: cluster, Status: status.Succeeded})
		}
		for i, groups := range parts {
			result, err := rollout.Plan(strategies[i], groups, reports, now, rollout.Options{})
			if err != nil {
				panic(err)
			}
			fmt.Printf("%s: removed %v; incomplete: %q\n", placements[i], result.Removed, groups.Incomplete())
		}
	}
	// Output:
	// web: removed []; incomplete: ""
	// edge: removed []; incomplete: "placement edge: no PlacementDecision is found"
	// web: removed []; incomplete: ""
	// edge: removed [cairo]; incomplete: ""
}
