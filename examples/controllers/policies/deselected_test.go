// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// started is a hub on which a is enforced and has not answered, and b waits.
func started(t *testing.T) *hub {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	return h
}

// deselecting is a hub on which a is enforced, has not answered, and has just been deselected. The record is not stored yet.
func deselecting(t *testing.T) *hub {
	h := started(t)
	h.wrote("")
	h.place("prod", "b")
	return h
}

// annotate sets an annotation of the root policy, as a user does.
func (h *hub) annotate(name, value string) {
	root := h.policies[thePolicy.String()].DeepCopy()
	annotations := root.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	root.SetAnnotations(annotations)
	h.store(root)
}

// A deselected cluster is recorded in the root policy, and the record is read back, before its replica is deleted. The cluster keeps
// its slot until an operator ignores it.
func TestADeselectedClusterCountsUntilItIsIgnored(t *testing.T) {
	h := deselecting(t)
	h.wrote("etcd: note")
	h.clock = h.clock.Add(grace)
	if wrote, recheck, err := h.look(); wrote != "" || recheck != kit.Gather || err != nil {
		t.Fatalf("by an old cache it wrote %q, %v, %v", wrote, recheck, err)
	}
	h.wrote("") // the grace begins when the groups are seen without it
	h.clock = h.clock.Add(grace)
	h.wrote("a: delete")
	for range 2 {
		h.catchUp()
		if wrote, recheck, err := h.look(); wrote != "" || recheck != writes.Patience || err != nil { // for the ManagedCluster
			t.Fatalf("wrote %q, %v, %v", wrote, recheck, err)
		}
		if got := h.recorded(); got != "a Progressing" {
			t.Errorf("recorded %q", got)
		}
		if got := h.status(); got != "Progressing: a Progressing, b ToApply" {
			t.Error(got)
		}
		h.clock = h.clock.Add(writes.Patience)
		h.restart()
	}
	h.annotate(ignoreAnnotation, "x, a")
	h.wrote("etcd: note")
	h.wrote("b: update enforce")
	if got := h.recorded(); got != "" {
		t.Errorf("recorded %q", got)
	}
}

// A deselected cluster without a ManagedCluster is ignored. No event tells of that, so the controller reads again.
func TestAClusterWithoutAManagedClusterIsIgnored(t *testing.T) {
	h := deselecting(t)
	h.wrote("etcd: note")
	h.wrote("")
	asked := h.asked
	if _, recheck, err := h.look(); recheck == 0 || recheck > writes.Patience || err != nil || h.asked != asked {
		t.Errorf("looks again after %v, %v, and has asked %d times", recheck, err, h.asked)
	}
	h.missing = map[string]bool{"a": true}
	h.clock = h.clock.Add(writes.Patience)
	h.wrote("etcd: note")
	h.wrote("a: delete, b: update enforce")
}

// Users write the root policy as well. Nothing of theirs is lost, and no replica is deleted before the record is stored.
func TestRootThatAUserWritesMeanwhile(t *testing.T) {
	h := deselecting(t)
	h.catchUp()
	h.annotate("team", "platform")
	if wrote, _, err := h.look(); wrote != "" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.wrote("etcd: note")
	if got := h.policies[thePolicy.String()].GetAnnotations()["team"]; got != "platform" || h.recorded() != "a Progressing" {
		t.Errorf("team %q, recorded %q", got, h.recorded())
	}
}

// Where the answer to the record is lost, the API server is asked. A controller that dies before the delete forgets nothing.
func TestAnswerToTheRecordIsLost(t *testing.T) {
	h := deselecting(t)
	h.catchUp()
	h.fail = func(string) (error, bool) { return errors.New("connection reset"), true }
	if wrote, _, err := h.look(); wrote != "etcd: note" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.fail = nil
	if wrote, recheck, err := h.look(); wrote != "" || recheck != kit.Gather || err != nil {
		t.Errorf("by an old cache it wrote %q, %v, %v", wrote, recheck, err)
	}
	h.wrote("")
	h.restart()
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.wrote("a: delete")
	h.wrote("")
	if got := h.recorded(); got != "a Progressing" {
		t.Errorf("recorded %q", got)
	}
}

// The record is of one version. No replica gets it, nor the names of ignored clusters.
func TestRecordIsOfTheRootAlone(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy("copyPolicyMetadata: true\n" + progressive(1))
	h.annotate("owner", "platform")
	h.annotate(ignoreAnnotation, "x")
	h.wrote("a: create inform, b: create inform")
	h.wrote("a: update enforce")
	h.place("prod", "b")
	h.wrote("etcd: note")
	h.policy("copyPolicyMetadata: true\n" + strings.ReplaceAll(progressive(1), "etcd-encryption", "another"))
	h.wrote("etcd: note")
	h.wrote("b: update inform")
	for name := range h.replica("b").GetAnnotations() {
		if name == ignoreAnnotation || name == "cohort.open-cluster-management.io/left" {
			t.Errorf("a replica has %s", name)
		}
	}
	if h.replica("b").GetAnnotations()["policy.open-cluster-management.io/owner"] == "" && h.replica("b").GetAnnotations()["owner"] == "" {
		t.Errorf("a replica has only %v", h.replica("b").GetAnnotations())
	}
	h.wrote("b: update enforce")
}

// A record that cannot be read is no empty record: nothing goes on until an operator fixes it.
func TestRecordThatCannotBeRead(t *testing.T) {
	h := deselecting(t)
	h.report(policyv1.NonCompliant, "a")
	h.annotate("cohort.open-cluster-management.io/left", "{")
	h.wrote("")
	if told := h.events(); len(told) == 0 || !strings.HasPrefix(told[len(told)-1], "Warning Invalid metadata.annotations") {
		t.Errorf("told %q", told)
	}
	h.annotate("cohort.open-cluster-management.io/left", "{}")
	h.wrote("etcd: note")
}
