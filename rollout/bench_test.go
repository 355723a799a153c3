// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// halfway is a fleet of n clusters in ten groups; half of the clusters are reported, in random order: 2% of the fleet
// are in flight, the others succeeded.
func halfway(tb testing.TB, n int) (*fleet, []status.Report) {
	f := newFleet(tb)
	for group := range 10 {
		var names []string
		for i := group * n / 10; i < (group+1)*n/10; i++ {
			names = append(names, fmt.Sprintf("cluster-%06d", i))
		}
		f.group("", names...)
	}
	reports := make([]status.Report, n/2)
	for i := range reports {
		reports[i] = status.Report{Cluster: fmt.Sprintf("cluster-%06d", i), Status: status.Succeeded, LastTransitionTime: now}
		if i >= n/2-n/50 {
			reports[i].Status = status.Progressing
		}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(reports), func(i, j int) { reports[i], reports[j] = reports[j], reports[i] })
	return f, reports
}

func strategies(n int) []clusterv1alpha1.RolloutStrategy {
	config := clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m", MaxFailures: intstr.FromString("2%")}
	return []clusterv1alpha1.RolloutStrategy{
		{Type: clusterv1alpha1.All},
		{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MaxConcurrency: intstr.FromInt32(int32(n / 25)),
		}},
		{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}},
	}
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
		f, reports := halfway(b, n)
		groups := f.read()
		for _, strategy := range strategies(n) {
			b.Run(fmt.Sprintf("%s/n=%d", strategy.Type, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := rollout.Plan(strategy, groups, reports, now.Add(time.Minute), rollout.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPlanWithOptions has all options at once; Order makes it sort what may start.
func BenchmarkPlanWithOptions(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
		f, reports := halfway(b, n)
		groups := f.read()
		strategy := strategies(n)[1]
		opts := rollout.Options{Order: func(a, b string) int { return strings.Compare(b, a) }, FailedFreesSlot: true, Gates: []rollout.ClosedGate{{Group: groups.Key(groups.Len() - 1), Gate: rollout.Gate{Name: "approval"}}}}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rollout.Plan(strategy, groups, reports, now.Add(time.Minute), opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkResult is what the questions to a result cost.
func BenchmarkResult(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000) {
		f, reports := halfway(b, n)
		result, err := rollout.Plan(strategies(n)[2], f.read(), reports, now, rollout.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, question := range []struct {
			name string
			ask  func()
		}{
			{"Find", func() { result.Find("cluster-000050") }},
			{"BlockCounts", func() { result.BlockCounts() }},
			{"Summary", func() { result.Summary() }},
			{"Blocked", func() {
				for range result.Blocked() {
				}
			}},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", question.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					question.ask()
				}
			})
		}
	}
}

// BenchmarkGates has a gate before each of many groups of one cluster. The time per group must not grow with the gates.
func BenchmarkGates(b *testing.B) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}
	for _, n := range []int{1_000, 4_000, 16_000} {
		f := newFleet(b)
		var gates rollout.Options
		for i := range n {
			f.group("", fmt.Sprintf("cluster-%06d", i))
			gates.Gates = append(gates.Gates, rollout.ClosedGate{Group: grouping.Key{Index: int32(i)}, Gate: rollout.Gate{Name: "approval"}})
		}
		groups := f.read()
		b.Run(fmt.Sprintf("BlockCounts/n=%d", n), func(b *testing.B) {
			result, err := rollout.Plan(strategy, groups, nil, now, gates)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				result.BlockCounts()
			}
		})
		b.Run(fmt.Sprintf("NextIgnored/n=%d", n), func(b *testing.B) {
			ignored := gates
			for position := range n {
				ignored.Ignored = append(ignored.Ignored, groups.Cluster(position))
			}
			p, err := rollout.NewPlanner(strategy, groups, ignored)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				p.Next(now)
			}
		})
	}
}

// Many mandatory entries over many groups take time in proportion to their sum. The time an entry takes does not grow with n.
func BenchmarkManyMandatoryGroups(b *testing.B) {
	for _, n := range []int{1_000, 4_000, 16_000} {
		names := make(map[grouping.Key][]string, n)
		var mandatory []string
		for i := range n {
			names[grouping.Key{Index: int32(i)}] = []string{fmt.Sprintf("c%05d", i)}
			mandatory = append(mandatory, fmt.Sprintf("ghost%d", i))
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result, err := rollout.Plan(perGroup(config("", "", 0), mandatory...), groups, nil, now, rollout.Options{})
				if err != nil || len(result.Warnings) != n {
					b.Fatalf("%d warnings, %v; want %d", len(result.Warnings), err, n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/entry")
		})
	}
}
