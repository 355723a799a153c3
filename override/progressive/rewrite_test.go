// SPDX-License-Identifier: Apache-2.0

package progressive_test

import (
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/internal/scene"
	"github.com/cohort-ocm/cohort/override/progressive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O37: a report on content that was edited by hand does not count: the replicated policy is written again.
func TestAnswersToAnEditByHandDoNotCount(t *testing.T) {
	w := newWorld(t)
	s := &stage{world: w}
	s.setStrategy([]string{"ProgressivePerGroup", "deadline=10m"})
	w.bind("b", "p", "dev: a | prod: b")
	w.sync(rollout.Options{})
	w.now = w.now.Add(9 * time.Minute)
	s.do(scene.Command{Name: "change", Args: []string{"a"}})
	w.report("a", policyv1.Compliant)
	if w.sync(rollout.Options{}); w.has("b") != "" || w.status.Status[0].RolloutStatus != "Progressing" {
		t.Errorf("%v", w)
	}
	w.now = w.now.Add(9 * time.Minute)
	if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Progressing {
		t.Errorf("the deadline does not begin again:\n%v", w)
	}
	w.report("a", policyv1.Compliant)
	if w.sync(rollout.Options{}); w.has("b") != "v1" {
		t.Errorf("%v", w)
	}
}

// overridden gives a world under All, where the policy informs, and a binding enforces on b.
func overridden(t *testing.T) *world {
	w := newWorld(t)
	(&stage{world: w}).setStrategy([]string{"All", "deadline=10m"})
	w.set("inform", "spec", "remediationAction")
	w.bind("x", "first", "dev: a b")
	w.bind("y", "second", "dev: b")
	w.bindings[1].Enforce, w.bindings[1].SubFilter = true, true
	w.sync(rollout.Options{})
	w.report("a", policyv1.Compliant)
	w.report("b", policyv1.Compliant)
	if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Succeeded || w.action("b") != policyv1.Enforce {
		t.Fatalf("%v", w)
	}
	return w
}

func (w *world) action(cluster string) policyv1.RemediationAction {
	return w.replicas[cluster].policy.Spec.RemediationAction
}

// O36, O38, O40: the last successful version has the action that the bindings give it, so no cluster loses enforcement by it.
func TestTheLastSuccessfulVersionIsEnforcedByAnOverride(t *testing.T) {
	w := overridden(t)
	w.edit()
	w.sync(rollout.Options{})
	w.report("a", policyv1.Compliant)
	w.now = w.now.Add(10 * time.Minute)
	w.sync(rollout.Options{})
	if w.object.Status.RolloutStatus != status.Failed || w.has("b") != "v1" || w.action("b") != policyv1.Enforce {
		t.Errorf("offline:\n%v", w)
	}
	w.bind("x", "first", "dev: a b c")
	w.bind("y", "second", "dev: b c")
	w.bindings[1].Enforce, w.bindings[1].SubFilter = true, true
	if w.sync(rollout.Options{}); w.has("c") != "v1" || w.action("c") != policyv1.Enforce {
		t.Errorf("joins:\n%v", w)
	}
}

// O37: where a binding begins to enforce, or no longer does, a cluster that has the version gets the action at once, as after an edit by hand.
func TestAChangedOverrideIsWritten(t *testing.T) {
	w := overridden(t)
	w.bindings[1].Enforce = false
	if w.sync(rollout.Options{}); w.action("b") != policyv1.Inform || w.status.Status[1].RolloutStatus != "Succeeded" {
		t.Errorf("succeeded:\n%v", w)
	}
	w.edit()
	w.sync(rollout.Options{})
	w.report("b", policyv1.NonCompliant)
	w.bindings[1].Enforce = true
	w.now = w.now.Add(10 * time.Minute)
	w.step(rollout.Options{})
	w.bindings[1].Enforce = false
	w.now = w.now.Add(10 * time.Minute)
	if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Failed || w.has("b") != "v2" || w.action("b") != policyv1.Inform {
		t.Errorf("%v", w)
	}
	w.bindings[1].Enforce = true
	if w.sync(rollout.Options{}); w.has("b") != "v2" || w.action("b") != policyv1.Enforce || w.status.Status[1].RolloutStatus != "Progressing" {
		t.Errorf("failed:\n%v", w)
	}
}

// O37: the record has a cluster that is bound while the group in which it started is gone. Somebody edits its replica. The record settles while the
// write is not made: it is stored first.
func TestTheRecordOfAClusterThatWasEditedSettles(t *testing.T) {
	w := newWorld(t)
	s := &stage{world: w}
	s.setStrategy([]string{"ProgressivePerGroup", "deadline=10m"})
	w.bind("b", "p", "dev: a | prod: b")
	w.sync(rollout.Options{})
	w.bind("b", "p", "new: c | prod: b a")
	if w.sync(rollout.Options{}); len(w.last.Plan.Record.Deselected) != 1 {
		t.Fatalf("the record is %+v", w.last.Plan.Record)
	}
	w.now = w.now.Add(time.Minute)
	w.check = func(*progressive.Propagation) { w.now = w.now.Add(time.Second) }
	s.do(scene.Command{Name: "change", Args: []string{"a"}})
	if w.sync(rollout.Options{}); w.object.Status.RolloutStatus != status.Progressing {
		t.Errorf("%v", w)
	}
}
