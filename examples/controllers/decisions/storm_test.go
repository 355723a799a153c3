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
)

// W16: from its first writes on the API server is down for an hour. Requests are as rare as the pauses say.
func TestAnAPIServerThatIsDownIsNotStormed(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.place(groupsOf(1))
	h.catchUp()
	lost := errors.New("connection reset")
	h.fail = func(string) (error, bool) { return lost, false }
	by, looks := manager.Paced(h.controller), 0
	for end := h.clock.Add(time.Hour); h.clock.Before(end) && looks < 1000; looks++ {
		result, err := by.Reconcile(t.Context(), reconcile.Request{NamespacedName: thePlacement})
		if err != nil || result.RequeueAfter == 0 {
			t.Fatal(result, err)
		}
		h.clock = h.clock.Add(result.RequeueAfter)
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
