// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/place"
)

// older is an object of a hub from before decision groups.
func older(name, clusters string) *clusterv1beta1.PlacementDecision {
	d := decision(name, "", "", clusters)
	d.Labels = map[string]string{clusterv1beta1.PlacementLabel: "p"}
	return d
}

// at gives an object the place of its group, written with an index.
func at(number int, index string, d *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
	labels := map[string]string{clusterv1beta1.DecisionGroupIndexLabel: index, clusterv1beta1.DecisionGroupNameLabel: d.Labels[clusterv1beta1.DecisionGroupNameLabel]}
	d.Annotations = map[string]string{place.Annotation: place.Of(number, labels)}
	return d
}

func TestDivideWithPreviousGroups(t *testing.T) {
	canary, eu := byLabel("canary", "canary"), byClaim("eu", "region", "eu")
	for _, test := range []struct {
		name     string // with the rule
		previous decisions
		size     intstr.IntOrString
		groups   []clusterv1beta1.DecisionGroup
		clusters string
		want     string
	}{
		{"G6 nothing changed", decisions{decision("d-1", "0", "", "a b"), decision("d-2", "1", "", "c")},
			intstr.FromInt32(2), nil, "c b a", `0:a b | 1:c`},
		{"G6 removing a cluster moves no other", decisions{decision("d-1", "0", "", "a b"), decision("d-2", "1", "", "c d"), decision("d-3", "2", "", "e")},
			intstr.FromInt32(2), nil, "b c d e", `0:b | 1:c d | 2:e`},
		{"G6 the design document's special case: the last group fills first, then the one before it", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b"), decision("d-3", "2", "", "c")},
			intstr.FromInt32(2), nil, "a b c A B", `0:a | 1:B b | 2:A c`},
		{"G6 then a new group", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b")},
			intstr.FromInt32(2), nil, "a b v w x y z", `0:a w | 1:b v | 2:x y | 3:z`},
		{"G6 what came into order by chance stays in it", decisions{decision("d-1", "0", "", "c d"), decision("d-2", "1", "", "a b")},
			intstr.FromInt32(2), nil, "a b c d", `0:c d | 1:a b`},
		{"G6 an empty group stays while a later one has clusters", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b")},
			intstr.FromInt32(2), nil, "b", `0: | 1:b`},
		{"G6 an empty group is filled again", decisions{decision("d-1", "0", "", ""), decision("d-2", "1", "", "b c")},
			intstr.FromInt32(2), nil, "b c d", `0:d | 1:b c`},
		{"G6 empty groups at the end disappear", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b"), decision("d-3", "2", "", "c")},
			intstr.FromInt32(2), nil, "a", `0:a`},
		{"G6 the last group is full before it is found empty", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b")},
			intstr.FromInt32(2), nil, "a c", `0:a | 1:c`},
		{"G3 all gone is one empty group", decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "b c")},
			intstr.FromInt32(2), groups(canary), "", `0:`},
		{"G6 from no cluster to some", decisions{decision("d-1", "0", "", "")},
			intstr.FromInt32(2), groups(canary), "a+canary", `0 "canary":a`},

		{"G6 a smaller size moves the surplus alone, the last by name", decisions{decision("d-1", "0", "", "a b c"), decision("d-2", "1", "", "d e f")},
			intstr.FromInt32(2), nil, "a b c d e f", `0:a b | 1:d e | 2:c f`},
		{"G6 the surplus fills what has room", decisions{decision("d-1", "0", "", "a b c"), decision("d-2", "1", "", "d")},
			intstr.FromInt32(2), nil, "a b c d", `0:a b | 1:c d`},
		{"G6 a larger size moves nothing", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "b")},
			intstr.IntOrString{}, nil, "a b c", `0:a | 1:b c`},
		{"G6 a percentage follows the number of clusters", decisions{decision("d-1", "0", "", "a b c"), decision("d-2", "1", "", "d e f")},
			intstr.FromString("50%"), nil, "b c d e", `0:b c | 1:d e`},
		{"G6 and moves the surplus when it shrinks", decisions{decision("d-1", "0", "", "a b c"), decision("d-2", "1", "", "d e f")},
			intstr.FromString("50%"), nil, "a b c d", `0:a b | 1:c d`},

		{"G6 a cluster that matches another name leaves", decisions{decision("d-1", "0", "canary", "a b"), decision("d-2", "1", "", "c d")},
			intstr.FromInt32(2), groups(canary), "a b+canary c+canary d", `0 "canary":b c | 1:a d`},
		{"G6 a name that grows shifts the indexes behind it, not the clusters", decisions{decision("d-1", "0", "canary", "a b"), decision("d-2", "1", "", "c"), decision("d-3", "2", "", "d")},
			intstr.FromInt32(2), groups(canary), "a+canary b+canary c d x+canary", `0 "canary":a b | 1 "canary":x | 2:c | 3:d`},
		{"G6 a name that vanishes shifts them back", decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "", "c"), decision("d-3", "2", "", "d")},
			intstr.FromInt32(2), nil, "a c d", `0:c | 1:a d`},
		{"G6 a new name takes its place", decisions{decision("d-1", "0", "", "a b"), decision("d-2", "1", "", "c d")},
			intstr.FromInt32(2), groups(canary), "a b c+canary d", `0 "canary":c | 1:a b | 2:d`},
		{"G6 names in another order take their groups along", decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "canary", "b"), decision("d-3", "2", "eu", "c")},
			intstr.FromInt32(2), groups(eu, canary), "a+canary b+canary c@eu", `0 "eu":c | 1 "canary":a | 2 "canary":b`},
		{"G6 an empty group between others of its name, not of another", decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "canary", "b"), decision("d-3", "2", "", "c")},
			intstr.FromInt32(2), groups(canary), "a+canary c", `0 "canary":a | 1:c`},

		{"G3 G10 gaps close", decisions{decision("d-1", "3", "", "a b"), decision("d-2", "7", "", "c")},
			intstr.FromInt32(2), nil, "a b c", `0:a b | 1:c`},
		{"G10 groups of a name apart come together", decisions{decision("d-1", "0", "", "b"), decision("d-2", "1", "canary", "a"), decision("d-3", "2", "", "c")},
			intstr.FromInt32(2), groups(canary), "a+canary b c", `0 "canary":a | 1:b | 2:c`},
		{"G6 G10 an object without an index stands where its place says", decisions{decision("d-1", "0", "canary", "a"), at(1, "1", decision("d-2", "x", "", "b c")), at(0, "2", older("d-3", "d e")), decision("d-4", "3", "", "f g")},
			intstr.FromInt32(2), groups(canary), "a+canary b c d e f g", `0 "canary":a | 1:d e | 2:b c | 3:f g`},
		{"G6 G10 without a place it is of the first group", decisions{decision("d-1", "0", "", "e"), decision("d-2", "x", "", "c d"), decision("d-3", "1", "", "a")},
			intstr.FromInt32(2), nil, "a c d e", `0:c d | 1:a e`},
		{"G6 an update was cut short that gave each group the next index", decisions{decision("d-1", "0", "canary", "k"), at(0, "1", decision("d-2", "1", "", "a")), at(1, "3", decision("d-3", "3", "", "b")), at(1, "1", decision("d-4", "1", "canary", "l"))},
			intstr.FromInt32(1), groups(canary), "k+canary l+canary a b", `0 "canary":k | 1 "canary":l | 2:a | 3:b`},
		{"G6 and two objects of one group have it already, or not yet", decisions{at(0, "1", decision("d-1", "1", "", "a")), at(0, "2", decision("d-2", "2", "", "b")), at(1, "2", decision("d-3", "2", "", "c"))},
			intstr.FromInt32(2), groups(canary), "a b c x+canary", `0 "canary":x | 1:a b | 2:c`},
		{"G6 new clusters fill a group without an object, and then the last", decisions{at(0, "0", decision("d-1", "0", "", "a")), at(2, "2", decision("d-2", "2", "", "e"))},
			intstr.FromInt32(2), nil, "a b c d e", `0:a | 1:b c | 2:d e`},
		{"G6 a place is not believed beside labels of another scheduler", decisions{at(4, "5", decision("d-1", "0", "", "a")), at(0, "0", decision("d-2", "1", "", "b"))},
			intstr.FromInt32(2), nil, "a b", `0:a | 1:b`},
		{"G6 an object without a place is behind the next lower index of its name", decisions{at(0, "0", decision("d-1", "0", "", "a")), decision("d-2", "3", "", "b"), decision("d-3", "5", "", "c"), at(4, "7", decision("d-4", "7", "", "d"))},
			intstr.FromInt32(1), nil, "a b c d", `0:a | 1:b | 2:c | 3: | 4:d`},
		{"G6 or of the group of the same labels", decisions{at(2, "2", decision("d-1", "2", "", "a")), decision("d-2", "2", "", "b")},
			intstr.FromInt32(2), nil, "a b", `0: | 1: | 2:a b`},
		{"G6 G10 objects without the label alone are as none", decisions{older("d-1", "a b c"), older("d-2", "d e")},
			intstr.FromInt32(2), nil, "a b c d e", `0:a b | 1:c d | 2:e`},
		{"G11 a cluster in two objects stays in the lower", decisions{decision("d-1", "0", "", "a"), decision("d-2", "1", "", "a b")},
			intstr.FromInt32(2), nil, "a b", `0:a | 1:b`},

		{"G6 a name listed twice is one, at its first place", decisions{decision("d-1", "0", "canary", "a"), decision("d-2", "1", "eu", "b"), decision("d-3", "2", "canary", "c")},
			intstr.FromInt32(2), groups(canary, eu, byLabel("canary", "new")), "a+new b@eu c+new d+new e+canary", `0 "canary":a e | 1 "canary":c d | 2 "eu":b`},
	} {
		t.Run(test.name, func(t *testing.T) {
			previous := mustRead(t, test.previous...)
			got := mustDivide(t, newPlacement(test.size, test.groups...), fleet(test.clusters), grouping.Options{Previous: previous})
			if diff := cmp.Diff(test.want, show(got)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// G6, G10: where no object has an index, each name is one group, also where an object of it is full.
func TestGroupsWithoutAnyIndexStay(t *testing.T) {
	clusters := numbered(grouping.MaxDecisions, "c")
	previous := mustRead(t, older("d-1", strings.Join(names(clusters), " ")), decision("d-2", "", "canary", "x"))
	placement := newPlacement(intstr.FromInt(len(clusters)), byLabel("canary", "canary"))
	got := mustDivide(t, placement, append(clusters, newCluster("a"), newCluster("x", "canary", "")), grouping.Options{Previous: previous})
	if moved := moved(previous, got); len(moved) > 0 {
		t.Errorf("%v moved: %s", moved, show(got))
	}
}

// G6, G4: with scores the surplus is the last by score, and new clusters come in the order of theirs;
// a changed score moves no cluster to another group.
func TestDivideWithPreviousGroupsByScore(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(2))
	placement.Spec.SortBy = clusterv1beta1.PlacementSortByScore
	previous := mustRead(t, decision("d-1", "0", "", "a b c"), decision("d-2", "1", "", "d"))
	got := mustDivide(t, placement, fleet("a b c d e f"), grouping.Options{Previous: previous, Scores: map[string]int64{"a": 1, "b": 3, "c": 2, "d": 9, "e": 4, "f": 5}})
	if want := `0:b c | 1:d f | 2:e a`; show(got) != want {
		t.Errorf("%s, want %s", show(got), want)
	}
}

// G6: no previous groups is as if the option were not there.
func TestDivideWithoutPreviousGroups(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(2), byLabel("canary", "canary"))
	clusters := fleet("a b+canary c d+canary e+canary f")
	want := mustDivide(t, placement, clusters, grouping.Options{})
	for _, previous := range []*grouping.Groups{nil, {}, mustRead(t)} {
		if got := mustDivide(t, placement, clusters, grouping.Options{Previous: previous}); !got.Equal(want) {
			t.Errorf("%s, want %s", show(got), show(want))
		}
	}
}

// drawChanged draws a fleet and what it became: some clusters gone, some new, some relabelled.
func drawChanged(t *rapid.T) (before, now []*clusterv1.ManagedCluster) {
	before = drawFleet(t, "before")
	relabelled := rapid.IntRange(0, 3).Draw(t, "relabel one in")
	for i, c := range before {
		c = c.DeepCopy()
		if relabelled > 0 && i%(relabelled*5) == 0 {
			relabel(c, i%48)
		}
		now = append(now, c)
	}
	now = now[rapid.IntRange(0, len(now)).Draw(t, "gone"):]
	for _, c := range drawFleet(t, "new") {
		c.Name += "-new"
		now = append(now, c)
	}
	return before, now
}

// drawSteady draws a placement and a division that has gone through a change already, so that its groups
// are no longer what dividing anew would give.
func drawSteady(t *rapid.T) (*clusterv1beta1.Placement, []*clusterv1.ManagedCluster, grouping.Options, *grouping.Groups) {
	placement, scores := drawPlacement(t)
	before, now := drawChanged(t)
	previous := mustDivide(t, placement, before, scores)
	return placement, now, scores, mustDivide(t, placement, now, steady(scores, previous))
}

// spot is a group by its name and its number among the groups of that name, which no shift of indexes
// changes.
type spot struct {
	name   string
	number int
}

// places gives every cluster's.
func places(g *grouping.Groups) map[string]spot {
	all := make(map[string]spot, g.NumClusters())
	numbers := map[string]int{}
	for i := range g.Len() {
		name := g.Key(i).Name
		for d := range g.Clusters(i) {
			all[d.ClusterName] = spot{name, numbers[name]}
		}
		numbers[name]++
	}
	return all
}

// moved lists the clusters of both that are in another place.
func moved(before, now *grouping.Groups) []string {
	was := places(before)
	var all []string
	for name, is := range places(now) {
		if before, ok := was[name]; ok && before != is {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// G6.
func TestPropertySteadyWithNothingChangedIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		again := mustDivide(t, placement, rapid.Permutation(clusters).Draw(t, "permuted"), steady(scores, g))
		if !again.Equal(g) {
			t.Fatalf("%s, was %s", show(again), show(g))
		}
		anew := mustDivide(t, placement, clusters, scores)
		if again := mustDivide(t, placement, clusters, steady(scores, anew)); !again.Equal(anew) && !listsApart(placement) {
			t.Fatalf("%s, was divided anew %s", show(again), show(anew))
		}
	})
}

// listsApart says whether decisionGroups lists a name twice with another between.
func listsApart(p *clusterv1beta1.Placement) bool {
	last := map[string]int{}
	for i, g := range p.Spec.DecisionStrategy.GroupStrategy.DecisionGroups {
		if before, ok := last[g.GroupName]; ok && before != i-1 {
			return true
		}
		last[g.GroupName] = i
	}
	return false
}

// G1, G2, G3, G6.
func TestPropertySteadyPartitionsIntoGroupsWithinTheirSizeInTheOrderOfTheNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		if diff := cmp.Diff(names(clusters), members(g)); diff != "" {
			t.Fatalf("clusters (-selected +in groups):\n%s", diff)
		}
		anew := mustDivide(t, placement, clusters, scores)
		namesOf := func(g *grouping.Groups) (names []string) {
			for i := range g.Len() {
				names = append(names, g.Key(i).Name)
			}
			return names
		}
		// In the order listed; a name that is listed twice has all its groups in its first place.
		var want []string
		for _, listed := range append(placement.Spec.DecisionStrategy.GroupStrategy.DecisionGroups, clusterv1beta1.DecisionGroup{}) {
			if name := listed.GroupName; slices.Contains(namesOf(anew), name) && !slices.Contains(want, name) {
				want = append(want, name)
			}
		}
		if diff := cmp.Diff(want, slices.Compact(namesOf(g))); diff != "" {
			t.Fatalf("names (-listed +steady):\n%s", diff)
		}
		for i := range g.Len() {
			if size := sizeOf(placement, len(clusters)); g.Size(i) > size || g.Key(i).Index != int32(i) {
				t.Fatalf("%d: %v has %d clusters of at most %d", i, g.Key(i), g.Size(i), size)
			}
			for d := range g.Clusters(i) {
				if key, _, _ := anew.Find(d.ClusterName); key.Name != g.Key(i).Name {
					t.Fatalf("%s is in %v, anew in %v", d.ClusterName, g.Key(i), key)
				}
			}
			if g.Size(i) == 0 && g.Len() > 1 && (i == g.Len()-1 || g.Key(i+1).Name != g.Key(i).Name) {
				t.Fatalf("%v is empty and the last of its name", g.Key(i))
			}
		}
		back := mustReadWhole(t, placement, mustDecide(t, g, placement))
		if !back.Equal(g) {
			t.Fatalf("read back %s, divided %s", show(back), show(g))
		}
	})
}

