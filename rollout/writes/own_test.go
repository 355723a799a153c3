// SPDX-License-Identifier: Apache-2.0

package writes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

type (
	work = workv1.ManifestWork
	own  = writes.Own[*work]
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

var resource = schema.GroupResource{Group: workv1.GroupName, Resource: "manifestworks"}

// at is a work called web of a cluster, by UID and resourceVersion: "1@7". With "-" at the end, it is being deleted.
func at(cluster, state string) *work {
	state, deleting := strings.CutSuffix(state, "-")
	uid, version, _ := strings.Cut(state, "@")
	w := &work{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: "web", UID: types.UID(uid), ResourceVersion: version}}
	if deleting {
		w.DeletionTimestamp = &metav1.Time{Time: noon}
	}
	return w
}

func state(w *work) string {
	s := fmt.Sprintf("%s %s@%s", w.Namespace, w.UID, w.ResourceVersion)
	if w.DeletionTimestamp != nil {
		s += "-"
	}
	return s
}

// over shows the result of Over: the objects, and behind "?" the uncertain clusters.
func over(o *own, now time.Time, cached ...*work) string {
	objects, uncertain := o.Over(cached, now)
	var parts []string
	for _, w := range objects {
		parts = append(parts, state(w))
	}
	for _, key := range uncertain {
		parts = append(parts, "?"+key.Namespace)
	}
	return strings.Join(parts, ", ")
}

// unseen shows how many writes the cache does not show, and behind "?" the first uncertain cluster.
func unseen(o *own, now time.Time, cached ...*work) string {
	n, err := o.Unseen(store(cached), unread, func() time.Time { return now })
	said := fmt.Sprint(n)
	if err != nil {
		said += " ?" + err.Error()
	}
	return said
}

// unread is a read that fails, with the cluster as the error.
func unread(key types.NamespacedName) (*work, error) { return nil, errors.New(key.Namespace) }

type store []*work

func (s store) GetByKey(key string) (any, bool, error) {
	i := slices.IndexFunc(s, func(w *work) bool { return w.Namespace+"/"+w.Name == key })
	if i < 0 {
		return nil, false, nil
	}
	return s[i], true, nil
}

func keyOf(cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: cluster, Name: "web"}
}

