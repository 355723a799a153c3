// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// A controller from sdk-go plans one cluster at a time. The first is in flight, so nothing starts, and the whole result
// says why.
func ExampleRolloutHandler() {
	type work struct{ cluster, state string }
	statusOf := func(cluster string, w work) (sdkv1alpha1.ClusterRolloutStatus, error) {
		since := metav1.NewTime(time.Now().Add(-time.Minute))
		return sdkv1alpha1.ClusterRolloutStatus{ClusterName: cluster, Status: sdkv1alpha1.Progressing, LastTransitionTime: &since}, nil
	}
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(nil, nil, sets.New("a", "b", "c"))
	handler, err := sdkv1alpha1.NewRolloutHandler(tracker, statusOf)
	if err != nil {
		panic(err)
	}
	s, err := statusOf("b", work{"b", "applying"})
	if err != nil {
		panic(err)
	}
	strategy := clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
	}
	_, result, err := handler.GetRolloutCluster(strategy, []sdkv1alpha1.ClusterRolloutStatus{s})
	if err != nil {
		panic(err)
	}
	for _, c := range result.ClustersToRollout {
		fmt.Println(c.ClusterName, c.Status == sdkv1alpha1.Progressing)
	}
	whole, err := handler.Plan(strategy, []sdkv1alpha1.ClusterRolloutStatus{s})
	if err != nil {
		panic(err)
	}
	fmt.Println(whole.Summary().Blocked, "blocked")
	// Output:
	// b true
	// 2 blocked
}
