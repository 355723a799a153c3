// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// upTo cuts the clusters of each object down to the first ones, as many as the limit says.
func upTo(limit int, objects []*clusterv1beta1.PlacementDecision) []*clusterv1beta1.PlacementDecision {
	for _, pd := range objects {
		pd.Status.Decisions = pd.Status.Decisions[:min(limit, len(pd.Status.Decisions))]
	}
	return objects
}

// lawRolling: D5, D6, D8 and D9, with objects of up to 100 clusters and of up to three: whatever the order of the requests in a step, wherever the writer stops, and
// whatever it updates towards then, no cluster that stays is ever absent and none is seen where it doesn't
// belong.
func lawRolling(t *rapid.T) {
	kind := drawNames(t)
	s := newServer(drawState(t, "stored", kind)...)
	whole := []world{s.world()}
	var misplaced []decisionupdate.Misplaced
	var targets []world
	limit := rapid.SampledFrom([]int{100, 3}).Draw(t, "limit")
	for updates := rapid.IntRange(1, 4).Draw(t, "updates"); updates > 0; updates-- {
		desired := upTo(limit, drawState(t, "desired", kind))
		update, err := decisionupdate.DiffUpTo(s.list(), desired, drawRolling(t), limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range update.Steps {
			for _, w := range step {
				if slices.Contains(w.Parts, decisionupdate.PartStatus) && len(w.To.Status.Decisions) > limit {
					t.Fatalf("D9: more than %d clusters in %s:\n%s", limit, w.Name(), update)
				}
			}
		}
		for _, m := range update.Misplaced {
			if kind == steady && slices.ContainsFunc(s.history[0].all(), func(s sight) bool { return s.object == m.Object && s.labelled }) {
				t.Fatalf("D7: objects keep their groups, yet: %v", update.Misplaced)
			}
		}
		misplaced = append(misplaced, update.Misplaced...)
		targets = append(targets, worldOf(desired))

		stop := rapid.SampledFrom([]int{allRequests, 0, 1, 2, 3, 5, 8}).Draw(t, "stop after")
		s.history = []world{s.world()}
		made := s.run(update, stop, picker(t))
		if err := neverAbsent(s.history, targets[len(targets)-1]); err != nil {
			t.Fatalf("D5: %v\nplan:\n%s", err, update)
		}
		if err := neverWrong(s.history, targets[len(targets)-1], misplaced); err != nil {
			t.Fatalf("D6: %v\nplan:\n%s", err, update)
		}
		whole = append(whole, s.history[1:]...)
		if made < stop {
			wantStored(t, s, desired)
		}
	}
	neverForeign(t, whole, targets, misplaced)
}

// neverForeign is D8 for groups: from the first state to the last, each sight is one of the first state or of
// some desired one, or Misplaced has told of it. A writer that stops in a moment that Misplaced tells of leaves
// that group as the stored one, so that other objects may show it, too.
func neverForeign(t rapid.TB, history, targets []world, misplaced []decisionupdate.Misplaced) {
	t.Helper()
	for _, w := range history {
		for cluster, sights := range w {
			for _, s := range sights {
				right := history[0].groups(cluster)
				for _, w := range misplaced {
					if slices.Contains(w.Clusters, cluster) {
						right = append(right, w.Seen)
					}
				}
				for _, target := range targets {
					right = append(right, target.groups(cluster)...)
				}
				if s.foreign(right) {
					t.Fatalf("D8: %s is seen in group %s by %s", cluster, s.group, s.object)
				}
			}
		}
	}
}

// wantStored fails unless the server stores just what is desired, and a new update has nothing to do (D1).
func wantStored(t rapid.TB, s *server, desired []*clusterv1beta1.PlacementDecision) {
	t.Helper()
	want := map[string]string{}
	for _, pd := range desired {
		want[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
	}
	got := map[string]string{}
	for _, pd := range s.list() {
		if pd.DeletionTimestamp.IsZero() { // D13: others are there until their finalizers end
			got[pd.Name] = fmt.Sprint(pd.Labels, pd.Status.Decisions)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("stored at the end (-want +got):\n%s", diff)
	}
	for _, strategy := range []decisionupdate.UpdateStrategy{{}, rolling} {
		if again := mustDiff(t, s.list(), desired, strategy); len(again.Steps)+len(again.Misplaced) > 0 {
			t.Fatalf("D1: nothing to do, yet:\n%s%v", again, again.Misplaced)
		}
	}
}

// D5, D6 and D8, by lawRolling.
func TestRollingNeverLosesOrMisplacesAClusterWhereverItStops(t *testing.T) {
	check(t, lawRolling)
}

func FuzzRolling(f *testing.F) {
	f.Fuzz(rapid.MakeFuzz(lawRolling))
}

// D2: All reaches the desired state, too, with deletes last, and warns of labels as RollingUpdate does (D7).
func TestAllReachesTheDesiredState(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		s := newServer(drawState(t, "stored", kind)...)
		desired := drawState(t, "desired", kind)
		update := mustDiff(t, s.list(), desired, decisionupdate.UpdateStrategy{})
		for i, step := range update.Steps {
			if grows(s.list(), desired) { // D12
				break
			}
			for _, w := range step {
				if last := i == len(update.Steps)-1; w.Verb == decisionupdate.VerbDelete && !last || len(update.Steps) > 2 {
					t.Fatalf("D2: want one step, then the deletes:\n%s", update)
				}
			}
			if len(update.Steps) == 2 && i == 1 && slices.ContainsFunc(step, func(w decisionupdate.Write) bool { return w.Verb != decisionupdate.VerbDelete }) {
				t.Fatalf("D2: want only deletes in the second step:\n%s", update)
			}
		}
		s.run(update, allRequests, picker(t))
		neverForeign(t, s.history, []world{worldOf(desired)}, update.Misplaced)
		wantStored(t, s, desired)
	})
}

// D1: the order of the lists doesn't matter, and the update of the same lists is the same to the byte.
func TestUpdateIsTheSameForEveryOrderOfTheInput(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		strategy := drawRolling(t)
		first := mustDiff(t, stored, desired, strategy)
		second := mustDiff(t, rapid.Permutation(stored).Draw(t, "stored"), rapid.Permutation(desired).Draw(t, "desired"), strategy)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("(-first +second):\n%s", diff)
		}
	})
}

