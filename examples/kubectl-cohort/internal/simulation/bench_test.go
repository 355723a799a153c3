// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A rollout of ten waves, whatever the size of the fleet.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{100, 1000, 10000, 100000} {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: "0"},
		}}
		for i := range n {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("cluster-%06d", i)})
		}
		groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{d})
		if err != nil {
			b.Fatal(err)
		}
		plan, lives := planner(progressive(n/10, 0, "1h"), groups, rollout.Options{}), livesOf(nil)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := simulation.Run(plan, lives, start()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Clusters that take 1,000 different times; one in 20 never answers.
func BenchmarkPlayVaried(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		names := make([]string, n)
		for i := range names {
			names[i] = fmt.Sprintf("cluster-%06d", i)
		}
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
		if err != nil {
			b.Fatal(err)
		}
		played := simulation.Rollout{Strategy: progressive(n/20, n, "3h"), Groups: groups}
		lives := make(map[string]simulation.Life, n)
		for i, name := range names {
			if i%20 > 0 {
				lives[name] = simulation.Life{{After: 10*time.Minute + time.Duration(i*7919%1000)*time.Second, Status: status.Succeeded}}
			}
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := played.Play(nil, func(cluster string) simulation.Life { return lives[cluster] }, start()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
