// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// silent is a client that returns neither an object nor an error to a request.
type silent struct {
	*server
	verb, name string
}

func (s silent) Create(ctx context.Context, o *pd, opts metav1.CreateOptions) (*pd, error) {
	if s.verb == "create" && s.name == o.Name {
		return nil, nil
	}
	return s.server.Create(ctx, o, opts)
}

func (s silent) Update(ctx context.Context, o *pd, opts metav1.UpdateOptions) (*pd, error) {
	if s.verb == "update" && s.name == o.Name {
		return nil, nil
	}
	return s.server.Update(ctx, o, opts)
}

func (s silent) UpdateStatus(ctx context.Context, o *pd, opts metav1.UpdateOptions) (*pd, error) {
	if s.verb == "updateStatus" && s.name == o.Name {
		return nil, nil
	}
	return s.server.UpdateStatus(ctx, o, opts)
}

func (s silent) Get(ctx context.Context, name string, opts metav1.GetOptions) (*pd, error) {
	if s.verb == "get" && s.name == name {
		return nil, nil
	}
	return s.server.Get(ctx, name, opts)
}

// D10: a Get that answers with nothing is an error; the request before it was answered, so nothing is unknown.
func TestGetThatAnswersWithNothing(t *testing.T) {
	s := newServer(state("w1: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), rolling)
	s.touch(t, "w1", func(*pd) {})
	outcome, err := decisionupdate.Applier{Client: silent{s, "get", "w1"}}.Apply(t.Context(), update)
	if err == nil || !strings.Contains(err.Error(), "returned neither") || outcome.Unknown() || len(outcome.Writes) > 0 {
		t.Errorf("%v, %s", err, outcome)
	}
}

// D11: a request is unknown unless the API server says that it was not as it must be. Only then may it have been
// carried out.
func TestUnknownIsWhatMayHaveBeenCarriedOut(t *testing.T) {
	for _, test := range []struct {
		why     string
		err     error
		unknown bool
	}{
		{"the connection broke", errors.New("EOF"), true},
		{"the caller's time is over in the middle of a request", context.DeadlineExceeded, true},
		{"the server's time is over", apierrors.NewTimeoutError("slow", 1), true},
		{"etcd may have stored it before the error", apierrors.NewInternalError(errors.New("etcdserver: request timed out")), true},
		{"a proxy in between", apierrors.NewServiceUnavailable("later"), true},
		{"the server waited too long for the request", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 408}}, true},
		{"not allowed", apierrors.NewForbidden(decisions, "w1", errors.New("no")), false},
		{"a webhook or the schema said no", apierrors.NewBadRequest("no"), false},
		{"too many requests: it was turned away", apierrors.NewTooManyRequests("later", 1), false},
		{"wrapped by the client", fmt.Errorf("client: %w", apierrors.NewBadRequest("no")), false},
	} {
		for _, desired := range [][]*pd{state("w1: b"), state("w1: a", "w2: b"), nil} { // update, create, delete
			s := newServer(state("w1: a")...)
			update := mustDiff(t, s.list(), desired, rolling)
			s.before = func(string, string) error { return test.err }
			outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
			if !errors.Is(err, test.err) || outcome.Unknown() != test.unknown || len(outcome.Writes) > 0 != test.unknown {
				t.Errorf("%s: unknown %v, want %v: %s, %v", test.why, outcome.Unknown(), test.unknown, brief(outcome), err)
			}
		}
	}
}

// D11: a context that is done before a request is made leaves nothing unknown.
func TestNothingIsUnknownThatWasNeverAsked(t *testing.T) {
	s := newServer(state("w1 0: a")...)
	update := mustDiff(t, s.list(), state("w1 1: b"), rolling)
	ctx, cancel := context.WithCancel(t.Context())
	s.before = func(string, string) error { cancel(); return nil }
	outcome, err := decisionupdate.Applier{Client: s}.Apply(ctx, update)
	if got := brief(outcome); err == nil || got != "update w1 labels …" {
		t.Errorf("%s, %v", got, err)
	}
}

