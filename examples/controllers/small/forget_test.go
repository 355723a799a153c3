package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// A controller that runs for years keeps nothing of a deleted set. It keeps the result of an existing set, and the pace of
// a set whose reconciles fail.
func TestASetThatIsGoneIsForgotten(t *testing.T) {
	key := types.NamespacedName{Namespace: "apps", Name: "web"}
	set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1}}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{}}}}
	var down error
	store := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set).Build()
	hub := interceptor.NewClient(store, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			return errors.Join(down, c.List(ctx, into, options...))
		},
	})
	c := &controller{client: hub, live: hub, events: events.NewFakeRecorder(100),
		last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
	look := func(why string, results, paces int) {
		t.Helper()
		if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			t.Fatal(err)
		}
		if len(c.last) != results || len(c.pace) != paces {
			t.Errorf("%s: %d results and %d paces are kept, want %d and %d", why, len(c.last), len(c.pace), results, paces)
		}
	}
	look("it is there", 1, 0)
	down = errors.New("connection refused")
	look("a look that fails", 1, 1)
	down = nil
	look("the next one succeeds", 1, 0)
	if err := store.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	look("it is gone", 0, 0)
}

// If the sets of a Placement cannot be listed, its event is dropped, and the log says so.
func TestAnEventThatIsLostIsLogged(t *testing.T) {
	hub := interceptor.NewClient(fake.NewClientBuilder().WithScheme(newScheme()).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("not synced")
		},
	})
	var logged string
	ctx := ctrl.LoggerInto(t.Context(), funcr.New(func(_, args string) { logged += args }, funcr.Options{}))
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
	if requests := (&controller{client: hub}).setsOf(ctx, placement); requests != nil || !strings.Contains(logged, "not synced") {
		t.Errorf("%v are looked at, and the log says %q", requests, logged)
	}
}
