// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// setStatus writes the status of a Placement if it changed. It comes after the decisions: until then, its counts tell
// readers that the decisions are incomplete.
func (c *controller) setStatus(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory, decisions []*clusterv1beta1.PlacementDecision, choice choice) error {
	groups, err := grouping.Status(decisions)
	if err != nil {
		return err
	}
	return c.writeStatus(ctx, placement, memory, func(status *clusterv1beta1.PlacementStatus) {
		status.DecisionGroups, status.NumberOfSelectedClusters = groups.DecisionGroups, groups.NumberOfSelectedClusters
		c.set(placement, status, clusterv1beta1.PlacementConditionMisconfigured, metav1.ConditionFalse, "Succeedconfigured", "Placement configurations check pass")
		satisfied, reason, message := metav1.ConditionTrue, "AllDecisionsScheduled", "All cluster decisions scheduled"
		switch {
		case !choice.bound:
			satisfied, reason, message = metav1.ConditionFalse, "NoManagedClusterSetBindings", "No valid ManagedClusterSetBindings found in placement namespace"
		case choice.missing > 0:
			satisfied, reason, message = metav1.ConditionFalse, "NotAllDecisionsScheduled", fmt.Sprintf("%d cluster decisions unscheduled", choice.missing)
		case len(choice.clusters) == 0:
			satisfied, reason, message = metav1.ConditionFalse, "NoManagedClusterMatched", "No ManagedCluster matched any of the cluster predicate"
		}
		c.set(placement, status, clusterv1beta1.PlacementConditionSatisfied, satisfied, reason, message)
	})
}

// setMisconfigured sets the condition for a Placement that cannot be carried out.
func (c *controller) setMisconfigured(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory, why error) error {
	return c.writeStatus(ctx, placement, memory, func(status *clusterv1beta1.PlacementStatus) {
		c.set(placement, status, clusterv1beta1.PlacementConditionMisconfigured, metav1.ConditionTrue, "Misconfigured", why.Error())
	})
}

func (c *controller) set(placement *clusterv1beta1.Placement, status *clusterv1beta1.PlacementStatus, conditionType string, is metav1.ConditionStatus, reason, message string) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: conditionType, Status: is, Reason: reason, Message: message,
		ObservedGeneration: placement.Generation, LastTransitionTime: metav1.NewTime(c.now()),
	})
}

func (c *controller) writeStatus(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory, change func(*clusterv1beta1.PlacementStatus)) error {
	next := placement.DeepCopy()
	change(&next.Status)
	if equality.Semantic.DeepEqual(next.Status, placement.Status) {
		return nil
	}
	return memory.stored.Wrote(next, c.client.Status().Update(ctx, next), c.now())
}
