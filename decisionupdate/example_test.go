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

var rolling = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate}

// A cluster sorts in front of the others, and each object hands its last cluster to the next. The objects are
// written from the last to the first, each once.
func ExampleNew() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "b", "c"),
		decision("web-decision-2", "d", "e"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
		decision("web-decision-3", "e"),
	}
	plan, err := decisionupdate.New(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 1: create web-decision-3 labels,status +e
	// 2: update web-decision-2 status +c -e
	// 3: update web-decision-1 status +a -c
}

// Two objects exchange a cluster. Neither may be the first to lose its own, so one holds both for a while.
func ExampleNew_swap() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "d"),
		decision("web-decision-2", "b", "c"),
	}
	plan, err := decisionupdate.New(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 1: surge web-decision-1 status +d
	// 2: update web-decision-2 status +b -d
	// 3: update web-decision-1 status -b
}

// Each step waits for the one before. Fewer steps cost some objects a second write.
func ExampleMaxSteps() {
	stored := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "b", "c"),
		decision("web-decision-2", "d", "e"),
	}
	desired := []*clusterv1beta1.PlacementDecision{
		decision("web-decision-1", "a", "b"),
		decision("web-decision-2", "c", "d"),
		decision("web-decision-3", "e"),
	}
	plan, err := decisionupdate.New(stored, desired, rolling, decisionupdate.MaxSteps(2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	// Output:
	// 1: surge web-decision-2 status +c
	// 1: create web-decision-3 labels,status +e
	// 2: update web-decision-1 status +a -c
	// 2: update web-decision-2 status -e
}

// An object that changes its group, as sequential names make it do, shows clusters in a wrong one for a moment.
// The plan says so before anything is written.
func ExamplePlan_warnings() {
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
	plan, err := decisionupdate.New(stored, desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(plan)
	for _, w := range plan.Warnings {
		fmt.Println(w)
	}
	// Output:
	// 1: create web-decision-3 labels,status +x +y
	// 2: update web-decision-2 status,labels +c -x -y
	// web-decision-2 changes its group, status first: until the other is written it shows in group 1 what belongs elsewhere: c
}

// An Applier carries the plan out. The client here is a model of an API server; with OCM's it is
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
	plan, err := decisionupdate.New(client.list(), desired, rolling)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := decisionupdate.Applier{Client: client, Parallel: 4}.Apply(context.Background(), plan)
	var again *decisionupdate.PlanAgainError
	switch {
	case errors.As(err, &again):
		fmt.Println("list and plan again at once:", err)
	case err != nil:
		fmt.Println("list and plan again later:", err)
	default:
		fmt.Println(report)
		fmt.Println("surged", report.Surged, "updated", report.Updated)
	}
	// Output:
	// created 0, surged 1, updated 2, deleted 0, retried 0
	// surged [web-decision-1] updated [web-decision-2 web-decision-1]
}
