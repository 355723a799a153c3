// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// BenchmarkPlanner is one changed report with the decision that follows: a cluster succeeds, and the next
// one may start.
func BenchmarkPlanner(b *testing.B) {
	for _, n := range exhaustive.Sizes(100, 1_000, 10_000, 100_000, 1_000_000) {
		f, reports := halfway(b, n)
		groups := f.read()
		for _, strategy := range strategies(n)[1:] {
			// As many clusters may be in flight as are: each that is done lets one start.
			if strategy.Progressive != nil {
				strategy.Progressive.MaxConcurrency = intstr.FromInt32(int32(n / 50))
			}
			p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Report(reports...); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/n=%d", strategy.Type, n), func(b *testing.B) {
				b.ReportAllocs()
				// The clusters in flight take turns at succeeding and starting over.
				for i := 0; b.Loop(); i++ {
					r := status.Report{
						Cluster: groups.Cluster(n/2 - 1 - i/2%(n/50)), Status: status.Succeeded,
						LastTransitionTime: now.Add(time.Duration(i)),
					}
					if i%2 == 1 {
						r.Status = status.Progressing
					}
					if err := p.Report(r); err != nil {
						b.Fatal(err)
					}
					p.Next(now.Add(time.Minute))
				}
			})
		}
	}
}

// BenchmarkPlannerMemory reports what a planner costs beside the names, its groups included.
func BenchmarkPlannerMemory(b *testing.B) {
	for _, n := range exhaustive.Sizes(1_000, 100_000) {
		f, reports := halfway(b, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				p, err := rollout.NewPlanner(strategies(n)[1], f.read(), rollout.Options{})
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Report(reports...); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/cluster")
				runtime.KeepAlive(p)
			}
		})
	}
}
