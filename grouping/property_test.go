// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

// drawFleet draws up to 300 clusters in random order, with some of four labels and one of three claims.
func drawFleet(t *rapid.T, name string) []*clusterv1.ManagedCluster {
	// Seldom more than a PlacementDecision holds, but often enough. Left to itself rapid seldom draws ten.
	n := rapid.IntRange(0, rapid.SampledFrom([]int{3, 12, 40, 300}).Draw(t, "most")).Draw(t, "number of "+name)
	ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 999), n, n, rapid.ID).Draw(t, name)
	clusters := make([]*clusterv1.ManagedCluster, len(ids))
	for i, id := range ids {
		clusters[i] = newCluster(fmt.Sprintf("c%d", id))
		relabel(clusters[i], rapid.IntRange(0, 47).Draw(t, "labels"))
	}
	return clusters
}

// relabel gives a cluster one of 16 sets of labels and 3 claims.
func relabel(c *clusterv1.ManagedCluster, kind int) {
	c.Labels, c.Status.ClusterClaims = map[string]string{}, nil
	for i, label := range []string{"w", "x", "y", "z"} {
		if kind>>i&1 == 1 {
			c.Labels[label] = ""
		}
	}
	if kind >= 16 {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "region", Value: []string{"eu", "us"}[kind/16-1]}}
	}
}

func drawGroups(t *rapid.T) []clusterv1beta1.DecisionGroup {
	notX := byLabel("not-x", "x")
	notX.ClusterSelector.LabelSelector.MatchExpressions[0].Operator = metav1.LabelSelectorOpDoesNotExist
	wInEU := byClaim("w-in-eu", "region", "eu")
	wInEU.ClusterSelector.LabelSelector = byLabel("", "w").ClusterSelector.LabelSelector
	return rapid.SliceOfN(rapid.SampledFrom([]clusterv1beta1.DecisionGroup{
		byLabel("w", "w"), byLabel("x", "x"), byClaim("eu", "region", "eu"), byLabel("w", "y"), notX, wInEU,
	}), 0, 4).Draw(t, "groups")
}

func drawSize(t *rapid.T) intstr.IntOrString {
	return rapid.OneOf(
		rapid.Just(intstr.IntOrString{}),
		rapid.Map(rapid.Int32Range(1, 5), intstr.FromInt32),
		rapid.Map(rapid.Int32Range(1, 310), intstr.FromInt32),
		rapid.Map(rapid.IntRange(1, 100), func(p int) intstr.IntOrString { return intstr.FromString(fmt.Sprintf("%d%%", p)) }),
	).Draw(t, "size")
}

// drawPlacement draws a strategy and the scores to divide by.
func drawPlacement(t *rapid.T) (*clusterv1beta1.Placement, grouping.Options) {
	p := newPlacement(drawSize(t), drawGroups(t)...)
	p.Spec.SortBy = rapid.SampledFrom([]clusterv1beta1.PlacementSortByType{
		"", clusterv1beta1.PlacementSortByClusterName, clusterv1beta1.PlacementSortByScore}).Draw(t, "sort by")
	scores := map[string]int64{}
	if modulus := rapid.Int64Range(0, 7).Draw(t, "scores"); modulus > 0 {
		for id := range int64(1000) {
			scores[fmt.Sprintf("c%d", id)] = id%modulus - 2
		}
	}
	return p, grouping.Options{Scores: scores}
}

// sizeOf is G2 without the code under test.
func sizeOf(p *clusterv1beta1.Placement, total int) int {
	switch size := p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup; {
	case size == intstr.IntOrString{}:
		return max(total, 1)
	case size.Type == intstr.Int:
		return size.IntValue()
	default:
		var percent int
		if _, err := fmt.Sscanf(size.StrVal, "%d%%", &percent); err != nil {
			panic(err)
		}
		return max((total*percent+99)/100, 1)
	}
}

func names(clusters []*clusterv1.ManagedCluster) []string {
	var all []string
	for _, c := range clusters {
		all = append(all, c.Name)
	}
	slices.Sort(all)
	return all
}

// members is all clusters of all groups, sorted.
func members(g *grouping.Groups) []string {
	var all []string
	for i := range g.Len() {
		for d := range g.Clusters(i) {
			all = append(all, d.ClusterName)
		}
	}
	slices.Sort(all)
	return all
}

// G4.
func TestPropertyEachNameIsInTheOrderOfItsScoresAndThenItsNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		g := mustDivide(t, placement, drawFleet(t, "clusters"), scores)
		for i := range g.Len() {
			var last *clusterv1beta1.ClusterDecision
			for d := range g.Clusters(i) {
				if last != nil && !ordered(placement, *last, d) {
					t.Fatalf("%v before %v in %v", *last, d, g.Key(i))
				}
				last = &d
			}
		}
	})
}

