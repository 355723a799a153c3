// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// A process begins with a list that may come from an API server that is behind. It need not show what the process before
// has enforced.
func TestProcessTakesOverWithACacheThatIsBehind(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform, b: create inform")
	h.report(policyv1.NonCompliant, "a", "b")
	h.wrote("a: update enforce")
	h.report(policyv1.Compliant, "a")
	h.wrote("b: update enforce")
	h.report(policyv1.NonCompliant, "b") // it fails: b is to be waited for

	h.restart() // with a cache that shows b as it waits
	h.waitsForItsCaches()
	h.wrote("")
}

// What the process before deleted is not there, whatever the cache shows.
func TestProcessTakesOverWhatWasDeleted(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.policy(progressive(1))
	h.wrote("a: create inform")
	h.catchUp()
	delete(h.policies, "a/policies.etcd")

	h.restart()
	h.waitsForItsCaches()
	h.wrote("a: create inform")
}

// Content that the process before has replaced does not come back.
func TestProcessTakesOverWithAPolicyThatIsBehind(t *testing.T) {
	h := informed(t)
	h.catchUp()
	before, _, _ := h.caches.policies.GetByKey(thePolicy.String())
	h.policy("remediationAction: inform\nseverity: high\n" + templates)
	h.wrote("a: update inform")

	h.restart()
	h.catchUp()
	h.must(h.caches.policies.Update(before))
	h.waitsForItsCaches()
	h.wrote("")
}

// A process asks once.
func TestProcessTakesOverOnce(t *testing.T) {
	h := informed(t)
	h.wrote("")
	if h.lists != 1 {
		t.Errorf("asked %d times", h.lists)
	}
}

// informed is a hub with a policy that has been written for one cluster.
func informed(t *testing.T) *hub {
	h := newHub(t)
	h.place("prod", "a")
	h.bind("prod", "prod", itself(), "")
	h.policy("remediationAction: inform\n" + templates)
	h.wrote("a: create inform")
	return h
}

// waitsForItsCaches fails unless a reconcile writes nothing and comes back once the caches may show more.
func (h *hub) waitsForItsCaches() {
	h.t.Helper()
	if wrote, recheck, err := h.look(); wrote != "" || recheck == 0 || err != nil {
		h.t.Errorf("wrote %q, %v, %v", wrote, recheck, err)
	}
}
