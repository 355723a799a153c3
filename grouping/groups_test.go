// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// G12: every question that a Groups answers.
func TestGroups(t *testing.T) {
	first := decision("d-1", "0", "canary", "d b")
	first.Status.Decisions[0].Score, first.Status.Decisions[1].Reason = 5, "closest"
	g := mustRead(t, first, decision("d-2", "2", "", "c a"), decision("d-3", "3", "", ""))

	if g.Len() != 3 || g.NumClusters() != 4 {
		t.Fatalf("%d groups of %d clusters, want 3 of 4", g.Len(), g.NumClusters())
	}
	for i, want := range []struct {
		key  grouping.Key
		size int
	}{{grouping.Key{Index: 0, Name: "canary"}, 2}, {grouping.Key{Index: 2}, 2}, {grouping.Key{Index: 3}, 0}} {
		if g.Key(i) != want.key || g.Size(i) != want.size {
			t.Errorf("group %d: %v of %d, want %v of %d", i, g.Key(i), g.Size(i), want.key, want.size)
		}
	}
	for position, want := range []struct {
		name  string
		group int
	}{{"a", 1}, {"b", 0}, {"c", 1}, {"d", 0}} {
		if g.Cluster(position) != want.name || g.GroupAt(position) != want.group {
			t.Errorf("position %d: %s in %d, want %s in %d", position, g.Cluster(position), g.GroupAt(position), want.name, want.group)
		}
		if got, ok := g.Position(want.name); !ok || got != position {
			t.Errorf("Position(%s) = %d, %v, want %d", want.name, got, ok, position)
		}
	}
	for _, want := range []struct {
		key      grouping.Key
		decision clusterv1beta1.ClusterDecision
	}{
		{grouping.Key{Index: 0, Name: "canary"}, clusterv1beta1.ClusterDecision{ClusterName: "b", Reason: "closest"}},
		{grouping.Key{Index: 0, Name: "canary"}, clusterv1beta1.ClusterDecision{ClusterName: "d", Score: 5}},
		{grouping.Key{Index: 2}, clusterv1beta1.ClusterDecision{ClusterName: "c"}},
	} {
		if key, d, ok := g.Find(want.decision.ClusterName); !ok || key != want.key || d != want.decision {
			t.Errorf("Find(%s) = %v, %+v, %v, want %v, %+v", want.decision.ClusterName, key, d, ok, want.key, want.decision)
		}
	}
	if want := []clusterv1beta1.ClusterDecision{{ClusterName: "d", Score: 5}, {ClusterName: "b", Reason: "closest"}}; !slices.Equal(slices.Collect(g.Clusters(0)), want) {
		t.Errorf("Clusters(0) = %v, want %v", slices.Collect(g.Clusters(0)), want)
	}
	for d := range g.Clusters(0) {
		if d.ClusterName != "d" {
			t.Errorf("went on to %s after the loop ended", d.ClusterName)
		}
		break
	}
	if _, ok := g.Position("z"); ok {
		t.Error("Position(z) found a cluster that is not selected")
	}
	if key, d, ok := g.Find(""); ok || key != (grouping.Key{}) || d != (clusterv1beta1.ClusterDecision{}) {
		t.Errorf("Find of a cluster that is not selected: %v, %+v, %v", key, d, ok)
	}
	if want := `group 0 "canary": 2, group 2: 2, group 3: 0`; g.String() != want {
		t.Errorf("String is %s, want %s", g, want)
	}
}

// G12: nil and the zero value are groups of nothing.
func TestZeroGroups(t *testing.T) {
	for _, g := range []*grouping.Groups{nil, {}, mustRead(t)} {
		if g.Len() != 0 || g.NumClusters() != 0 || g.String() != "no groups" {
			t.Errorf("%d groups of %d clusters: %s", g.Len(), g.NumClusters(), g)
		}
		if _, _, ok := g.Find("a"); ok {
			t.Error("found a cluster")
		}
		if objects := mustDecide(t, g, newPlacement(intstr.IntOrString{})); len(objects) != 0 {
			t.Errorf("%d objects", len(objects))
		}
		for _, other := range []*grouping.Groups{nil, {}, mustRead(t)} {
			if !g.Equal(other) || differs(g.Changes(other)) {
				t.Errorf("%#v and %#v differ", g, other)
			}
		}
		some := mustRead(t, decision("d-1", "0", "", "a"))
		if g.Equal(some) || some.Equal(g) {
			t.Error("nothing equals something")
		}
		if diff := cmp.Diff(grouping.Changes{Added: []string{"a"}}, some.Changes(g)); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(grouping.Changes{Removed: []string{"a"}}, g.Changes(some)); diff != "" {
			t.Error(diff)
		}
	}
}

