// SPDX-License-Identifier: Apache-2.0

// Package controller rolls a workload out as ManifestWorks, with sdk-go's handler or with Cohort's, as a feature gate says.
package controller

import (
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	cohortv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	cohortv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// Handler is what the controller calls, in sdk-go's types.
type Handler interface {
	GetRolloutCluster(clusterv1alpha1.RolloutStrategy, []sdkv1alpha1.ClusterRolloutStatus) (
		*clusterv1alpha1.RolloutStrategy, sdkv1alpha1.RolloutResult, error)
}

// NewHandler reads the decisions of a placement, and gives sdk-go's handler, or Cohort's if the gate is open. The existing are the
// clusters that have the workload.
func NewHandler[T any](
	gate bool, placement *clusterv1beta1.Placement, decisions sdkv1beta1.PlacementDecisionGetter,
	existing sets.Set[string], statusOf sdkv1alpha1.ClusterRolloutStatusFunc[T],
) (Handler, error) {
	if !gate {
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, decisions, existing)
		if err := tracker.Refresh(); err != nil {
			return nil, err
		}
		return sdkv1alpha1.NewRolloutHandler(tracker, statusOf)
	}
	tracker := cohortv1beta1.NewPlacementDecisionClustersTracker(placement, decisions, existing)
	if err := tracker.Refresh(); err != nil {
		return nil, err
	}
	handler, err := cohortv1alpha1.NewRolloutHandler[T](tracker, nil) // it calls no function
	return cohort[T]{handler}, err
}

// cohort has the types of sdk-go.
type cohort[T any] struct {
	handler *cohortv1alpha1.RolloutHandler[T]
}

// GetRolloutCluster implements Handler.
func (c cohort[T]) GetRolloutCluster(
	strategy clusterv1alpha1.RolloutStrategy, existing []sdkv1alpha1.ClusterRolloutStatus,
) (*clusterv1alpha1.RolloutStrategy, sdkv1alpha1.RolloutResult, error) {
	given := each(existing, func(s sdkv1alpha1.ClusterRolloutStatus) cohortv1alpha1.ClusterRolloutStatus {
		return cohortv1alpha1.ClusterRolloutStatus{
			ClusterName: s.ClusterName, GroupKey: cohortv1beta1.GroupKey(s.GroupKey), Status: cohortv1alpha1.RolloutStatus(s.Status),
			LastTransitionTime: s.LastTransitionTime, RecheckTime: s.RecheckTime,
		}
	})
	effective, result, err := c.handler.GetRolloutCluster(strategy, given)
	back := func(s cohortv1alpha1.ClusterRolloutStatus) sdkv1alpha1.ClusterRolloutStatus {
		return sdkv1alpha1.ClusterRolloutStatus{
			ClusterName: s.ClusterName, GroupKey: sdkv1beta1.GroupKey(s.GroupKey), Status: sdkv1alpha1.RolloutStatus(s.Status),
			LastTransitionTime: s.LastTransitionTime, RecheckTime: s.RecheckTime,
		}
	}
	return effective, sdkv1alpha1.RolloutResult{
		ClustersToRollout: each(result.ClustersToRollout, back), ClustersTimeOut: each(result.ClustersTimeOut, back),
		ClustersRemoved: each(result.ClustersRemoved, back), MaxFailureBreach: result.MaxFailureBreach, RecheckAfter: result.RecheckAfter,
	}, err
}

// each makes one of each, and of none nil.
func each[A, B any](all []A, of func(A) B) (made []B) {
	for _, one := range all {
		made = append(made, of(one))
	}
	return made
}