// Each kind of write against one state of the cache, by Over and by Unseen.
func TestOwnWritesOverACache(t *testing.T) {
	lost := errors.New("connection reset")
	notFound := apierrors.NewNotFound(resource, "web")
	later := noon.Add(writes.Patience)
	for _, c := range []struct {
		reason string
		do     func(o *own)
		now    time.Time
		cached []*work
		over   string
		unseen string
	}{
		{"W9: nothing was written", func(*own) {}, noon, []*work{at("a", "1@7")}, "a 1@7", "0"},
		{"W1: a create is late", func(o *own) { _ = o.Wrote(at("b", "2@9"), nil, noon) }, noon, []*work{at("a", "1@7")}, "a 1@7, b 2@9", "1"},
		{"W1: an update is late", func(o *own) { _ = o.Wrote(at("a", "1@9"), nil, noon) }, noon, []*work{at("a", "1@7")}, "a 1@9", "1"},
		{"W1: the cache has it", func(o *own) { _ = o.Wrote(at("a", "1@9"), nil, noon) }, noon, []*work{at("a", "1@9")}, "a 1@9", "0"},
		{"W1: the cache has a later state; versions are numbers", func(o *own) { _ = o.Wrote(at("a", "1@9"), nil, noon) }, noon, []*work{at("a", "1@10")}, "a 1@10", "0"},
		{"W1: made anew while the cache still has the one before", func(o *own) { _ = o.Wrote(at("a", "2@9"), nil, noon) }, noon, []*work{at("a", "1@7-")}, "a 2@9", "1"},
		{"W2: not shown for too long", func(o *own) { _ = o.Wrote(at("b", "2@9"), nil, noon) }, later, nil, "b 2@9, ?b", "1 ?b"},
		{"W2: shown in an older state, for too long", func(o *own) { _ = o.Wrote(at("a", "1@9"), nil, noon) }, later, []*work{at("a", "1@7")}, "a 1@9, ?a", "1 ?a"},
		{"W3: the answer to a create is lost", func(o *own) { _ = o.Wrote(at("b", "@"), lost, noon) }, noon, []*work{at("a", "1@7")}, "a 1@7, ?b", "1 ?b"},
		{"W3: the answer to a delete is lost", func(o *own) { _ = o.Deleted(at("a", "1@7"), lost, noon) }, noon, []*work{at("a", "1@7")}, "a 1@7, ?a", "1 ?a"},
		{"W3: refused", func(o *own) { _ = o.Wrote(at("b", "@"), apierrors.NewForbidden(resource, "web", nil), noon) }, noon, []*work{at("a", "1@7")}, "a 1@7", "0"},
		{"W3: a delete refused", func(o *own) { _ = o.Deleted(at("a", "1@7"), apierrors.NewForbidden(resource, "web", nil), noon) }, noon, []*work{at("a", "1@7")}, "a 1@7", "0"},
		{"W3: a conflict shows that the cache is behind", func(o *own) { _ = o.Wrote(at("a", "1@7"), apierrors.NewConflict(resource, "web", nil), noon) }, noon, []*work{at("a", "1@7")}, "a 1@7, ?a", "1 ?a"},
		{"W4: deleted, gone or waiting for finalizers", func(o *own) { _ = o.Deleted(at("a", "1@7"), nil, noon) }, noon, []*work{at("a", "1@7")}, "a 1@7, ?a", "1"},
		{"W4: the same, for too long", func(o *own) { _ = o.Deleted(at("a", "1@7"), nil, noon) }, later, []*work{at("a", "1@7")}, "a 1@7, ?a", "1 ?a"},
		{"W4: deleted, and the cache shows that it is going", func(o *own) { _ = o.Deleted(at("a", "1@7"), nil, noon) }, noon, []*work{at("a", "1@8-")}, "a 1@8-", "0"},
		{"W4: deleted, and the cache shows that it is gone", func(o *own) { _ = o.Deleted(at("a", "1@7"), nil, noon) }, noon, nil, "", "0"},
		{"W4: deleted, and another one has its name", func(o *own) { _ = o.Deleted(at("a", "1@7"), nil, noon) }, noon, []*work{at("a", "2@9")}, "a 2@9", "0"},
		{"W4: it was gone already", func(o *own) { _ = o.Deleted(at("a", "1@7"), notFound, noon) }, noon, []*work{at("a", "1@7")}, "", "1"},
		{"W5: the process before created it", func(o *own) { o.Begin([]*work{at("a", "1@7")}, nil, noon) }, noon, nil, "a 1@7", "1"},
		{"W5: the process before updated it", func(o *own) { o.Begin([]*work{at("a", "1@9")}, []*work{at("a", "1@7")}, noon) }, noon, []*work{at("a", "1@7")}, "a 1@9", "1"},
		{"W5: the cache has come as far", func(o *own) { o.Begin([]*work{at("a", "1@9")}, []*work{at("a", "1@9")}, noon) }, noon, []*work{at("a", "1@9")}, "a 1@9", "0"},
		{"W6: the process before deleted it", func(o *own) { o.Begin(nil, []*work{at("a", "1@7")}, noon) }, noon, []*work{at("a", "1@7")}, "", "1"},
		{"W6: gone, and the cache shows it on its way", func(o *own) { o.Begin(nil, []*work{at("a", "1@7")}, noon) }, noon, []*work{at("a", "1@8-")}, "", "1"},
		{"W6: gone, and another one has its name: is it gone, too?", func(o *own) { o.Begin(nil, []*work{at("a", "1@7")}, noon) }, noon, []*work{at("a", "2@9")}, "a 2@9, ?a", "1 ?a"},
		{"W6: gone for too long to believe", func(o *own) { o.Begin(nil, []*work{at("a", "1@7")}, noon) }, later, []*work{at("a", "1@7")}, "?a", "1 ?a"},
		{"W8: what is added is in order", func(o *own) {
			for _, cluster := range []string{"d", "b", "e", "c"} {
				_ = o.Wrote(at(cluster, "2@9"), nil, noon)
			}
			_ = o.Wrote(at("g", "@"), lost, noon)
			_ = o.Wrote(at("f", "@"), lost, noon)
		}, noon, []*work{at("z", "1@7"), at("a", "1@7")}, "z 1@7, a 1@7, b 2@9, c 2@9, d 2@9, e 2@9, ?f, ?g", "6 ?f"},
	} {
		var first, second own
		c.do(&first)
		c.do(&second)
		if got := over(&first, c.now, c.cached...); got != c.over {
			t.Errorf("%s: %q, want %q", c.reason, got, c.over)
		}
		if got := unseen(&second, c.now, c.cached...); got != c.unseen {
			t.Errorf("%s: %q unseen, want %q", c.reason, got, c.unseen)
		}
	}
}

