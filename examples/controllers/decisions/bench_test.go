// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	"github.com/cohort-ocm/cohort/grouping"
)

// BenchmarkReconcile measures a reconcile without changes: a Placement selects all clusters by a predicate, and divides
// them into a canary group, of one cluster in 16, and groups of at most 1,000.
func BenchmarkReconcile(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			h := steady(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if wrote, _, err := h.look(); wrote != "" || err != nil {
					b.Fatalf("wrote %q, %v", wrote, err)
				}
			}
		})
	}
}

// steady is a hub with nothing to do.
func steady(b *testing.B, n int) *hub {
	h := newHub(b)
	h.place(groupsOf(1000, "canary"))
	h.place(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}}}}}
	})
	h.catchUp()
	var clusters []*clusterv1.ManagedCluster
	for i, name := range names("cluster", n) {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: fmt.Sprint(i + 1), Labels: map[string]string{
			clusterv1beta2.ClusterSetLabel: "all", "region": "eu", "vendor": "OpenShift", "cloud": "Amazon",
		}}}
		if i%16 == 0 {
			cluster.Labels["stage"] = "canary"
		}
		clusters = append(clusters, cluster)
		h.must(h.caches.clusters.Add(cluster))
	}
	placement := h.placement()
	groups, err := grouping.Divide(placement, clusters, grouping.Options{})
	h.must(err)
	decisions, err := groups.Decisions(placement)
	h.must(err)
	for i, pd := range decisions {
		pd.UID, pd.ResourceVersion = types.UID(pd.Name), fmt.Sprint(i+1)
		h.must(h.caches.decisions.Add(pd))
	}
	h.takeover.skip()
	if _, _, err := h.look(); err != nil { // the status
		b.Fatal(err)
	}
	h.show(h.caches.placements, &clusterv1beta1.PlacementList{})
	return h
}
