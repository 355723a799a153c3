// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// incomplete reads objects together with a placement p of a status.
func incomplete(t *testing.T, status clusterv1beta1.PlacementStatus, stored ...*clusterv1beta1.PlacementDecision) string {
	t.Helper()
	placement := newPlacement(intstr.IntOrString{})
	placement.Status = status
	var said string
	for seed := range uint64(3) {
		g, err := grouping.Read(placement, shuffled(seed, stored))
		if err != nil {
			t.Fatal(err)
		}
		if seed > 0 && g.Incomplete() != said {
			t.Errorf("said %q, in another order %q", said, g.Incomplete())
		}
		said = g.Incomplete()
	}
	return said
}

// statusGroup is an entry of decisionGroups.
func statusGroup(index int32, name string, clusters int32, objects ...string) clusterv1beta1.DecisionGroupStatus {
	return clusterv1beta1.DecisionGroupStatus{DecisionGroupIndex: index, DecisionGroupName: name, ClustersCount: clusters, Decisions: objects}
}

// G13: for each comparison a state that no other comparison tells from a complete one.
func TestIncompleteSaysWhatIsMissing(t *testing.T) {
	status := func(clusters int32, groups ...clusterv1beta1.DecisionGroupStatus) clusterv1beta1.PlacementStatus {
		return clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: clusters, DecisionGroups: groups}
	}
	satisfied := clusterv1beta1.PlacementStatus{Conditions: []metav1.Condition{{Type: clusterv1beta1.PlacementConditionSatisfied}}}
	deleted := decision("d-2", "1", "", "b")
	deleted.DeletionTimestamp = &metav1.Time{}
	unlabelled := func(name, clusters string) *clusterv1beta1.PlacementDecision {
		d := decision(name, "", "", clusters)
		delete(d.Labels, clusterv1beta1.DecisionGroupIndexLabel)
		delete(d.Labels, clusterv1beta1.DecisionGroupNameLabel)
		return d
	}
	two := status(2, statusGroup(0, "canary", 1, "d-1"), statusGroup(1, "", 1, "d-2"))

	for _, test := range []struct {
		why    string
		status clusterv1beta1.PlacementStatus
		stored decisions
		want   string
	}{
		{"all is there", two, decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "b")}, ""},
		{"no cluster is selected", status(0, statusGroup(0, "", 0, "d-1")), decisions{decision("d-1", "0", "", "")}, ""},
		{"the status calls an object of group 0 that has no label", status(1, statusGroup(0, "", 1, "d-1")), decisions{unlabelled("d-1", "a")}, ""},
		{"a slot without a cluster is none", status(1, statusGroup(0, "", 1, "d-1")), decisions{func() *clusterv1beta1.PlacementDecision {
			d := decision("d-1", "0", "", "a b")
			d.Status.Decisions[1].ClusterName = ""
			return d
		}()}, ""},

		{"nothing", two, nil, "placement p: no PlacementDecision is found"},
		{"nothing, and none selected", status(0), nil, "placement p: no PlacementDecision is found"},
		{"the first write, before the status", status(0), decisions{decision("d-1", "0", "", "")}, "placement p: its status is not written yet"},
		{"the first write after a misconfiguration", satisfied, decisions{decision("d-1", "0", "", "")}, "placement p: its status names no decision group yet"},
		{"an object that would have an empty group", status(1, statusGroup(0, "", 1, "d-1"), statusGroup(1, "", 0, "d-2")),
			decisions{decision("d-1", "0", "", "a")}, "placement p: PlacementDecision d-2 is not found"},
		{"labels that changed places", two, decisions{decision("d-2", "0", "canary", "a"), decision("d-1", "1", "", "b")},
			`placement p: PlacementDecision d-1 is labeled group 1, and the status of the Placement still lists it in group 0 "canary"; PlacementDecision d-2 is labeled group 0 "canary", and the status of the Placement still lists it in group 1`},
		{"a name that changed", two, decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b")},
			`placement p: PlacementDecision d-1 is labeled group 0 without a name, and the status of the Placement still lists it in group 0 "canary"`},
		{"a new object without clusters", status(1, statusGroup(0, "", 1, "d-1")), decisions{decision("d-1", "0", "", "a"), decision("d-2", "0", "", "")},
			"placement p: PlacementDecision d-2 is not listed in the status of the Placement yet"},
		{"an object that is being deleted", two, decisions{decision("d-1", "0", "canary", "a"), deleted}, "placement p: PlacementDecision d-2 is being deleted"},
		{"also for an older hub", status(2), decisions{unlabelled("d-1", "a"), deleted}, "placement p: PlacementDecision d-2 is being deleted"},
		{"a cluster too few", status(3, statusGroup(0, "", 3, "d-1")), decisions{decision("d-1", "0", "", "a b")}, "placement p: the PlacementDecisions of group 0 list 2 clusters, but the status of the Placement says 3"},
		{"a cluster too many", status(1, statusGroup(0, "", 1, "d-1")), decisions{decision("d-1", "0", "", "a b")}, "placement p: the PlacementDecisions of group 0 list 2 clusters, but the status of the Placement says 1"},
		{"on its way, in both groups", two, decisions{decision("d-1", "0", "canary", "a b"), decision("d-2", "1", "", "b")},
			`placement p: the PlacementDecisions of group 0 "canary" list 2 clusters, but the status of the Placement says 1`},
		{"on its way to a later group, in both", two, decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "a b")},
			`placement p: the PlacementDecisions of group 1 list 2 clusters, but the status of the Placement says 1`},
		{"on its way, in none", two, decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "")}, "placement p: the PlacementDecisions of group 1 list 0 clusters, but the status of the Placement says 1"},
		{"instead of another", two, decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "a")},
			"placement p: cluster a is in PlacementDecision d-1 and again in d-2"},
		{"twice, and the number too large", status(3, statusGroup(0, "", 3, "d-1")), decisions{decision("d-1", "0", "", "a b a")},
			"placement p: cluster a is in PlacementDecision d-1 and again in d-1"},
		{"a number that isn't the sum of the groups", status(3, two.DecisionGroups...),
			decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "b")}, "placement p: the PlacementDecisions list 2 clusters, but the status of the Placement says 3"},

		{"an older hub", status(2), decisions{unlabelled("d-1", "a b")}, ""},
		{"an older hub that selected no cluster", satisfied, decisions{unlabelled("d-1", "")}, ""},
		{"an older hub that is not done", status(3), decisions{unlabelled("d-1", "a b")}, "placement p: the PlacementDecisions list 2 clusters, but the status of the Placement says 3"},
		{"an older hub's status is behind", status(1), decisions{unlabelled("d-1", "a b")}, "placement p: the PlacementDecisions list 2 clusters, but the status of the Placement says 1"},
		{"an older hub moves a cluster", status(2), decisions{unlabelled("d-1", "a b"), unlabelled("d-2", "b")}, "placement p: cluster b is in PlacementDecision d-1 and again in d-2"},

		{"much at once: what is of objects goes before what is of clusters", two, decisions{decision("d-1", "0", "canary", "a b c")},
			"placement p: PlacementDecision d-2 is not found"},
		{"no more than three", status(9, statusGroup(0, "", 9, "d-1", "d-2", "d-10", "d-11", "d-12")), decisions{decision("d-3", "0", "", "")},
			"placement p: PlacementDecision d-1 is not found; PlacementDecision d-2 is not found; PlacementDecision d-10 is not found; and 3 more"},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := incomplete(t, test.status, test.stored...); got != test.want {
				t.Errorf("says %q, want %q", got, test.want)
			}
		})
	}
}

