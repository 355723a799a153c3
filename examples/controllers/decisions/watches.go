package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gather is how long an event waits for others of the same Placement. A thousand clusters that join within a second are
// then some reconciles, and not a thousand.
const gather = 100 * time.Millisecond

// watch has the controller called for each Placement that an event concerns. Of a Placement itself only its spec does:
// the status is the controller's own.
func (c *controller) watch(manager ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(manager).
		Named("decisions").
		For(&clusterv1beta1.Placement{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1beta1.PlacementDecision{}, concerns(placementOfDecision)).
		Watches(&clusterv1.ManagedCluster{}, concerns(c.caches.placementsOfCluster), builder.WithPredicates(predicate.Funcs{UpdateFunc: matters})).
		Watches(&clusterv1beta2.ManagedClusterSet{}, concerns(c.caches.placementsOfSet)).
		Watches(&clusterv1beta2.ManagedClusterSetBinding{}, concerns(c.caches.placementsOfBinding)).
		WithOptions(runtimecontroller.Options{
			MaxConcurrentReconciles: workers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](gather, time.Minute),
		}).
		Complete(c)
}

// matters says whether a ManagedCluster changed in what is read of it. Its conditions change all the time.
func matters(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*clusterv1.ManagedCluster), e.ObjectNew.(*clusterv1.ManagedCluster)
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
		!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
		!equality.Semantic.DeepEqual(before.Status.ClusterClaims, after.Status.ClusterClaims)
}

func placementOfDecision(object client.Object) []types.NamespacedName {
	if key, ok := placementOf(object); ok {
		return []types.NamespacedName{key}
	}
	return nil
}

// placementsOfCluster gives the placements in the namespaces that a set of the cluster is bound to.
func (c *caches) placementsOfCluster(object client.Object) (placements []types.NamespacedName) {
	for _, o := range c.sets.List() {
		if set := o.(*clusterv1beta2.ManagedClusterSet); has(set, object) {
			placements = append(placements, c.placementsOfSet(set)...)
		}
	}
	return placements
}

func (c *caches) placementsOfSet(set client.Object) (placements []types.NamespacedName) {
	for _, binding := range list[clusterv1beta2.ManagedClusterSetBinding](c.bindings, bindingsBySet, set.GetName()) {
		placements = append(placements, c.placementsOfBinding(binding)...)
	}
	return placements
}

func (c *caches) placementsOfBinding(binding client.Object) (placements []types.NamespacedName) {
	for _, placement := range c.placementsIn(binding.GetNamespace()) {
		placements = append(placements, client.ObjectKeyFromObject(placement))
	}
	return placements
}

// concerns queues the Placements that an event is about. An event of a change is asked for the object before and the one
// after, so that a cluster that leaves a set is noticed.
func concerns(placements func(client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, objects ...client.Object) {
		for _, object := range objects {
			for _, placement := range placements(object) {
				q.AddAfter(reconcile.Request{NamespacedName: placement}, gather)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { add(q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
	}
}
