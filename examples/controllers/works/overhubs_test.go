// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/hubshares"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
	"github.com/cohort-ocm/cohort/examples/trial/hubs"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

// TestHubs tests this controller, as it is shipped, in virtual time on three API servers: two hubs and a coordinator hub,
// with a network between them that cuts, delays and duplicates. See the documentation of package trial/hubs.
//
//	go test ./works -run TestHubs/Rollouts -hub-rollouts=100 -v -timeout=0
//	go test ./works -run TestHubs/Rollback -v
//	go test ./works -run TestHubs/EachDuty -v
func TestHubs(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	h, err := hubs.Start("../hubshares/crds/hubshares.yaml")
	if err != nil {
		t.Fatal(err)
	}
	subject := &hubs.Subject{Hub: onHub, Coordinator: onCoordinator, Annotation: hubshares.HubsAnnotation, Abort: rollback.AbortAnnotation}
	t.Run("Rollouts", func(t *testing.T) { h.Rollouts(t, subject) })
	t.Run("Rollback", func(t *testing.T) {
		h.Rollback(t, subject)
	})
	t.Run("EachDuty", func(t *testing.T) {
		h.EachDuty(t, subject)
	})
}

var timing = shares.Timing{Lease: hubs.Lease, ClockError: hubs.ClockError, SlowestWrite: hubs.SlowestWrite, Every: hubs.Every}

// managerOf is a manager with real informers for one rollout.
func managerOf(p *hubs.Process, options ctrl.Options) (ctrl.Manager, error) {
	skip, priorities := true, false // as in TestProof
	options.Logger, options.Metrics = logr.Discard(), metricsserver.Options{BindAddress: "0"}
	options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper(), nil }
	options.Controller = config.Controller{SkipNameValidation: &skip, UsePriorityQueue: &priorities}
	return ctrl.NewManager(p.Config, options)
}

func onHub(ctx context.Context, p *hubs.Process) error {
	here := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.namespace", p.Set.Namespace)}
	m, err := managerOf(p, ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&replicaSet{}: here, &clusterv1beta1.Placement{}: here, &clusterv1beta1.PlacementDecision{}: here,
		&work{}: {Label: labels.SelectorFromSet(labels.Set{kit.OwnerLabel: p.Set.Namespace + "." + p.Set.Name})},
	}}})
	if err != nil {
		return err
	}
	c, err := newController(ctx, m, newTeller(&events.FakeRecorder{}, prometheus.NewRegistry()), grace)
	if err == nil {
		err = (&hubshares.Options{Hub: p.Hub, Config: p.Coordinator, Timing: timing, Now: p.Now}).Join(m, &c.shares)
	}
	if p.Revisions {
		c.rollback = &rollback.Keeper{Client: c.client, Live: c.live, Now: c.now}
	}
	if err == nil {
		lackOnHub(ctx, c, p.Ignored)
		err = c.watch(m, 4, gathered(c))
	}
	if err != nil {
		return err
	}
	return manager.Start(ctx, m)
}

func onCoordinator(ctx context.Context, p *hubs.Process) error {
	scheme := manager.Scheme(workv1alpha1.Install, hubshares.Install)
	of := labels.SelectorFromSet(labels.Set{"cohort.open-cluster-management.io/rollout": p.Set.Namespace + "." + p.Set.Name})
	m, err := managerOf(p, ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
		&replicaSet{}: {Field: fields.OneTermEqualSelector("metadata.namespace", p.Set.Namespace)}, &hubshares.Account{}: {Label: of},
	}}})
	if err != nil {
		return err
	}
	live, err := client.New(p.Config, client.Options{Scheme: scheme, Mapper: mapper()})
	if err != nil {
		return err
	}
	d := &hubshares.Divider{Client: live, Timing: timing, Now: p.Now}
	if err := hubshares.Watch(m, 4, gathered(lackOnCoordinator(d, p.Ignored))); err != nil {
		return err
	}
	return manager.Start(ctx, m)
}

// gathered has a process reconcile a moment after its first event. All its caches are filled in the same instant, and the order of goroutines
// would decide whether the events of all of them make one reconcile or several.
func gathered(r reconcile.Reconciler) reconcile.Reconciler {
	var mu sync.Mutex
	var begins time.Time
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		mu.Lock()
		if begins.IsZero() {
			begins = time.Now().Add(10 * time.Millisecond)
		}
		left := time.Until(begins)
		mu.Unlock()
		if left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		return r.Reconcile(ctx, request)
	})
}
