// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"strconv"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// Every selected cluster is found at its position and no other cluster is. There are enough clusters, and
// enough names that are looked for in vain, that parts of their hashes are the same for dozens.
func TestPositionFindsSelectedClustersAlone(t *testing.T) {
	const selected = 100_000
	others := exhaustive.Of(500_000, 2_000_000) // a dozen in the short run
	d := &clusterv1beta1.PlacementDecision{}
	d.Labels = map[string]string{clusterv1beta1.DecisionGroupIndexLabel: "0"}
	for i := range selected {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: "c" + strconv.Itoa(i)})
	}
	groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{d})
	if err != nil {
		t.Fatal(err)
	}
	for want := range groups.NumClusters() {
		if got, ok := groups.Position(groups.Cluster(want)); !ok || got != want {
			t.Fatalf("%s is at %d, %v, want %d", groups.Cluster(want), got, ok, want)
		}
	}
	for i := selected; i < selected+others; i++ {
		if got, ok := groups.Position("c" + strconv.Itoa(i)); ok {
			t.Fatalf("c%d is at %d, though it is not selected", i, got)
		}
	}
}

func TestPositionInNoGroups(t *testing.T) {
	empty, err := grouping.Read(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range []*grouping.Groups{nil, {}, empty} {
		if got, ok := groups.Position("a"); ok {
			t.Errorf("a is at %d of no groups", got)
		}
	}
}