// G13: without the Placement nothing can be compared.
func TestIncompleteWithoutPlacement(t *testing.T) {
	if got := mustRead(t).Incomplete(); got != "no PlacementDecision is found" {
		t.Errorf("of nothing: %q", got)
	}
	if got := mustRead(t, decision("d-1", "0", "", "")).Incomplete(); got != "" {
		t.Errorf("of something: %q", got)
	}
	for _, g := range []*grouping.Groups{nil, {}} {
		if got := g.Incomplete(); got != "no PlacementDecision is found" {
			t.Errorf("of groups that were never made: %q", got)
		}
	}
	if got := mustDivide(t, newPlacement(intstr.IntOrString{}), nil, grouping.Options{}).Incomplete(); got != "" {
		t.Errorf("of a division: %q", got)
	}
}

// G13, R26: joined groups are complete if all parts are.
func TestIncompleteJoin(t *testing.T) {
	placement := newPlacement(intstr.IntOrString{})
	placement.Name = "web" // its status was not written
	stored := decision("d-1", "0", "", "a")
	stored.Labels[clusterv1beta1.PlacementLabel] = "web"
	web, err := grouping.Read(placement, decisions{stored})
	if err != nil {
		t.Fatal(err)
	}
	whole := grouping.PlacementGroups{Placement: "edge", Groups: mustRead(t, decision("d-1", "0", "", "b"))}
	for _, test := range []struct {
		why   string
		parts []grouping.PlacementGroups
		want  string
	}{
		{"nothing", nil, ""},
		{"all whole", []grouping.PlacementGroups{whole}, ""},
		{"the name of the part counts", []grouping.PlacementGroups{whole, {Placement: "ns/web", Groups: web}},
			"placement ns/web: its status is not written yet"},
		{"several", []grouping.PlacementGroups{{Placement: "web", Groups: web}, {Placement: "none"}},
			"placement web: its status is not written yet; placement none: no PlacementDecision is found"},
		{"many", []grouping.PlacementGroups{{Placement: "1"}, {Placement: "2"}, {Placement: "3"}, {Placement: "4"}, {Placement: "5"}},
			"placement 1: no PlacementDecision is found; placement 2: no PlacementDecision is found; placement 3: no PlacementDecision is found; and 2 more"},
	} {
		if got := mustJoin(t, test.parts...).Incomplete(); got != test.want {
			t.Errorf("%s: says %q, want %q", test.why, got, test.want)
		}
	}
}