// ordered says whether a belongs before b by G4.
func ordered(p *clusterv1beta1.Placement, a, b clusterv1beta1.ClusterDecision) bool {
	if p.Spec.SortBy == clusterv1beta1.PlacementSortByScore && a.Score != b.Score {
		return a.Score > b.Score
	}
	return a.ClusterName < b.ClusterName
}

// G1, G2, G3.
func TestPropertyDividingPartitionsIntoGroupsWithinTheirSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		clusters := drawFleet(t, "clusters")
		g := mustDivide(t, placement, clusters, scores)
		if diff := cmp.Diff(names(clusters), members(g)); diff != "" {
			t.Fatalf("clusters (-selected +in groups):\n%s", diff)
		}
		for i := range g.Len() {
			if g.Key(i).Index != int32(i) {
				t.Fatalf("group %d has index %d", i, g.Key(i).Index)
			}
			if size := sizeOf(placement, len(clusters)); g.Size(i) > size {
				t.Fatalf("%v has %d clusters, over %d", g.Key(i), g.Size(i), size)
			}
			if g.Size(i) == 0 && g.Len() > 1 {
				t.Fatalf("%v is empty", g.Key(i))
			}
		}
	})
}

// G1 to G13.
func TestPropertyDivideThenDecisionsThenReadIsTheIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		g := mustDivide(t, placement, drawFleet(t, "clusters"), scores)
		back := mustReadWhole(t, placement, shuffled(1, mustDecide(t, g, placement)))
		if !back.Equal(g) || differs(back.Changes(g)) {
			t.Fatalf("read back %s, divided %s", show(back), show(g))
		}
	})
}

// G1 to G11, byte for byte.
func TestPropertyPermutingTheInputChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		clusters := drawFleet(t, "clusters")
		a := mustDecide(t, mustDivide(t, placement, clusters, scores), placement)
		b := mustDecide(t, mustDivide(t, placement, rapid.Permutation(clusters).Draw(t, "permuted"), scores), placement)
		if diff := cmp.Diff(toJSON(t, a), toJSON(t, b)); diff != "" {
			t.Fatal(diff)
		}
		permuted := rapid.Permutation(b).Draw(t, "objects")
		if !mustRead(t, a...).Equal(mustRead(t, permuted...)) {
			t.Fatal("reading back depends on the order")
		}
		statusA, errA := grouping.Status(a)
		statusB, errB := grouping.Status(permuted)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if diff := cmp.Diff(toJSON(t, statusA), toJSON(t, statusB)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func toJSON(t *rapid.T, v any) string {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// G7, G9.
func TestPropertyEveryDecisionIsSmallAndValidAndInTheStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		placement, scores := drawPlacement(t)
		g := mustDivide(t, placement, drawFleet(t, "clusters"), scores)
		objects := mustDecide(t, g, placement)
		checkObjects(t, objects)
		status, err := grouping.Status(objects)
		if err != nil {
			t.Fatal(err)
		}
		if int(status.NumberOfSelectedClusters) != g.NumClusters() || len(status.DecisionGroups) != g.Len() {
			t.Fatalf("status of %d clusters in %d groups, want %d in %d", status.NumberOfSelectedClusters, len(status.DecisionGroups), g.NumClusters(), g.Len())
		}
		listed := 0
		for i, s := range status.DecisionGroups {
			want := grouping.Key{Index: s.DecisionGroupIndex, Name: s.DecisionGroupName}
			if g.Key(i) != want || g.Size(i) != int(s.ClustersCount) {
				t.Fatalf("status %+v of %v with %d clusters", s, g.Key(i), g.Size(i))
			}
			listed += len(s.Decisions)
		}
		if listed != len(objects) {
			t.Fatalf("status lists %d of %d objects", listed, len(objects))
		}
	})
}

// checkObjects checks what G7 demands of each PlacementDecision of newPlacement's placement.
func checkObjects(t rapid.TB, objects []*clusterv1beta1.PlacementDecision) {
	t.Helper()
	names := map[string]bool{}
	for _, d := range objects {
		if len(d.Status.Decisions) > grouping.MaxDecisions {
			t.Fatalf("%s has %d clusters", d.Name, len(d.Status.Decisions))
		}
		if names[d.Name] {
			t.Fatalf("%s stands twice", d.Name)
		}
		names[d.Name] = true
		if faults := validation.IsDNS1123Subdomain(d.Name); len(faults) > 0 {
			t.Fatalf("name %q: %v", d.Name, faults)
		}
		for _, label := range []string{clusterv1beta1.PlacementLabel, clusterv1beta1.DecisionGroupIndexLabel, clusterv1beta1.DecisionGroupNameLabel} {
			value, ok := d.Labels[label]
			if faults := validation.IsValidLabelValue(value); !ok || len(faults) > 0 {
				t.Fatalf("%s: label %s=%q: %v", d.Name, label, value, faults)
			}
		}
		if owner := metav1.GetControllerOf(d); d.Namespace != "ns" || owner == nil || owner.UID != "uid" {
			t.Fatalf("%s/%s is owned by %v", d.Namespace, d.Name, owner)
		}
	}
}

