// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

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

// fleet reads clusters with their labels and the values of their claim "region": `a b+canary c+canary+new@eu`.
func fleet(clusters string) []*clusterv1.ManagedCluster {
	var all []*clusterv1.ManagedCluster
	for _, field := range strings.Fields(clusters) {
		field, region, claims := strings.Cut(field, "@")
		labels := strings.Split(field, "+")
		c := newCluster(labels[0])
		for _, label := range labels[1:] {
			c.Labels[label] = ""
		}
		if claims {
			c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "version", Value: "1"}, {Name: "region", Value: region}}
		}
		all = append(all, c)
	}
	return all
}

// numbered makes n clusters, prefix-001, prefix-002 and so on.
func numbered(n int, prefix string, labels ...string) []*clusterv1.ManagedCluster {
	all := make([]*clusterv1.ManagedCluster, n)
	for i := range all {
		all[i] = newCluster(fmt.Sprintf("%s-%03d", prefix, i+1), labels...)
	}
	return all
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

// show is groups in full: `0:a b | 1 "canary":c`.
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

func mustDivide(t rapid.TB, p *clusterv1beta1.Placement, clusters []*clusterv1.ManagedCluster, opts grouping.Options) *grouping.Groups {
	t.Helper()
	g, err := grouping.Divide(p, clusters, opts)
	if err != nil {
		t.Fatalf("Divide: %v", err)
	}
	return g
}

func mustDecide(t rapid.TB, g *grouping.Groups, p *clusterv1beta1.Placement) []*clusterv1beta1.PlacementDecision {
	t.Helper()
	decisions, err := g.Decisions(p)
	if err != nil {
		t.Fatalf("Decisions: %v", err)
	}
	return decisions
}

func mustRead(t rapid.TB, decisions ...*clusterv1beta1.PlacementDecision) *grouping.Groups {
	t.Helper()
	g, err := grouping.Read(nil, decisions)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return g
}

// withStatus is the placement with the status that follows from the objects, once all of them are written.
func withStatus(t rapid.TB, p *clusterv1beta1.Placement, objects []*clusterv1beta1.PlacementDecision) *clusterv1beta1.Placement {
	t.Helper()
	status, err := grouping.Status(objects)
	if err != nil {
		t.Fatalf("Status: %v", err)
	}
	p = p.DeepCopy()
	p.Status = status
	return p
}

// mustReadWhole reads what is stored for the placement after its status is written.
func mustReadWhole(t rapid.TB, p *clusterv1beta1.Placement, objects []*clusterv1beta1.PlacementDecision) *grouping.Groups {
	t.Helper()
	g, err := grouping.Read(withStatus(t, p, objects), objects)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	return g
}

// wantError checks that err has a *field.Error with each text of want, one a line, in that order.
func wantError(t rapid.TB, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want\n%s", strings.Join(want, "\n"))
	}
	if diff := cmp.Diff(strings.Join(want, "\n"), err.Error()); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	var fault *field.Error
	if !errors.As(err, &fault) || fault.Error() != want[0] {
		t.Errorf("errors.As finds %v, want %s", fault, want[0])
	}
}

// shuffled gives the same elements in another order.
func shuffled[S ~[]E, E any](seed uint64, s S) S {
	s = slices.Clone(s)
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// differs says whether there are any changes.
func differs(c grouping.Changes) bool { return len(c.Added)+len(c.Removed)+len(c.Moved) > 0 }

// steady adds the groups before.
func steady(o grouping.Options, previous *grouping.Groups) grouping.Options {
	o.Previous = previous
	return o
}
