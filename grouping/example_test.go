// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// examplePlacement divides into a canary group, those that carry the label canary, and the others, two a group.
func examplePlacement() *clusterv1beta1.Placement {
	canary := clusterv1beta1.DecisionGroup{
		GroupName: "canary",
		ClusterSelector: clusterv1beta1.GroupClusterSelector{LabelSelector: metav1.LabelSelector{
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "canary", Operator: metav1.LabelSelectorOpExists}},
		}},
	}
	return &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{GroupStrategy: clusterv1beta1.GroupStrategy{
			ClustersPerDecisionGroup: intstr.FromInt32(2),
			DecisionGroups:           []clusterv1beta1.DecisionGroup{canary},
		}}},
	}
}

func exampleClusters() []*clusterv1.ManagedCluster {
	return []*clusterv1.ManagedCluster{
		{ObjectMeta: metav1.ObjectMeta{Name: "rome"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "oslo", Labels: map[string]string{"canary": ""}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "lima"}},
		{ObjectMeta: metav1.ObjectMeta{Name: "cairo"}},
	}
}

// What a placement controller does with the clusters that it selected: divide them, store the
// PlacementDecisions, write the status.
func Example() {
	placement := examplePlacement()
	groups, err := grouping.Divide(placement, exampleClusters(), grouping.Options{})
	if err != nil {
		fmt.Println(err) // to a condition of the placement
		return
	}
	decisions, err := groups.Decisions(placement)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range decisions {
		fmt.Println(d.Name, d.Status.Decisions)
	}
	status, err := grouping.Status(decisions)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range status.DecisionGroups {
		fmt.Printf("%d %q %v %d\n", g.DecisionGroupIndex, g.DecisionGroupName, g.Decisions, g.ClustersCount)
	}
	fmt.Println(status.NumberOfSelectedClusters, "clusters")
	// Output:
	// web-decision-1 [{oslo  0}]
	// web-decision-2 [{cairo  0} {lima  0}]
	// web-decision-3 [{rome  0}]
	// 0 "canary" [web-decision-1] 1
	// 1 "" [web-decision-2] 2
	// 2 "" [web-decision-3] 1
	// 4 clusters
}

// The order of the clusters does not matter. The groups are in the order in which the placement lists them.
func ExampleDivide() {
	groups, err := grouping.Divide(examplePlacement(), exampleClusters(), grouping.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups)
	for i := range groups.Len() {
		for d := range groups.Clusters(i) {
			fmt.Println(groups.Key(i), d.ClusterName)
		}
	}
	// Output:
	// group 0 "canary": 1, group 1: 2, group 2: 1
	// group 0 "canary" oslo
	// group 1 cairo
	// group 1 lima
	// group 2 rome
}

// Errors are field errors with the path in the placement.
func ExampleDivide_errors() {
	placement := examplePlacement()
	canary := &placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups[0]
	canary.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = "Exist"
	_, err := grouping.Divide(placement, exampleClusters(), grouping.Options{})
	var fault *field.Error
	if errors.As(err, &fault) {
		fmt.Println(fault.Field)
		fmt.Println(fault.Detail)
	}
	// Output:
	// spec.decisionStrategy.groupStrategy.decisionGroups[0].groupClusterSelector.labelSelector.matchExpressions[0]
	// must be valid in the selector of group "canary": "Exist" is not a valid label selector operator
}

