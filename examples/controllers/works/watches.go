package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gather is how long an event waits for others of the same set. Ten thousand agents that answer within a minute are
// then some hundreds of reconciles, and not ten thousand.
const gather = 100 * time.Millisecond

// watch has a reconciler called for each set that an event concerns. Of a set itself only its spec does: the status is
// the controller's own. What failed is tried again within a minute: one cluster that refuses must not make the deadlines
// of the others late.
func (c *controller) watch(manager ctrl.Manager, workers int, reconciler reconcile.Reconciler) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("works").
		For(&workv1alpha1.ManifestWorkReplicaSet{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&workv1.ManifestWork{}, concerns(setsOfWork)).
		Watches(&clusterv1beta1.Placement{}, concerns(c.setsOfPlacement)).
		Watches(&clusterv1beta1.PlacementDecision{}, concerns(c.setsOfDecision)).
		WithOptions(runtimecontroller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](gather, time.Minute),
		}).
		Complete(reconciler)
}

// setsOfWork is by the label. An event of a change is asked for the object before and the one after, so that a work that
// loses its label is noticed.
func setsOfWork(object client.Object) []types.NamespacedName {
	if set, ok := setOfLabel(object.GetLabels()[setLabel]); ok {
		return []types.NamespacedName{set}
	}
	return nil
}

func (c *controller) setsOfPlacement(object client.Object) []types.NamespacedName {
	return c.setsOf(object.GetNamespace(), object.GetName())
}

func (c *controller) setsOfDecision(object client.Object) []types.NamespacedName {
	return c.setsOf(object.GetNamespace(), object.GetLabels()[clusterv1beta1.PlacementLabel])
}

func (c *controller) setsOf(namespace, placement string) (sets []types.NamespacedName) {
	for _, set := range list[workv1alpha1.ManifestWorkReplicaSet](c.caches.sets, setsByPlacement, namespace+"/"+placement) {
		sets = append(sets, client.ObjectKeyFromObject(set))
	}
	return sets
}

// concerns queues the sets that an event is about.
func concerns(sets func(client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, objects ...client.Object) {
		for _, object := range objects {
			for _, set := range sets(object) {
				q.AddAfter(reconcile.Request{NamespacedName: set}, gather)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { add(q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
	}
}