// W2: an object is deleted before the cache has shown its last write. The cache shows an older state, then nothing.
func TestGoneSinceTheCacheShowedIt(t *testing.T) {
	var o own
	_ = o.Wrote(at("a", "1@9"), nil, noon)
	for _, step := range []struct {
		cached []*work
		want   string
	}{
		{[]*work{at("a", "1@7")}, "a 1@9"}, // late
		{nil, ""},                          // gone
		{[]*work{at("a", "1@7")}, "a 1@7"}, // the mark is dropped: a cache does not go back
	} {
		if got := over(&o, noon, step.cached...); got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
	}
}

// W2: after a further write, an object that the cache has shown is still known as shown.
func TestGoneAfterAFurtherWrite(t *testing.T) {
	var o own
	_ = o.Wrote(at("a", "1@7"), nil, noon)
	over(&o, noon, at("a", "1@5"))
	_ = o.Wrote(at("a", "1@9"), nil, noon)
	if got := over(&o, noon); got != "" {
		t.Errorf("%q, and the cache has shown the object before", got)
	}
	_ = o.Wrote(at("b", "1@7"), nil, noon)
	over(&o, noon, at("b", "1@5"))
	_ = o.Wrote(at("b", "2@9"), nil, noon) // another object with this name, which the cache has not shown
	if got := over(&o, noon); got != "b 2@9" {
		t.Errorf("%q, and the cache has shown another object", got)
	}
}

// W2: a mark of an object that was gone before the cache showed it is kept for an hour. A mark of a write that the cache
// does not show stays.
func TestWhatIsGoneIsForgottenAfterAnHour(t *testing.T) {
	for passed, want := range map[time.Duration]string{
		time.Hour - 1: "a 1@7, ?a",
		time.Hour:     "a 1@7",
	} {
		var o own
		_ = o.Wrote(at("a", "@"), errors.New("connection reset"), noon)
		over(&o, noon)
		_ = o.Read(keyOf("a"), nil, apierrors.NewNotFound(resource, "web"), noon)
		over(&o, noon.Add(passed))
		if got := over(&o, noon.Add(passed), at("a", "1@7")); got != want {
			t.Errorf("%v after it was read: %q, want %q", passed, got, want)
		}
	}
	var o own
	_ = o.Wrote(at("b", "1@9"), nil, noon)
	for range 2 {
		if got := over(&o, noon.Add(2*time.Hour)); !strings.HasPrefix(got, "b 1@9") {
			t.Errorf("%q, and b was written", got)
		}
	}
}

// W7: the answer of the API server about an uncertain object counts.
func TestReadingWhatIsUncertain(t *testing.T) {
	lost, notFound := errors.New("connection reset"), apierrors.NewNotFound(resource, "web")
	for _, c := range []struct {
		reason string
		answer *work
		err    error
		failed bool
		over   string
	}{
		{"the write was made", at("a", "1@9"), nil, false, "a 1@9"},
		{"it was not made", at("a", "1@7"), nil, false, "a 1@7"},
		{"it is being deleted", at("a", "1@9-"), nil, false, "a 1@9-"},
		{"it is gone, and the answer is an empty object as of client-go", &work{}, notFound, false, ""},
		{"the API server does not answer either", nil, lost, true, "a 1@7, ?a"},
		{"it refuses", nil, apierrors.NewForbidden(resource, "web", nil), true, "a 1@7, ?a"},
	} {
		var o own
		_ = o.Wrote(at("a", ""), lost, noon)
		if got := over(&o, noon, at("a", "1@7")); got != "a 1@7, ?a" {
			t.Fatalf("%s: %q before", c.reason, got)
		}
		if err := o.Read(keyOf("a"), c.answer, c.err, noon); (err != nil) != c.failed {
			t.Errorf("%s: error %v", c.reason, err)
		}
		if got := over(&o, noon, at("a", "1@7")); got != c.over {
			t.Errorf("%s: %q, want %q", c.reason, got, c.over)
		}
	}
}

