// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

const prefix = "cohort.open-cluster-management.io/"

// waiting is a hub on which a and b inform, and no cluster is enforced yet.
func waiting(t *testing.T, annotations ...string) *hub {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("copyPolicyMetadata: true\n" + progressive(1))
	for i := 0; i < len(annotations); i += 2 {
		h.annotate(annotations[i], annotations[i+1])
	}
	h.wrote("a: create inform, b: create inform")
	return h
}

// stamped is the version of the replica of a.
func (h *hub) stamped() string {
	version, _, _ := strings.Cut(h.replica("a").GetAnnotations()[prefix+"version"], " ") // and the action
	return version
}

// While the policy is paused no cluster is enforced. No replica gets the pause.
func TestAPauseEnforcesNoCluster(t *testing.T) {
	h := waiting(t, prefix+"pause", "true")
	h.wrote("")
	h.restart()
	h.wrote("")
	for name := range h.replica("a").GetAnnotations() {
		if strings.HasPrefix(name, prefix) && !slices.Contains([]string{"version", "applied", "reported"}, strings.TrimPrefix(name, prefix)) {
			t.Errorf("a replica has %s", name)
		}
	}
	h.annotate(prefix+"pause", "false")
	h.wrote("a: update enforce")
}

// A pause counts at once, also in the middle of a list of writes.
func TestAPauseEndsThePropagationThatIsCarriedOut(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(2))
	h.wrote("a: create inform, b: create inform")
	h.catchUp()
	h.fail = func(write string) (error, bool) {
		if write == "a: update enforce" {
			h.fail = nil
			h.annotate(prefix+"pause", "true")
			h.catchUp()
		}
		return nil, true
	}
	if wrote, recheck, err := h.look(); wrote != "a: update enforce" || recheck != time.Millisecond || err != nil {
		t.Errorf("wrote %q, %v, %v", wrote, recheck, err)
	}
	h.wrote("")
}

// A gate is opened for the version that an operator looked at.
func TestAGateOfAPolicyIsOpenedForAVersion(t *testing.T) {
	h := waiting(t, prefix+"gates", "0", prefix+"open-gates", "0 of yesterday")
	h.wrote("")
	h.annotate(prefix+"open-gates", "0 of "+h.stamped())
	h.wrote("a: update enforce")
	h.report(policyv1.Compliant, "a")
	h.wrote("b: update enforce")
}

// A frozen cluster is not enforced, and no cluster waits for it; with block the other clusters wait. Removing the annotation unfreezes it.
func TestAFrozenClusterOfAPolicyIsNotEnforced(t *testing.T) {
	h := waiting(t, prefix+"freeze", "a maintenance of store 7")
	h.wrote("b: update enforce")
	h.report(policyv1.Compliant, "b")
	h.wrote("")
	h.restart()
	h.wrote("")
	h.annotate(prefix+"freeze", "")
	h.wrote("a: update enforce")

	h = waiting(t, prefix+"block", "a audit")
	h.wrote("b: update enforce") // in one pool no cluster comes after a
	h.report(policyv1.Compliant, "b")
	h.wrote("")
}

// A policy is enforced on the clusters of the allowlist for its version.
func TestAPolicyIsEnforcedOnTheAllowlist(t *testing.T) {
	h := waiting(t, prefix+"allowlist", "b of yesterday")
	h.wrote("")
	h.annotate(prefix+"allowlist", "b of "+h.stamped())
	h.wrote("b: update enforce")
	h.report(policyv1.Compliant, "b")
	h.wrote("")
}

// A policy has no attempts: a cluster evaluates it again by itself. A request for one is refused with an event.
func TestAPolicyIsNotTriedAgain(t *testing.T) {
	h := waiting(t, prefix+"retry", "1 of yesterday")
	h.wrote("a: update enforce")
	h.report(policyv1.NonCompliant, "a")
	h.wrote("")
	h.annotate(prefix+"retry", "1 of "+h.stamped())
	h.events()
	h.wrote("")
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, "Warning Invalid attempt") {
		t.Errorf("told %s", told)
	}
}

// With an unreadable annotation no cluster is enforced, and an event has its path. The policy can be disabled all the same.
func TestApprovalsOfAPolicyThatCannotBeRead(t *testing.T) {
	h := waiting(t, prefix+"pause", "true")
	h.annotate(prefix+"gates", "?")
	h.annotate(prefix+"pause", "false")
	h.events()
	h.wrote("")
	if told := strings.Join(h.events(), "\n"); !strings.Contains(told, "Warning Invalid metadata.annotations["+prefix+"gates][0]") {
		t.Errorf("told %s", told)
	}
	h.policy("disabled: true\n" + progressive(1))
	h.annotate(prefix+"gates", "?")
	h.wrote("a: delete, b: delete")
}