// withoutIndex is what is stored after one object's index label was edited, or removed where label is empty.
func withoutIndex(stored decisions, i int, label string) decisions {
	stored = slices.Clone(stored)
	stored[i] = stored[i].DeepCopy()
	if stored[i].Labels[clusterv1beta1.DecisionGroupIndexLabel] = label; label == "" {
		delete(stored[i].Labels, clusterv1beta1.DecisionGroupIndexLabel)
	}
	return stored
}

// G6, G10: ten groups without a name, divided anew, or grown so that their names are in the other direction.
func TestAnIndexLabelOfOneOfTenGroupsEditedOrRemovedMovesNoCluster(t *testing.T) {
	placement, clusters := newPlacement(intstr.FromInt32(10)), numbered(100, "c")
	anew := mustDivide(t, placement, clusters, grouping.Options{})
	var grown *grouping.Groups
	for i := 90; i >= 0; i -= 10 {
		grown = mustDivide(t, placement, clusters[i:], grouping.Options{Previous: grown})
	}
	for _, g := range []*grouping.Groups{anew, grown} {
		stored := mustDecide(t, g, placement)
		for i := range stored {
			for _, label := range []string{"x", ""} {
				previous := mustRead(t, withoutIndex(stored, i, label)...)
				if now := mustDivide(t, placement, clusters, grouping.Options{Previous: previous}); len(moved(g, now)) > 0 {
					t.Errorf("label %q of group %d: %d moved: %s, was %s", label, i, len(moved(g, now)), now, g)
				}
			}
		}
	}
}