// G12: added, removed and moved, each in the order of the names.
func TestChanges(t *testing.T) {
	base := decisions{decision("d-1", "0", "canary", "b c"), decision("d-2", "1", "", "e a d")}
	for _, test := range []struct {
		why  string
		now  decisions
		want grouping.Changes
		text string // the moves
	}{
		{"nothing", decisions{decision("x-1", "0", "canary", "c b"), decision("x-2", "1", "", "a d"), decision("x-3", "1", "", "e")}, grouping.Changes{}, ""},
		{"added at the ends and between", decisions{decision("d-1", "0", "canary", "b c0 c"), decision("d-2", "1", "", "e a d A z")},
			grouping.Changes{Added: []string{"A", "c0", "z"}}, ""},
		{"removed", decisions{decision("d-2", "1", "", "d"), decision("d-1", "0", "canary", "b")},
			grouping.Changes{Removed: []string{"a", "c", "e"}}, ""},
		{"moved", decisions{decision("d-1", "0", "canary", "d"), decision("d-2", "1", "", "e a b c")},
			grouping.Changes{Moved: []grouping.Move{
				{Cluster: "b", From: grouping.Key{Name: "canary"}, To: grouping.Key{Index: 1}},
				{Cluster: "c", From: grouping.Key{Name: "canary"}, To: grouping.Key{Index: 1}},
				{Cluster: "d", From: grouping.Key{Index: 1}, To: grouping.Key{Name: "canary"}},
			}}, `b: group 0 "canary" → group 1; c: group 0 "canary" → group 1; d: group 1 → group 0 "canary"`},
		{"a name alone makes another group", decisions{decision("d-1", "0", "", "b c"), decision("d-2", "1", "", "e a d")},
			grouping.Changes{Moved: []grouping.Move{
				{Cluster: "b", From: grouping.Key{Name: "canary"}, To: grouping.Key{}},
				{Cluster: "c", From: grouping.Key{Name: "canary"}, To: grouping.Key{}},
			}}, `b: group 0 "canary" → group 0; c: group 0 "canary" → group 0`},
		{"all at once", decisions{decision("d-1", "0", "canary", "b f"), decision("d-2", "1", "", "e c")},
			grouping.Changes{Added: []string{"f"}, Removed: []string{"a", "d"}, Moved: []grouping.Move{
				{Cluster: "c", From: grouping.Key{Name: "canary"}, To: grouping.Key{Index: 1}},
			}}, `c: group 0 "canary" → group 1`},
	} {
		before, now := mustRead(t, base...), mustRead(t, test.now...)
		got := now.Changes(before)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.why, diff)
		}
		var moves []string
		for _, m := range got.Moved {
			moves = append(moves, m.String())
		}
		if text := strings.Join(moves, "; "); text != test.text {
			t.Errorf("%s: moves are %s, want %s", test.why, text, test.text)
		}
		if differs(now.Changes(now)) {
			t.Errorf("%s: differs from itself", test.why)
		}
	}
}

// G12: equal means the same groups, order, reasons and scores.
func TestEqual(t *testing.T) {
	base := func() decisions {
		return decisions{decision("d-1", "0", "canary", "a b"), decision("d-2", "1", "", "c")}
	}
	for _, test := range []struct {
		why    string
		change func(decisions)
		want   bool
	}{
		{"nothing", func(decisions) {}, true},
		{"the names of the objects are not the groups'", func(d decisions) { d[0].Name = "d-9" }, true},
		{"the order in a group", func(d decisions) { slices.Reverse(d[0].Status.Decisions) }, false},
		{"a cluster", func(d decisions) { d[0].Status.Decisions[0].ClusterName = "A" }, false},
		{"a score", func(d decisions) { d[0].Status.Decisions[0].Score = 1 }, false},
		{"a reason", func(d decisions) { d[0].Status.Decisions[0].Reason = "x" }, false},
		{"the name of a group", func(d decisions) { d[0].Labels[clusterv1beta1.DecisionGroupNameLabel] = "x" }, false},
		{"the index of a group", func(d decisions) { d[1].Labels[clusterv1beta1.DecisionGroupIndexLabel] = "2" }, false},
		{"the sizes, and nothing else", func(d decisions) {
			d[1].Status.Decisions = append(slices.Clone(d[0].Status.Decisions[1:]), d[1].Status.Decisions...)
			d[0].Status.Decisions = d[0].Status.Decisions[:1]
		}, false},
	} {
		stored := base()
		test.change(stored)
		a, b := mustRead(t, base()...), mustRead(t, stored...)
		if a.Equal(b) != test.want || b.Equal(a) != test.want {
			t.Errorf("%s: Equal is %v and %v, want %v", test.why, a.Equal(b), b.Equal(a), test.want)
		}
	}
}

// G12: many goroutines ask one Groups everything at once; the race detector watches.
func TestConcurrentUse(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(100), byLabel("canary", "canary"))
	g := mustDivide(t, placement, append(numbered(150, "c", "canary", ""), numbered(150, "o")...),
		grouping.Options{Scores: map[string]int64{"c-001": 1}, Reasons: map[string]string{"o-001": "x"}})
	other := mustDivide(t, placement, numbered(150, "o"), grouping.Options{})
	want := show(g)

	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for position := range g.NumClusters() {
				if key, _, ok := g.Find(g.Cluster(position)); !ok || key != g.Key(g.GroupAt(position)) {
					t.Errorf("Find(%s) = %v, %v", g.Cluster(position), key, ok)
				}
			}
			objects, err := g.Decisions(placement)
			if err != nil {
				t.Error(err)
			}
			if back, err := grouping.Read(withStatus(t, placement, objects), objects); err != nil || !back.Equal(g) {
				t.Errorf("read back %v, %v", back, err)
			}
			if got := show(g); got != want || !differs(g.Changes(other)) {
				t.Errorf("%v changed while it was read", g)
			}
		})
	}
	all.Wait()
}
