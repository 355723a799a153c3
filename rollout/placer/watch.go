// SPDX-License-Identifier: Apache-2.0

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

// batchDelay is how long an event waits for further events of the same owner. Ten thousand clusters that report within a
// minute then cause some hundreds of reconciles, not ten thousand.
const batchDelay = 100 * time.Millisecond

// enqueueOwners enqueues the owners that an event concerns. For an update these are the owners of the old and of the new object,
// so that an object that loses its annotation is noticed.
func enqueueOwners(concerned func(client.Object) []types.NamespacedName) handler.EventHandler {
	type limitedQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(queue limitedQueue, object client.Object) {
		for _, owner := range concerned(object) {
			queue.AddAfter(reconcile.Request{NamespacedName: owner}, batchDelay)
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, change event.CreateEvent, queue limitedQueue) { add(queue, change.Object) },
		UpdateFunc: func(_ context.Context, change event.UpdateEvent, queue limitedQueue) {
			add(queue, change.ObjectOld)
			add(queue, change.ObjectNew)
		},
		DeleteFunc: func(_ context.Context, change event.DeleteEvent, queue limitedQueue) { add(queue, change.Object) },
	}
}

// deletions passes only events of deletions.
func deletions() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// ownersOfWork are the owner in a ManifestWork's annotation, and the one of its label.
func (r *reconciler) ownersOfWork(work client.Object) []types.NamespacedName {
	var owners []types.NamespacedName
	if owner, ok := r.ownerNotedBy(work); ok {
		owners = append(owners, owner)
	}
	if hash, ok := work.GetLabels()[OwnerLabel]; ok {
		owners = append(owners, r.states.withHash(hash)...)
	}
	return owners
}

func (r *reconciler) ownersOfPlacement(placement client.Object) []types.NamespacedName {
	return r.states.following(client.ObjectKeyFromObject(placement))
}

func (r *reconciler) ownersOfDecision(decision client.Object) []types.NamespacedName {
	placement := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	return r.states.following(types.NamespacedName{Namespace: decision.GetNamespace(), Name: placement})
}

func (r *reconciler) ownersOfDeselected(cluster client.Object) []types.NamespacedName {
	return r.states.waitingFor(cluster.GetName())
}

// The names of the indexes. Each kind has its own, since a field can be indexed only once.
func (r *reconciler) worksIndex() string { return "placer/" + r.groupKind().String() + "/works" }
func (r *reconciler) decisionsIndex() string {
	return "placer/" + r.groupKind().String() + "/decisions"
}

func (r *reconciler) index(ctx context.Context, indexer client.FieldIndexer) error {
	if err := indexer.IndexField(ctx, &workv1.ManifestWork{}, r.worksIndex(), r.hashesOf); err != nil {
		return err
	}
	return indexer.IndexField(ctx, &clusterv1beta1.PlacementDecision{}, r.decisionsIndex(), placementOf)
}

func placementOf(decision client.Object) []string {
	placement, ok := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	if !ok {
		return nil
	}
	return []string{placement}
}
