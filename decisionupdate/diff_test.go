// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// want compares an update with lines as Update.String writes them.
func want(t *testing.T, update decisionupdate.Update, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(append(lines, ""), "\n"), update.String()); diff != "" {
		t.Errorf("update (-want +got):\n%s", diff)
	}
}

// D9: an interrupted update leaves a cluster twice, and older controllers an empty decision. Neither is carried on, nor
// does a union carry it on.
func TestOddStoredDecisionsAreNotCarriedOn(t *testing.T) {
	for _, test := range []struct {
		strategy decisionupdate.UpdateStrategy
		want     []string
	}{
		{rolling, []string{"step 1: update PlacementDecision w1 early (status): add b", "step 2: update PlacementDecision w2 (status): add a; remove b", "step 3: update PlacementDecision w1 (status): remove a"}},
		{twoPhases, []string{"step 1: update PlacementDecision w1 early (status): add b", "step 1: update PlacementDecision w2 early (status): add a", "step 2: update PlacementDecision w1 (status): remove a", "step 2: update PlacementDecision w2 (status): remove b"}},
	} {
		stored := state("w1: a", "w2: b")
		odd := &stored[0].Status.Decisions
		*odd = append(*odd, (*odd)[0], decision("", "").Status.Decisions[0])
		update := mustDiff(t, stored, state("w1: b", "w2: a"), test.strategy)
		want(t, update, test.want...)
		for _, step := range update.Steps {
			for _, w := range step {
				if w.To != nil && slices.ContainsFunc(w.To.Status.Decisions, func(d clusterv1beta1.ClusterDecision) bool { return d.ClusterName == "" }) {
					t.Errorf("%s writes an empty decision", w)
				}
			}
		}
	}
}

// D3: desired data wins in the union, which is sorted by name; what leaves keeps its data.
func TestUnionHasDesiredDataAndIsSorted(t *testing.T) {
	stored, desired := state("w1: d b a", "w2: c"), state("w1: c b", "w2: a d")
	stored[0].Status.Decisions[0].Reason = "stored"
	stored[0].Status.Decisions[1].Reason = "stored"
	desired[0].Status.Decisions[1].Reason = "desired"
	for _, strategy := range []decisionupdate.UpdateStrategy{rolling, twoPhases} {
		update := mustDiff(t, stored, desired, strategy)
		var got []string
		for _, d := range update.Steps[0][0].To.Status.Decisions {
			got = append(got, d.ClusterName+" "+d.Reason)
		}
		if diff := cmp.Diff([]string{"a ", "b desired", "c ", "d stored"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s%s", diff, update)
		}
	}
}

// D4: of two objects that exchange a cluster the emptier one is surged, so that none goes over 100 if that can
// be avoided.
func TestSurgesStayWithinTheLimitWhereTheyCan(t *testing.T) {
	for _, order := range [][2]string{{"w1", "w2"}, {"w2", "w1"}} {
		full, half := divided(100, numbers(1, 100))[0], divided(50, numbers(101, 150))[0]
		full.Name, half.Name = order[0], order[1]
		stored := []*pd{full.DeepCopy(), half.DeepCopy()}
		full.Status.Decisions[0], half.Status.Decisions[0] = half.Status.Decisions[0], full.Status.Decisions[0]
		update := mustDiff(t, stored, []*pd{full, half}, rolling)
		if extras(update) > 0 || update.Writes() != 3 {
			t.Errorf("want no object of a surge:\n%s", update)
		}
	}
}

// D4: the same in a circle of more objects than are tried one by one.
func TestSurgesOfLargeCirclesStayWithinTheLimitWhereTheyCan(t *testing.T) {
	const n = 20
	stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(1, 100*n))
	for o := range n { // each object hands its first cluster to the next
		desired[(o+1)%n].Status.Decisions[0] = stored[o].Status.Decisions[0]
	}
	for _, objects := range [][]*pd{stored, desired} {
		objects[13].Status.Decisions = objects[13].Status.Decisions[:50]
	}
	update := mustDiff(t, stored, desired, rolling)
	if extras(update) > 0 || update.Writes() != n+1 {
		t.Errorf("%d writes, %d objects of a surge", update.Writes(), extras(update))
	}
}

