package placer

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// gathering is how long an event waits for others of the same owner. Ten thousand clusters that report within a minute are then some
// hundreds of looks, and not ten thousand.
const gathering = 100 * time.Millisecond

// gather queues the owners that an event concerns. Of a change it asks for the object before and the one after, so that an object that
// loses an annotation is noticed.
func gather(concerned func(client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, object client.Object) {
		for _, owner := range concerned(object) {
			q.AddAfter(reconcile.Request{NamespacedName: owner}, gathering)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			add(q, e.ObjectOld)
			add(q, e.ObjectNew)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
	}
}

// gone lets deletions through, and nothing else.
func gone() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ownersOfWork are the owner that a ManifestWork notes, and the one whose label it has.
func (r *reconciler) ownersOfWork(work client.Object) []types.NamespacedName {
	var owners []types.NamespacedName
	if owner, ok := r.noted(work); ok {
		owners = append(owners, owner)
	}
	if hash, ok := work.GetLabels()[OwnerLabel]; ok {
		owners = append(owners, r.memories.withHash(hash)...)
	}
	return owners
}

func (r *reconciler) ownersOfPlacement(placement client.Object) []types.NamespacedName {
	return r.memories.following(client.ObjectKeyFromObject(placement))
}

func (r *reconciler) ownersOfDecision(decision client.Object) []types.NamespacedName {
	placement := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	return r.memories.following(types.NamespacedName{Namespace: decision.GetNamespace(), Name: placement})
}

// ownersOfDeselected are those for which a cluster counts that is not selected any more.
func (r *reconciler) ownersOfDeselected(cluster client.Object) []types.NamespacedName {
	return r.memories.waitingFor(cluster.GetName())
}

// The indexes of the caches. Each kind has its own, since a field can be indexed once.
func (r *reconciler) worksIndex() string { return "placer/" + r.groupKind().String() + "/works" }
func (r *reconciler) decisionsIndex() string {
	return "placer/" + r.groupKind().String() + "/decisions"
}

// index adds the indexes to the caches.
func (r *reconciler) index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &workv1.ManifestWork{}, r.worksIndex(), r.hashesOf); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &clusterv1beta1.PlacementDecision{}, r.decisionsIndex(), placementOf)
}

// placementOf is the placement that a PlacementDecision names.
func placementOf(decision client.Object) []string {
	placement, ok := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	if !ok {
		return nil
	}
	return []string{placement}
}
