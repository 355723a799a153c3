// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/status"
)

// While the API server does not answer live reads, nothing is planned.
func TestServerThatDoesNotAnswer(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	lost := errors.New("connection reset")
	h.fail = func(string, string) (error, bool) { return lost, false } // the write was not made
	h.catchUp()
	if _, _, err := h.look(); !errors.Is(err, lost) {
		t.Fatal(err)
	}
	h.fail = nil
	h.catchUp()
	answers := h.live
	h.live = deaf{answers, lost}
	if wrote, _, err := h.look(); wrote != "" || !errors.Is(err, lost) {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	h.live = answers
	h.wrote("create a")
}

// W16: from its first writes on the API server is down for an hour. Requests are as rare as the pauses say.
func TestAnAPIServerThatIsDownIsNotStormed(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	h.catchUp()
	lost := errors.New("connection reset")
	h.fail = func(string, string) (error, bool) { return lost, false }
	by, looks := manager.Paced(h.controller), 0
	for end := h.clock.Add(time.Hour); h.clock.Before(end) && looks < 1000; looks++ {
		result, err := by.Reconcile(t.Context(), reconcile.Request{NamespacedName: theSet})
		if err != nil || result.RequeueAfter == 0 {
			t.Fatal(result, err)
		}
		h.clock = h.clock.Add(result.RequeueAfter)
		h.must(h.caches.sets.Update(h.set())) // its status was written before
		h.live = deaf{h.live, lost}
	}
	if most := 10 + 60 + 2; looks > most {
		t.Errorf("%d looks in an hour, at most %d are due", looks, most)
	}
}

// deaf is a reader that gets no answer.
type deaf struct {
	client.Reader
	err error
}

func (d deaf) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return d.err
}

func TestDeletionWhoseAnswerIsLost(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(2)))
	h.wrote("create a, create b")
	h.answer(status.Succeeded, "a", "b")
	h.place("prod", "a")
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.fail = func(string, string) (error, bool) { return errors.New("connection reset"), true }
	h.catchUp()
	if wrote, _, err := h.look(); wrote != "delete b" || err == nil {
		t.Fatalf("wrote %q, %v", wrote, err)
	}
	h.fail = nil
	if wrote, _, err := h.look(); wrote != "" || err != nil {
		t.Errorf("wrote %q, %v", wrote, err)
	}
	h.wrote("")
}
