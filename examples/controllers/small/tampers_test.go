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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// A tamper is an author's mistake that the author did not declare. It changes the controller from outside.
type tamper struct {
	what string
	// first changes the process or the controller before the process watches anything. Either first or with is set.
	first func(*proof.Process)
	with  func(*forgetful)
	says  string // part of the trial's message
	why   string // why it is harmless
}

// forgetful is a process of a controller with a mistake.
type forgetful struct {
	*controller
	look   func(context.Context, reconcile.Request) (reconcile.Result, error) // called for each request
	blind  func(kind proof.Kind, before, after client.Object) bool            // hides an update; may be nil
	unseen proof.Kind                                                         // a kind that is not watched
	twice  bool                                                               // two controllers reconcile the same owners
}

var tampers = []tamper{
	{what: "the record of deselected clusters is not stored", with: func(f *forgetful) {
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			if _, is := o.(*replicaSet); is {
				return nil
			}
			return c.Update(ctx, o, options...)
		}})
	}, says: "no record of it was stored"},
	{what: "Previous is nil", with: func(f *forgetful) {
		f.before(func(key types.NamespacedName) { delete(f.last, key) })
	}, says: "does not get the result before (Previous)"},
	{what: "RecheckAfter is not heard", with: func(f *forgetful) {
		f.after(func(result *reconcile.Result, err *error) { result.RequeueAfter = 0 })
	}, says: "no process came back after RecheckAfter"},
	{what: "the status is written before the works", with: func(f *forgetful) { statusFirst(f) },
		why: "the status is that of the same plan, and is written again after each look in which something changed"},
	{what: "own writes are not kept", with: func(f *forgetful) {
		began := time.Now()
		f.before(func(types.NamespacedName) {
			if time.Since(began) > 4*time.Second { // until then include what the process before wrote
				f.works, f.sets = writes.Own[*work]{}, writes.Own[*replicaSet]{}
			}
		})
	}, says: "planned without its own write of "},
	{what: "the deletion of the owner is forgotten", with: func(f *forgetful) {
		f.without(func(set *replicaSet) bool { return set == nil || set.DeletionTimestamp != nil })
	}, says: "and was gone at once, as it had no finalizer, and its works in"},
	{what: "an error is returned to controller-runtime", with: func(f *forgetful) {
		f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			after, err := f.controller.look(ctx, request.NamespacedName)
			pace := writes.Pace{}
			now := time.Now()
			return reconcile.Result{RequeueAfter: pace.After(nil, after, f.works.RecheckAfter(now), f.sets.RecheckAfter(now))}, err
		}
	}, says: "to its queue: its pauses grow to a quarter of an hour"},
	{what: "a predicate hides annotations", with: func(f *forgetful) {
		f.blind = func(kind proof.Kind, before, after client.Object) bool {
			return kind == proof.ReplicaSets && before.GetGeneration() == after.GetGeneration()
		}
	}, says: "or a predicate hides it"},
	{what: "own writes are told, and never read", with: func(f *forgetful) {
		told := writes.Own[*work]{}
		wrote := func(o client.Object, err error) error {
			if w, is := o.(*work); is {
				_ = told.Wrote(w.DeepCopy(), err, time.Now())
			}
			return err
		}
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
				return wrote(o, c.Create(ctx, o, options...))
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
				return wrote(o, c.Update(ctx, o, options...))
			},
		})
		f.after(func(result *reconcile.Result, err *error) {
			pace := writes.Pace{}
			result.RequeueAfter = pace.After(nil, result.RequeueAfter, told.RecheckAfter(time.Now()))
		})
	}, says: "own writes are told, and never read"},
	{what: "two workers have one owner", with: func(f *forgetful) { f.twice = true }, says: "two workers have the same owner"},
	{what: "a patch of the status drops fields", with: func(f *forgetful) {
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{
			SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
				set := o.(*replicaSet)
				set.Status.Conditions = slices.DeleteFunc(set.Status.Conditions, func(c metav1.Condition) bool { return strings.Contains(c.Type, "/") })
				return c.SubResource(subresource).Update(ctx, set, options...)
			},
		})
	}, says: "the owner lost the condition example.com/Audited of another one"},
	{what: "a cache is asked whether the owner is gone", with: func(f *forgetful) { f.live = setsFrom{f.live, f.client} },
		says: "it did not ask the API server whether the owner is gone, only a cache"},
	{what: "a finalizer is not taken off", with: func(f *forgetful) {
		f.finalizer(true)
	}, says: "with the finalizers [\"example.com/works\"]"},
	{what: "works are deleted only while the owner is, without a finalizer", with: func(f *forgetful) {
		f.without(func(set *replicaSet) bool { return set == nil })
	}, says: "and was gone at once, as it had no finalizer, and its works in"},
	{what: "a finalizer is taken off before the works are gone", with: func(f *forgetful) { f.finalizer(false) },
		says: "the finalizer was taken off the owner"},
	{what: "no leader is elected among two replicas", first: func(p *proof.Process) { p.Lock = nil }, says: "never asked for the lease"},
	{what: "a resync of ten seconds hides that PlacementDecisions are not watched", with: func(f *forgetful) {
		f.unseen = proof.Decisions
		f.after(func(result *reconcile.Result, err *error) {
			if result.RequeueAfter == 0 || result.RequeueAfter > 10*time.Second {
				result.RequeueAfter = 10 * time.Second
			}
		})
	}, says: "showed other decisions of PlacementDecision"},
	{what: "the API server makes the names of works", with: func(f *forgetful) {
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			if _, is := o.(*work); !is {
				return c.Create(ctx, o, options...)
			}
			name := o.GetName()
			o.SetName("")
			o.SetGenerateName(name + "-")
			err := c.Create(ctx, o, options...)
			if err != nil {
				o.SetName(name)
			}
			return err
		}})
	}, says: "was left to the API server"},
	{what: "a work notes when it was planned, and not when it is written", with: func(f *forgetful) {
		began := time.Time{}
		f.before(func(types.NamespacedName) { began = time.Now() })
		stamp := func(o client.Object) {
			if w, is := o.(*work); is && status.StampOf(w).Applied.After(began) {
				s := status.StampOf(w)
				s.NoteOn(w, s.Version, s.Attempt, began)
			}
		}
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
				stamp(o)
				return c.Create(ctx, o, options...)
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
				stamp(o)
				return c.Update(ctx, o, options...)
			},
		})
	}, says: "a time counts from the plan, and not from the write"},
	{what: "the status is not written where a write fails", with: func(f *forgetful) {
		failed := false
		f.before(func(types.NamespacedName) { failed = false })
		note := func(err error) error {
			failed = failed || err != nil
			return err
		}
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
				return note(c.Create(ctx, o, options...))
			},
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
				return note(c.Update(ctx, o, options...))
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
				if failed {
					return errors.New("it returned before")
				}
				return c.SubResource(subresource).Update(ctx, o, options...)
			},
		})
	}, says: "it is not written where another write fails"},
	{what: "what the first look finds is not told", with: func(f *forgetful) {
		f.events = second{f.events, f}
	}, says: "what the first look finds is not told"},
	{what: "ManagedClusters are not read", with: func(f *forgetful) { f.live = everyCluster{f.live} },
		says: "no process asked whether there is a ManagedCluster"},
	{what: "all works in the namespace of a cluster go with it", with: func(f *forgetful) {
		f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
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
		}})
	}, says: "of another one, without the label of the set, was changed or deleted"},
	{what: "it looks again at once after an error", with: func(f *forgetful) {
		f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			after, err := f.controller.look(ctx, request.NamespacedName)
			now := time.Now()
			pace := writes.Pace{}
			return reconcile.Result{RequeueAfter: pace.After(err, after, f.works.RecheckAfter(now), f.sets.RecheckAfter(now))}, nil
		}
	}, says: "the pauses do not grow"},
}

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
	const most, harmless = 100, 20 // worlds: each mistake was detected within 12, and a harmless one is played in all
	var table strings.Builder
	for _, each := range tampers {
		t.Run(each.what, func(t *testing.T) {
			subject := &proof.Subject{Run: each.process, Says: says, RemoveAfter: grace, GivenUp: givenUpBy, Placements: 1, Replicas: 2, Events: true}
			worlds := most
			if each.why != "" {
				worlds = harmless
			}
			world, broken := h.Find(t, subject, 1, worlds)
			if each.why != "" {
				if world != 0 {
					t.Errorf("world %d: %q, and it should be harmless: %s", world, broken, each.why)
				}
				fmt.Fprintf(&table, "| %s | harmless | %s |\n", each.what, each.why)
				return
			}
			if world == 0 {
				t.Fatalf("not found in %d worlds", worlds)
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

// process is a process of such a controller.
func (t tamper) process(ctx context.Context, p *proof.Process) error {
	f := &forgetful{}
	caches := storesOf(p)
	if t.first != nil {
		t.first(p)
	}
	manager, err := newManager(p, newScheme(), caches)
	if err != nil {
		return err
	}
	f.controller = newController(manager)
	f.removeAfter = grace
	f.look = f.controller.Reconcile
	if t.with != nil {
		t.with(f)
	}
	if err := f.watch(hiding{manager, f}, observed{p, reconcile.Func(f.reconcile)}); err != nil {
		return err
	}
	if f.twice {
		if err := f.watch(hiding{manager, f}, observed{p, reconcile.Func(f.reconcile)}); err != nil {
			return err
		}
	}
	return manager.Start(ctx)
}

func (f *forgetful) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	return f.look(ctx, request)
}

// before calls a function before each reconcile.
func (f *forgetful) before(do func(types.NamespacedName)) {
	look := f.look
	f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		do(request.NamespacedName)
		return look(ctx, request)
	}
}

// after changes what a reconcile returns.
func (f *forgetful) after(do func(*reconcile.Result, *error)) {
	look := f.look
	f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		result, err := look(ctx, request)
		do(&result, &err)
		return result, err
	}
}

// without skips the reconciles of some sets.
func (f *forgetful) without(is func(*replicaSet) bool) {
	look := f.look
	f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		set, err := get[replicaSet](ctx, f.client)(request.NamespacedName)
		if err != nil {
			set = nil
		}
		if is(set) {
			return reconcile.Result{}, nil
		}
		return look(ctx, request)
	}
}

