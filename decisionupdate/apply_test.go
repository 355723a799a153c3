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
	"pgregory.net/rapid"

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

// touch changes an object as somebody else would.
func (s *server) touch(t *testing.T, name string, change func(*pd)) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	next := s.objects[name].DeepCopy()
	change(next)
	s.put(next, false)
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
			"created 2, surged 1, updated 3, deleted 1, retried 0",
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

// D10: a conflict is retried with fresh data when what was the update was made from is still there.
func TestConflictIsRetriedIfNothingThatMattersHasChanged(t *testing.T) {
	for _, test := range []struct {
		name, why string
		verb      string // ahead of which somebody else writes
		object    string
	}{
		{"D10 status", "somebody annotates the object before its status is written", "updateStatus", "w1"},
		{"D10 labels", "the same before its labels are written", "update", "w2"},
		{"D10 between labels and status", "the same between the two", "updateStatus", "w2"},
		{"D10 created object", "the same between create and status", "updateStatus", "w4"},
		{"D10 delete", "a delete asks for the version that was the update was made from", "delete", "w3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(state("w1 0: a", "w2 0: b", "w3 0: c")...)
			desired := state("w1 0: a x", "w2 1: b y", "w4 0: d")
			update := mustDiff(t, s.list(), desired, rolling)
			touched := 0
			s.before = func(verb, name string) error {
				if verb == test.verb && name == test.object && touched < 3 {
					touched++
					s.touch(t, name, func(o *pd) {
						o.Annotations = map[string]string{"touched": fmt.Sprint(touched)}
						o.Labels["foreign"] = fmt.Sprint(touched)
					})
				}
				return nil
			}
			outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
			if err != nil || outcome.Retried != 3 {
				t.Fatalf("%s: %d retries, %v", test.why, outcome.Retried, err)
			}
			if o := s.objects[test.object]; o != nil {
				if o.Annotations["touched"] != "3" || o.Labels["foreign"] != "3" {
					t.Errorf("somebody else's writes are lost: %v %v", o.Annotations, o.Labels)
				}
				delete(o.Labels, "foreign")
			}
			wantStored(t, s, desired)
		})
	}
}

// D10: a conflict that doesn't end is an error, after five requests.
func TestEndlessConflictIsAnError(t *testing.T) {
	s := newServer(state("w1: a")...)
	update := mustDiff(t, s.list(), state("w1: b"), rolling)
	s.before = func(verb, name string) error {
		if verb != "get" {
			s.touch(t, name, func(*pd) {})
		}
		return nil
	}
	requests := s.record()
	outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
	if !apierrors.IsConflict(err) || outcome.Retried != 4 || len(*requests) != 9 {
		t.Errorf("%d retries, requests %v, %v", outcome.Retried, *requests, err)
	}
}

// D10: if what was the update was made from has changed, nothing is overwritten and the error says to begin again.
func TestChangedObjectIsStale(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(s *server)
		want   string
	}{
		{"D10 other clusters", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Status.Decisions = append(o.Status.Decisions, o.Status.Decisions[0]) })
		}, "update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its status.decisions have changed; list again"},
		{"D10 another group", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Labels["cluster.open-cluster-management.io/decision-group-index"] = "7" })
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its label cluster.open-cluster-management.io/decision-group-index is "7", not "0"; list again`},
		{"D10 a label that the update changes", func(s *server) {
			s.touch(t, "w1", func(o *pd) { o.Labels["tier"] = "silver" })
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its label tier is "silver", not ""; list again`},
		{"D10 created again", func(s *server) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.put(s.objects["w1"].DeepCopy(), true)
		}, `update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: its UID is "uid-3", not "uid-1": it was deleted and created again; list again`},
		{"D10 deleted before the update", func(s *server) { delete(s.objects, "w1") },
			`update PlacementDecision w1: stored PlacementDecision w1 is not what the update was made from: it is gone; list again`},
		{"D10 delete of what has changed", func(s *server) {
			s.touch(t, "w2", func(o *pd) { o.Status.Decisions = nil })
		}, "delete PlacementDecision w2: stored PlacementDecision w2 is not what the update was made from: its status.decisions have changed; list again"},
		{"D10 created by somebody else", func(s *server) {
			_, _ = s.Create(context.Background(), state("w3: x")[0], metav1.CreateOptions{})
		}, "create PlacementDecision w3: stored PlacementDecision w3 is not what the update was made from: it exists already; list again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(state("w1 0: a", "w2: b")...)
			desired := state("w1 0: a y", "w3: c")
			desired[0].Labels["tier"] = "gold"
			update := mustDiff(t, s.list(), desired, rolling)
			test.change(s)
			_, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
			var again *decisionupdate.StaleError
			if !errors.As(err, &again) || err.Error() != test.want || again.Err == nil {
				t.Fatalf("got  %v\nwant %s", err, test.want)
			}
			if _, err := (decisionupdate.Applier{Client: s}).Apply(t.Context(), mustDiff(t, s.list(), desired, rolling)); err != nil {
				t.Fatalf("planned again: %v", err)
			}
			wantStored(t, s, desired)
		})
	}
}

// D10: a delete of what isn't there has succeeded, also when it vanishes during a conflict.
func TestDeleteOfMissingObjectSucceeds(t *testing.T) {
	for _, during := range []string{"delete", "get"} {
		s := newServer(state("w1: a", "w2: b")...)
		update := mustDiff(t, s.list(), state("w1: a"), rolling)
		s.before = func(verb, _ string) error {
			if during == "get" && verb == "delete" {
				s.touch(t, "w2", func(*pd) {})
			}
			if verb == during {
				delete(s.objects, "w2")
			}
			return nil
		}
		outcome, err := decisionupdate.Applier{Client: s}.Apply(t.Context(), update)
		if err != nil || brief(outcome) != "delete w2" {
			t.Errorf("gone at %s: %s, %v", during, brief(outcome), err)
		}
	}
}

// D10: errors of a step are joined and name their objects; the rest of the step is done, and nothing of the
// next step.
func TestFailureEndsTheUpdateAfterItsStep(t *testing.T) {
	s := newServer(state("w1: a", "w2: b", "w3: c", "w4: d")...)
	update := mustDiff(t, s.list(), state("w1:", "w2: b a", "w3: c x", "w4: d y"), rolling)
	want(t, update, "1: update w2 status +a", "1: update w3 status +x", "1: update w4 status +y", "2: update w1 status -a")
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
	if got := outcome.String(); got != "created 0, surged 0, updated 1, deleted 0, retried 0, unknown 1" || len(*requests) != 3 {
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
// not done, and one whose answer was lost is unknown, done or not.
func TestOutcomeTellsTheTruth(t *testing.T) {
	check(t, func(t *rapid.T) {
		s := newServer(drawState(t, "stored", sequential)...)
		update := mustDiff(t, s.list(), drawState(t, "desired", sequential), rolling, drawRolling(t)...)
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

// faulty is a client whose requests fail before or after the server has carried them out.
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
