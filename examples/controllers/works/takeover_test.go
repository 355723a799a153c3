// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// takeOverLate starts a process whose caches are as stale as before.
func (h *hub) takeOverLate() {
	before := h.caches
	h.restart()
	h.caches = before
}

// A new leader has had running caches all along. They may not show yet what the leader before wrote last.
func TestProcessTakesOverWithCachesThatAreBehind(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")

	h.takeOverLate()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter == 0 || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("") // a is in flight
}

// Works that the leader before deleted are gone, even if the caches show them.
func TestProcessTakesOverWhatWasDeleted(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.catchUp()
	h.must(h.server.Delete(t.Context(), h.work("a")))

	h.takeOverLate()
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter == 0 || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("create a")
}

// A template that the leader before has seen is not rolled back by a stale cache.
func TestProcessTakesOverWithASetThatIsBehind(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	before := h.caches.set(theSet)
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.ManifestWorkTemplate = template("two") })
	h.wrote("update a")

	h.restart()
	h.must(h.caches.sets.Update(before))
	if wrote, result, err := h.look(); wrote != "" || result.RequeueAfter != kit.Gather || err != nil {
		t.Errorf("wrote %q, %+v, %v", wrote, result, err)
	}
	h.wrote("")
}

// A process lists once.
func TestProcessTakesOverOnce(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.live = client.Reader(nil)
	h.wrote("")
}