func TestInputIsNeverModified(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		before := fmt.Sprint(deref(stored), deref(desired))
		s := newServer(stored...)
		s.run(mustDiff(t, stored, desired, drawRolling(t)), allRequests, picker(t))
		if after := fmt.Sprint(deref(stored), deref(desired)); after != before {
			t.Fatalf("was %s\nis  %s", before, after)
		}
	})
}

func deref(objects []*clusterv1beta1.PlacementDecision) []clusterv1beta1.PlacementDecision {
	var values []clusterv1beta1.PlacementDecision
	for _, pd := range objects {
		values = append(values, *pd)
	}
	return values
}

// D12: where nothing is stored, no reader ever sees a cluster while a named group with a lower index lacks one of its
// own, and a cluster of a group without a name while any named group does; whatever the strategy, the order of a
// step's requests, and wherever the writer crashes on the way.
func TestNamedGroupsAreFilledFirst(t *testing.T) {
	check(t, func(t *rapid.T) {
		desired := drawState(t, "desired", sequential)
		var stored []*pd
		if rapid.Bool().Draw(t, "an empty selection is stored") {
			stored = state("w " + group("w", sequential, t) + ":")
		}
		s := newServer(stored...)
		s.history = []world{s.world()}
		strategy := rapid.SampledFrom([]decisionupdate.UpdateStrategy{{}, rolling, within(2), twoPhases}).Draw(t, "strategy")
		for _, stop := range []int{rapid.IntRange(0, 12).Draw(t, "stop after"), rapid.IntRange(0, 12).Draw(t, "then after"), allRequests} {
			s.run(mustDiff(t, s.list(), desired, strategy), stop, picker(t))
		}
		wantStored(t, s, desired)
		last := worldOf(desired)
		for i, w := range s.history {
			for cluster := range w {
				for other := range last {
					mine, first := last.groups(cluster)[0], last.groups(other)[0]
					if first.Name != "" && (mine.Name == "" || index(first) < index(mine)) && len(w[other]) == 0 {
						t.Fatalf("after %d requests %s of group %s is there and %s of group %s is not", i, cluster, mine, other, first)
					}
				}
			}
		}
	})
}
