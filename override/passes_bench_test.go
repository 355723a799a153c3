package override_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// passesWorld is n clusters of two placements in ten groups each, half of them done, the others waiting.
func passesWorld(b *testing.B, n int) (override.Root, map[string]*grouping.Groups, []override.Replica) {
	b.Helper()
	p := policy(override.Enforce, progressive)
	p.Spec.RolloutStrategy.Progressive = &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromString("10%")}
	groups := map[string][]naiveGroup{"1": make([]naiveGroup, 10), "2": make([]naiveGroup, 10)}
	bindings := []override.Binding{{Name: "1", PlacementRef: placement("1")}, {Name: "2", PlacementRef: placement("2")}}
	var replicas []override.Replica
	for i := range n {
		name := fmt.Sprintf("cluster-%06d", i)
		b := &bindings[i*2/n]
		b.Clusters = append(b.Clusters, name)
		g := &groups[b.Name][i%10]
		g.clusters = append(g.clusters, name)
		r := override.Replica{Cluster: name, Version: "v2", Action: override.Inform, RolloutStatus: status.ToApply, Compliance: "NonCompliant"}
		if i < n/2 {
			r.Action, r.RolloutStatus, r.Compliance = override.Enforce, status.Succeeded, "Compliant"
		}
		replicas = append(replicas, r)
	}
	bound, err := override.Resolve(p, bindings)
	if err != nil {
		b.Fatal(err)
	}
	placements := map[string]*grouping.Groups{"1": readGroups(b, groups["1"]), "2": readGroups(b, groups["2"])}
	joined, err := bound.Groups(placements)
	if err != nil {
		b.Fatal(err)
	}
	return override.Root{Policy: p, Version: "v2", Bound: bound, Groups: joined}, placements, replicas
}

// BenchmarkPropagate propagates to n clusters, of which half are done and a tenth starts.
func BenchmarkPropagate(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			root, _, replicas := passesWorld(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if p := propagate(b, root, replicas); len(p.Rollout.Start) != n/10 {
					b.Fatal(len(p.Rollout.Start))
				}
			}
		})
	}
}

// BenchmarkGroups joins the groups of two placements of n clusters together.
func BenchmarkGroups(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			root, placements, _ := passesWorld(b, n)
			b.ReportAllocs()
			for b.Loop() {
				if groups, err := root.Bound.Groups(placements); err != nil || groups.NumClusters() != n {
					b.Fatal(groups, err)
				}
			}
		})
	}
}
