// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Reading takes as many allocations for a thousand objects as for ten, and with the Placement as many as without: a status
// that names the objects in their order is compared without a map.
func TestReadTakesFewAllocationsAtAnySize(t *testing.T) {
	var least float64
	for _, withPlacement := range []bool{false, true} {
		for _, n := range []int{10, 1000} {
			var placement *clusterv1beta1.Placement
			var decisions []*clusterv1beta1.PlacementDecision
			status := clusterv1beta1.DecisionGroupStatus{}
			for i := range n {
				d := &clusterv1beta1.PlacementDecision{}
				d.Namespace, d.Name = "apps", fmt.Sprintf("web-decision-%d", i+1)
				d.Labels = map[string]string{clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: "0"}
				for j := range 10 {
					d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%04d-%d", i, j)})
				}
				decisions, status.Decisions = append(decisions, d), append(status.Decisions, d.Name)
			}
			if withPlacement {
				placement = &clusterv1beta1.Placement{}
				placement.Namespace, placement.Name = "apps", "web"
				status.ClustersCount = int32(10 * n)
				placement.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{status}
				placement.Status.NumberOfSelectedClusters = int32(10 * n)
			}
			allocs := testing.AllocsPerRun(3, func() {
				g, err := grouping.Read(placement, decisions)
				if err != nil {
					t.Fatal(err)
				}
				if missing := g.Incomplete(); missing != "" {
					t.Fatal(missing)
				}
			})
			if least == 0 {
				least = allocs
			} else if allocs > least+2 {
				t.Errorf("with the Placement %v: %v allocations for %d objects, %v for 10", withPlacement, allocs, n, least)
			}
			if allocs > 10 {
				t.Errorf("with the Placement %v: %v allocations for %d objects", withPlacement, allocs, n)
			}
		}
	}
}
