package main

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/status"
)

// The API server can't be asked either: nothing is planned.
func TestServerThatDoesNotAnswer(t *testing.T) {
	h := newHub(t)
	h.place("prod", "a", "b")
	h.create(ref("prod", atATime(1)))
	lost := errors.New("connection reset")
	h.fail = func(string, string) (error, bool) { return lost, false } // and it was not made
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
