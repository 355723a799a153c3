// SPDX-License-Identifier: Apache-2.0

// Package controller rolls a workload out as ManifestWorks, with sdk-go or what takes its place.
package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"

	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// Reconcile says where the workload is to be applied and deleted, and when to come back.
func Reconcile(placement *clusterv1beta1.Placement, lister sdkv1beta1.PlacementDecisionGetter, strategy clusterv1alpha1.RolloutStrategy, works []*workv1.ManifestWork) (apply, remove []string, requeueAfter time.Duration, err error) {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister, nil)
	if err := tracker.Refresh(); err != nil {
		return nil, nil, 0, err
	}
	handler, err := sdkv1alpha1.NewRolloutHandler(tracker, statusOf)
	if err != nil {
		return nil, nil, 0, err
	}
	var statuses []sdkv1alpha1.ClusterRolloutStatus
	for _, work := range works {
		s, err := statusOf(work.Namespace, work)
		if err != nil {
			return nil, nil, 0, err
		}
		statuses = append(statuses, s)
	}
	_, result, err := handler.GetRolloutCluster(strategy, statuses)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, c := range result.ClustersToRollout {
		apply = append(apply, c.ClusterName)
	}
	for _, c := range result.ClustersRemoved {
		remove = append(remove, c.ClusterName)
	}
	if result.RecheckAfter != nil {
		requeueAfter = *result.RecheckAfter
	}
	return apply, remove, requeueAfter, nil
}

// statusOf reads the conditions of a work.
func statusOf(cluster string, work *workv1.ManifestWork) (sdkv1alpha1.ClusterRolloutStatus, error) {
	s := sdkv1alpha1.ClusterRolloutStatus{ClusterName: cluster, Status: sdkv1alpha1.ToApply}
	c := meta.FindStatusCondition(work.Status.Conditions, workv1.WorkProgressing)
	if c == nil || c.ObservedGeneration != work.Generation {
		return s, nil
	}
	s.LastTransitionTime = &c.LastTransitionTime
	switch {
	case c.Status == "False":
		s.Status = sdkv1alpha1.Succeeded
	case meta.IsStatusConditionTrue(work.Status.Conditions, workv1.WorkDegraded):
		s.Status = sdkv1alpha1.Failed
	default:
		s.Status = sdkv1alpha1.Progressing
	}
	return s, nil
}
