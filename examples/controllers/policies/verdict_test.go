// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// judged is a hub on which a is enforced and complies, and is being validated. B waits.
func judged(t *testing.T, limits string) *hub {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("copyPolicyMetadata: true\nremediationAction: enforce\nrolloutStrategy: {type: Progressive, progressive: {maxConcurrency: 1" + limits + "}}\n" + templates)
	h.annotate(validateAnnotation, "true")
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	h.report(policyv1.Compliant, "a")
	h.wrote("")
	return h
}

// say writes the verdict annotation of a replica, as an operator does.
func (h *hub) say(cluster, text string) {
	h.t.Helper()
	object := h.replica(cluster).DeepCopy()
	annotations := object.GetAnnotations()
	annotations[verdictAnnotation] = strings.ReplaceAll(text, "VERSION", h.stamped())
	object.SetAnnotations(annotations)
	h.store(object)
}

const (
	yes = `{"result": "SUCCEEDED", "version": "VERSION"}`
	no  = `{"result": "FAILED", "version": "VERSION", "message": "the mesh has no route to store 7"}`
)

// A cluster that complies keeps its slot until it has a good verdict. minSuccessTime begins at the verdict. The verdict's time is
// stored, so a restart does not change it.
func TestAClusterKeepsItsSlotUntilItHasAGoodVerdict(t *testing.T) {
	h := judged(t, ", minSuccessTime: 5m")
	h.clock = h.clock.Add(time.Hour)
	h.wrote("")
	if got := h.status(); got != "Progressing: a Compliant Progressing, b ToApply" {
		t.Error(got)
	}
	h.say("a", strings.ReplaceAll(yes, "VERSION", "yesterday"))
	h.wrote("policies.etcd: note")
	h.wrote("")
	h.say("a", yes)
	h.catchUp()
	if wrote, recheck, err := h.look(); wrote != "policies.etcd: note" || recheck != kit.Gather || err != nil {
		t.Fatalf("wrote %q, %v, %v", wrote, recheck, err)
	}
	if v, err := status.VerdictOf(h.replica("a"), "a", time.Time{}); err != nil || !v.Time.Equal(h.clock) {
		t.Fatalf("noted %+v, %v", v, err)
	}
	if wrote, recheck, err := h.look(); wrote != "" || recheck == 0 || err != nil { // the cache is behind
		t.Fatalf("wrote %q, %v, %v", wrote, recheck, err)
	}
	h.clock = h.clock.Add(4 * time.Minute)
	h.restart()
	h.wrote("")
	if got := h.status(); got != "Progressing: a Compliant Succeeded, b ToApply" {
		t.Error(got)
	}
	h.clock = h.clock.Add(time.Minute)
	h.wrote("b: update enforce")
	h.report(policyv1.Compliant, "b")
	h.wrote("")
	if got := h.status(); got != "Compliant Progressing: a Compliant Succeeded, b Compliant Progressing" {
		t.Error(got)
	}
}

// A bad verdict stops the rollout. A missing verdict does, too, once the deadline has passed since the success.
func TestAClusterWithoutAGoodVerdictStopsAll(t *testing.T) {
	h := judged(t, ", progressDeadline: 10m")
	h.say("a", no)
	h.wrote("policies.etcd: note")
	h.wrote("")
	if got := h.status(); got != "Failed: a Compliant Failed, b ToApply" {
		t.Error(got)
	}
	h.say("a", yes) // the last word counts
	h.wrote("policies.etcd: note")
	h.wrote("b: update enforce")

	h = judged(t, ", progressDeadline: 10m")
	h.clock = h.clock.Add(10 * time.Minute)
	h.wrote("")
	if got := h.status(); got != "Failed: a Compliant TimeOut, b ToApply" {
		t.Error(got)
	}
}

// A verdict is about what was enforced: the write of the start deletes an earlier one.
func TestAVerdictOfBeforeTheStartCountsForNothing(t *testing.T) {
	h := judged(t, "")
	h.say("b", yes)
	h.wrote("policies.etcd: note")
	h.clock = h.clock.Add(time.Minute)
	h.say("a", yes)
	h.wrote("policies.etcd: note")
	h.wrote("b: update enforce")
	h.report(policyv1.Compliant, "b")
	h.wrote("")
	if got := h.status(); got != "Compliant Progressing: a Compliant Succeeded, b Compliant Progressing" {
		t.Error(got)
	}
}

// No replica gets the root policy's annotations about validation. A verdict there would be a good verdict on all clusters.
func TestNoReplicaGetsTheVerdictOfTheRoot(t *testing.T) {
	h := judged(t, "")
	h.annotate(verdictAnnotation, strings.ReplaceAll(yes, "VERSION", h.stamped()))
	h.place("prod", "a", "b", "c")
	h.wrote("c: create inform")
	for name := range h.replica("c").GetAnnotations() {
		if name == verdictAnnotation || name == validateAnnotation {
			t.Errorf("a replica has %s", name)
		}
	}
	h.annotate(validateAnnotation, "false")
	h.wrote("b: update enforce")
}

// With an unreadable verdict no cluster starts, and an event has its path. The same holds for the root's annotation. The policy can
// be disabled nevertheless.
func TestAVerdictThatCannotBeRead(t *testing.T) {
	for _, wrong := range []string{"verdict", "validate"} {
		h := judged(t, "")
		h.events()
		want := "Warning Invalid metadata.annotations[" + validateAnnotation + "]"
		if wrong == "verdict" {
			h.say("a", "yes")
			want = "Warning Invalid cluster a: metadata.annotations[" + verdictAnnotation + "]"
		} else {
			h.annotate(validateAnnotation, "yes")
		}
		h.wrote("")
		if told := h.events(); !slices.ContainsFunc(told, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("told %q", told)
		}
		h.policy("disabled: true\n" + progressive(1))
		h.wrote("a: delete, b: delete")
	}
}

// Where a verdict cannot be noted its cluster waits for validation, and all else goes on.
func TestAVerdictThatIsRefused(t *testing.T) {
	h := judged(t, ", progressDeadline: 10m")
	h.say("a", yes)
	h.fail = func(write string) (error, bool) {
		if write == "policies.etcd: note" {
			return apierrors.NewForbidden(policies.GroupResource(), "policies.etcd", nil), false
		}
		return nil, false
	}
	h.events()
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, "Warning Refused cluster a") {
		t.Errorf("told %s", told)
	}
	h.clock = h.clock.Add(10 * time.Minute)
	h.catchUp()
	_, _, _ = h.look()
	if got := h.status(); got != "Failed: a Compliant TimeOut, b ToApply" {
		t.Error(got)
	}
	h.fail = nil
	h.wrote("policies.etcd: note")
	h.wrote("b: update enforce")
}

// A policy starts no further cluster once its clusters are to be validated, also in the middle of a list of writes.
func TestValidationCountsAtOnce(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(2))
	h.wrote("a: create inform, b: create inform")
	h.catchUp()
	h.fail = func(write string) (error, bool) {
		h.fail = nil
		h.annotate(validateAnnotation, "true")
		h.catchUp()
		return nil, true
	}
	if wrote, recheck, err := h.look(); wrote != "a: update enforce" || recheck != time.Millisecond || err != nil {
		t.Errorf("wrote %q, %v, %v", wrote, recheck, err)
	}
}
