// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A controller keeps a Planner for each of its objects, tells it what changed, and acts on what it says.
func ExamplePlanner() {
	groups, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{{
		ObjectMeta: metav1.ObjectMeta{Name: "p-decision-1", Labels: map[string]string{clusterv1beta1.DecisionGroupIndexLabel: "0"}},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{
			{ClusterName: "cluster1"}, {ClusterName: "cluster2"}, {ClusterName: "cluster3"},
		}},
	}})
	if err != nil {
		panic(err)
	}
	planner, err := rollout.NewPlanner(clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig:  clusterv1alpha1.RolloutConfig{ProgressDeadline: "10m"},
			MaxConcurrency: intstr.FromInt32(1),
		},
	}, groups, rollout.Options{})
	if err != nil {
		panic(err)
	}

	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	show := func(now time.Time, reports ...status.Report) {
		if err := planner.Report(reports...); err != nil {
			panic(err)
		}
		fmt.Println(now.Format("15:04"), planner.Next(now))
	}
	show(noon)
	show(noon.Add(1*time.Minute), status.Report{Cluster: "cluster1", Status: status.Progressing, LastTransitionTime: noon})
	show(noon.Add(2*time.Minute), status.Report{Cluster: "cluster1", Status: status.Succeeded, LastTransitionTime: noon.Add(2 * time.Minute)})
	show(noon.Add(3*time.Minute), status.Report{Cluster: "cluster2", Status: status.Progressing, LastTransitionTime: noon.Add(2 * time.Minute)})
	show(noon.Add(13 * time.Minute))
	// Output:
	// 12:00 starting cluster1; before that 0 of 3 clusters done, 3 not started
	// 12:01 0 of 3 clusters done, 1 in flight, 2 not started; recheck after 9m0s
	// 12:02 starting cluster2; before that 1 of 3 clusters done, 2 not started
	// 12:03 1 of 3 clusters done, 1 in flight, 1 not started; recheck after 9m0s
	// 12:13 timed out cluster2; the rollout is stopped: cluster2 failed, maxFailures is 0; the rollout continues once cluster2 is no longer failed or timed out; 1 of 3 clusters done, 1 failed, 1 not started
}
