// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
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

// TestProof tests this controller, as it is shipped, in virtual time: see the documentation of package trial. Its manager,
// queue, watches and leader election are real. The informers and the lease are the harness's, whose caches may be stale.
// The queue is not the priority queue, which may deadlock (kubernetes-sigs/controller-runtime#3538), and then virtual time
// stands still.
//
//	go test ./works -run TestProof                             10 worlds of each kind, and each duty ignored in turn
//	go test ./works -run TestProof/Rollouts -rollouts=1000 -v -timeout=0
func TestProof(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := proof.Start()
	if err != nil {
		t.Fatal(err)
	}
	subject := &proof.Subject{Run: process(nil), Says: says, RemoveAfter: grace, IgnoreAnnotation: ignoreAnnotation, Placements: 2, Replicas: 2}
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("Days", func(t *testing.T) { h.Days(t, subject) })
	t.Run("TwoAct", func(t *testing.T) { h.TwoAct(t, subject) })
	t.Run("CutOff", func(t *testing.T) { h.CutOff(t, subject) })
	t.Run("Untold", func(t *testing.T) { h.Untold(t, subject) })
	t.Run("EachDuty", func(t *testing.T) { h.EachDuty(t, subject, proof.Duties) })
	t.Run("EachDutyOfCutOff", func(t *testing.T) { h.EachDutyOfCutOff(t, subject) })
	t.Run("EachInvariant", func(t *testing.T) { h.EachDuty(t, subject, proof.StrategyDuties) })
}

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

// process returns what a process of the controller runs: what main does, with the harness's informers, network and lease. A
// function can change the controller.
func process(with func(*controller)) func(context.Context, *proof.Process) error {
	return func(ctx context.Context, p *proof.Process) error { return runProcess(ctx, p, with) }
}

func runProcess(ctx context.Context, p *proof.Process, with func(*controller)) error {
	p.Config.ContentType = runtime.ContentTypeJSON // as in manager.Main
	skip, priorities, lease, renew, retry := true, false, proof.LeaseDuration, proof.RenewDeadline, proof.RetryPeriod
	manager, err := ctrl.NewManager(p.Config, ctrl.Options{
		Scheme:                              scheme,
		Logger:                              logr.Discard(),
		NewCache:                            func(*rest.Config, cache.Options) (cache.Cache, error) { return informers{process: p}, nil },
		MapperProvider:                      func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil },
		Metrics:                             metricsserver.Options{BindAddress: "0"},
		Controller:                          config.Controller{SkipNameValidation: &skip, UsePriorityQueue: &priorities},
		LeaderElection:                      p.Lock != nil,
		LeaderElectionResourceLockInterface: p.Lock,
		LeaseDuration:                       &lease, RenewDeadline: &renew, RetryPeriod: &retry,
	})
	if err != nil {
		return err
	}
	c, err := newController(ctx, manager, newTeller(&events.FakeRecorder{}, prometheus.NewRegistry()), grace)
	if err != nil {
		return err
	}
	if with != nil {
		with(c)
	}
	by := reconcile.Reconciler(c)
	if p.Ignored != "" {
		by = sabotage(c, p)
	}
	if c.plugins != nil {
		by = impatient{by}
	}
	if err := c.watch(manager, 4, observed{p, by}); err != nil {
		return err
	}
	return manager.Start(ctx)
}

// observed reports each reconcile to the harness.
type observed struct {
	process *proof.Process
	by      reconcile.Reconciler
}

func (o observed) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	o.process.Reconcile(func() (time.Duration, error) {
		result, err = o.by.Reconcile(ctx, request)
		if errors.Is(err, reconcile.TerminalError(nil)) {
			return 0, nil
		}
		return result.RequeueAfter, err
	})
	return result, err
}

// mapper has the kinds that the controller writes.
func mapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		appsv1.SchemeGroupVersion.WithKind("ControllerRevision"),
		schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"), schema.GroupVersion(workv1alpha1.GroupVersion).WithKind("ManifestWorkReplicaSet"),
		schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("Placement"), schema.GroupVersion(clusterv1beta1.GroupVersion).WithKind("PlacementDecision"),
		{Group: "cohort.open-cluster-management.io", Version: "v1alpha1", Kind: "Account"},
	} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	m.Add(schema.GroupVersion(clusterv1.GroupVersion).WithKind("ManagedCluster"), meta.RESTScopeRoot)
	return m
}

// informers are the harness's informers, as a manager's cache.
type informers struct {
	cache.Cache
	process *proof.Process
}

func (i informers) GetInformer(_ context.Context, o client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	switch o.(type) {
	case *workv1alpha1.ManifestWorkReplicaSet:
		return informer{process: i.process, kind: proof.ReplicaSets}, nil
	case *workv1.ManifestWork:
		return informer{process: i.process, kind: proof.Works}, nil
	case *clusterv1beta1.Placement:
		return informer{process: i.process, kind: proof.Placements}, nil
	case *clusterv1beta1.PlacementDecision:
		return informer{process: i.process, kind: proof.Decisions}, nil
	}
	return nil, fmt.Errorf("no informer of %T", o)
}

func (i informers) Start(ctx context.Context) error       { <-ctx.Done(); return nil }
func (i informers) WaitForCacheSync(context.Context) bool { return true }

func (i informers) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("read by the client")
}

func (i informers) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("list by the client")
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
