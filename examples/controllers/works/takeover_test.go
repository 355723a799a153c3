package main

import (
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// takeOverLate starts a process whose caches show what they showed before.
func (h *hub) takeOverLate() {
	before := h.caches
	h.restart()
	h.caches = before
}

// Who becomes the leader has had caches all along. They need not show yet what the leader before wrote last.
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

// What the leader before deleted is not there, whatever the caches show.
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

// A template that the leader before has seen is not taken back.
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

// A process asks once.
func TestProcessTakesOverOnce(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a")
	h.create(ref("prod", atATime(1)))
	h.wrote("create a")
	h.live = client.Reader(nil)
	h.wrote("")
}
