package rollout_test

import (
	"fmt"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// partOf says which part gets the reports of a cluster: the one whose groups select it. The last part gets the reports of
// clusters that no part selects. While any part is incomplete, the last one is, and then it removes nobody.
func partOf(cluster string, parts []*grouping.Groups) int {
	part := slices.IndexFunc(parts, func(groups *grouping.Groups) bool {
		_, selected := groups.Position(cluster)
		return selected
	})
	if part < 0 {
		return len(parts) - 1
	}
	return part
}

// A workload follows two placements with a strategy each. Both select rome, which belongs to the first. Nobody selects
// cairo any more. At first the decisions of edge are not read yet, so nobody knows whether it selects cairo and lima. A
// controller also passes RemoveAfter to each plan, with the result before of the same placement.
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
		reports := make([][]status.Report, len(parts))
		for _, cluster := range []string{"cairo", "lima", "oslo", "rome"} { // those that have the workload
			part := partOf(cluster, parts)
			report := status.Report{Cluster: cluster, Status: status.Succeeded} // about the version that this part wants
			reports[part] = append(reports[part], report)
		}
		for i, groups := range parts {
			result, err := rollout.Plan(strategies[i], groups, reports[i], now)
			if err != nil {
				panic(err)
			}
			fmt.Printf("%s: removed %v; incomplete: %q\n", placements[i], result.Removed, groups.Incomplete())
		}
	}
	// Output:
	// web: removed []; incomplete: ""
	// edge: removed []; incomplete: "placement edge: no PlacementDecision is there"
	// web: removed []; incomplete: ""
	// edge: removed [cairo]; incomplete: ""
}