// finalizerOfWorks is an author's finalizer on sets.
const finalizerOfWorks = "example.com/works"

// finalizer adds a finalizer to the set, and removes it never, or too early.
func (f *forgetful) finalizer(never bool) {
	look := f.look
	f.look = func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		set, err := get[replicaSet](ctx, f.live)(request.NamespacedName)
		if err == nil && set.DeletionTimestamp == nil && controllerutil.AddFinalizer(set, finalizerOfWorks) {
			return reconcile.Result{RequeueAfter: time.Second}, f.client.Update(ctx, set)
		}
		if err == nil && set.DeletionTimestamp != nil && !never && controllerutil.RemoveFinalizer(set, finalizerOfWorks) {
			return reconcile.Result{RequeueAfter: time.Second}, f.client.Update(ctx, set)
		}
		return look(ctx, request)
	}
}

// statusFirst writes the status of a plan before its works: in the first of two reconciles, writes of works are forbidden.
func statusFirst(f *forgetful) {
	dry := false
	forbid := func(o client.Object, do func() error) error {
		if _, is := o.(*work); is && dry {
			return apierrors.NewForbidden(schema.GroupResource{}, o.GetName(), nil)
		}
		return do()
	}
	f.client = interceptor.NewClient(watching{f.client}, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
			return forbid(o, func() error { return c.Create(ctx, o, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
			return forbid(o, func() error { return c.Update(ctx, o, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.DeleteOption) error {
			return forbid(o, func() error { return c.Delete(ctx, o, options...) })
		},
	})
	f.before(func(key types.NamespacedName) {
		dry = true
		_, _ = f.controller.look(context.Background(), key)
		dry = false
	})
}

// hiding is a manager whose controllers miss events.
type hiding struct {
	ctrl.Manager
	by *forgetful
}

func (m hiding) GetCache() cache.Cache { return hidingCache{m.Manager.GetCache(), m.by} }

type hidingCache struct {
	cache.Cache
	by *forgetful
}

func (c hidingCache) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := c.Cache.GetInformer(ctx, o, options...)
	return hidingInformer{i, kindOf(o), c.by}, err
}

type hidingInformer struct {
	cache.Informer
	kind proof.Kind
	by   *forgetful
}

func (i hidingInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	if i.by.unseen == i.kind {
		return synced{}, nil
	}
	return i.Informer.AddEventHandlerWithOptions(hidingHandler{h, i}, options)
}

type hidingHandler struct {
	toolscache.ResourceEventHandler
	of hidingInformer
}

func (h hidingHandler) OnUpdate(before, after any) {
	if h.of.by.blind == nil || !h.of.by.blind(h.of.kind, before.(client.Object), after.(client.Object)) {
		h.ResourceEventHandler.OnUpdate(before, after)
	}
}

// watching adds the method of a watch, which the interceptor requires and no caller uses.
type watching struct{ client.Client }

func (watching) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.New("not implemented")
}

// setsFrom lists sets from a cache.
type setsFrom struct {
	client.Reader
	cache client.Reader
}

func (r setsFrom) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*replicaSet); is {
		return r.cache.Get(ctx, key, o, options...)
	}
	return r.Reader.Get(ctx, key, o, options...)
}

// everyCluster reports each ManagedCluster as present.
type everyCluster struct{ client.Reader }

func (r everyCluster) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*clusterv1.ManagedCluster); is {
		return nil
	}
	return r.Reader.Get(ctx, key, o, options...)
}

// second emits no events about a set without a status.
type second struct {
	events.EventRecorder
	by *forgetful
}

func (s second) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	if len(regarding.(*replicaSet).Status.Conditions) > 0 {
		s.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
	}
}
