// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
)

// D1: an update names just the parts that change, each object is written at most twice, and only a surge comes
// before another write.
func TestUpdateWritesWhatDiffersAndNothingElse(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		update := mustDiff(t, stored, desired, drawRolling(t))
		written := map[string]int{}
		for _, step := range update.Steps {
			for _, w := range step {
				if written[w.Name()]++; written[w.Name()] > 2 || w.Surge != (written[w.Name()] == 1 && writesOf(update, w.Name()) == 2) {
					t.Fatalf("%s is written %d times:\n%s", w.Name(), written[w.Name()], update)
				}
				if w.From != nil && !w.From.DeletionTimestamp.IsZero() {
					t.Fatalf("D13: %s is being deleted:\n%s", w.Name(), update)
				}
				if w.Verb != decisionupdate.VerbUpdate {
					continue
				}
				labels := !cmp.Equal(w.From.Labels, w.To.Labels)
				status := !slices.Equal(w.From.Status.Decisions, w.To.Status.Decisions)
				if labels != slices.Contains(w.Parts, decisionupdate.PartLabels) || status != slices.Contains(w.Parts, decisionupdate.PartStatus) || !labels && !status {
					t.Fatalf("%s: labels differ: %v, status differs: %v\n%s\nfrom %v %v\nto %v %v", w, labels, status, update, w.From.Labels, w.From.Status.Decisions, w.To.Labels, w.To.Status.Decisions)
				}
			}
		}
	})
}

func writesOf(update decisionupdate.Update, name string) int {
	n := 0
	for _, step := range update.Steps {
		for _, w := range step {
			if w.Name() == name {
				n++
			}
		}
	}
	return n
}

// grows reports whether there are clusters to add, and each stored one stays in its object (D12).
func grows(stored, desired []*pd) bool {
	was, is := worldOf(stored), worldOf(desired)
	in := func(w world, cluster, object string) bool {
		return slices.ContainsFunc(w[cluster], func(s sight) bool { return s.object == object })
	}
	for cluster, sights := range was {
		for _, s := range sights {
			if !in(is, cluster, s.object) {
				return false
			}
		}
	}
	for cluster, sights := range is {
		if !in(was, cluster, sights[0].object) {
			return true
		}
	}
	return false
}

// D4: the default is never worse than the document's two phases, in writes or in how full an object gets, and
// keeps within the bound.
func TestFewestWritesIsNeverWorseThanSurgeAndFinalize(t *testing.T) {
	check(t, func(t *rapid.T) {
		kind := drawNames(t)
		stored, desired := drawState(t, "stored", kind), drawState(t, "desired", kind)
		two := mustDiff(t, stored, desired, twoPhases)
		growing := grows(stored, desired) // D12
		if len(two.Steps) > 2+min(extras(two), 1) && !growing {
			t.Fatalf("D3: two phases, yet:\n%s", two)
		}
		for _, steps := range []int{0, 2, 3, 4} {
			few := mustDiff(t, stored, desired, within(steps))
			if steps > 0 && len(few.Steps) > steps+min(extras(few), 1) && !growing {
				t.Errorf("more than %d steps:\n%s", steps, few)
			}
			if few.Writes() > two.Writes() || fullest(few) > 100 {
				t.Errorf("within %d steps:\n%ssurge and finalize:\n%s", steps, few, two)
			}
		}
	})
}

func fullest(update decisionupdate.Update) int {
	most := 0
	for _, step := range update.Steps {
		for _, w := range step {
			if w.To != nil {
				most = max(most, len(w.To.Status.Decisions))
			}
		}
	}
	return most
}

// D4, D5 and D6 where the surges are chosen by the heuristic: many objects between which clusters move at random.
func TestShuffleOfManyObjects(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 300))
	n := exhaustive.Of(160, 500, 1200)
	clusters := numbers(1, n)
	stored := divided(4, clusters)
	rng.Shuffle(len(clusters), func(i, j int) { clusters[i], clusters[j] = clusters[j], clusters[i] })
	for o := range stored { // some stay
		copy(clusters[4*o:4*o+3], numbers(4*o+1, 4*o+3))
	}
	seen := map[int]bool{}
	clusters = slices.DeleteFunc(clusters, func(c int) bool { twice := seen[c]; seen[c] = true; return twice })
	desired := divided(4, clusters)
	for _, steps := range []int{0, 2, 3, 6} {
		update := mustDiff(t, stored, desired, within(steps))
		s := newServer(stored...)
		s.run(update, allRequests, rng.IntN)
		if err := neverAbsent(s.history, worldOf(desired)); err != nil {
			t.Errorf("D5: %v", err)
		}
		if err := neverWrong(s.history, worldOf(desired), update.Misplaced); err != nil {
			t.Errorf("D6: %v", err)
		}
		wantStored(t, s, desired)
		t.Logf("within %d steps: %d writes of %d objects in %d steps", steps, update.Writes(), update.Writes()-surges(update), len(update.Steps))
	}
}

// extras returns the objects that an update makes for a surge.
func extras(update decisionupdate.Update) int {
	n := 0
	for _, step := range update.Steps {
		for _, w := range step {
			if w.Surge && w.Verb == decisionupdate.VerbCreate {
				n++
			}
		}
	}
	return n
}