// G6, G10: one of several objects of a group, also where the last group has room.
func TestAnIndexLabelOfOneOfSeveralObjectsOfAGroupMovesNoCluster(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(250))
	for _, n := range []int{750, 620} {
		clusters := numbered(n, "c")
		g := mustDivide(t, placement, clusters, grouping.Options{})
		previous := mustRead(t, withoutIndex(mustDecide(t, g, placement), 4, "x")...)
		now := mustDivide(t, placement, clusters, grouping.Options{Previous: previous})
		if got := moved(g, now); len(got) > 0 {
			t.Errorf("%d clusters: %d moved: %s, was %s", n, len(got), now, g)
		}
	}
}

// G6, G10: an index label that is removed, or edited to none, moves no cluster.
func TestPropertyAnIndexLabelThatIsNoneMovesNoCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		stored := decisions(mustDecide(t, g, placement))
		i := rapid.IntRange(0, len(stored)-1).Draw(t, "object")
		label := rapid.SampledFrom([]string{"", "x", "-1", "99999999999"}).Draw(t, "label")
		now := mustDivide(t, placement, clusters, steady(scores, mustRead(t, withoutIndex(stored, i, label)...)))
		if moved := moved(g, now); len(moved) > 0 {
			t.Fatalf("%v moved: %s, was %s", moved, show(now), show(g))
		}
	})
}

