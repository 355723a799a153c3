// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/decisionupdate"
)

// requests records the requests of an application in order, as "<verb> <object>".
func (s *server) record() *[]string {
	var requests []string
	inner := s.before
	s.before = func(verb, name string) error {
		requests = append(requests, verb+" "+name)
		if inner != nil {
			return inner(verb, name)
		}
		return nil
	}
	return &requests
}

// brief writes the writes of an outcome with the parts that are done, and a ? where the last request got no answer.
func brief(outcome decisionupdate.Outcome) string {
	var all []string
	for _, w := range outcome.Writes {
		verb := string(w.Verb)
		if w.Surge {
			verb = "surge"
		}
		s := verb + " " + w.Name()
		for i, part := range w.Done {
			s += string(" ,"[min(i, 1)]) + string(part)
		}
		if w.Unknown {
			s += " ?"
		} else if !w.Complete {
			s += " …"
		}
		all = append(all, s)
	}
	return strings.Join(all, ", ")
}

func TestApplyDoesWhatTheUpdateSays(t *testing.T) {
	s := newServer(state("w1 0: a b", "w2 0: c d", "w3 1: e", "w4 1: z")...)
	desired := state("w1 0: a d", "w2 0: b c", "w3 2: e f", "w5 2: g", "w6 3:")
	update := mustDiff(t, s.list(), desired, rolling)
	requests := s.record()

	outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
	if err != nil {
		t.Fatal(err)
	}
	wantStored(t, s, desired)

	t.Run("D7 one request for each part", func(t *testing.T) {
		want := []string{
			"updateStatus w1", "update w3", "updateStatus w3", "delete w4", "create w5", "updateStatus w5", "create w6",
			"updateStatus w2",
			"updateStatus w1",
		}
		if diff := cmp.Diff(want, *requests); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("D11 it reports what it did", func(t *testing.T) {
		var stored []string
		for _, o := range outcome.Stored {
			stored = append(stored, o.Name+"@"+o.ResourceVersion)
			if now, _ := s.Get(t.Context(), o.Name, metav1.GetOptions{}); !cmp.Equal(now, o) {
				t.Errorf("%s is not as the server has it: %s", o.Name, cmp.Diff(now, o))
			}
		}
		got := []string{outcome.String(), brief(outcome), strings.Join(stored, " ")}
		want := []string{
			"PlacementDecisions: 2 created, 3 updated, 1 deleted; 0 writes retried; before these, 1 more update only added clusters, so that no cluster was missing at any time",
			"surge w1 status, update w3 labels,status, delete w4, create w5 labels,status, create w6 labels, update w2 status, update w1 status",
			"w1@12 w2@11 w3@7 w5@9 w6@10",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A group label that isn't desired is removed, others stay.
func TestApplyRemovesGroupLabels(t *testing.T) {
	for _, stored := range []string{"w1 0/old: a", "w1 0: a"} {
		s := newServer(state(stored)...)
		desired := state("w1 0: a")
		delete(desired[0].Labels, "cluster.open-cluster-management.io/decision-group-name")
		if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), mustDiff(t, s.list(), desired, rolling)); err != nil {
			t.Fatal(err)
		}
		wantStored(t, s, desired)
	}
}

// D10: errors of a step are joined and name their objects; the rest of the step is done, and nothing of the
// next step.
func TestFailureEndsTheUpdateAfterItsStep(t *testing.T) {
	s := newServer(state("w1: a", "w2: b", "w3: c", "w4: d")...)
	update := mustDiff(t, s.list(), state("w1:", "w2: b a", "w3: c x", "w4: d y"), rolling)
	want(t, update, "step 1: update PlacementDecision w2 (status): add a", "step 1: update PlacementDecision w3 (status): add x", "step 1: update PlacementDecision w4 (status): add y", "step 2: update PlacementDecision w1 (status): remove a")
	s.before = func(_, name string) error {
		switch name {
		case "w2":
			return apierrors.NewInternalError(errors.New("etcd is away"))
		case "w4":
			return apierrors.NewTooManyRequests("later", 1)
		}
		return nil
	}
	requests := s.record()
	outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
	wantErr := "update PlacementDecision w2: Internal error occurred: etcd is away\nupdate PlacementDecision w4: later"
	if err == nil || err.Error() != wantErr || !apierrors.IsInternalError(err) {
		t.Errorf("got  %v\nwant %s", err, wantErr)
	}
	if got := outcome.String(); got != "PlacementDecisions: 0 created, 1 updated, 0 deleted; 0 writes retried; 1 with unknown outcome" || len(*requests) != 3 {
		t.Errorf("D11: %s, requests %v", got, *requests)
	}
}

// D10: the writes of a step overlap, but never more than are allowed; steps never overlap.
func TestWritesRunInParallelWithinBounds(t *testing.T) {
	for _, test := range []struct{ parallel, want int32 }{{0, 1}, {1, 1}, {4, 4}, {100, 20}} {
		synctest.Test(t, func(t *testing.T) {
			var running, most, done atomic.Int32
			s := newServer(divided(1, numbers(1, 20))...)
			update := mustDiff(t, s.list(), append(divided(1, numbers(101, 120)), state("x: cluster-0000001")...), rolling)
			s.before = func(_, name string) error {
				// The second step is web-decision-1 alone. The first has 19 updates and a create of two
				// requests.
				if name == "web-decision-1" && done.Load() != 21 {
					t.Errorf("the second step begins after %d requests of the first", done.Load())
				}
				most.Store(max(most.Load(), running.Add(1)))
				time.Sleep(time.Second) // of the test's own clock: all that may start does
				running.Add(-1)
				done.Add(1)
				return nil
			}
			if _, err := (decisionupdate.Applier{Client: s, Parallel: int(test.parallel)}).Apply(t.Context(), update); err != nil {
				t.Fatal(err)
			}
			if most.Load() != test.want {
				t.Errorf("Parallel %d: %d writes at a time, want %d", test.parallel, most.Load(), test.want)
			}
		})
	}
}

// D10: the context is honoured between requests, also between labels and status; what was done until then is
// reported.
func TestContextEndsTheUpdate(t *testing.T) {
	for after := range 4 {
		s := newServer(state("w1 0: a", "w2 0: b")...)
		update := mustDiff(t, s.list(), state("w1 0: a x", "w2 1: b y", "w3 1: c"), rolling)
		ctx, cancel := context.WithCancel(t.Context())
		requests := s.record()
		inner := s.before
		s.before = func(verb, name string) error {
			err := inner(verb, name)
			if len(*requests) > after {
				*requests = (*requests)[:after]
				t.Errorf("%s %s after the context was done", verb, name)
			}
			if len(*requests) == after {
				cancel()
			}
			return err
		}
		if after == 0 {
			cancel()
		}
		outcome, err := decisionupdate.Applier{Client: s}.Apply(ctx, update)
		if !errors.Is(err, context.Canceled) || len(*requests) != after {
			t.Errorf("after %d requests: %v, %v", after, *requests, err)
		}
		if got, want := brief(outcome), []string{"", "update w1 status", "update w1 status, update w2 labels …", "update w1 status, update w2 labels,status"}[after]; got != want {
			t.Errorf("D11: after %d requests %q, want %q", after, got, want)
		}
	}
}

// D10: a context that ends while a conflict is answered ends the update, without a look at the object.
func TestContextEndsTheUpdateInAConflict(t *testing.T) {
	s := newServer(state("w1: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), rolling)
	ctx, cancel := context.WithCancel(t.Context())
	requests := s.record()
	inner := s.before
	s.before = func(verb, name string) error {
		cancel()
		s.touch(t, name, func(*pd) {})
		return inner(verb, name)
	}
	_, err := decisionupdate.Applier{Client: s}.Apply(ctx, update)
	if !errors.Is(err, context.Canceled) || len(*requests) != 1 {
		t.Errorf("requests %v, %v", *requests, err)
	}
}

// D10: without a client there is an error that says so, and the zero values of an update's parts can be printed.
func TestZeroValues(t *testing.T) {
	update := mustDiff(t, nil, state("w1: a"), rolling)
	if _, err := (decisionupdate.Applier{}).Apply(t.Context(), update); err == nil || !strings.Contains(err.Error(), "must have a Client") {
		t.Errorf("got %v, want an error that says that there must be one", err)
	}
	if outcome, err := (decisionupdate.Applier{}).Apply(t.Context(), decisionupdate.Update{}); err != nil {
		t.Errorf("an empty update: %v, %v", outcome, err)
	}
	if name := (decisionupdate.Write{}).Name(); name != "" {
		t.Errorf("the zero write is of %q", name)
	}
}

// Objects that are shared between goroutines are not written to.
func TestApplyModifiesNeitherUpdateNorInput(t *testing.T) {
	s := newServer(state("w1 0: a b", "w2 1: c", "w3 1: e")...)
	stored, desired := s.list(), state("w1 1: c", "w2 1: a b", "w4 0: f")
	update := mustDiff(t, stored, desired, rolling)
	before := fmt.Sprint(deref(stored), deref(desired), update)
	if _, err := (decisionupdate.Applier{Client: s, Parallel: 3}).Apply(t.Context(), update); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprint(deref(stored), deref(desired), update); after != before {
		t.Errorf("was %s\nis  %s", before, after)
	}
}