// drawStored draws up to six objects of up to four groups, with clusters in several of them, twice in
// one, and empty slots.
func drawStored(t *rapid.T) decisions {
	return rapid.Custom(func(t *rapid.T) decisions {
		var stored decisions
		for i := range rapid.IntRange(0, 6).Draw(t, "objects") {
			d := decision(fmt.Sprintf("p-decision-%d", i*3+1), rapid.SampledFrom([]string{"0", "2", "11"}).Draw(t, "index"),
				rapid.SampledFrom([]string{"", "w"}).Draw(t, "group"), "")
			for _, id := range rapid.SliceOfN(rapid.IntRange(-1, 9), 0, 8).Draw(t, "clusters") {
				c := clusterv1beta1.ClusterDecision{}
				if id >= 0 {
					c = clusterv1beta1.ClusterDecision{ClusterName: fmt.Sprintf("c%d", id), Score: int64(i), Reason: d.Name}
				}
				d.Status.Decisions = append(d.Status.Decisions, c)
			}
			stored = append(stored, d)
		}
		return stored
	}).Draw(t, "stored")
}

// G10, G11, G12.
func TestPropertyReadLosesNothingAndAnswersConsistently(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := drawStored(t)
		g := mustRead(t, rapid.Permutation(stored).Draw(t, "permuted")...)
		if !g.Equal(mustRead(t, stored...)) {
			t.Fatal("reading depends on the order")
		}
		// The lowest object in the order of groups that holds the cluster decides.
		want := map[string]*clusterv1beta1.PlacementDecision{}
		for _, d := range stored {
			for _, c := range d.Status.Decisions {
				if best := want[c.ClusterName]; c.ClusterName != "" && (best == nil || keyOf(t, d).Index < keyOf(t, best).Index ||
					keyOf(t, d).Index == keyOf(t, best).Index && keyOf(t, d).Name < keyOf(t, best).Name) {
					want[c.ClusterName] = d
				}
			}
		}
		if g.NumClusters() != len(want) || len(members(g)) != len(want) {
			t.Fatalf("%d clusters, want %d", g.NumClusters(), len(want))
		}
		for name, d := range want {
			key, got, ok := g.Find(name)
			position, _ := g.Position(name)
			if !ok || key != keyOf(t, d) || got.Reason != d.Name || g.Cluster(position) != name || g.Key(g.GroupAt(position)) != key {
				t.Fatalf("Find(%s) = %v, %+v, %v, want from %s", name, key, got, ok, d.Name)
			}
		}
		for _, d := range stored {
			found := false
			for i := range g.Len() {
				found = found || g.Key(i) == keyOf(t, d)
			}
			if !found {
				t.Fatalf("the group of %s is lost: %v", d.Name, g)
			}
		}
	})
}

// keyOf reads labels that are known to be sound.
func keyOf(t rapid.TB, d *clusterv1beta1.PlacementDecision) grouping.Key {
	t.Helper()
	key := grouping.Key{Name: d.Labels[clusterv1beta1.DecisionGroupNameLabel]}
	if _, err := fmt.Sscan(d.Labels[clusterv1beta1.DecisionGroupIndexLabel], &key.Index); err != nil {
		t.Fatal(err)
	}
	return key
}

// G12.
func TestPropertyChangesLeadFromOneToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, now := mustRead(t, drawStored(t)...), mustRead(t, drawStored(t)...)
		where := func(g *grouping.Groups) map[string]grouping.Key {
			all := map[string]grouping.Key{}
			for position := range g.NumClusters() {
				all[g.Cluster(position)] = g.Key(g.GroupAt(position))
			}
			return all
		}
		changes := now.Changes(before)
		state, want := where(before), where(now)
		for _, name := range changes.Removed {
			if _, ok := state[name]; !ok {
				t.Fatalf("removed %s, which was not there", name)
			}
			delete(state, name)
		}
		for _, m := range changes.Moved {
			if state[m.Cluster] != m.From || m.From == m.To {
				t.Fatalf("%v, but it was in %v", m, state[m.Cluster])
			}
			state[m.Cluster] = m.To
		}
		for _, name := range changes.Added {
			if _, ok := state[name]; ok {
				t.Fatalf("added %s, which was there", name)
			}
			state[name] = want[name]
		}
		if diff := cmp.Diff(want, state); diff != "" {
			t.Fatalf("groups (-want +after the changes):\n%s", diff)
		}
		if !slices.IsSorted(changes.Added) || !slices.IsSorted(changes.Removed) {
			t.Fatalf("%+v", changes)
		}
	})
}
