// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// G7: one object in full, and G4: with the reason and the score.
func TestDecisions(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(1), byLabel("canary", "canary"))
	groups := mustDivide(t, placement, fleet("a b+canary"),
		grouping.Options{Scores: map[string]int64{"b": 7}, Reasons: map[string]string{"b": "closest"}})
	yes := true
	want := &clusterv1beta1.PlacementDecision{
		TypeMeta: metav1.TypeMeta{APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "PlacementDecision"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns",
			Name:      "p-decision-1",
			Labels: map[string]string{
				"cluster.open-cluster-management.io/placement":            "p",
				"cluster.open-cluster-management.io/decision-group-index": "0",
				"cluster.open-cluster-management.io/decision-group-name":  "canary",
			},
			Annotations: map[string]string{"cohort.open-cluster-management.io/decision-group-place": "0 of 0/canary"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "cluster.open-cluster-management.io/v1beta1", Kind: "Placement", Name: "p", UID: "uid",
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
		},
		Status: clusterv1beta1.PlacementDecisionStatus{Decisions: []clusterv1beta1.ClusterDecision{
			{ClusterName: "b", Reason: "closest", Score: 7},
		}},
	}
	objects := mustDecide(t, groups, placement)
	if diff := cmp.Diff(want, objects[0]); diff != "" {
		t.Errorf("first of %d objects (-want +got):\n%s", len(objects), diff)
	}
}

// showObjects is PlacementDecisions in short: `p-decision-1 0 "canary": 100`.
func showObjects(objects []*clusterv1beta1.PlacementDecision) string {
	var b strings.Builder
	for _, d := range objects {
		fmt.Fprintf(&b, "%s %s %q: %d\n", d.Name, d.Labels[clusterv1beta1.DecisionGroupIndexLabel],
			d.Labels[clusterv1beta1.DecisionGroupNameLabel], len(d.Status.Decisions))
	}
	return b.String()
}

// G7: how groups are cut and named.
func TestDecisionsAreCut(t *testing.T) {
	canary := byLabel("canary", "canary")
	for _, test := range []struct {
		why      string
		canaries int
		others   int
		size     int32
		want     string
	}{
		{"no cluster still has one object, with empty decisions", 0, 0, 10, `
p-decision-1 0 "": 0
`},
		{"exactly 100 fit", 100, 0, 100, `
p-decision-1 0 "canary": 100
`},
		{"numbers run across groups, objects are of one group", 1, 101, 200, `
p-decision-1 0 "canary": 1
p-decision-2 1 "": 100
p-decision-3 1 "": 1
`},
		{"each group is cut on its own", 0, 250, 120, `
p-decision-1 0 "": 100
p-decision-2 0 "": 20
p-decision-3 1 "": 100
p-decision-4 1 "": 20
p-decision-5 2 "": 10
`},
	} {
		placement := newPlacement(intstr.FromInt32(test.size), canary)
		clusters := append(numbered(test.canaries, "c", "canary", ""), numbered(test.others, "o")...)
		objects := mustDecide(t, mustDivide(t, placement, clusters, grouping.Options{}), placement)
		if diff := cmp.Diff(test.want[1:], showObjects(objects)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
		for _, d := range objects {
			if d.Status.Decisions == nil {
				t.Errorf("%s: %s has nil decisions, which the API writes as null and does not accept", test.why, d.Name)
			}
		}
	}
}

// G7: an append to one object's decisions does not reach the next one's.
func TestDecisionsShareNothing(t *testing.T) {
	placement := newPlacement(intstr.IntOrString{})
	groups := mustDivide(t, placement, numbered(150, "c"), grouping.Options{})
	objects := mustDecide(t, groups, placement)
	_ = append(objects[0].Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: "x"})
	objects[0].Status.Decisions[0].ClusterName = "y"
	objects[0].Labels[clusterv1beta1.PlacementLabel] = "z"
	if got := objects[1].Status.Decisions[0].ClusterName; got != "c-101" {
		t.Errorf("the next object begins with %s, want c-101", got)
	}
	if got := mustDecide(t, groups, placement)[0]; got.Status.Decisions[0].ClusterName != "c-001" || got.Labels[clusterv1beta1.PlacementLabel] != "p" {
		t.Errorf("the groups changed with the object: %v", got)
	}
}