// G13, R14: the size as a count, where the groups know their Placement.
func TestClustersPerDecisionGroup(t *testing.T) {
	read := func(size intstr.IntOrString, clusters string) *grouping.Groups {
		g, err := grouping.Read(newPlacement(size), decisions{decision("d-1", "0", "", clusters)})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for _, test := range []struct {
		why      string
		size     intstr.IntOrString
		clusters string
		want     int
	}{
		{"unset is all", intstr.IntOrString{}, "a b c", 0},
		{"100% is all", intstr.FromString("100%"), "a b c", 0},
		{"a count", intstr.FromInt32(2), "a b c", 2},
		{"a count above the total", intstr.FromInt32(20), "a b c", 20},
		{"a percentage of all selected clusters, rounded up", intstr.FromString("34%"), "a b c", 2},
		{"99% of three is three", intstr.FromString("99%"), "a b c", 3},
		{"a percentage of nothing", intstr.FromString("34%"), "", 1},
	} {
		g := read(test.size, test.clusters)
		if got := g.ClustersPerDecisionGroup(); got != test.want {
			t.Errorf("%s: read %d, want %d", test.why, got, test.want)
		}
		if got := mustDivide(t, newPlacement(test.size), fleet(test.clusters), grouping.Options{}).ClustersPerDecisionGroup(); got != test.want {
			t.Errorf("%s: divided %d, want %d", test.why, got, test.want)
		}
	}
	if got := (*grouping.Groups)(nil).ClustersPerDecisionGroup(); got != 0 {
		t.Errorf("nil has %d", got)
	}
	if got := mustRead(t, decision("d-1", "0", "", "a")).ClustersPerDecisionGroup(); got != 0 {
		t.Errorf("without Placement: %d", got)
	}

	three, two := read(intstr.FromInt32(3), "a"), read(intstr.FromInt32(2), "b")
	all, empty := read(intstr.FromString("100%"), "c"), read(intstr.FromInt32(1), "")
	for _, test := range []struct {
		why   string
		parts []*grouping.Groups
		want  int
	}{
		{"nothing", nil, 0},
		{"the smallest", []*grouping.Groups{three, two}, 2},
		{"in any order", []*grouping.Groups{two, three}, 2},
		{"one that takes all", []*grouping.Groups{two, all}, 0},
		{"one that takes all first", []*grouping.Groups{all, two}, 0},
		{"a placement that selects no cluster has no say", []*grouping.Groups{three, empty, nil}, 3},
	} {
		var parts []grouping.PlacementGroups
		for i, g := range test.parts {
			parts = append(parts, grouping.PlacementGroups{Placement: string(rune('a' + i)), Groups: g})
		}
		if got := mustJoin(t, parts...).ClustersPerDecisionGroup(); got != test.want {
			t.Errorf("%s: joined %d, want %d", test.why, got, test.want)
		}
	}
}

// G10, G13: objects that are not the placement's are left out, and a size that is none is an error.
func TestReadWithPlacementErrors(t *testing.T) {
	stored := decisions{decision("d-10", "0", "", "a"), decision("d-2", "0", "", "b")}
	other := newPlacement(intstr.IntOrString{})
	other.Namespace, other.Name = "other", "q"
	foreign, err := grouping.Read(other, stored)
	if want := "placement q: none of 2 PlacementDecisions is its own"; err != nil || foreign.Incomplete() != want || foreign.Len() > 0 {
		t.Errorf("%v, error %v, %q, want %q", foreign, err, foreign.Incomplete(), want)
	}

	g, err := grouping.Read(newPlacement(intstr.FromString("5")), stored)
	wantError(t, err, `spec.decisionStrategy.groupStrategy.clustersPerDecisionGroup: Invalid value: "5": must be a positive count, or a percentage from 1% to 100% in decimal digits`)
	if g != nil {
		t.Errorf("groups beside the error: %v", g)
	}
}

// G13: where another controller writes the decisions, the status says nothing, whatever it is.
func TestIncompleteWhereOCMDoesNotSchedule(t *testing.T) {
	stale := clusterv1beta1.PlacementStatus{NumberOfSelectedClusters: 2, DecisionGroups: []clusterv1beta1.DecisionGroupStatus{statusGroup(0, "", 2, "p-decision-1")}}
	deleted := decision("old", "0", "", "a")
	deleted.DeletionTimestamp = &metav1.Time{}
	const disabled = "placement p: "
	for _, test := range []struct {
		why, annotation string
		status          clusterv1beta1.PlacementStatus
		stored          decisions
		want            string
		clusters        int
	}{
		{"a status that was never written", "true", clusterv1beta1.PlacementStatus{}, decisions{decision("d", "0", "", "a b")}, "", 2},
		{"a stale one", "true", stale, decisions{decision("d", "0", "", "a")}, "", 1},
		{"emptied while a workload is relocated", "true", stale, decisions{decision("p-decision-1", "0", "", "")}, "", 0},
		{"an object of another name", "true", stale, decisions{decision("renamed", "0", "", "a b")}, "", 2},
		{"the one before is still going", "true", stale, decisions{deleted, decision("renamed", "0", "", "a b")}, "", 2},
		{"one for one, in a failover", "true", stale, decisions{decision("p-decision-1", "0", "", "a c")}, "", 2},
		{"no object yet", "true", stale, nil, disabled + "no PlacementDecision is found", 0},
		{"an index that is none", "true", stale, decisions{decision("d", "first", "", "a")}, disabled + `PlacementDecision d has the value "first" in its label cluster.open-cluster-management.io/decision-group-index, but that must be a number`, 1},
		{"another value means nothing", "yes", clusterv1beta1.PlacementStatus{}, decisions{decision("d", "0", "", "a")}, disabled + "its status is not written yet", 1},
	} {
		placement := newPlacement(intstr.IntOrString{})
		placement.Status = test.status
		placement.Annotations = map[string]string{clusterv1beta1.PlacementDisableAnnotation: test.annotation}
		g, err := grouping.Read(placement, test.stored)
		if err != nil || g.Incomplete() != test.want || g.NumClusters() != test.clusters {
			t.Errorf("%s: %d clusters, says %q, %v", test.why, g.NumClusters(), g.Incomplete(), err)
		}
	}
}