// With sortBy: Score, the clusters with the highest scores come first within a name.
func ExampleOptions_scores() {
	placement := examplePlacement()
	placement.Spec.SortBy = clusterv1beta1.PlacementSortByScore
	groups, err := grouping.Divide(placement, exampleClusters(),
		grouping.Options{Scores: map[string]int64{"rome": 80, "oslo": 10, "lima": 20}, Reasons: map[string]string{"rome": "has the data"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range groups.Len() {
		for d := range groups.Clusters(i) {
			fmt.Printf("%v: %s %d %q\n", groups.Key(i), d.ClusterName, d.Score, d.Reason)
		}
	}
	// Output:
	// group 0 "canary": oslo 10 ""
	// group 1: rome 80 "has the data"
	// group 1: lima 20 ""
	// group 2: cairo 0 ""
}

// exampleDecision is a PlacementDecision as a lister gives it.
func exampleDecision(name, index, group string, clusters ...string) *clusterv1beta1.PlacementDecision {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{
		clusterv1beta1.PlacementLabel:          "web",
		clusterv1beta1.DecisionGroupIndexLabel: index,
		clusterv1beta1.DecisionGroupNameLabel:  group,
	}}}
	for _, cluster := range clusters {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return d
}

// exampleStored is a placement with its status, and what is stored for it.
func exampleStored() (*clusterv1beta1.Placement, []*clusterv1beta1.PlacementDecision) {
	placement := examplePlacement()
	placement.Status = clusterv1beta1.PlacementStatus{
		NumberOfSelectedClusters: 4,
		DecisionGroups: []clusterv1beta1.DecisionGroupStatus{
			{DecisionGroupIndex: 0, DecisionGroupName: "canary", Decisions: []string{"web-decision-1"}, ClustersCount: 1},
			{DecisionGroupIndex: 1, Decisions: []string{"web-decision-2"}, ClustersCount: 2},
			{DecisionGroupIndex: 2, Decisions: []string{"web-decision-3"}, ClustersCount: 1},
		},
	}
	return placement, []*clusterv1beta1.PlacementDecision{
		exampleDecision("web-decision-1", "0", "canary", "oslo"),
		exampleDecision("web-decision-2", "1", "", "cairo", "lima"),
		exampleDecision("web-decision-3", "2", "", "rome"),
	}
}

// What a controller that rolls out does whenever the placement or a PlacementDecision changed: read the groups and,
// if it wants to know, what became of the previous ones.
func ExampleRead() {
	placement, decisions := exampleStored()
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		fmt.Println(err)
		return
	}
	if why := groups.Incomplete(); why != "" {
		fmt.Println(why)
		return
	}
	previous, err := grouping.FromNames(map[grouping.Key][]string{
		{Index: 0, Name: "canary"}: {"oslo", "cairo"},
		{Index: 1}:                 {"lima", "quito"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups)
	changes := groups.Changes(previous)
	fmt.Println("added", changes.Added)
	fmt.Println("removed", changes.Removed)
	fmt.Println("moved", changes.Moved)
	// Output:
	// group 0 "canary": 1, group 1: 2, group 2: 1
	// added [rome]
	// removed [quito]
	// moved [cairo: group 0 "canary" → group 1]
}

// A scheduler writes objects one after the other. Until all are there as the placement's status has them, nothing
// must start and no cluster must be removed.
func ExampleGroups_Incomplete() {
	placement, decisions := exampleStored()
	canary := decisions[0]
	canary.Status.Decisions = nil // created, and not filled yet
	for _, decisions := range [][]*clusterv1beta1.PlacementDecision{nil, decisions[:2], decisions} {
		groups, err := grouping.Read(placement, decisions)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(groups.Incomplete())
	}
	// Output:
	// placement web: no PlacementDecision is found
	// placement web: PlacementDecision web-decision-3 is not found
	// placement web: the PlacementDecisions of group 0 "canary" list 0 clusters, but the status of the Placement says 1
}

// A rollout that sets no maxConcurrency goes by the size of the placement's groups.
func ExampleGroups_ClustersPerDecisionGroup() {
	placement, decisions := exampleStored()
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromString("50%")
	for _, placement := range []*clusterv1beta1.Placement{placement, nil} {
		groups, err := grouping.Read(placement, decisions)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(groups.ClustersPerDecisionGroup(), "of", groups.NumClusters())
	}
	// Output:
	// 2 of 4
	// 0 of 4
}

// Groups without a Placement.
func ExampleFromNames() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{
		{Index: 0, Name: "canary"}: {"oslo"},
		{Index: 1}:                 {"lima", "cairo"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for key, decision := range groups.All() {
		fmt.Println(key, decision.ClusterName)
	}
	// Output:
	// group 0 "canary" oslo
	// group 1 lima
	// group 1 cairo
}

// Groups restricted to the clusters that a workload also wants for another reason.
func ExampleGroups_Only() {
	placement, decisions := exampleStored()
	groups, err := grouping.Read(placement, decisions)
	if err != nil {
		fmt.Println(err)
		return
	}
	bound := map[string]bool{"lima": true, "oslo": true}
	fmt.Println(groups.Only(func(_ grouping.Key, cluster string) bool { return bound[cluster] }))
	// Output:
	// group 0 "canary": 1, group 1: 1, group 2: 0
}

// What a webhook says of a placement.
func ExampleValidate() {
	placement := examplePlacement()
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromString("0%")
	placement.Spec.SortBy = "Name"
	for _, err := range grouping.Validate(placement, nil) {
		fmt.Println(err)
	}
	// Output:
	// spec.sortBy: Unsupported value: "Name": supported values: "ClusterName", "Score"
	// spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: Invalid value: "0%": must be a positive count, or a percentage from 1% to 100% in decimal digits
}

// A label that was edited by hand is no error. The groups are incomplete, so that nothing starts and no cluster is removed, and
// a placement controller that passes what is stored gives the object its label back.
func ExampleRead_editedLabel() {
	stored := []*clusterv1beta1.PlacementDecision{
		exampleDecision("web-decision-1", "first", "canary", "oslo"),
		exampleDecision("web-decision-2", "1", "", "cairo", "lima", "rome"),
	}
	groups, err := grouping.Read(nil, stored)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups.Incomplete())

	placement := examplePlacement()
	groups, err = grouping.Divide(placement, exampleClusters(), grouping.Options{Previous: groups})
	if err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := groups.Decisions(placement, stored...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range decisions {
		fmt.Println(d.Name, d.Labels[clusterv1beta1.DecisionGroupIndexLabel], d.Status.Decisions)
	}
	// Output:
	// PlacementDecision web-decision-1 has the value "first" in its label cluster.open-cluster-management.io/decision-group-index, but that must be a number
	// web-decision-1 0 [{oslo  0}]
	// web-decision-2 1 [{cairo  0} {lima  0}]
	// web-decision-3 2 [{rome  0}]
}

// Positions number the clusters by name, so that what a caller knows of each can be kept in a slice.
func ExampleGroups_Position() {
	groups, err := grouping.Divide(examplePlacement(), exampleClusters(), grouping.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make([]bool, groups.NumClusters())
	for _, cluster := range []string{"rome", "oslo", "paris"} {
		if position, ok := groups.Position(cluster); ok {
			done[position] = true
		}
	}
	for position, done := range done {
		fmt.Println(groups.Cluster(position), groups.Key(groups.GroupAt(position)), done)
	}
	// Output:
	// cairo group 1 false
	// lima group 1 false
	// oslo group 0 "canary" true
	// rome group 2 true
}

// A placement controller that divides by the previous groups moves no cluster that can stay: bonn is new,
// and joins the last group.
func ExampleOptions_previous() {
	previous, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		exampleDecision("web-decision-1", "0", "canary", "oslo"),
		exampleDecision("web-decision-2", "1", "", "cairo", "lima"),
		exampleDecision("web-decision-3", "2", "", "rome"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	selected := append(exampleClusters(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "bonn"}})
	anew, err := grouping.Divide(examplePlacement(), selected, grouping.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	steady, err := grouping.Divide(examplePlacement(), selected, grouping.Options{Previous: previous})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("anew:  ", anew.Changes(previous).Moved)
	fmt.Println("steady:", steady.Changes(previous).Moved)
	key, _, _ := steady.Find("bonn")
	fmt.Println("bonn:  ", key)
	// Output:
	// anew:   [lima: group 1 → group 2]
	// steady: []
	// bonn:   group 2
}

// Stored objects keep their names and their groups, whatever the numbers; a new one takes a number that none
// has.
func ExampleGroups_Decisions_steady() {
	stored := []*clusterv1beta1.PlacementDecision{
		exampleDecision("web-decision-4", "0", "canary", "oslo"),
		exampleDecision("web-decision-1", "1", "", "cairo", "lima"),
	}
	placement := examplePlacement()
	groups, err := grouping.Divide(placement, exampleClusters(), grouping.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := groups.Decisions(placement, stored...)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range decisions {
		fmt.Println(d.Name, d.Labels[clusterv1beta1.DecisionGroupIndexLabel], d.Status.Decisions)
	}
	// Output:
	// web-decision-4 0 [{oslo  0}]
	// web-decision-1 1 [{cairo  0} {lima  0}]
	// web-decision-2 2 [{rome  0}]
}

// A workload that follows two placements: lima is selected by both and belongs to the first.
func ExampleJoin() {
	web, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		exampleDecision("web-decision-1", "0", "canary", "oslo"),
		exampleDecision("web-decision-2", "1", "", "cairo", "lima"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	edge, err := grouping.Read(nil, []*clusterv1beta1.PlacementDecision{
		exampleDecision("edge-decision-1", "0", "", "lima", "rome"),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	groups, err := grouping.Join(
		grouping.PlacementGroups{Placement: "web", Groups: web},
		grouping.PlacementGroups{Placement: "edge", Groups: edge},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(groups)
	// Output:
	// group 0 "canary" of placement web: 1, group 1 of placement web: 2, group 0 of placement edge: 1
}
