// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	appsv1 "github.com/cohort-ocm/cohort/examples/controllers/fleetconfig/api/v1"
	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/placer"
)

// patience is the timeout of the test's waits. It is not a limit of the controller.
const patience = 3 * time.Minute

// fleet is an API server with the controller, as main makes it, but without the lease.
type fleet struct {
	*testing.T
	client.Client
	key client.ObjectKey
}

func newFleet(t *testing.T) *fleet {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard) // the server logs a lot
	ctrl.SetLogger(logr.Discard())
	definitions, err := apiserver.OCMDefinitions(
		"cluster/v1/0000_00_clusters.open-cluster-management.io_managedclusters.crd.yaml",
		"cluster/v1beta1/0000_02_clusters.open-cluster-management.io_placements.crd.yaml",
		"cluster/v1beta1/0000_03_clusters.open-cluster-management.io_placementdecisions.crd.yaml",
		"work/v1/0000_00_work.open-cluster-management.io_manifestworks.crd.yaml",
	)
	must(t, err)
	server, err := apiserver.Start(t.TempDir(), append(definitions, "crds/fleetconfigs.yaml", "../apiserver/crds/events.yaml")...)
	must(t, err)
	t.Cleanup(func() { must(t, server.Stop()) })
	config := rest.CopyConfig(server.Config)
	config.ContentType = runtime.ContentTypeJSON // custom resources have no other content type, and this server's events are custom resources
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: newScheme(), Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"},
	})
	must(t, err)
	must(t, placer.For(manager, fleetConfigs).Complete())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- manager.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	scheme := newScheme()
	must(t, eventsv1.AddToScheme(scheme))
	direct, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return &fleet{T: t, Client: direct, key: client.ObjectKey{Namespace: "apps", Name: "settings"}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// await waits until a condition holds.
func (f *fleet) await(what string, so func() bool) {
	f.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			f.Fatalf("%s: not within %v: %+v", what, patience, f.config())
		}
	}
}

// config is the FleetConfig; nil if there is none.
func (f *fleet) config() *appsv1.FleetConfig {
	f.Helper()
	config := &appsv1.FleetConfig{}
	err := f.Get(f.Context(), f.key, config)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(f.T, err)
	return config
}

// has says whether a condition of the FleetConfig is True for its generation, and has a text.
func (f *fleet) has(kind, text string) bool {
	config := f.config()
	c := meta.FindStatusCondition(config.Status.Conditions, kind)
	return c != nil && c.ObservedGeneration == config.Generation && c.Status == metav1.ConditionTrue && strings.Contains(c.Message, text)
}

// selects writes the decisions for clusters, as a scheduler does.
func (f *fleet) selects(clusters ...string) {
	f.Helper()
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "fleet"}}
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "apps", Name: "fleet-decision-1",
		Labels: map[string]string{clusterv1beta1.PlacementLabel: "fleet", clusterv1beta1.DecisionGroupIndexLabel: "0"},
	}}
	must(f.T, f.Create(f.Context(), placement))
	must(f.T, f.Create(f.Context(), decision))
	for _, cluster := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
		must(f.T, f.Create(f.Context(), &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}))
	}
	must(f.T, f.Status().Update(f.Context(), decision))
	var err error
	placement.Status, err = grouping.Status([]*clusterv1beta1.PlacementDecision{decision})
	must(f.T, err)
	must(f.T, f.Status().Update(f.Context(), placement))
}

// works are the ManifestWorks by cluster.
func (f *fleet) works() map[string]*workv1.ManifestWork {
	f.Helper()
	var list workv1.ManifestWorkList
	must(f.T, f.List(f.Context(), &list))
	works := map[string]*workv1.ManifestWork{}
	for i := range list.Items {
		works[list.Items[i].Namespace] = &list.Items[i]
	}
	return works
}

// answer reports success on a cluster's work, as its agent does.
func (f *fleet) answer(cluster string) {
	f.Helper()
	work := f.works()[cluster]
	for _, kind := range []string{workv1.WorkApplied, workv1.WorkAvailable} {
		meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: "Agent", ObservedGeneration: work.Generation,
		})
	}
	must(f.T, f.Status().Update(f.Context(), work))
}

// tells says whether there is an event with a text.
func (f *fleet) tells(text string) bool {
	f.Helper()
	var list eventsv1.EventList
	must(f.T, f.List(f.Context(), &list))
	return slices.ContainsFunc(list.Items, func(e eventsv1.Event) bool { return strings.Contains(e.Note, text) })
}

// On a real API server, a FleetConfig rolls out to one cluster at a time, waits while it is paused, and is deleted after
// its ManifestWorks.
func TestFleetConfig(t *testing.T) {
	f := newFleet(t)
	config := &appsv1.FleetConfig{ObjectMeta: metav1.ObjectMeta{Namespace: f.key.Namespace, Name: f.key.Name}}
	config.Spec.PlacementRef.Name = "fleet"
	config.Spec.Data = map[string]string{"color": "green"}
	config.Spec.RolloutStrategy = clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
	}
	must(t, f.Create(t.Context(), config))
	f.await("there is no Placement, and the status says so", func() bool {
		return f.has(placer.ConditionReconciling, "there is no Placement apps/fleet")
	})
	f.selects("a", "b")
	f.await("a starts", func() bool { return f.works()["a"] != nil })
	if f.works()["b"] != nil {
		t.Error("b starts beside a")
	}
	must(t, f.Patch(t.Context(), f.config(), client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":"true"}}}`))))
	f.await("it is paused", func() bool { return f.has(placer.ConditionReconciling, "the rollout is paused") })
	f.answer("a")
	f.await("a is done", func() bool { return f.config().Status.Done == 1 })
	if f.works()["b"] != nil {
		t.Error("b starts while it is paused")
	}
	must(t, f.Patch(t.Context(), f.config(), client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{"cohort.open-cluster-management.io/pause":null}}}`))))
	f.await("b starts", func() bool { return f.works()["b"] != nil })
	f.answer("b")
	f.await("all are done", func() bool { return f.has(placer.ConditionReady, f.config().Status.Version) })

	f.await("the first start is an event", func() bool { return f.tells("a started") })

	must(t, f.Delete(t.Context(), f.config()))
	f.await("it is gone with its ManifestWorks", func() bool { return len(f.works()) == 0 && f.config() == nil })
}
