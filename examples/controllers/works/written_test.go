package main

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/status"
)

func TestWhatTheCacheHasToShow(t *testing.T) {
	work := func(uid, version string, deleting bool) *workv1.ManifestWork {
		w := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: version}}
		if deleting {
			w.DeletionTimestamp = &metav1.Time{}
		}
		return w
	}
	for name, c := range map[string]struct {
		mark  mark
		cache *workv1.ManifestWork
		shown bool
	}{
		"nothing yet of a create":           {mark{resourceVersion: "10"}, nil, false},
		"an older version":                  {mark{resourceVersion: "10"}, work("1", "9", false), false},
		"what was written":                  {mark{resourceVersion: "10"}, work("1", "10", false), true},
		"a later version":                   {mark{resourceVersion: "9"}, work("1", "10", false), true},
		"not yet gone":                      {mark{gone: "1"}, work("1", "10", false), false},
		"gone":                              {mark{gone: "1"}, nil, true},
		"going":                             {mark{gone: "1"}, work("1", "10", true), true},
		"gone, and another there by now":    {mark{gone: "1"}, work("2", "10", false), true},
		"gone for the server, but not here": {mark{gone: "*"}, work("2", "10", false), false},
	} {
		if got := c.mark.shown(c.cache); got != c.shown {
			t.Errorf("%s: shown is %v", name, got)
		}
	}
}

func TestRefusedIsWhatWasCertainlyNotWritten(t *testing.T) {
	of := schema.GroupResource{Resource: "manifestworks"}
	for _, c := range []struct {
		err     error
		refused bool
	}{
		{apierrors.NewNotFound(of, "a"), true},
		{apierrors.NewForbidden(of, "a", nil), true},
		{apierrors.NewTooManyRequestsError("later"), true},
		{apierrors.NewConflict(of, "a", nil), false},      // the cache is behind
		{apierrors.NewAlreadyExists(of, "a"), false},      // likewise
		{apierrors.NewTimeoutError("too slow", 1), false}, // it may be done all the same
		{apierrors.NewInternalError(errors.New("oh")), false},
		{context.DeadlineExceeded, false},
		{errors.New("connection reset"), false},
	} {
		if got := refused(c.err); got != c.refused {
			t.Errorf("%v: refused is %v", c.err, got)
		}
	}
}

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