// G7: a placement from which no valid objects follow.
func TestDecisionsErrors(t *testing.T) {
	long := strings.Repeat("a", 64)
	for _, test := range []struct {
		why  string
		name string
		want string
	}{
		{"no name", "", `metadata.name: Invalid value: "": must be usable in the names of PlacementDecisions: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`},
		{"a name longer than a label", long, `metadata.name: Invalid value: "` + long + `": must be usable as the value of a label: must be no more than 63 bytes`},
	} {
		placement := newPlacement(intstr.IntOrString{})
		placement.Name = test.name
		_, err := mustDivide(t, placement, nil, grouping.Options{}).Decisions(placement)
		wantError(t, err, test.want)
	}
	_, err := (&grouping.Groups{}).Decisions(nil)
	wantError(t, err, "placement: Required value: must not be nil")

	longest := newPlacement(intstr.IntOrString{})
	longest.Name = long[1:]
	if _, err := mustDivide(t, longest, nil, grouping.Options{}).Decisions(longest); err != nil {
		t.Errorf("63 characters are not too many: %v", err)
	}
}

// G9: the status of the design document's first example, names and counts, from objects in any order.
func TestStatus(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(150), byLabel("west", "west"), byLabel("east", "east"))
	clusters := append(numbered(300, "cls"), append(numbered(10, "w", "west", ""), numbered(10, "e", "east", "")...)...)
	objects := mustDecide(t, mustDivide(t, placement, clusters, grouping.Options{}), placement)
	want := clusterv1beta1.PlacementStatus{
		NumberOfSelectedClusters: 320,
		DecisionGroups: []clusterv1beta1.DecisionGroupStatus{
			{DecisionGroupIndex: 0, DecisionGroupName: "west", Decisions: []string{"p-decision-1"}, ClustersCount: 10},
			{DecisionGroupIndex: 1, DecisionGroupName: "east", Decisions: []string{"p-decision-2"}, ClustersCount: 10},
			{DecisionGroupIndex: 2, Decisions: []string{"p-decision-3", "p-decision-4"}, ClustersCount: 150},
			{DecisionGroupIndex: 3, Decisions: []string{"p-decision-5", "p-decision-6"}, ClustersCount: 150},
		},
	}
	for seed := range uint64(5) {
		got, err := grouping.Status(shuffled(seed, objects))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("status (-want +got):\n%s", diff)
		}
	}
}

// G9: the empty group and its object are in the status; a cluster that stands in two objects counts
// where G11 has it.
func TestStatusCountsClustersOnce(t *testing.T) {
	for _, test := range []struct {
		why    string
		stored decisions
		want   string
	}{
		{"nothing stored", nil, "0:"},
		{"an empty group", decisions{decision("d-1", "0", "", "")}, "0: 0 (d-1) 0"},
		{"an overlap", decisions{decision("d-1", "1", "", "a b"), decision("d-2", "0", "x", "b c")}, "3: 0x (d-2) 2, 1 (d-1) 1"},
		{"decision-2 before decision-10", decisions{decision("d-10", "0", "", "a"), decision("d-2", "0", "", "b")}, "2: 0 (d-2 d-10) 2"},
	} {
		status, err := grouping.Status(test.stored)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, g := range status.DecisionGroups {
			list = append(list, fmt.Sprintf("%d%s (%s) %d", g.DecisionGroupIndex, g.DecisionGroupName, strings.Join(g.Decisions, " "), g.ClustersCount))
		}
		if got := strings.TrimSpace(fmt.Sprintf("%d: %s", status.NumberOfSelectedClusters, strings.Join(list, ", "))); strings.TrimSpace(test.want) != got {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
	}
}
