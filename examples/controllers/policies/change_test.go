// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// What was read is read again as soon as one of its objects has changed.
func TestWhatIsBoundChanges(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.set("policies", "base", "etcd")
	h.bind("all", "prod", policyv1.Subject{Kind: "PolicySet", Name: "base"}, "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform, b: create inform")
	h.wrote("")

	h.bind("all", "prod", policyv1.Subject{Kind: "PolicySet", Name: "base"}, "{bindingOverrides: {remediationAction: enforce}}")
	h.wrote("a: update enforce, b: update enforce")
	h.bind("all", "prod", policyv1.Subject{Kind: "PolicySet", Name: "base"}, "")
	h.wrote("a: update inform, b: update inform")

	set := &policySet{PolicySet: get[policySet](h.caches.sets, types.NamespacedName{Namespace: "policies", Name: "base"}).PolicySet}
	set.Spec.Exclusions = []policyv1.Exclusion{{PolicyName: "etcd", ClusterNames: []string{"b"}}}
	h.must(h.caches.sets.Update(set))
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.wrote("b: delete")

	h.place("prod", "a", "c")
	h.wrote("c: create inform")
}

// An object that has a finalizer keeps it, and one that is being deleted is not written.
func TestReplicaWithAFinalizer(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(2))
	h.wrote("a: create inform, b: create inform")
	object := h.replica("a").DeepCopy()
	object.SetFinalizers([]string{"example.com/mine"})
	h.store(object)
	object = h.replica("b").DeepCopy()
	object.SetDeletionTimestamp(&metav1.Time{Time: h.clock})
	h.store(object)
	h.wrote("a: update enforce")
	if got := h.replica("a").GetFinalizers(); len(got) != 1 {
		t.Errorf("finalizers %v", got)
	}
	delete(h.policies, "b/policies.etcd")
	h.wrote("b: create inform")
	h.wrote("b: update enforce")
}

// OCM's schema of today has no rolloutStatus. What has started stands in the annotations, and the status is not written
// again and again.
func TestSchemaWithoutRolloutStatus(t *testing.T) {
	h := newHub(t)
	h.drops = true
	h.place("prod", "a", "b", "c")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform, c: create inform")
	h.wrote("a: update enforce")
	h.wrote("")
	h.report(policyv1.Compliant, "a")
	h.wrote("b: update enforce")
	before := h.patches
	h.wrote("")
	if n := h.patches - before; n > 1 { // the root's
		t.Errorf("%d patches", n)
	}
}

// A cluster that is in flight with the version before is rolled back before another one starts, whatever their names. Where
// that fails, no cluster starts until it is done.
func TestTakesBackBeforeItStarts(t *testing.T) {
	h := started(t)
	h.report(policyv1.Compliant, "a")
	h.wrote("b: update enforce")
	h.policy(strings.ReplaceAll(progressive(1), "etcd-encryption", "another"))
	h.fail = func(write string) (error, bool) {
		if write == "b: update inform" {
			return errors.New("connection refused"), false
		}
		return nil, true
	}
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "a: update inform" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "" || err == nil {
		t.Fatalf("wrote %q, %v: a must wait until b is rolled back", wrote, err)
	}
	h.fail = nil
	h.catchUp()
	if _, _, err := h.look(); err != nil || strings.Join(h.inOrder, ", ") != "b: update inform, a: update enforce" {
		t.Errorf("wrote %q, %v", h.inOrder, err)
	}
}

// A report on the first pass is no answer to the second one, at whatever moment of a reconcile it comes before that is written.
func TestReportBeforeTheSecondPassIsWritten(t *testing.T) {
	before := 0
	for moment, calls := 1, 1; moment <= calls; moment++ {
		h := newHub(t)
		h.place("prod", "a", "b")
		h.bind("prod", "prod", itself(), "")
		h.policy(progressive(1))
		h.wrote("a: create inform, b: create inform")
		h.catchUp()
		calls = 0
		h.controller.now = func() time.Time {
			informs, _, _ := unstructured.NestedString(h.replica("a").Object, "spec", "remediationAction")
			if calls++; calls == moment && informs == "inform" {
				before++
				h.report(policyv1.NonCompliant, "a")
				h.catchUp()
			}
			return h.clock
		}
		_, _, _ = h.look() // a conflict, perhaps
		for range 2 {
			h.catchUp()
			_, _, err := h.look()
			h.must(err)
		}
		if got := h.status(); !strings.Contains(got, "a NonCompliant Progressing") && !strings.Contains(got, "a Progressing") {
			t.Errorf("the report comes when the time is asked for the %d. time: a has not answered yet: %s", moment, got)
		}
	}
	if before == 0 {
		t.Error("no report came before the write")
	}
}
