// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// placements is a placement controller. Only the choice of the clusters is missing.
type placements struct {
	client   decisionupdate.Client // writes, and reads from the API server
	cache    []*pd                 // what an informer has of the namespace's PlacementDecisions, which may be old
	own      map[string]*writes.Own[*pd]
	now      func() time.Time
	strategy decisionupdate.UpdateStrategy
}

// reconcile brings what is stored to what is selected now. After an error, call it again; nothing else has to be remembered.
func (c *placements) reconcile(ctx context.Context, placement *clusterv1beta1.Placement, selected []*clusterv1.ManagedCluster) error {
	// What is stored: the cache, with the own writes that it does not show yet. (When a process begins, see own.Begin.)
	own := c.own[placement.Name]
	if own == nil {
		own = new(writes.Own[*pd])
		c.own[placement.Name] = own
	}
	stored, err := own.Current(c.cache, func(key types.NamespacedName) (*pd, error) {
		return c.client.Get(ctx, key.Name, metav1.GetOptions{})
	}, c.now)
	if err != nil {
		return err
	}

	// Divide, so that no cluster moves that can stay, and cut the groups into the objects that are stored.
	previous, err := grouping.Read(placement, stored)
	if err != nil {
		return err
	}
	groups, err := grouping.Divide(placement, selected, grouping.Options{Previous: previous})
	if err != nil {
		return err
	}
	desired, err := groups.Decisions(placement, stored...)
	if err != nil {
		return err
	}

	// Write what differs.
	update, err := decisionupdate.Diff(stored, desired, c.strategy)
	if err != nil {
		return err
	}
	for _, misplaced := range update.Misplaced {
		fmt.Println(misplaced)
	}
	outcome, err := decisionupdate.Applier{Client: c.client, Parallel: 4}.Apply(ctx, update)
	outcome.Note(own, c.now())
	for _, w := range outcome.Writes {
		fmt.Println(w.Write) // an event for each
	}
	if err != nil {
		return err
	}

	// The status comes last: it tells readers that the groups are whole. Write it to the API server in the same way.
	status, err := grouping.Status(desired)
	if err != nil {
		return err
	}
	placement.Status.DecisionGroups = status.DecisionGroups
	placement.Status.NumberOfSelectedClusters = status.NumberOfSelectedClusters
	return nil
}

// A placement controller from end to end. The cache never shows anything here, which does no harm. A canary joins, and the group behind
// it gets another index: its object is relabelled, and no cluster moves. In the end nothing is left to do.
func Example() {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "1"}}
	canary := clusterv1beta1.DecisionGroup{GroupName: "canary"}
	canary.ClusterSelector.LabelSelector.MatchLabels = map[string]string{"in": "canary"}
	placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups = []clusterv1beta1.DecisionGroup{canary}
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(2)
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	c := &placements{
		client: newServer(), own: map[string]*writes.Own[*pd]{}, now: func() time.Time { return noon },
		strategy: decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate, MaxSteps: 10},
	}

	selected := fleet("cairo/canary", "lima/canary", "oslo", "rome")
	for _, joins := range []string{"first", "paris/canary", "no cluster"} {
		if fmt.Printf("%s\n", joins); joins == "paris/canary" {
			selected = append(selected, fleet(joins)...)
		}
		if err := c.reconcile(context.Background(), placement, selected); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, group := range placement.Status.DecisionGroups {
		fmt.Println(group.DecisionGroupIndex, group.DecisionGroupName, group.Decisions, group.ClustersCount)
	}
	// Output:
	// first
	// create PlacementDecision web-decision-1 (labels, status): add cairo, lima
	// create PlacementDecision web-decision-2 (labels, status): add oslo, rome
	// paris/canary
	// update PlacementDecision web-decision-2 (labels)
	// create PlacementDecision web-decision-3 (labels, status): add paris
	// no cluster
	// 0 canary [web-decision-1] 2
	// 1 canary [web-decision-3] 1
	// 2  [web-decision-2] 2
}