// W2, W7: a create with a lost answer was made, and the object was deleted before it was read. The cache shows it late: it
// is read again, and left out.
func TestACacheThatShowsLateWhatWasGoneWhenItWasRead(t *testing.T) {
	var o own
	notFound := apierrors.NewNotFound(resource, "web")
	_ = o.Wrote(at("a", "@"), errors.New("connection reset"), noon)
	for _, step := range []struct {
		cached []*work
		want   string
	}{
		{nil, "?a"}, {nil, ""}, {[]*work{at("a", "1@7")}, "a 1@7, ?a"}, {[]*work{at("a", "1@7")}, ""},
	} {
		got := over(&o, noon, step.cached...)
		if got != step.want {
			t.Errorf("%q, want %q", got, step.want)
		}
		if strings.Contains(got, "?") {
			_ = o.Read(keyOf("a"), nil, notFound, noon)
		}
	}
}

// W2: no event comes of an object that is deleted before the cache shows it, so RecheckAfter says when to requeue.
func TestWhenToLookAtOwnWritesAgain(t *testing.T) {
	var o own
	if got := o.RecheckAfter(noon); got != 0 {
		t.Errorf("without writes after %v", got)
	}
	_ = o.Wrote(at("a", "1@9"), nil, noon)
	for passed, want := range map[time.Duration]time.Duration{
		0:                             writes.Patience,
		writes.Patience - time.Second: time.Second, // other reconciles do not move the time
		writes.Patience:               1,           // it is uncertain
		writes.Patience + time.Second: 1,
		-time.Second:                  writes.Patience, // the clock was set back
	} {
		if got := o.RecheckAfter(noon.Add(passed)); got != want {
			t.Errorf("%v after the write: after %v, want %v", passed, got, want)
		}
	}
	_ = o.Wrote(at("b", "1@10"), nil, noon.Add(time.Second))
	if got := o.RecheckAfter(noon.Add(3 * time.Second)); got != writes.Patience-3*time.Second {
		t.Errorf("of two writes: after %v", got)
	}
	for _, name := range []string{"a", "b"} {
		if err := o.Read(keyOf(name), nil, apierrors.NewNotFound(resource, "web"), noon); err != nil {
			t.Error(err)
		}
	}
	if o.RecheckAfter(noon) != 0 {
		t.Error("what is gone is awaited")
	}
}

