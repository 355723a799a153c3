// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// D13: a cluster that only objects have that are being deleted is in another one after the first step.
func TestClusterOfATerminatingObjectDoesNotWait(t *testing.T) {
	check(t, func(t *rapid.T) {
		stored, desired := drawState(t, "stored", steady), drawState(t, "desired", steady)
		update := mustDiff(t, stored, desired, drawRolling(t))
		s := newServer(stored...)
		if len(update.Steps) > 0 {
			s.run(decisionupdate.Update{Steps: update.Steps[:1]}, allRequests, picker(t))
		}
		lives := func(s sight) bool { return !s.dying }
		for cluster, sights := range worldOf(stored) {
			if len(worldOf(desired)[cluster]) > 0 && !slices.ContainsFunc(sights, lives) && !slices.ContainsFunc(s.world()[cluster], lives) {
				t.Fatalf("%s is only in an object that is being deleted:\n%s", cluster, update)
			}
		}
	})
}

// D13: T is being deleted and has c; L lives and has c and x; desired are x in L and c in N. Whenever the finalizer of T
// ends, and wherever the writer is by then, c is in an object.
func TestClusterIsNotInNoObjectWhenTheFinalizerEnds(t *testing.T) {
	stored, desired := state("T dying: c", "L: c x"), state("L: x", "N: c")
	for _, strategy := range []decisionupdate.UpdateStrategy{rolling, within(2), twoPhases} {
		update := mustDiff(t, stored, desired, strategy)
		for stop := range 5 {
			s := newServer(stored...)
			s.run(update, stop, func(int) int { return 0 })
			s.end("T")
			again := mustDiff(t, s.list(), desired, strategy)
			s.run(again, allRequests, func(n int) int { return n - 1 })
			if err := neverAbsent(s.history, worldOf(desired)); err != nil {
				t.Errorf("the finalizer ends after %d requests: %v\n%s", stop, err, update)
			}
		}
	}
}

// D13: an object that is deleted after it was listed is not written, nor deleted again.
func TestObjectThatIsBeingDeletedMeanwhile(t *testing.T) {
	for _, desired := range [][]*pd{state("w1: b"), nil} {
		s := newServer(state("w1: a")...)
		update := mustDiff(t, s.list(), desired, rolling)
		s.touch(t, "w1", func(o *pd) { o.DeletionTimestamp = &noon })
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		var stale *decisionupdate.StaleError
		if !errors.As(err, &stale) || stale.Found != "it is being deleted" || len(outcome.Writes) > 0 {
			t.Errorf("%v, %s", err, brief(outcome))
		}
	}
}

// D2, D13: All writes a desired object that was being deleted already when it was listed, also after a conflict.
func TestAllWritesObjectsThatAreBeingDeleted(t *testing.T) {
	s := newServer(state("w1 dying: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), decisionupdate.UpdateStrategy{})
	s.touch(t, "w1", func(*pd) {})
	if outcome, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), update); err != nil || outcome.Retried != 1 {
		t.Errorf("%s, %v", outcome, err)
	}
}
