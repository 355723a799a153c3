// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/placer"
	"github.com/cohort-ocm/cohort/status"
)

// A tamper is an author's mistake that the author did not declare. Package placer makes none of them, so it is changed from
// outside: what it reads and writes, and when it is called.
type tamper struct {
	what string
	with func(*mistaken)
	says string // part of the trial's message
}

var tampers = []tamper{
	{what: "the record of deselected clusters is not stored", with: func(m *mistaken) {
		m.funcs.Patch = func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if set, is := o.(*replicaSet); is && set.DeletionTimestamp == nil && hasRecord(set) {
				return nil
			}
			return c.Patch(ctx, o, patch, options...)
		}
	}, says: "no record of it was stored"},
	{what: "Previous is nil", with: func(m *mistaken) {
		m.noteErrors()
		m.wraps = append(m.wraps, func(by reconcile.Reconciler) reconcile.Reconciler {
			return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
				if m.failed == nil { // otherwise it forgets the growing pauses, too
					m.caches.forget(ctx, by, request)
				}
				return by.Reconcile(ctx, request)
			})
		})
	}, says: "does not get the result before (Previous)"},
	{what: "RecheckAfter is not heard", with: func(m *mistaken) {
		m.after(func(result *reconcile.Result, _ *error) { result.RequeueAfter = 0 })
	}, says: "no process came back after RecheckAfter"},
	{what: "the deletion of the owner is forgotten", with: func(m *mistaken) {
		m.unless(func(set *replicaSet) bool { return set == nil || set.DeletionTimestamp != nil })
	}, says: "with the finalizers [\"" + placer.Finalizer + "\"]"},
	{what: "the deletion of the owner is forgotten, without a finalizer", with: func(m *mistaken) {
		m.caches.stores[proof.ReplicaSets] = &store{Indexer: m.process.Store(proof.ReplicaSets), change: finalized}
		m.unless(func(set *replicaSet) bool { return set == nil })
	}, says: "and was gone at once, as it had no finalizer, and its works in"},
	{what: "an error is returned to controller-runtime", with: func(m *mistaken) {
		m.noteErrors()
		m.after(func(_ *reconcile.Result, err *error) { *err = m.failed })
	}, says: "to its queue: its pauses grow to a quarter of an hour"},
	{what: "a predicate hides annotations", with: func(m *mistaken) {
		m.hides = func(kind proof.Kind, before, after client.Object) bool {
			return kind == proof.ReplicaSets && before.GetGeneration() == after.GetGeneration()
		}
	}, says: "or a predicate hides it"},
	{what: "two workers have one owner", with: func(m *mistaken) { m.controllers = 2 }, says: "two workers have the same owner"},
	{what: "a patch of the status drops fields", with: func(m *mistaken) {
		m.funcs.SubResourceUpdate = func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
			set := o.(*replicaSet)
			set.Status.Conditions = slices.DeleteFunc(set.Status.Conditions, func(c metav1.Condition) bool { return strings.Contains(c.Type, "/") })
			return c.SubResource(subresource).Update(ctx, set, options...)
		}
	}, says: "the owner lost the condition example.com/Audited of another one"},
	{what: "a cache is asked whether the owner is gone", with: func(m *mistaken) {
		m.caches.stores[proof.ReplicaSets] = &store{Indexer: m.process.Store(proof.ReplicaSets), change: finalized}
		m.reads = func(live client.Reader) client.Reader { return ownersFrom{live, m.caches} }
	}, says: "it did not ask the API server whether the owner is gone, only a cache"},
	{what: "a finalizer is not taken off", with: func(m *mistaken) {
		m.funcs.Patch = func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
			if o.GetDeletionTimestamp() != nil {
				return nil
			}
			return c.Patch(ctx, o, patch, options...)
		}
	}, says: "with the finalizers [\"" + placer.Finalizer + "\"]"},
	{what: "a finalizer is taken off before the works are gone", with: takenOff,
		says: "the finalizer was taken off the owner"},
	{what: "no leader is elected among two replicas", with: func(m *mistaken) { m.process.Lock = nil }, says: "never asked for the lease"},
	{what: "a resync of ten seconds hides that PlacementDecisions are not watched", with: func(m *mistaken) {
		m.unwatched = proof.Decisions
		m.after(func(result *reconcile.Result, _ *error) {
			if result.RequeueAfter == 0 || result.RequeueAfter > 10*time.Second {
				result.RequeueAfter = 10 * time.Second
			}
		})
	}, says: "showed other decisions of PlacementDecision"},
	{what: "the API server makes the names of works", with: func(m *mistaken) {
		m.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			name := o.GetName()
			o.SetName("")
			o.SetGenerateName(name + "-")
			err := c.Create(ctx, o, options...)
			if err != nil {
				o.SetName(name)
			}
			return err
		}
	}, says: "was left to the API server"},
	{what: "a work notes when it was planned, and not when it is written", with: func(m *mistaken) {
		began := time.Time{}
		m.begins(func() { began = time.Now() })
		m.eachWrite(func(o client.Object, write func() error) error {
			if stamp := status.StampOf(o); stamp.Applied.After(began) {
				stamp.NoteOn(o, stamp.Version, stamp.Attempt, began)
			}
			return write()
		})
	}, says: "a time counts from the plan, and not from the write"},
	{what: "the status is not written where a write fails", with: func(m *mistaken) {
		m.noteErrors()
		m.funcs.SubResourceUpdate = func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
			if m.failed != nil {
				return errors.New("it returned before")
			}
			return c.SubResource(subresource).Update(ctx, o, options...)
		}
	}, says: "it is not written where another write fails"},
	{what: "what the first look finds is not told", with: func(m *mistaken) { m.tellsLater = true },
		says: "what the first look finds is not told"},
	{what: "ManagedClusters are not read", with: func(m *mistaken) {
		m.reads = func(live client.Reader) client.Reader { return everyCluster{live} }
		m.funcs.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
			return everyCluster{c}.Get(ctx, key, o, options...)
		}
	}, says: "no process asked whether there is a ManagedCluster"},
	{what: "all works in the namespace of a cluster go with it", with: func(m *mistaken) {
		m.funcs.Delete = func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			var all workv1.ManifestWorkList
			if err := c.List(ctx, &all, client.InNamespace(o.GetNamespace())); err != nil {
				return err
			}
			for i := range all.Items {
				if all.Items[i].Name != o.GetName() {
					_ = c.Delete(ctx, &all.Items[i])
				}
			}
			return c.Delete(ctx, o, options...)
		}
	}, says: "of another one, without the label of the set, was changed or deleted"},
	{what: "it looks again at once after an error", with: func(m *mistaken) {
		m.noteErrors()
		m.after(func(result *reconcile.Result, _ *error) {
			if m.failed != nil {
				result.RequeueAfter = batch
			}
		})
	}, says: "the pauses do not grow"},
}

