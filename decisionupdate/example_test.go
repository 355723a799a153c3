// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// pd is short for what everything here is about.
type pd = clusterv1beta1.PlacementDecision

// decision builds a PlacementDecision of the placement "web" in the group with index 0.
func decision(name string, clusters ...string) *clusterv1beta1.PlacementDecision {
	pd := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default",
		Name:      name,
		Labels: map[string]string{
			clusterv1beta1.PlacementLabel:          "web",
			clusterv1beta1.DecisionGroupIndexLabel: "0",
			clusterv1beta1.DecisionGroupNameLabel:  "",
		},
	}}
	for _, c := range clusters {
		pd.Status.Decisions = append(pd.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return pd
}

var (
	rolling   = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}
	twoPhases = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate, SurgeAndFinalize: true}
)

// within is a RollingUpdate with a bound on its steps.
func within(steps int) decisionupdate.UpdateStrategy {
	return decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate, MaxSteps: steps}
}

// A cluster sorts in front of the others, and each object hands its last cluster to the next. The objects are
// written from the last to the first, each once.
func ExampleDiff() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "b", "c"),
		decision("web-decision-2", "d", "e"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
		decision("web-decision-3", "e"),
	}
	update, err := decisionupdate.Diff(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(update)
	// Output:
	// step 1: create PlacementDecision web-decision-3 (labels, status): add e
	// step 2: update PlacementDecision web-decision-2 (status): add c; remove e
	// step 3: update PlacementDecision web-decision-1 (status): add a; remove c
}

// Two objects exchange a cluster. Neither may be the first to lose its own, so one holds both for a while.
func ExampleDiff_swap() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "d"),
		decision("web-decision-2", "b", "c"),
	}
	update, err := decisionupdate.Diff(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(update)
	// Output:
	// step 1: update PlacementDecision web-decision-1 early (status): add d
	// step 2: update PlacementDecision web-decision-2 (status): add b; remove d
	// step 3: update PlacementDecision web-decision-1 (status): remove b
}

// Each step waits for the one before. Fewer steps cost some objects a second write.
func ExampleUpdateStrategy_maxSteps() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "b", "c"),
		decision("web-decision-2", "d", "e"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
		decision("web-decision-3", "e"),
	}
	update, err := decisionupdate.Diff(stored, desired, within(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(update)
	// Output:
	// step 1: update PlacementDecision web-decision-2 early (status): add c
	// step 1: create PlacementDecision web-decision-3 (labels, status): add e
	// step 2: update PlacementDecision web-decision-1 (status): add a; remove c
	// step 2: update PlacementDecision web-decision-2 (status): remove e
}

// An object that changes its group, as sequential names make it do, shows clusters in a wrong one for a moment.
// The update says so before anything is written.
func ExampleUpdate_misplaced() {
	inGroup := func(index string, pd *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
		pd.Labels[clusterv1beta1.DecisionGroupIndexLabel] = index
		return pd
	}
	// Group 0 grows from one object to two, so that web-decision-2 comes to belong to it.
	stored := []*clusterv1beta1.PlacementDecision{
		inGroup("0", decision("web-decision-1", "a", "b")),
		inGroup("1", decision("web-decision-2", "x", "y")),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		inGroup("0", decision("web-decision-1", "a", "b")),
		inGroup("0", decision("web-decision-2", "c")),
		inGroup("1", decision("web-decision-3", "x", "y")),
	}
	update, err := decisionupdate.Diff(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(update)
	for _, w := range update.Misplaced {
		fmt.Println(w)
	}
	// Output:
	// step 1: create PlacementDecision web-decision-3 (labels, status): add x, y
	// step 2: update PlacementDecision web-decision-2 (status, labels): add c; remove x, y
	// until the labels of PlacementDecision web-decision-2 are written, cluster c is listed in group 1, to which it does not belong
}

// An Applier carries the update out. The client here is a model of an API server; with OCM's it is
// clientset.ClusterV1beta1().PlacementDecisions(namespace).
func ExampleApplier_Apply() {
	client := newServer(
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
	)
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "d"),
		decision("web-decision-2", "b", "c"),
	}
	update, err := decisionupdate.Diff(client.list(), desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	outcome, err := decisionupdate.Applier{Client: client, Parallel: 4}.Apply(context.Background(), update)
	for _, w := range outcome.Writes { // emit an event for each
		fmt.Println(w.Write, w.Complete)
	}
	var stale *decisionupdate.StaleError
	switch {
	case errors.As(err, &stale):
		fmt.Println("begin again at once:", err)
	case outcome.Unknown():
		fmt.Println("begin again later, and list from the API server:", err)
	case err != nil:
		fmt.Println("begin again later:", err)
	default:
		fmt.Println(outcome)
	}
	// Output:
	// update PlacementDecision web-decision-1 early (status): add d true
	// update PlacementDecision web-decision-2 (status): add b; remove d true
	// update PlacementDecision web-decision-1 (status): remove b true
	// PlacementDecisions: 0 created, 2 updated, 0 deleted; 0 writes retried; before these, 1 more update only added clusters, so that no cluster was missing at any time
}