// D11: what the outcome says is done is just what the server has done, whatever fails: a request that was refused is
// not done, and one with a lost answer is unknown, done or not.
func TestOutcomeTellsTheTruth(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := newServer(drawState(t, "stored", sequential)...)
		update := mustDiff(t, s.list(), drawState(t, "desired", sequential), drawRolling(t))
		faults := rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "faults") // of the first requests, which another goroutine makes
		var done, unknown []string
		client := faulty{s, func(verb, name string) (before, after error) {
			fault := 9
			if len(faults) > 0 {
				fault, faults = faults[0], faults[1:]
			}
			switch fault {
			case 0:
				return apierrors.NewForbidden(decisions, name, errors.New("no")), nil
			case 1:
				unknown = append(unknown, name)
				return errors.New("never arrived"), nil
			case 2:
				unknown = append(unknown, name)
				return nil, errors.New("answer lost")
			}
			done = append(done, verb+" "+name)
			return nil, nil
		}}
		outcome, _ := decisionupdate.Applier{Client: client}.Apply(context.Background(), update)
		var said, saidUnknown []string
		for _, w := range outcome.Writes {
			for i, part := range w.Done {
				verb := "update"
				switch {
				case w.Verb == decisionupdate.VerbCreate && i == 0:
					verb = "create"
				case part == decisionupdate.PartStatus:
					verb = "updateStatus"
				}
				said = append(said, verb+" "+w.Name())
			}
			if w.Verb == decisionupdate.VerbDelete && w.Complete {
				said = append(said, "delete "+w.Name())
			}
			if w.Unknown {
				saidUnknown = append(saidUnknown, w.Name())
			}
			if w.Complete != (len(w.Done) == len(w.Parts) && !w.Unknown) {
				t.Fatalf("%s: complete %v, unknown %v, done %v of %v", w, w.Complete, w.Unknown, w.Done, w.Parts)
			}
		}
		if diff := cmp.Diff(done, said) + cmp.Diff(unknown, saidUnknown); diff != "" {
			t.Fatalf("done and unknown (-server +outcome):\n%s", diff)
		}
	})
}

// faulty is a client with requests that fail before or after the server has carried them out.
type faulty struct {
	*server
	fault func(verb, name string) (before, after error)
}

func (f faulty) try(verb, name string, request func() (*pd, error)) (*pd, error) {
	before, after := f.fault(verb, name)
	if before != nil {
		return nil, before
	}
	o, err := request()
	if after != nil {
		return nil, after
	}
	return o, err
}

func (f faulty) Create(ctx context.Context, o *pd, opts metav1.CreateOptions) (*pd, error) {
	return f.try("create", o.Name, func() (*pd, error) { return f.server.Create(ctx, o, opts) })
}

func (f faulty) Update(ctx context.Context, o *pd, opts metav1.UpdateOptions) (*pd, error) {
	return f.try("update", o.Name, func() (*pd, error) { return f.server.Update(ctx, o, opts) })
}

func (f faulty) UpdateStatus(ctx context.Context, o *pd, opts metav1.UpdateOptions) (*pd, error) {
	return f.try("updateStatus", o.Name, func() (*pd, error) { return f.server.UpdateStatus(ctx, o, opts) })
}

func (f faulty) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	_, err := f.try("delete", name, func() (*pd, error) { return nil, f.server.Delete(ctx, name, opts) })
	return err
}

// D11: after each update, also where a request did not arrive or its answer was lost, an own that was told of it gives what is stored, over a
// cache that shows nothing of it. It also knows of an object of the surge that is gone again, which the cache may show yet.
func TestNoteTellsAnOwnWhatIsStored(t *testing.T) {
	exchanged := numbers(1, 200)
	exchanged[0], exchanged[199] = exchanged[199], exchanged[0]
	desired := divided(100, exchanged)
	for at := range 18 {
		s := newServer(divided(100, numbers(1, 200))...)
		cache, n := s.list(), 0
		client := faulty{s, func(string, string) (before, after error) {
			switch n++; {
			case n-1 != at/2:
				return nil, nil
			case at%2 == 0:
				return errFailed, nil
			}
			return nil, errFailed
		}}
		var own writes.Own[*pd]
		now := func() time.Time { return noon.Time }
		read := func(key types.NamespacedName) (*pd, error) { return s.Get(t.Context(), key.Name, metav1.GetOptions{}) }
		outcome, failed := decisionupdate.Applier{Client: client}.Apply(t.Context(), mustDiff(t, cache, desired, rolling))
		outcome.Note(&own, noon.Time)
		if unseen, err := own.Unseen(showsNothing{}, read, now); err != nil || unseen < len(outcome.Stored) && !outcome.Unknown() {
			t.Errorf("request %d fails: a cache that shows nothing lacks %d writes, %v", at/2, unseen, err)
		}
		stored, err := own.Current(cache, read, now)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := stateOf(stored), stateOf(s.list()); got != want {
			t.Errorf("request %d fails (%v): the own gives\n%s\nstored is\n%s", at/2, failed, got, want)
		}
	}
}

// showsNothing is the store of an informer that is far behind.
type showsNothing struct{}

func (showsNothing) GetByKey(string) (any, bool, error) { return nil, false, nil }
