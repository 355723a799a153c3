// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// tenGroups names ten groups by region, each of about a twelfth of the fleet, in groups of at most
// 1,000 clusters, so that about a sixth of the fleet is in no named group.
func tenGroups() *clusterv1beta1.Placement {
	p := newPlacement(intstr.FromInt32(1_000))
	for i := range 10 {
		name := fmt.Sprintf("region-%d", i)
		p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = append(p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups,
			clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": name}},
			}})
	}
	return p
}

// regionalFleet is n clusters with five labels each, in random order.
func regionalFleet(n int) []*clusterv1.ManagedCluster {
	clusters := make([]*clusterv1.ManagedCluster, n)
	for i := range clusters {
		clusters[i] = newCluster(fmt.Sprintf("cluster-%06d", i),
			"region", fmt.Sprintf("region-%d", i%12), "vendor", "OpenShift", "cloud", "Amazon", "env", "prod", "common-profile", "true")
	}
	return shuffled(1, clusters)
}

func sizes() []int { return exhaustive.Sizes(100, 1_000, 10_000, 100_000) }

func BenchmarkDivide(b *testing.B) {
	for _, n := range sizes() {
		placement, clusters := tenGroups(), regionalFleet(n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := grouping.Divide(placement, clusters, grouping.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, n := range sizes() {
		benchmarkRead(b, n, shuffled(1, decided(b, tenGroups(), n, grouping.Options{})))
	}
}

// The slow path of Read: nothing is in the order of the names.
func BenchmarkReadByScore(b *testing.B) {
	for _, n := range sizes() {
		placement := tenGroups()
		placement.Spec.SortBy = clusterv1beta1.PlacementSortByScore
		scores := map[string]int64{}
		for i, c := range regionalFleet(n) {
			scores[c.Name] = int64(i)
		}
		benchmarkRead(b, n, decided(b, placement, n, grouping.Options{Scores: scores}))
	}
}

// benchmarkRead reads without and with the Placement, with a status that matches the stored objects.
func benchmarkRead(b *testing.B, n int, stored decisions) {
	for _, with := range []struct {
		name      string
		placement *clusterv1beta1.Placement
	}{{"alone", nil}, {"placement", withStatus(b, tenGroups(), stored)}} {
		b.Run(fmt.Sprintf("n=%d/%s", n, with.name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if g, err := grouping.Read(with.placement, stored); err != nil || g.Incomplete() != "" {
					b.Fatal(err, g.Incomplete())
				}
			}
		})
	}
}

// decided is the objects for a regional fleet.
func decided(b *testing.B, p *clusterv1beta1.Placement, n int, opts grouping.Options) decisions {
	return mustDecide(b, mustDivide(b, p, regionalFleet(n), opts), p)
}

func BenchmarkDecisions(b *testing.B) {
	for _, n := range sizes() {
		placement := tenGroups()
		groups := mustDivide(b, placement, regionalFleet(n), grouping.Options{})
		stored := mustDecide(b, groups, placement)
		for _, kept := range []struct {
			name   string
			stored []*clusterv1beta1.PlacementDecision
		}{{"anew", nil}, {"keeping", stored}} {
			b.Run(fmt.Sprintf("n=%d/%s", n, kept.name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := groups.Decisions(placement, kept.stored...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range sizes() {
		clusters := regionalFleet(n)
		before, after := mustDivide(b, tenGroups(), clusters, grouping.Options{}), mustDivide(b, tenGroups(), clusters[n/100:], grouping.Options{})
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				after.Changes(before)
			}
		})
	}
}

// Two placements that share half of their clusters.
func BenchmarkJoin(b *testing.B) {
	for _, n := range sizes() {
		clusters := regionalFleet(n)
		var parts []grouping.PlacementGroups
		for i, selected := range [][]*clusterv1.ManagedCluster{clusters[:n*2/3], clusters[n/3:]} {
			parts = append(parts, grouping.PlacementGroups{Placement: fmt.Sprint("placement-", i), Groups: mustDivide(b, tenGroups(), selected, grouping.Options{})})
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := grouping.Join(parts...); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