// G6: an object that is deleted by hand takes its clusters along, and they come back into its group.
func TestPropertyADeletedObjectMovesNoOtherCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		stored := decisions(mustDecide(t, g, placement))
		i := rapid.IntRange(0, len(stored)-1).Draw(t, "object")
		if i == len(stored)-1 || stored[i].Labels[clusterv1beta1.DecisionGroupIndexLabel] == "0" {
			return // nothing tells that there was a last group, nor that there was a name before all others
		}
		gone := map[string]bool{}
		for _, d := range stored[i].Status.Decisions {
			gone[d.ClusterName] = true
		}
		now := mustDivide(t, placement, clusters, steady(scores, mustRead(t, slices.Delete(stored, i, i+1)...)))
		for _, name := range moved(g, now) {
			if !gone[name] {
				t.Fatalf("%s moved: %s, was %s", name, show(now), show(g))
			}
		}
	})
}

// G6: whatever was written by hand for the places, every selected cluster is in one group, and there are no more groups than the highest index or
// the clusters ask for.
func TestPropertyPlacesThatAreOddLoseNoCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, _ := drawSteady(t)
		stored := drawStored(t)
		highest := 0
		for _, d := range stored {
			label := d.Labels[clusterv1beta1.DecisionGroupIndexLabel]
			if index, err := strconv.Atoi(label); err == nil {
				highest = max(highest, index)
			}
			number := rapid.SampledFrom([]string{"0", "1", "2", "7", "-1", "x", "", "2000000000"}).Draw(t, "place")
			if number != "" {
				d.Annotations = map[string]string{place.Annotation: number + " of " + label + "/" + d.Labels[clusterv1beta1.DecisionGroupNameLabel]}
			}
		}
		now := mustDivide(t, placement, clusters, steady(scores, mustRead(t, stored...)))
		if diff := cmp.Diff(names(clusters), members(now)); diff != "" {
			t.Fatalf("clusters (-selected +in groups):\n%s", diff)
		}
		if most := 3*(highest+1) + len(clusters) + 1; now.Len() > most {
			t.Fatalf("%d groups, at most %d make sense: %s", now.Len(), most, now)
		}
		checkObjects(t, mustKeep(t, now, placement, stored...))
	})
}