// batch is the first pause of package placer after an error.
const batch = 100 * time.Millisecond

// TestTampers shows that the trial detects mistakes that authors did not declare, and names them.
//
// Each is played from the first world on, until a world detects it. No number of a world is fixed, since a change of the
// trial draws other worlds. With -v the test prints the table of the trial's documentation.
func TestTampers(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	const most = 100 // worlds
	var table strings.Builder
	for _, each := range tampers {
		t.Run(each.what, func(t *testing.T) {
			subject := newSubject(each.run, 1)
			world, broken := h.Find(t, subject, 1, most)
			if world == 0 {
				t.Fatalf("not found in %d worlds", most)
			}
			i := slices.IndexFunc(broken, func(b string) bool { return strings.Contains(b, each.says) })
			if i < 0 {
				t.Fatalf("found in world %d, and no sentence says %q: %s", world, each.says, strings.Join(broken, "\n"))
			}
			t.Logf("world %d: %s", world, broken[i])
			fmt.Fprintf(&table, "| %s | %d | %s |\n", each.what, world, causeIn(broken[i], each.says))
		})
	}
	t.Log("\n| what the author forgets | world | what the trial says |\n| --- | ---: | --- |\n" + table.String())
}

// causeIn is the part of a message with a text, from the colon or semicolon before it.
func causeIn(message, says string) string {
	before := message[:strings.Index(message, says)]
	if i := max(strings.LastIndex(before, ": "), strings.LastIndex(before, "; ")); i >= 0 {
		return message[i+2:]
	}
	return message
}

// hasRecord says whether a set has a record of deselected clusters.
func hasRecord(set *replicaSet) bool {
	without := set.DeepCopy()
	changed, err := status.Records{}.Note(without)
	return changed || err != nil
}

// finalized is a set that seems to have the finalizer of package placer, which therefore does not add it.
func finalized(o any) any {
	set := o.(*replicaSet).DeepCopy()
	controllerutil.AddFinalizer(set, placer.Finalizer)
	return set
}

// takenOff takes the finalizer off a set that is being deleted, before anything else is done.
func takenOff(m *mistaken) {
	m.wraps = append(m.wraps, func(by reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			set := &replicaSet{}
			err := m.Manager.GetAPIReader().Get(ctx, request.NamespacedName, set)
			if err == nil && set.DeletionTimestamp != nil && controllerutil.RemoveFinalizer(set, placer.Finalizer) {
				return reconcile.Result{RequeueAfter: time.Second}, m.Manager.GetClient().Update(ctx, set)
			}
			return by.Reconcile(ctx, request)
		})
	})
}

// later emits no events about a set without a status.
type later struct{ recorder }

func (l later) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if len(regarding.(*replicaSet).Status.Conditions) > 0 {
		l.recorder.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}
