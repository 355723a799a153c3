// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

func mustKeep(t rapid.TB, g *grouping.Groups, p *clusterv1beta1.Placement, stored ...*clusterv1beta1.PlacementDecision) decisions {
	t.Helper()
	objects, err := g.Decisions(p, stored...)
	if err != nil {
		t.Fatalf("Decisions: %v", err)
	}
	return objects
}

// runs writes clusters c-001, c-002, c-003, c-005 as `001-003 005`, others as they are.
func runs(d *clusterv1beta1.PlacementDecision) string {
	var all []string
	last := -1
	for _, c := range d.Status.Decisions {
		name, numbered := strings.CutPrefix(c.ClusterName, "c-")
		n, err := strconv.Atoi(name)
		if numbered && err == nil && n == last+1 && len(all) > 0 {
			first, _, _ := strings.Cut(all[len(all)-1], "-")
			all[len(all)-1] = first + "-" + name
		} else {
			all = append(all, name)
		}
		last = n
	}
	return strings.Join(all, " ")
}

func TestDecisionsKeepNames(t *testing.T) {
	// stored is an object of the clusters c-from to c-to and some more.
	stored := func(name, index, group string, from, to int, more ...string) *clusterv1beta1.PlacementDecision {
		clusters := more
		for i := from; i <= to; i++ {
			clusters = append(clusters, fmt.Sprintf("c-%03d", i))
		}
		return decision(name, index, group, strings.Join(clusters, " "))
	}
	for _, test := range []struct {
		name   string // with the rule
		groups *grouping.Groups
		stored decisions
		want   string
	}{
		{"G8 nothing stored: numbers from 1", mustRead(t, stored("x", "0", "canary", 1, 101), stored("y", "1", "", 102, 102)), nil, `
p-decision-1 0 "canary": 001-100
p-decision-2 0 "canary": 101
p-decision-3 1 "": 102
`},
		{"G8 objects without a name are not kept", mustRead(t, stored("x", "0", "", 1, 2)), decisions{stored("", "0", "", 1, 1), stored("", "0", "", 2, 2)}, `
p-decision-1 0 "": 001-002
`},
		{"G8 nothing changed, whatever the names", mustRead(t, stored("x", "0", "", 1, 150)), decisions{stored("by-hand", "0", "", 101, 150), stored("p-decision-7", "0", "", 1, 100)}, `
by-hand 0 "": 101-150
p-decision-7 0 "": 001-100
`},
		{"G8 one cluster goes: one object changes", mustRead(t, stored("x", "0", "", 2, 250)), decisions{stored("p-decision-1", "0", "", 1, 100), stored("p-decision-2", "0", "", 101, 200), stored("p-decision-3", "0", "", 201, 250)}, `
p-decision-1 0 "": 002-100
p-decision-2 0 "": 101-200
p-decision-3 0 "": 201-250
`},
		{"G8 one cluster comes: the first object with room", mustRead(t, stored("x", "0", "", 1, 230, "a")), decisions{stored("p-decision-1", "0", "", 1, 100), stored("p-decision-2", "0", "", 101, 190), stored("p-decision-3", "0", "", 191, 230)}, `
p-decision-1 0 "": 001-100
p-decision-2 0 "": a 101-190
p-decision-3 0 "": 191-230
`},
		{"G8 no room: a new object takes the lowest unused number", mustRead(t, stored("x", "0", "", 1, 200, "a", "b")), decisions{stored("p-decision-1", "0", "", 1, 100), stored("p-decision-4", "0", "", 101, 200)}, `
p-decision-1 0 "": 001-100
p-decision-2 0 "": a b
p-decision-4 0 "": 101-200
`},
		{"G8 a group that gets another index keeps its objects", mustRead(t, stored("x", "0", "canary", 1, 1), stored("y", "1", "", 2, 2)), decisions{stored("p-decision-1", "0", "", 1, 2)}, `
p-decision-2 0 "canary": 001
p-decision-1 1 "": 002
`},
		{"G8 a name is not used for another group, not even that of an object to delete", mustRead(t, stored("x", "0", "canary", 1, 1)), decisions{stored("p-decision-1", "0", "", 1, 2)}, `
p-decision-2 0 "canary": 001
`},
		{"G8 the index is no part of the group", mustRead(t, stored("x", "1", "", 1, 2), stored("y", "0", "canary", 3, 3)), decisions{stored("p-decision-1", "0", "", 1, 2), stored("p-decision-2", "1", "", 4, 4)}, `
p-decision-3 0 "canary": 003
p-decision-1 1 "": 001-002
`},
		{"G8 the name is part of the group", mustRead(t, stored("x", "0", "canary", 1, 2)), decisions{stored("p-decision-1", "0", "prod", 1, 2)}, `
p-decision-2 0 "canary": 001-002
`},
		{"G8 a cluster that changes its group leaves its object", mustRead(t, stored("x", "0", "canary", 1, 2), stored("y", "1", "", 3, 4)), decisions{stored("p-decision-1", "0", "canary", 1, 1), stored("p-decision-2", "1", "", 2, 4)}, `
p-decision-1 0 "canary": 001-002
p-decision-2 1 "": 003-004
`},
		{"G8 an object that loses all its clusters goes", mustRead(t, stored("x", "0", "", 1, 100)), decisions{stored("p-decision-1", "0", "", 101, 150), stored("p-decision-2", "0", "", 1, 100)}, `
p-decision-2 0 "": 001-100
`},
		{"G7 G8 an empty group keeps one object", mustRead(t, decision("x", "0", "", "")), decisions{stored("p-decision-2", "0", "", 1, 100), stored("p-decision-3", "0", "", 101, 150)}, `
p-decision-2 0 "": 
`},
		{"G7 G8 or gets one", mustRead(t, decision("x", "0", "", "")), decisions{stored("p-decision-1", "0", "canary", 1, 2)}, `
p-decision-2 0 "": 
`},
		{"G8 of more than 100, as while surging, the last move", mustRead(t, stored("x", "0", "", 1, 110)), decisions{stored("p-decision-1", "0", "", 1, 110)}, `
p-decision-1 0 "": 001-100
p-decision-2 0 "": 101-110
`},
		{"G11 G8 a cluster in two objects of its group stays in the first, in another group's it does not", mustRead(t, stored("x", "0", "canary", 1, 4), stored("y", "1", "", 5, 5)), decisions{stored("p-decision-1", "0", "canary", 1, 3), stored("p-decision-2", "0", "canary", 3, 4), stored("p-decision-3", "1", "", 4, 5)}, `
p-decision-1 0 "canary": 001-003
p-decision-2 0 "canary": 004
p-decision-3 1 "": 005
`},
		{"G8 all other clusters: names stay, contents follow the order", mustRead(t, stored("x", "0", "", 1, 150)), decisions{stored("p-decision-1", "0", "", 301, 400), stored("p-decision-2", "0", "", 401, 500), stored("p-decision-3", "0", "", 501, 600)}, `
p-decision-1 0 "": 001-100
p-decision-2 0 "": 101-150
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(3) {
				var b strings.Builder
				for _, d := range mustKeep(t, test.groups, newPlacement(intstr.IntOrString{}), shuffled(seed, test.stored)...) {
					fmt.Fprintf(&b, "%s %v: %s\n", d.Name, keyOf(t, d).String()[len("group "):], runs(d))
				}
				want := strings.ReplaceAll(test.want[1:], ` "":`, ":")
				if diff := cmp.Diff(want, b.String()); diff != "" {
					t.Fatalf("objects (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// G8: what Decisions reports.
func TestDecisionsErrorsOfStored(t *testing.T) {
	p := newPlacement(intstr.IntOrString{})
	for _, test := range []struct {
		why       string
		placement *clusterv1beta1.Placement
		stored    decisions
		want      []string
	}{
		{"no placement", nil, nil, []string{"placement: Required value: must not be nil"}},
		{"nil", p, decisions{nil}, []string{"placementDecisions[0]: Required value: must not be nil"}},
		{"twice", p, decisions{decision("d-1", "0", "", "a"), decision("d-1", "0", "", "b")}, []string{`placementDecisions[ns/d-1].metadata.name: Duplicate value: "d-1"`}},
	} {
		objects, err := mustRead(t).Decisions(test.placement, test.stored...)
		if wantError(t, err, test.want...); objects != nil {
			t.Errorf("%s: objects beside the error", test.why)
		}
	}
}

// G7, G10: the names of objects that are not the placement's stay theirs, in its namespace.
func TestDecisionsTakeNoNameOfAnother(t *testing.T) {
	p := newPlacement(intstr.IntOrString{})
	another, elsewhere := decision("p-decision-1", "0", "", "a"), decision("p-decision-2", "0", "", "a")
	another.Labels[clusterv1beta1.PlacementLabel], elsewhere.Namespace = "q", "other"
	kept := mustKeep(t, mustRead(t, decision("d", "0", "", "a")), p, another, elsewhere)
	if len(kept) != 1 || kept[0].Name != "p-decision-2" {
		t.Errorf("kept %v, want p-decision-2", kept)
	}
}

// G8.
func TestPropertyKeepingWithNothingChangedIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, _, _, g := drawSteady(t)
		anew := mustDecide(t, g, placement)
		if diff := cmp.Diff(toJSON(t, anew), toJSON(t, mustKeep(t, g, placement, shuffled(1, anew)...))); diff != "" {
			t.Fatalf("objects (-stored +kept):\n%s", diff)
		}
		kept := mustKeep(t, g, placement, drawStored(t)...)
		if diff := cmp.Diff(toJSON(t, kept), toJSON(t, mustKeep(t, g, placement, shuffled(1, kept)...))); diff != "" {
			t.Fatalf("objects (-stored +kept):\n%s", diff)
		}
	})
}

// G8, G7, G10: no object changes the name of its group.
func TestPropertyKeepingNeverRenamesAGroupAndMovesOnlyWhatItMust(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		before, now := drawChanged(t)
		was := mustDivide(t, placement, before, scores)
		g := mustDivide(t, placement, now, steady(scores, was))
		stored := mustDecide(t, was, placement)
		// As they are after a surge, and some by another name.
		if extra := rapid.IntRange(0, 30).Draw(t, "surge"); len(stored) > 1 {
			first := &stored[0].Status.Decisions
			*first = append(*first, stored[1].Status.Decisions[:min(extra, len(stored[1].Status.Decisions))]...)
			stored[len(stored)-1].Name = "by-hand"
		}
		objects := mustKeep(t, g, placement, rapid.Permutation(stored).Draw(t, "stored")...)
		checkObjects(t, objects)

		byName := map[string]*clusterv1beta1.PlacementDecision{}
		for _, d := range stored {
			byName[d.Name] = d
		}
		var fresh []string
		for _, d := range objects {
			old, kept := byName[d.Name]
			if !kept {
				fresh = append(fresh, d.Name)
				continue
			}
			is, before := keyOf(t, d), keyOf(t, old)
			if is.Name != before.Name {
				t.Fatalf("%s is now of %v, was of %v", d.Name, is, before)
			}
			has := map[string]bool{}
			for _, c := range d.Status.Decisions {
				has[c.ClusterName] = true
			}
			for _, c := range old.Status.Decisions {
				key, _, selected := g.Find(c.ClusterName)
				if selected && key == is && !has[c.ClusterName] && len(old.Status.Decisions) <= grouping.MaxDecisions && !storedBefore(t, stored, d, c.ClusterName) {
					t.Fatalf("%s left %s and stayed in %v", c.ClusterName, d.Name, key)
				}
			}
		}
		var unused []string
		for n := 1; len(unused) < len(fresh); n++ {
			if name := fmt.Sprintf("p-decision-%d", n); byName[name] == nil {
				unused = append(unused, name)
			}
		}
		slices.Sort(fresh)
		slices.Sort(unused)
		if diff := cmp.Diff(unused, fresh); diff != "" {
			t.Fatalf("names of new objects (-lowest unused +got):\n%s", diff)
		}
		if diff := cmp.Diff(toJSON(t, objects), toJSON(t, mustKeep(t, g, placement, stored...))); diff != "" {
			t.Fatalf("the order of the stored objects matters:\n%s", diff)
		}

		back := mustRead(t, objects...)
		if differs(back.Changes(g)) || back.String() != g.String() {
			t.Fatalf("read back %v, decided %v: %+v", back, g, back.Changes(g))
		}
	})
}

// storedBefore says whether an object of the same group with a lower name has the cluster.
func storedBefore(t *rapid.T, stored decisions, d *clusterv1beta1.PlacementDecision, cluster string) bool {
	return slices.ContainsFunc(stored, func(other *clusterv1beta1.PlacementDecision) bool {
		return keyOf(t, other) == keyOf(t, d) && (len(other.Name) < len(d.Name) || len(other.Name) == len(d.Name) && other.Name < d.Name) &&
			slices.ContainsFunc(other.Status.Decisions, func(c clusterv1beta1.ClusterDecision) bool { return c.ClusterName == cluster })
	})
}

// G8: an object with an index label in another spelling, or an invalid one, keeps its clusters and gets the right label.
func TestDecisionsRepairAnOddIndex(t *testing.T) {
	placement := newPlacement(intstr.IntOrString{})
	groups := mustDivide(t, placement, []*clusterv1.ManagedCluster{newCluster("a"), newCluster("b")}, grouping.Options{})
	for _, index := range []string{"00", "x", ""} {
		got := mustKeep(t, groups, placement, decision("p-decision-1", index, "", "a b"))
		if len(got) != 1 || got[0].Name != "p-decision-1" || got[0].Labels[clusterv1beta1.DecisionGroupIndexLabel] != "0" {
			t.Errorf("index %q: got %v, want one object, p-decision-1", index, got)
		}
	}
}

// G8, D13: what an object that is being deleted has goes to another one, under a name that is not taken yet, so that
// an update may desire it.
func TestDecisionsLeaveObjectsThatAreBeingDeleted(t *testing.T) {
	p := newPlacement(intstr.IntOrString{})
	dying, live := decision("p-decision-1", "0", "", "a b"), decision("p-decision-2", "0", "", "c")
	dying.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	p.UID = "now"
	earlier := mustDecide(t, mustRead(t, decision("d", "0", "", "a b")), p)[0]
	earlier.OwnerReferences[0].UID = "before"
	for _, test := range []struct {
		why      string
		clusters string
		stored   decisions
		want     string
	}{
		{"another has room", "a b c", decisions{dying, live}, "p-decision-2: a b c"},
		{"it is the only one", "a b", decisions{dying}, "p-decision-2: a b"},
		{"no cluster is selected", "", decisions{dying}, "p-decision-2:"},
		{"an earlier placement's goes, too", "a b c", decisions{earlier, live}, "p-decision-2: a b c"},
	} {
		groups := mustRead(t, decision("d", "0", "", test.clusters))
		kept := mustKeep(t, groups, p, test.stored...)
		var got []string
		for _, d := range kept {
			line := d.Name + ":"
			for _, c := range d.Status.Decisions {
				line += " " + c.ClusterName
			}
			got = append(got, line)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// G10, D14: Owns, by the objects' labels and controllers. Read and Decisions go by it.
func TestOwns(t *testing.T) {
	p := newPlacement(intstr.IntOrString{})
	p.UID = "now"
	for _, test := range []struct {
		why                   string
		label, controller, of string // of is the controller's UID
		change                func(*clusterv1beta1.PlacementDecision)
		want                  bool
	}{
		{"its own", "p", "p", "now", nil, true},
		{"without its label", "", "p", "now", nil, true},
		{"with an edited label", "q", "p", "now", nil, true},
		{"of an unknown UID", "", "p", "", nil, true},
		{"without a controller", "p", "", "", nil, true},
		{"without an owner", "", "", "", nil, false},
		{"of another by its label", "q", "", "", nil, false},
		{"of another", "q", "q", "then", nil, false},
		{"of another, labelled by hand", "p", "q", "then", nil, false},
		{"left behind by an earlier one, and still seen", "p", "p", "then", nil, true},
		{"left behind without the label", "", "p", "then", nil, false},
		{"left behind with another label", "q", "p", "then", nil, false},
		{"in another namespace", "p", "p", "now", func(d *clusterv1beta1.PlacementDecision) { d.Namespace = "other" }, false},
		{"its owner is no controller", "", "p", "now", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences[0].Controller = nil }, false},
		{"controlled by a PlacementRule", "", "p", "now", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences[0].Kind = "PlacementRule" }, false},
		{"controlled by a Placement of another API", "", "p", "now", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences[0].APIVersion = "example.com/v1" }, false},
		{"labelled, and controlled by something else", "p", "p", "now", func(d *clusterv1beta1.PlacementDecision) {
			d.OwnerReferences[0].Kind, d.OwnerReferences[0].UID = "ConfigMap", "of it"
		}, true},
	} {
		owner := newPlacement(intstr.IntOrString{})
		owner.Name, owner.UID = max(test.controller, "a"), types.UID(test.of)
		d := mustDecide(t, mustRead(t, decision("d", "0", "", "a b")), owner)[0]
		if test.controller == "" {
			d.OwnerReferences = nil
		}
		if d.Labels[clusterv1beta1.PlacementLabel] = test.label; test.label == "" {
			d.Labels = nil
		}
		if test.change != nil {
			test.change(d)
		}
		if got := grouping.Owns(p, d); got != test.want {
			t.Errorf("%s: %v, want %v", test.why, got, test.want)
		}
		groups, err := grouping.Read(p, decisions{d})
		if err != nil || (groups.NumClusters() == 2) != test.want {
			t.Errorf("%s: read as %v, error %v", test.why, groups, err)
		}
		kept := mustKeep(t, mustRead(t, decision("d", "0", "", "a b")), p, d)
		goes := test.of == "then" || test.change != nil // or is of another owner: then the clusters go to an object of its own
		if keeps := kept[0].Name == d.Name && !(d.Namespace == "other"); len(kept) != 1 || keeps != (test.want && !goes) {
			t.Errorf("%s: kept %v", test.why, kept)
		}
	}
}

// G8, D15: an object that a crashed update left behind, and that held clusters for it only, is not kept. Its clusters go to the
// objects with room.
func TestObjectsOfASurgeAreNotKept(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(0))
	g, err := grouping.Divide(placement, fleet("a b"), grouping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := mustKeep(t, g, placement)
	left := stored[0].DeepCopy()
	left.Name, left.Annotations = "p-decision-1-surge", map[string]string{"cohort.open-cluster-management.io/surge": "true"}
	stored[0].Status.Decisions = stored[0].Status.Decisions[:1]
	kept := mustKeep(t, g, placement, stored[0], left)
	if len(kept) != 1 || kept[0].Name != "p-decision-1" || len(kept[0].Status.Decisions) != 2 {
		t.Errorf("kept %v", kept)
	}
}
