package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// W16: the API server is down for an hour, right after a write that lost its answer. The controller retries after pauses
// that double to a minute, not in a tight loop.
func TestAnAPIServerThatIsDownIsNotStormed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := types.NamespacedName{Namespace: "apps", Name: "web"}
		set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1}}
		set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
			Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "30m"}}}}}
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
		placement.Status.NumberOfSelectedClusters = 2
		decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all-decision-1",
			Labels: map[string]string{clusterv1beta1.PlacementLabel: "all", clusterv1beta1.DecisionGroupIndexLabel: "0"}}}
		decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "a"}, {ClusterName: "b"}}

		down, reads, written := false, 0, 0
		cache := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set, placement, decision).Build()
		asked := func() error {
			if down {
				return errors.New("connection refused")
			}
			return nil
		}
		server := interceptor.NewClient(cache, interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
				reads++
				return errors.Join(asked(), c.Get(ctx, key, o, options...))
			},
		})
		writer := interceptor.NewClient(cache, interceptor.Funcs{
			Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
				written++
				down = true // this answer is lost, and no other comes
				return asked()
			},
			SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
				return asked()
			},
		})
		c := &controller{client: writer, live: server, events: events.NewFakeRecorder(1000),
			last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
		looks := 0
		for end := time.Now().Add(time.Hour); time.Now().Before(end); looks++ {
			result, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
			if err != nil || result.RequeueAfter == 0 {
				t.Fatalf("look %d: %v, %v", looks, result, err)
			}
			if looks > 1000 {
				t.Fatalf("more than %d looks, %d live reads", looks, reads)
			}
			time.Sleep(result.RequeueAfter)
		}
		if most := 10 + 60 + 2; looks > most || reads > 2*looks || written == 0 {
			t.Errorf("%d looks in an hour, at most %d are due, %d live reads, %d writes", looks, most, reads, written)
		}
		down = false
		if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil || c.last[key] == nil {
			t.Errorf("the server is back: %v, %v", c.last[key], err)
		}
	})
}