// D4, D9: full objects that exchange clusters, two by two, have no room. One object of the surge serves both pairs.
func TestFullObjectsSurgeIntoAnObjectOfItsOwn(t *testing.T) {
	stored, desired := divided(100, numbers(1, 400)), divided(100, numbers(1, 400))
	exchange := func(a, b, n int) {
		for i := range n {
			x, y := &desired[a].Status.Decisions[i], &desired[b].Status.Decisions[i]
			*x, *y = *y, *x
		}
	}
	exchange(0, 1, 1)
	exchange(2, 3, 7)
	for _, test := range []struct {
		strategy       decisionupdate.UpdateStrategy
		writes, extras int
	}{{rolling, 6, 1}, {within(2), 6, 1}, {twoPhases, 6, 1}} {
		update := mustDiff(t, stored, desired, test.strategy)
		if update.Writes() != test.writes || extras(update) != test.extras || fullest(update) > 100 {
			t.Errorf("D4: %d writes and %d objects of a surge, want %d and %d:\n%s", update.Writes(), extras(update), test.writes, test.extras, update)
		}
	}
}

// Issue 4, point 5: 1,000 objects of 100 clusters, shifted by one.
func TestShiftOfAThousandObjects(t *testing.T) {
	const n = 1000
	stored, desired := divided(100, numbers(1, 100*n)), divided(100, numbers(0, 100*n))
	for _, test := range []struct{ steps, most int }{{0, n + 1}, {10, n * 112 / 100}} {
		update := mustDiff(t, stored, desired, within(test.steps))
		most := test.most
		if test.steps > 0 {
			most++ // the object that is created
		}
		if update.Writes() > most || test.steps > 0 && len(update.Steps) > test.steps+1 {
			t.Errorf("%d writes in %d steps, want at most %d within %d", update.Writes(), len(update.Steps), most, test.steps)
		}
		if fullest(update) > 100 {
			t.Errorf("D9: within %d steps an object has %d clusters", test.steps, fullest(update))
		}
	}
}

// Desired labels other than for placement and group are written, too.
func TestOtherDesiredLabelsAreWritten(t *testing.T) {
	for _, value := range []string{"", "silver"} {
		stored, desired := state("w1: a"), state("w1: a")
		if value != "" {
			stored[0].Labels["tier"] = value
		}
		desired[0].Labels["tier"] = "gold"
		want(t, mustDiff(t, stored, desired, rolling), "step 1: update PlacementDecision w1 (labels)")
		stored[0].Labels["tier"] = "gold"
		want(t, mustDiff(t, stored, desired, rolling))
	}
}

// Labels change and the group stays: whichever comes first, nothing is seen in a wrong group (D7).
func TestOtherLabelsAndClustersChange(t *testing.T) {
	stored, desired := state("w1: a"), state("w1: b")
	desired[0].Labels["tier"] = "gold"
	update := mustDiff(t, stored, desired, rolling)
	want(t, update, "step 1: update PlacementDecision w1 (labels, status): add b; remove a")
	if len(update.Misplaced) > 0 {
		t.Error(update.Misplaced)
	}
}

// Labels that the update doesn't own are kept, as is the rest of the metadata.
func TestUpdateKeepsForeignMetadata(t *testing.T) {
	stored, desired := state("w1 0/old: a"), state("w1 1: a")
	stored[0].UID, stored[0].ResourceVersion = "u", "7"
	stored[0].Labels["team"] = "a"
	stored[0].Annotations = map[string]string{"note": "kept"}
	delete(desired[0].Labels, "cluster.open-cluster-management.io/decision-group-name")
	desired[0].Labels["tier"] = "gold"
	update := mustDiff(t, stored, desired, rolling)
	to := update.Steps[0][0].To
	got := fmt.Sprintln(to.Labels, to.Annotations, to.UID, to.ResourceVersion)
	want := "map[cluster.open-cluster-management.io/decision-group-index:1 cluster.open-cluster-management.io/placement:web team:a tier:gold] map[note:kept] u 7\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestStringCutsLongLists(t *testing.T) {
	update := mustDiff(t, state("w1: a"), state("w1: b c d e f g h"), rolling)
	want(t, update, "step 1: update PlacementDecision w1 (status): add b, c, d, e, f and 2 more; remove a")
}
