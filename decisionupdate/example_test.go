package decisionupdate_test

import (
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
