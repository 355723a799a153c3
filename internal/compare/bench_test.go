// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

var sizes = []int{100, 1_000, 10_000, 100_000}

// halfway is a fleet of n clusters in ten groups; half of the clusters are reported, in random order: 2% of the fleet
// are in flight, the others succeeded.
func halfway(tb testing.TB, n int) (*fleet, []status.Report) {
	groups := make([]group, 10)
	reports := make([]status.Report, 0, n/2)
	for i := range n {
		g := &groups[i*len(groups)/n]
		g.key.Index = int32(i * len(groups) / n)
		name := fmt.Sprintf("cluster-%06d", i)
		g.clusters = append(g.clusters, name)
		switch {
		case i < n/2-n/50:
			reports = append(reports, at(status.Succeeded, time.Minute, name)...)
		case i < n/2:
			reports = append(reports, at(status.Progressing, time.Minute, name)...)
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	return newFleet(tb, groups...), reports
}

// measuredPlans are the strategies of the plans that are measured.
var measuredPlans = map[string]func(n int) clusterv1alpha1.RolloutStrategy{
	"PlanAll": func(int) clusterv1alpha1.RolloutStrategy {
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: benchRules()}}
	},
	"PlanProgressive": func(n int) clusterv1alpha1.RolloutStrategy {
		return progressive(benchRules(), intstr.FromInt32(int32(n/25)))
	},
	"PlanProgressivePerGroup": func(int) clusterv1alpha1.RolloutStrategy { return perGroup(benchRules()) },
}

// measuredReads say in which of ten groups the i-th of n clusters is.
var measuredReads = map[string]func(i, n int) int{
	"Read":        func(i, n int) int { return i * 10 / n },
	"ReadRegions": func(i, _ int) int { return i % 10 },
}

// benchmarkPlan plans with both sides. Groups are read before, and each side has the reports in its own
// type. The reference takes seconds for a plan of the largest fleet, which is then the only one.
func benchmarkPlan(b *testing.B, what string) {
	strategy := measuredPlans[what]
	for _, n := range sizes {
		f, reports := halfway(b, n)
		w := world{f, strategy(n), reports}
		if n <= 1_000 && !w.cohort().equal(w.reference()) {
			b.Fatalf("not the same work:\n%v", w)
		}
		statuses := sdkReports(reports)
		b.Run(fmt.Sprintf("n=%d/sdkgo", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := f.sdkgo.GetRolloutCluster(w.strategy, statuses); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/cohort", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rollout.Plan(w.strategy, f.groups, reports, now, rollout.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlanAll(b *testing.B)                 { benchmarkPlan(b, "PlanAll") }
func BenchmarkPlanProgressive(b *testing.B)         { benchmarkPlan(b, "PlanProgressive") }
func BenchmarkPlanProgressivePerGroup(b *testing.B) { benchmarkPlan(b, "PlanProgressivePerGroup") }

// benchRules tolerate 2% failures and have no soak, so that what has succeeded is settled.
func benchRules() clusterv1alpha1.RolloutConfig {
	return clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m", MaxFailures: intstr.FromString("2%")}
}

// BenchmarkRead reads PlacementDecisions of at most a hundred clusters, in random order, and compares them with their
// Placement, which sdk-go doesn't. The groups are cut from one list of names, as they are where no group has a selector.
func BenchmarkRead(b *testing.B) { benchmarkRead(b, "Read") }

// BenchmarkReadRegions reads groups that a label of the clusters makes, so that each has names from the
// whole of the alphabet.
func BenchmarkReadRegions(b *testing.B) { benchmarkRead(b, "ReadRegions") }

func benchmarkRead(b *testing.B, what string) {
	for _, n := range sizes {
		decisions := cut(n, measuredReads[what])
		placement := selection{}.placement(b, decisions)
		tracker := newTracker(decisions)
		b.Run(fmt.Sprintf("n=%d/sdkgo", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := tracker.Refresh(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("n=%d/cohort", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := grouping.Read(placement, decisions); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// cut stores n clusters in ten groups.
func cut(n int, groupOf func(i, n int) int) (decisions []*clusterv1beta1.PlacementDecision) {
	groups := make([]group, 10)
	for i := range n {
		g := groupOf(i, n)
		groups[g].key.Index = int32(g)
		groups[g].clusters = append(groups[g].clusters, fmt.Sprintf("cluster-%06d", i))
	}
	var parts []group
	for _, g := range groups {
		for part := range slices.Chunk(g.clusters, grouping.MaxDecisions) {
			parts = append(parts, group{g.key, part})
		}
	}
	decisions = stored(parts)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(decisions), func(i, j int) { decisions[i], decisions[j] = decisions[j], decisions[i] })
	return decisions
}
