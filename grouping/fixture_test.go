package grouping_test

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

func newPlacement(size intstr.IntOrString, groups ...clusterv1beta1.DecisionGroup) *clusterv1beta1.Placement {
	return &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "uid"},
		Spec: clusterv1beta1.PlacementSpec{DecisionStrategy: clusterv1beta1.DecisionStrategy{
			GroupStrategy: clusterv1beta1.GroupStrategy{ClustersPerDecisionGroup: size, DecisionGroups: groups},
		}},
	}
}

// byLabel is a group of the clusters that carry a label.
func byLabel(name, label string) clusterv1beta1.DecisionGroup {
	return clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
		LabelSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: label, Operator: metav1.LabelSelectorOpExists},
		}},
	}}
}

// byClaim is a group of the clusters that claim a value.
func byClaim(name, claim, value string) clusterv1beta1.DecisionGroup {
	return clusterv1beta1.DecisionGroup{GroupName: name, ClusterSelector: clusterv1beta1.GroupClusterSelector{
		ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: claim, Operator: metav1.LabelSelectorOpIn, Values: []string{value}},
		}},
	}}
}

// newCluster takes pairs of label and value.
func newCluster(name string, labels ...string) *clusterv1.ManagedCluster {
	c := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for pair := range slices.Chunk(labels, 2) {
		c.Labels[pair[0]] = pair[1]
	}
	return c
}

// named makes a cluster without labels of each name.
func named(names ...string) []*clusterv1.ManagedCluster {
	var clusters []*clusterv1.ManagedCluster
	for _, name := range names {
		clusters = append(clusters, newCluster(name))
	}
	return clusters
}

// decision is a PlacementDecision as it is stored; clusters are separated by spaces.
func decision(name, index, group, clusters string) *clusterv1beta1.PlacementDecision {
	d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: map[string]string{
		clusterv1beta1.PlacementLabel:          "p",
		clusterv1beta1.DecisionGroupIndexLabel: index,
		clusterv1beta1.DecisionGroupNameLabel:  group,
	}}}
	for _, c := range strings.Fields(clusters) {
		d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
	}
	return d
}

// show is groups in full: `0:a b | 1 canary:c`.
func show(g *grouping.Groups) string {
	var groups []string
	for i := range g.Len() {
		group := g.Key(i).String()[len("group "):] + ":"
		for d := range g.Clusters(i) {
			group += d.ClusterName + " "
		}
		groups = append(groups, strings.TrimSuffix(group, " "))
	}
	return strings.Join(groups, " | ")
}

func mustDivide(t testing.TB, p *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster, opts ...grouping.Option) *grouping.Groups {
	t.Helper()
	g, err := grouping.Divide(p, clusters, opts...)
	if err != nil {
		t.Fatalf("Divide: %v", err)
	}
	return g
}

func mustRead(t testing.TB, decisions ...*clusterv1beta1.PlacementDecision) *grouping.Groups {
	t.Helper()
	g, err := grouping.Read(decisions)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return g
}
