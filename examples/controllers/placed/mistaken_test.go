// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/placer"
)

type recorder = events.EventRecorder

// mistaken is a process with a mistake: the manager that package placer gets.
type mistaken struct {
	ctrl.Manager
	process *proof.Process
	caches  *informers
	reads   func(client.Reader) client.Reader // of the API server; may be nil

	funcs       interceptor.Funcs                                       // of the client
	wraps       []func(reconcile.Reconciler) reconcile.Reconciler       // of each reconcile
	hides       func(kind proof.Kind, before, after client.Object) bool // an update from the controller; may be nil
	unwatched   proof.Kind
	controllers int   // how many there are of the kind
	tellsLater  bool  // what the first reconcile finds
	failed      error // of the writes of the present reconcile, if noted
}

// run is a process of a controller with a tamper.
func (t tamper) run(ctx context.Context, p *proof.Process) error {
	m := &mistaken{process: p, caches: newInformers(p), controllers: 1}
	t.with(m)
	manager, err := newManager(p, m.caches)
	if err != nil {
		return err
	}
	m.Manager = manager
	for range m.controllers {
		of := placer.For(ctrl.Manager(m), kindFor(nil))
		for _, wrap := range m.wraps {
			of = of.Wrap(wrap)
		}
		if err := of.Wrap(observed(p)).Complete(); err != nil {
			return err
		}
	}
	return manager.Start(ctx)
}

func (m *mistaken) GetClient() client.Client {
	return interceptor.NewClient(watching{m.Manager.GetClient()}, m.funcs)
}

func (m *mistaken) GetAPIReader() client.Reader {
	if m.reads == nil {
		return m.Manager.GetAPIReader()
	}
	return m.reads(m.Manager.GetAPIReader())
}

func (m *mistaken) GetEventRecorder(name string) recorder {
	if m.tellsLater {
		return later{m.Manager.GetEventRecorder(name)}
	}
	return m.Manager.GetEventRecorder(name)
}

func (m *mistaken) GetCache() cache.Cache { return mistakenCache{m.Manager.GetCache(), m} }

// mistakenCache is a cache of which a controller misses events.
type mistakenCache struct {
	cache.Cache
	of *mistaken
}

func (c mistakenCache) GetInformer(ctx context.Context, o client.Object, options ...cache.InformerGetOption) (cache.Informer, error) {
	i, err := c.Cache.GetInformer(ctx, o, options...)
	return mistakenInformer{i, kindOf(o), c.of}, err
}

type mistakenInformer struct {
	cache.Informer
	kind proof.Kind
	of   *mistaken
}

func (i mistakenInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	if i.kind != "" && i.kind == i.of.unwatched {
		return synced{}, nil
	}
	return i.Informer.AddEventHandlerWithOptions(mistakenHandler{h, i}, options)
}

type mistakenHandler struct {
	toolscache.ResourceEventHandler
	of mistakenInformer
}

func (h mistakenHandler) OnUpdate(before, after any) {
	hides := h.of.of.hides
	if hides == nil || !hides(h.of.kind, before.(client.Object), after.(client.Object)) {
		h.ResourceEventHandler.OnUpdate(before, after)
	}
}

// begins calls a function before each reconcile.
func (m *mistaken) begins(do func()) {
	m.wraps = append(m.wraps, func(by reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			do()
			return by.Reconcile(ctx, request)
		})
	})
}

// after changes what a reconcile returns.
func (m *mistaken) after(do func(*reconcile.Result, *error)) {
	m.wraps = append(m.wraps, func(by reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			result, err := by.Reconcile(ctx, request)
			do(&result, &err)
			return result, err
		})
	})
}

// unless skips the reconciles of some states of the set; nil is one that is gone.
func (m *mistaken) unless(is func(*replicaSet) bool) {
	m.wraps = append(m.wraps, func(by reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
			set, _, _ := m.process.Store(proof.ReplicaSets).GetByKey(request.String())
			found, _ := set.(*replicaSet)
			if is(found) {
				return reconcile.Result{}, nil
			}
			return by.Reconcile(ctx, request)
		})
	})
}

// eachWrite changes creations and updates.
func (m *mistaken) eachWrite(by func(o client.Object, write func() error) error) {
	m.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.CreateOption) error {
		return by(o, func() error { return c.Create(ctx, o, options...) })
	}
	m.funcs.Update = func(ctx context.Context, c client.WithWatch, o client.Object, options ...client.UpdateOption) error {
		return by(o, func() error { return c.Update(ctx, o, options...) })
	}
}

// noteErrors keeps the last error of a write or a live read of each reconcile.
func (m *mistaken) noteErrors() {
	m.begins(func() { m.failed = nil })
	m.eachWrite(func(_ client.Object, write func() error) error { return m.note(write()) })
	m.funcs.Patch = func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, options ...client.PatchOption) error {
		return m.note(c.Patch(ctx, o, patch, options...))
	}
	m.funcs.SubResourceUpdate = func(ctx context.Context, c client.Client, subresource string, o client.Object, options ...client.SubResourceUpdateOption) error {
		return m.note(c.SubResource(subresource).Update(ctx, o, options...))
	}
	m.reads = func(live client.Reader) client.Reader { return noting{live, m} }
}

func (m *mistaken) note(err error) error {
	if err != nil {
		m.failed = err
	}
	return err
}

// watching adds the method of a watch, which the interceptor requires and no caller uses.
type watching struct{ client.Client }

func (watching) Watch(context.Context, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
	return nil, errors.New("not implemented")
}

// noting notes errors of live reads. That an object is gone is none.
type noting struct {
	client.Reader
	to *mistaken
}

func (r noting) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := r.Reader.Get(ctx, key, o, options...)
	_ = r.to.note(client.IgnoreNotFound(err))
	return err
}

func (r noting) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return r.to.note(r.Reader.List(ctx, list, options...))
}

// ownersFrom reads the metadata of sets from a cache.
type ownersFrom struct {
	client.Reader
	cache *informers
}

func (r ownersFrom) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	metadata, is := o.(*metav1.PartialObjectMetadata)
	if !is || metadata.Kind != "ManifestWorkReplicaSet" {
		return r.Reader.Get(ctx, key, o, options...)
	}
	set := &replicaSet{}
	err := r.cache.Get(ctx, key, set)
	metadata.ObjectMeta = set.ObjectMeta
	return err
}

// everyCluster reports each ManagedCluster as present.
type everyCluster struct{ client.Reader }

func (r everyCluster) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if metadata, is := o.(*metav1.PartialObjectMetadata); is && metadata.Kind == "ManagedCluster" {
		return nil
	}
	return r.Reader.Get(ctx, key, o, options...)
}
