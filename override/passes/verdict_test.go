// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// validated is a world in which a has succeeded with the version and is being validated since noon, and b waits.
func validated(t *testing.T, limits naiveLimits) *world {
	w := newWorld(t, policyv1.Enforce, limits)
	w.validates = true
	w.bind("b", "prod: a b")
	w.settle()
	w.evaluate("a")
	w.settle()
	return w
}

// saysOfA judges a now.
func (w *world) saysOfA(result status.ValidationResult) {
	w.judge("a", status.Verdict{Version: w.versionName(), Result: result, Time: w.now})
}

// O22: a cluster that was deselected while it was being validated counts as in flight until its deadline, and is Progressing in the
// root's status. Bound again before that it resumes, and is validated again.
func TestWhoLeavesWhileItIsValidated(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := validated(t, oneByOne)
		w.place("b", "prod: b")
		w.settle()
		if got := recorded(w.record); got != "a Validating" || w.replicas["a"] != nil || w.started("b") {
			t.Fatalf("recorded %q, %s", got, w.dump())
		}
		if got := fmt.Sprint(w.root.Status[0]); w.root.Status[0].RolloutStatus != "Progressing" {
			t.Errorf("the root's status has %s", got)
		}
		if !again {
			w.now = w.now.Add(10 * time.Minute)
			w.settle()
			if got := recorded(w.record); got != "a TimeOut" || w.root.RolloutStatus != "Failed" {
				t.Errorf("recorded %q, %s", got, w.wave())
			}
			continue
		}
		w.place("b", "prod: a b")
		w.settle()
		w.evaluate("a")
		w.settle()
		if got := w.wave(); got != "a enforce Progressing, b inform ToApply: Progressing" || recorded(w.record) != "" {
			t.Errorf("a is back: %s, recorded %q", got, recorded(w.record))
		}
		w.saysOfA(status.ValidationSucceeded)
		w.settle()
		if got := w.wave(); got != "a enforce Succeeded, b enforce Progressing: Progressing" {
			t.Errorf("a is found good: %s", got)
		}
	}
}

// O22: a cluster with a bad verdict is deselected, returns, and complies with inform. That ends no failure.
func TestNotFoundGoodItIsNotForgotten(t *testing.T) {
	w := validated(t, oneByOne)
	w.saysOfA(status.ValidationFailed)
	w.place("b", "prod: b")
	w.settle()
	w.place("b", "prod: a b")
	for range 2 {
		w.settle()
		w.evaluate("a")
		if w.replicas["a"].Compliance != policyv1.Compliant {
			t.Fatal("a does not comply")
		}
		w.saysOfA(status.ValidationSucceeded) // inform is not validated
		w.now = w.now.Add(time.Hour)
	}
	w.settle()
	if got := w.wave(); got != "a inform TimeOut, b inform ToApply: Failed" || recorded(w.record) != "a TimeOut" {
		t.Errorf("%s, recorded %q", got, recorded(w.record))
	}
	w.version++
	w.settle()
	if recorded(w.record) != "" || w.last.Breach != nil {
		t.Errorf("another version is wanted, and the record has %q", recorded(w.record))
	}
}

// O22: a verdict from before the replica was applied does not count, even where the report has no time of its own.
func TestVerdictFromBeforeTheStart(t *testing.T) {
	r := resolve(t, policy(policyv1.Enforce, oneByOne), to("a"))
	for _, test := range []struct {
		at   time.Time
		want status.RolloutStatus
	}{{noon.Add(-time.Second), status.Progressing}, {noon, status.Succeeded}} {
		p := propagate(t, r, []passes.Replica{{
			Cluster: "a", Version: "v2", Action: policyv1.Enforce, Applied: noon.Add(time.Millisecond), Compliance: policyv1.Compliant, // at an unknown time
			Verdict: &status.Verdict{Version: "v2", Result: status.ValidationSucceeded, Time: test.at},
		}}, rollout.Options{})
		if c, _ := p.Find("a"); c.RolloutStatus != test.want {
			t.Errorf("a verdict of %v: %s", test.at, c)
		}
	}
}

// O22: the policy API has no Validating. Counts and explanations say that the cluster is validated.
func TestSentencesSayThatItIsValidated(t *testing.T) {
	w := validated(t, oneByOne)
	p := w.last
	if c, _ := p.Find("a"); c.RolloutStatus != status.Progressing || p.Summary().Counts.Validating != 1 {
		t.Errorf("%s, %+v", c, p.Summary().Counts)
	}
	if blockers := p.Blockers(); len(blockers) != 1 || blockers[0].Status != status.Validating {
		t.Errorf("b waits for %v", blockers)
	}
	wants := func(e passes.Explanation) bool {
		return slices.ContainsFunc(e.Rollout, func(l rollout.Link) bool {
			return slices.ContainsFunc(l.Remedies, func(r rollout.Remedy) bool { return r.Type == rollout.RemedyValidate })
		})
	}
	if e := p.Explain("b"); !wants(e) {
		t.Errorf("b: %s", e)
	}
}