// G6: for sizes that are counts; with a percentage each smaller size also moves one cluster a full group.
func TestPropertyRemovingAClusterMovesNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		if len(clusters) == 0 {
			return
		}
		from := rapid.IntRange(0, len(clusters)-1).Draw(t, "removed from")
		rest := slices.Concat(clusters[:from], clusters[rapid.IntRange(from, len(clusters)).Draw(t, "removed to"):])
		now := mustDivide(t, placement, rest, steady(scores, g))
		if shrunk := sizeOf(placement, len(clusters)) - sizeOf(placement, len(rest)); shrunk > 0 && placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup.Type == intstr.String {
			if most := shrunk * g.Len(); len(moved(g, now)) > most {
				t.Fatalf("%d clusters moved, where %d groups lost %d places each: %s, was %s", len(moved(g, now)), g.Len(), shrunk, show(now), show(g))
			}
			return
		}
		if moved := moved(g, now); len(moved) > 0 {
			t.Fatalf("%v moved: %s, was %s", moved, show(now), show(g))
		}
	})
}

// G6.
func TestPropertyAddingClustersMovesNoOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		for _, c := range drawFleet(t, "added") {
			c.Name += "-added"
			clusters = append(clusters, c)
		}
		now := mustDivide(t, placement, clusters, steady(scores, g))
		if moved := moved(g, now); len(moved) > 0 {
			t.Fatalf("%v moved: %s, was %s", moved, show(now), show(g))
		}
	})
}

// G6: a smaller size moves only what exceeds it in each group.
func TestPropertyShrinkingTheSizeMovesOnlyTheSurplus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, clusters, scores, g := drawSteady(t)
		size := rapid.Int32Range(1, 40).Draw(t, "new size")
		placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(size)
		now := places(mustDivide(t, placement, clusters, steady(scores, g)))
		was := places(g)
		for i := range g.Len() {
			at := int32(0)
			for d := range g.Clusters(i) {
				if name := d.ClusterName; at < size && now[name] != was[name] {
					t.Fatalf("%s, number %d of %v, moved", name, at, g.Key(i))
				}
				at++
			}
		}
	})
}
