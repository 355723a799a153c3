package override_test

import (
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status"
)

// expect settles the world and compares it with the wave.
func (w *world) expect(why, want string) {
	w.t.Helper()
	w.settle()
	if got := w.wave(); got != want {
		w.t.Fatalf("%s:\ngot  %s\nwant %s", why, got, want)
	}
}

// round lets all clusters evaluate, and settles.
func (w *world) round(why, want string) {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	w.evaluateAll()
	w.expect(why, want)
}

var oneByOne = naiveLimits{typ: clusterv1alpha1.Progressive, maxConcurrency: 1, deadline: 10 * time.Minute}

// O9, O10, O11: a policy is created and enforced cluster after cluster. Each step is checked against the
// naive rules as well.
func TestSimulationCreate(t *testing.T) {
	w := newWorld(t, override.Enforce, oneByOne)
	w.bind("b", ": a b c")
	w.write(w.call())
	if got, want := w.wave(), "a inform ToApply, b inform ToApply, c inform ToApply: Progressing"; got != want {
		t.Fatalf("O9 first pass:\ngot  %s\nwant %s", got, want)
	}
	w.expect("O9 second pass", "a enforce Progressing, b inform ToApply, c inform ToApply: Progressing")
	w.round("O9 the next", "a enforce Succeeded, b enforce Progressing, c inform ToApply: Progressing")
	if got := w.root.Status[2]; got.ComplianceState != "NonCompliant" {
		t.Errorf("O9 the waiting cluster reports %+v", got)
	}
	w.round("O9 the last", "a enforce Succeeded, b enforce Succeeded, c enforce Progressing: Progressing")
	w.round("done", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded: Succeeded")

	w.place("b", ": a b c d")
	w.expect("O10 a cluster added after success", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded, d enforce Progressing: Progressing")
	w.round("O10 done again", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded, d enforce Succeeded: Succeeded")

	w.place("b", ": a c d")
	w.expect("a cluster removed", "a enforce Succeeded, c enforce Succeeded, d enforce Succeeded: Succeeded")
}

// O9: an update while rolling takes enforce away from all clusters, those in flight among them.
func TestSimulationUpdateWhileRolling(t *testing.T) {
	w := newWorld(t, override.Enforce, oneByOne)
	w.bind("b", ": a b c")
	w.expect("created", "a enforce Progressing, b inform ToApply, c inform ToApply: Progressing")
	w.round("rolling", "a enforce Succeeded, b enforce Progressing, c inform ToApply: Progressing")
	w.version++
	w.write(w.call())
	if got, want := w.wave(), "a inform ToApply, b inform ToApply, c inform ToApply: Progressing"; got != want {
		t.Fatalf("O9 first pass:\ngot  %s\nwant %s", got, want)
	}
	if got := w.root.Status[0]; got.ComplianceState != "" {
		t.Errorf("what was reported of the version before is shown: %+v", got)
	}
	w.expect("O9 second pass", "a enforce Progressing, b inform ToApply, c inform ToApply: Progressing")
	w.round("one", "a enforce Succeeded, b enforce Progressing, c inform ToApply: Progressing")
	w.round("two", "a enforce Succeeded, b enforce Succeeded, c enforce Progressing: Progressing")
	w.round("three", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded: Succeeded")
}

// O9: a cluster that does not comply stops the rollout, and stays enforced whatever its outcome.
func TestSimulationNonComplianceStops(t *testing.T) {
	w := newWorld(t, override.Enforce, oneByOne)
	w.bind("b", ": a b")
	w.broken["a"] = true
	w.expect("created", "a enforce Progressing, b inform ToApply: Progressing")
	w.round("stopped", "a enforce Failed, b inform ToApply: Failed")
	w.now = w.now.Add(time.Hour)
	w.expect("its deadline passes", "a enforce TimeOut, b inform ToApply: Failed")
	w.broken["a"] = false
	w.round("it recovers", "a enforce Succeeded, b enforce Progressing: Progressing")
	w.round("done", "a enforce Succeeded, b enforce Succeeded: Succeeded")
}

// R4: a cluster that never reports times out; within the budget the rollout goes on and ends Failed.
func TestSimulationTimeout(t *testing.T) {
	limits := oneByOne
	limits.maxFailures = 1
	w := newWorld(t, override.Enforce, limits)
	w.bind("b", ": a b")
	w.silent["a"] = true
	w.expect("created", "a enforce Progressing, b inform ToApply: Progressing")
	if got := w.last.Rollout.RecheckAfter; got != 10*time.Minute {
		t.Errorf("come back after %v, want the deadline", got)
	}
	w.now = w.now.Add(10 * time.Minute)
	w.expect("timed out", "a enforce TimeOut, b enforce Progressing: Progressing")
	w.round("ended", "a enforce TimeOut, b enforce Succeeded: Failed")
	w.silent["a"] = false
	w.round("it reports after all", "a enforce Succeeded, b enforce Succeeded: Succeeded")
}

// O8: a root switched to inform takes enforce away everywhere in one pass; switched back it is rolled out anew.
func TestSimulationInformAndBack(t *testing.T) {
	for _, edit := range []struct {
		why     string
		version int // how far a change of the action moves the version
	}{
		{"O8 the version is the generation", 1},
		{"O8 the version is a hash without the action", 0},
	} {
		t.Run(edit.why, func(t *testing.T) {
			w := newWorld(t, override.Enforce, oneByOne)
			w.bind("b", ": a b")
			w.expect("created", "a enforce Progressing, b inform ToApply: Progressing")
			w.round("rolling", "a enforce Succeeded, b enforce Progressing: Progressing")

			w.policy.Spec.RemediationAction = override.Inform
			w.version += edit.version
			p := w.call()
			if got := p.Clusters[0]; got.Action != override.Inform || got.RolloutStatus != status.Progressing || got.Write != override.WriteUpdate {
				t.Fatalf("one pass: %v", got)
			}
			w.settle()
			w.round("informs", "a inform Succeeded, b inform Succeeded: Succeeded")

			w.policy.Spec.RemediationAction = override.Enforce
			w.version += edit.version
			w.write(w.call())
			if got := w.wave(); edit.version == 1 && got != "a inform ToApply, b inform ToApply: Progressing" {
				t.Fatalf("back: %s", got)
			}
			w.expect("started anew", "a enforce Progressing, b inform ToApply: Progressing")
			w.round("one", "a enforce Succeeded, b enforce Progressing: Progressing")
			w.round("two", "a enforce Succeeded, b enforce Succeeded: Succeeded")
		})
	}
}

// O10, R26: several placements are rolled out one after the other; a rule's clusters are a group of their own.
func TestSimulationSeveralPlacements(t *testing.T) {
	w := newWorld(t, override.Enforce, naiveLimits{typ: clusterv1alpha1.ProgressivePerGroup})
	w.bind("2-fleet", "canary: d | : a c")
	w.bind("1-lab", ": b c")
	w.bindings = append(w.bindings, override.Binding{
		Name:         "3-rule",
		PlacementRef: override.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "rule"},
		Clusters:     []string{"e", "d"},
	})
	w.expect("R26 the first placement", "a inform ToApply, b enforce Progressing, c enforce Progressing, d inform ToApply, e inform ToApply: Progressing")
	w.round("R26 the second's first group", "a inform ToApply, b enforce Succeeded, c enforce Succeeded, d enforce Progressing, e inform ToApply: Progressing")
	w.round("R26 the second's second group, without what the first has", "a enforce Progressing, b enforce Succeeded, c enforce Succeeded, d enforce Succeeded, e inform ToApply: Progressing")
	w.round("the rule has no groups", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded, d enforce Succeeded, e enforce Progressing: Progressing")
	w.round("done", "a enforce Succeeded, b enforce Succeeded, c enforce Succeeded, d enforce Succeeded, e enforce Succeeded: Succeeded")
}

// O6: a cluster that a set excludes is in no group, so that nobody waits for it.
func TestSimulationExclusion(t *testing.T) {
	w := newWorld(t, override.Enforce, naiveLimits{typ: clusterv1alpha1.ProgressivePerGroup})
	w.bind("b", ": a b | : c")
	w.bindings[0].Excluded = []string{"b"}
	w.expect("without b", "a enforce Progressing, c inform ToApply: Progressing")
	w.round("nobody waits for b", "a enforce Succeeded, c enforce Progressing: Progressing")
	w.bindings[0].Excluded = nil
	w.round("no longer excluded", "a enforce Succeeded, b enforce Progressing, c enforce Succeeded: Progressing")
}

// O9: a policy without an action may enforce, so it is held at inform and then left as it is.
func TestSimulationUnsetAction(t *testing.T) {
	w := newWorld(t, "", oneByOne)
	w.bind("b", ": a b")
	w.expect("first held", "a unset Progressing, b inform ToApply: Progressing")
	w.round("then its own action", "a unset Succeeded, b unset Progressing: Progressing")
	w.round("done", "a unset Succeeded, b unset Succeeded: Succeeded")
}

// A disabled policy is taken from all clusters; enabled again it is rolled out anew.
func TestSimulationDisabled(t *testing.T) {
	w := newWorld(t, override.Enforce, oneByOne)
	w.bind("b", ": a")
	w.expect("created", "a enforce Progressing: Progressing")
	groups := w.groups["b"]
	w.policy.Spec.Disabled = true
	w.place("b", ":") // Resolve binds it nowhere
	w.expect("disabled", ": Succeeded")
	w.policy.Spec.Disabled = false
	w.groups["b"] = groups
	w.expect("enabled", "a enforce Progressing: Progressing")
}
