// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// newManager makes the manager of a process. Its queue, watches and leader election are real, over the caches, the network
// and the lease of the trial. The queue is not the priority queue, which may deadlock
// (kubernetes-sigs/controller-runtime#3538), and then virtual time stands still.
func newManager(p *proof.Process, caches *informers) (ctrl.Manager, error) {
	skip, priorities, lease, renew, retry := true, false, proof.LeaseDuration, proof.RenewDeadline, proof.RetryPeriod
	return ctrl.NewManager(p.Config, ctrl.Options{
		Scheme: newScheme(),
		Logger: logr.Discard(),
		NewCache: func(config *rest.Config, options cache.Options) (cache.Cache, error) {
			live, err := client.New(config, client.Options{Scheme: options.Scheme, Mapper: options.Mapper, HTTPClient: options.HTTPClient})
			caches.live = live
			return caches, err
		},
		MapperProvider:                      func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		Controller:                          config.Controller{SkipNameValidation: &skip, UsePriorityQueue: &priorities},
		LeaderElection:                      p.Lock != nil,
		LeaderElectionResourceLockInterface: p.Lock,
		LeaseDuration:                       &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
}

// observed reports each reconcile to the trial.
func observed(p *proof.Process) func(reconcile.Reconciler) reconcile.Reconciler {
	return func(by reconcile.Reconciler) reconcile.Reconciler {
		return reconcile.Func(func(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
			p.Reconcile(func() (time.Duration, error) {
				result, err = by.Reconcile(ctx, request)
				return result.RequeueAfter, err
			})
			return result, err
		})
	}
}

// mapper has the kinds that the controller reads live and writes.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"),
		schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("ManifestWorkReplicaSet"),
	} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	m.Add(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), meta.RESTScopeRoot)
	return m
}

// informers are those of the trial, as a manager's cache. It has no ManagedClusters: those are read live, and their
// deletion is no event.
type informers struct {
	cache.Cache
	process *proof.Process
	stores  map[proof.Kind]toolscache.Indexer
	live    client.Reader
	indexes map[string]client.IndexerFunc
}

func newInformers(p *proof.Process) *informers {
	i := &informers{process: p, stores: map[proof.Kind]toolscache.Indexer{}, indexes: map[string]client.IndexerFunc{}}
	for _, kind := range []proof.Kind{proof.ReplicaSets, proof.Works, proof.Placements, proof.Decisions} {
		i.stores[kind] = p.Store(kind)
	}
	return i
}

// kindOf is the trial's kind of an object or a list; empty if it has no cache of that kind.
func kindOf(o any) proof.Kind {
	switch o.(type) {
	case *workv1alpha1.ManifestWorkReplicaSet, *workv1alpha1.ManifestWorkReplicaSetList:
		return proof.ReplicaSets
	case *workv1.ManifestWork, *workv1.ManifestWorkList:
		return proof.Works
	case *clusterv1beta1.Placement:
		return proof.Placements
	case *clusterv1beta1.PlacementDecision, *clusterv1beta1.PlacementDecisionList:
		return proof.Decisions
	default:
		return ""
	}
}

func (i *informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	return informer{process: i.process, kind: kindOf(o)}, nil
}

func (i *informers) IndexField(_ context.Context, _ client.Object, field string, extract client.IndexerFunc) error {
	i.indexes[field] = extract
	return nil
}

func (i *informers) Start(ctx context.Context) error       { <-ctx.Done(); return nil }
func (i *informers) WaitForCacheSync(context.Context) bool { return true }

func (i *informers) Get(ctx context.Context, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if metadata, is := into.(*metav1.PartialObjectMetadata); is {
		return i.live.Get(ctx, key, metadata)
	}
	o, there, _ := i.stores[kindOf(into)].GetByKey(key.String())
	if !there {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	var asked client.GetOptions
	asked.ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
		o = o.(runtime.Object).DeepCopyObject()
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(o).Elem())
	return nil
}

func (i *informers) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	var all []runtime.Object
	for _, o := range i.stores[kindOf(into)].List() {
		if of := o.(client.Object); i.matches(of, asked) {
			all = append(all, of)
		}
	}
	return meta.SetList(into, all)
}

func (i *informers) matches(o client.Object, asked client.ListOptions) bool {
	if asked.Namespace != "" && asked.Namespace != o.GetNamespace() {
		return false
	}
	if asked.LabelSelector != nil && !asked.LabelSelector.Matches(labels.Set(o.GetLabels())) {
		return false
	}
	if asked.FieldSelector == nil {
		return true
	}
	for _, wanted := range asked.FieldSelector.Requirements() {
		if !slices.Contains(i.indexes[wanted.Field](o), wanted.Value) {
			return false
		}
	}
	return true
}

type informer struct {
	toolscache.SharedIndexInformer
	process *proof.Process
	kind    proof.Kind
}

func (i informer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	if i.kind != "" {
		i.process.Handle(i.kind, h)
	}
	return synced{}, nil
}

type synced struct{}

func (synced) HasSynced() bool { return true }