// W7: an object that was read is read again only after Patience.
func TestReadingGivesTheCacheTime(t *testing.T) {
	var o own
	_ = o.Wrote(at("a", "1@9"), nil, noon)
	late := noon.Add(writes.Patience)
	if err := o.Read(keyOf("a"), at("a", "1@9"), nil, late); err != nil {
		t.Fatal(err)
	}
	for now, want := range map[time.Time]string{late: "a 1@9", late.Add(writes.Patience): "a 1@9, ?a"} {
		if got := over(&o, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// W7: uncertain objects are read before anything is planned, and an error of the read is returned.
func TestTheCurrentObjectsAreRead(t *testing.T) {
	lost := errors.New("connection reset")
	for _, c := range []struct {
		err  error
		want string
	}{{nil, "a 1@7, b 2@9"}, {apierrors.NewNotFound(resource, "web"), "a 1@7"}, {lost, ""}} {
		var o own
		_ = o.Wrote(at("b", "@"), lost, noon)
		read := func(key types.NamespacedName) (*work, error) { return at(key.Namespace, "2@9"), c.err }
		objects, err := o.Current([]*work{at("a", "1@7")}, read, func() time.Time { return noon })
		var got []string
		for _, w := range objects {
			got = append(got, state(w))
		}
		if strings.Join(got, ", ") != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%v: %q, %v", c.err, got, err)
		}
	}
}

// W7: Unseen reads uncertain objects, too. It looks the store up by keys of client-go, and returns its errors.
func TestUnseenReadsUncertainObjects(t *testing.T) {
	lost := errors.New("connection reset")
	now := func() time.Time { return noon }
	for _, c := range []struct {
		err    error
		unseen int
	}{{nil, 1}, {apierrors.NewNotFound(resource, "web"), 0}, {lost, 1}} {
		var o own
		_ = o.Wrote(at("b", "@"), lost, noon)
		asked := 0
		read := func(key types.NamespacedName) (*work, error) { asked++; return at(key.Namespace, "2@9"), c.err }
		n, err := o.Unseen(store{at("a", "1@7")}, read, now)
		if n != c.unseen || asked != 1 || (err == lost) != (c.err == lost) {
			t.Errorf("%v: %d unseen, asked %d times, %v", c.err, n, asked, err)
		}
	}
	for want, stored := range map[string]any{"0 <nil>": at("", "2@9"), `1 store[web]: Invalid value: "string": must be a *v1.ManifestWork`: "something else"} {
		var o own
		_ = o.Wrote(at("", "2@9"), nil, noon) // without a namespace
		if n, err := o.Unseen(byKey{"web": stored}, unread, now); fmt.Sprint(n, " ", err) != want {
			t.Errorf("the store has %v: %d unseen, %v, want %s", stored, n, err, want)
		}
	}
	var o own
	_ = o.Wrote(at("a", "2@9"), nil, noon)
	if n, err := o.Unseen(byKey(nil), unread, now); n != 1 || err == nil || err.Error() != "no store" {
		t.Errorf("a store that fails: %d unseen, %v", n, err)
	}
}

type byKey map[string]any

func (s byKey) GetByKey(key string) (any, bool, error) {
	if s == nil {
		return nil, false, errors.New("no store")
	}
	item, has := s[key]
	return item, has, nil
}

func TestRefusedIsWhatWasCertainlyNotWritten(t *testing.T) {
	for _, c := range []struct {
		err     error
		refused bool
	}{
		{apierrors.NewBadRequest("no"), true}, // 400, the first of these codes
		{apierrors.NewNotFound(resource, "a"), true},
		{fmt.Errorf("cluster a: %w", apierrors.NewForbidden(resource, "a", nil)), true},
		{apierrors.NewTooManyRequestsError("later"), true},
		{apierrors.NewConflict(resource, "a", nil), false}, // W3: the cache is behind
		{apierrors.NewAlreadyExists(resource, "a"), false}, // likewise
		{apierrors.NewTimeoutError("too slow", 1), false},  // it may be done all the same
		{apierrors.NewInternalError(errors.New("oh")), false},
		{context.DeadlineExceeded, false},
		{errors.New("connection reset"), false},
		{nil, false},
	} {
		if got := writes.Refused(c.err); got != c.refused {
			t.Errorf("%v: refused is %v", c.err, got)
		}
	}
}

// Answers are returned, and nil objects are skipped.
func TestAnswersAreHandedOn(t *testing.T) {
	var o own
	refused := apierrors.NewForbidden(resource, "web", nil)
	if err := o.Wrote(at("a", "1@9"), refused, noon); err != refused {
		t.Error(err)
	}
	if err := o.Deleted(at("a", "1@9"), refused, noon); err != refused {
		t.Error(err)
	}
	if err := o.Deleted(at("a", "1@9"), apierrors.NewNotFound(resource, "web"), noon); err != nil {
		t.Error(err)
	}
	var none own
	_, _ = none.Wrote(nil, refused, noon), none.Deleted(nil, nil, noon)
	if err := none.Read(keyOf("a"), nil, nil, noon); err != nil || unseen(&none, noon) != "0" {
		t.Error(err, unseen(&none, noon))
	}
}

// W9: without own writes the cache's list is returned as it is, and nothing is allocated.
func TestNothingIsAllocatedWhereNothingWasWritten(t *testing.T) {
	cached := []*work{at("a", "1@7"), at("b", "1@8")}
	var o own
	_ = o.Wrote(at("a", "1@7"), nil, noon)
	o.Over(cached, noon) // drops the mark
	if n := testing.AllocsPerRun(100, func() { o.Over(cached, noon) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if got, _ := o.Over(cached, noon); &got[0] != &cached[0] {
		t.Error("the list was copied")
	}
}

func BenchmarkOver(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		cached := make([]*work, n)
		for i := range cached {
			cached[i] = at(fmt.Sprintf("cluster-%06d", i), fmt.Sprintf("%d@%d", i, i+1))
		}
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var o own
				for i := range 10 {
					_ = o.Wrote(at(fmt.Sprintf("cluster-%06d", i), "1@1000000"), nil, noon)
				}
				o.Over(cached, noon)
			}
		})
	}
}
