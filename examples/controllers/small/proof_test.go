package main

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
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

// grace is how long a cluster is unselected before it loses its work.
const grace = 5 * time.Second

// TestProof proves this controller, as it is shipped, on a real API server: see the page of package trial.
//
//	go test ./small -run TestProof/Rollouts -rollouts=200 -v
func TestProof(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop()
	subject := &proof.Subject{Run: process, Says: says, RemoveAfter: grace, GivenUp: givenUpBy, Placements: 1, Replicas: 2}
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachDuty(t, subject, proof.Duties) })
	t.Run("CutOff", func(t *testing.T) { h.CutOff(t, subject) })
	t.Run("EachDutyOfCutOff", func(t *testing.T) { h.EachDutyOfCutOff(t, subject) })
}

// says reads the status of a set.
func says(set *workv1alpha1.ManifestWorkReplicaSet) proof.Saying {
	c := meta.FindStatusCondition(set.Status.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionPlacementRolledOut)
	if c == nil {
		return proof.Saying{}
	}
	return proof.Saying{
		Message: c.Message, Current: c.ObservedGeneration == set.Generation,
		Over:     c.Status == "True" || strings.Contains(c.Message, "stopped"),
		Complete: c.Status == "True", Succeeded: c.Status == "True" && !strings.Contains(c.Message, "failed"),
	}
}

// process is one process of the controller: what run does, with the harness's informers, network and lease.
func process(ctx context.Context, p *proof.Process) error {
	skip, lease, renew, retry := true, proof.LeaseDuration, proof.RenewDeadline, proof.RetryPeriod
	stores := newStores(p)
	manager, err := ctrl.NewManager(p.Config, ctrl.Options{
		Scheme: newScheme(),
		Logger: logr.Discard(),
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) {
			return informers{process: p, stores: stores}, nil
		},
		MapperProvider:                      func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		Controller:                          config.Controller{SkipNameValidation: &skip},
		LeaderElection:                      p.Lock != nil,
		LeaderElectionResourceLockInterface: p.Lock,
		LeaseDuration:                       &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
	if err != nil {
		return err
	}
	c := newController(manager)
	c.live, c.removeAfter = ownWorld{c.live, p.Set}, grace
	by := &observed{saboteur: saboteur{controller: c, duty: p.Ignored, set: p.Set, client: c.client}, process: p}
	by.sabotage(stores)
	if err := c.watch(manager, by); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// ownWorld is an API server that has a ManagedCluster for each cluster, and of the worlds that share it that of one set alone,
// as the caches have.
type ownWorld struct {
	client.Reader
	set types.NamespacedName
}

func (r ownWorld) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	if _, is := o.(*clusterv1.ManagedCluster); is {
		return nil
	}
	return r.Reader.Get(ctx, key, o, options...)
}

func (r ownWorld) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	err := r.Reader.List(ctx, list, options...)
	switch all := list.(type) {
	case *workv1.ManifestWorkList:
		all.Items = slices.DeleteFunc(all.Items, func(w work) bool { return w.Labels[setLabel] != r.set.Namespace+"."+r.set.Name })
	case *workv1alpha1.ManifestWorkReplicaSetList:
		all.Items = slices.DeleteFunc(all.Items, func(s replicaSet) bool { return client.ObjectKeyFromObject(&s) != r.set })
	}
	return err
}

// observed tells the harness of each look, and does what Reconcile does.
type observed struct {
	saboteur
	process *proof.Process
}

func (o *observed) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, _ error) {
	o.process.Reconcile(func() (after time.Duration, err error) {
		after, err = o.look(ctx, request.NamespacedName)
		pace, now := o.pace[request.NamespacedName], time.Now()
		result.RequeueAfter = pace.After(err, after, o.works.RecheckAfter(now), o.sets.RecheckAfter(now))
		o.pace[request.NamespacedName] = pace
		return result.RequeueAfter, err
	})
	return result, nil
}

// mapper knows what the controller writes.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"), schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("ManifestWorkReplicaSet"),
	} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	return m
}

// stores are the harness's stores, whose objects may be changed when they are read.
type stores map[proof.Kind]*store

func newStores(p *proof.Process) stores {
	all := stores{}
	for _, kind := range []proof.Kind{proof.ReplicaSets, proof.Works, proof.Placements, proof.Decisions} {
		all[kind] = &store{Indexer: p.Store(kind), change: same}
	}
	return all
}

// informers are the harness's informers, as the cache of a manager, which gives copies.
type informers struct {
	cache.Cache
	process *proof.Process
	stores  stores
}

func kindOf(o any) proof.Kind {
	switch o.(type) {
	case *replicaSet, *workv1alpha1.ManifestWorkReplicaSetList:
		return proof.ReplicaSets
	case *work, *workv1.ManifestWorkList:
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
