package main

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
)

// This file runs any controller of controller-runtime in the trial: copy it, and see process for its use. Replace setLabel
// by the label of your works.

// newManager makes the manager of a process. Its queue, watches and leader election are real, over the harness's caches,
// network and lease. The queue is not the priority queue, which may deadlock (kubernetes-sigs/controller-runtime#3538), and
// then virtual time stands still.
func newManager(p *proof.Process, scheme *runtime.Scheme, caches stores) (ctrl.Manager, error) {
	skip, priorities, lease, renew, retry := true, false, proof.LeaseDuration, proof.RenewDeadline, proof.RetryPeriod
	return ctrl.NewManager(p.Config, ctrl.Options{
		Scheme: scheme,
		Logger: logr.Discard(),
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return informers{process: p, stores: caches}, nil
		},
		MapperProvider:                      func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		Controller:                          config.Controller{SkipNameValidation: &skip, UsePriorityQueue: &priorities},
		LeaderElection:                      p.Lock != nil,
		LeaderElectionResourceLockInterface: p.Lock,
		LeaseDuration:                       &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
}

// observed reports each reconcile to the harness.
type observed struct {
	process *proof.Process
	by      reconcile.Reconciler
}

func (o observed) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	o.process.Reconcile(func() (time.Duration, error) {
		result, err = o.by.Reconcile(ctx, request)
		return result.RequeueAfter, err
	})
	return result, err
}

// mapper has the kinds that the controller reads live and writes.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"), schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("ManifestWorkReplicaSet"),
	} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	m.Add(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), meta.RESTScopeRoot)
	return m
}

type stores map[proof.Kind]toolscache.Indexer

func storesOf(p *proof.Process) stores {
	all := stores{}
	for _, kind := range []proof.Kind{proof.ReplicaSets, proof.Works, proof.Placements, proof.Decisions} {
		all[kind] = p.Store(kind)
	}
	return all
}

// informers are the harness's informers, as a manager's cache that returns copies.
type informers struct {
	cache.Cache
	process *proof.Process
	stores  stores
}

func kindOf(o any) proof.Kind {
	switch o.(type) {
	case *workv1alpha1.ManifestWorkReplicaSet, *workv1alpha1.ManifestWorkReplicaSetList:
		return proof.ReplicaSets
	case *workv1.ManifestWork, *workv1.ManifestWorkList:
		return proof.Works
	case *clusterv1beta1.Placement:
		return proof.Placements
	default:
		return proof.Decisions
	}
}

func (i informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return informer{process: i.process, kind: kindOf(o)}, nil
}

func (i informers) Start(ctx context.Context) error       { <-ctx.Done(); return nil }
func (i informers) WaitForCacheSync(context.Context) bool { return true }

func (i informers) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o, there, _ := i.stores[kindOf(into)].GetByKey(key.String())
	if !there {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(o.(runtime.Object).DeepCopyObject()).Elem())
	return nil
}

func (i informers) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	var all []runtime.Object
	for _, o := range i.stores[kindOf(into)].List() {
		of := o.(client.Object)
		if (asked.Namespace == "" || asked.Namespace == of.GetNamespace()) && (asked.LabelSelector == nil || asked.LabelSelector.Matches(labels.Set(of.GetLabels()))) {
			all = append(all, of.DeepCopyObject())
		}
	}
	return meta.SetList(into, all)
}

type informer struct {
	toolscache.SharedIndexInformer
	process *proof.Process
	kind    proof.Kind
}

func (i informer) GetIndexer() toolscache.Indexer { return i.process.Store(i.kind) }

func (i informer) AddIndexers(indexers toolscache.Indexers) error {
	return i.process.Store(i.kind).AddIndexers(indexers)
}

func (i informer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.process.Handle(i.kind, h)
	return synced{}, nil
}

type synced struct{}

func (synced) HasSynced() bool { return true }
