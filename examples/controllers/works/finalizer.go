package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const finalizer = workv1alpha1.ManifestWorkReplicaSetFinalizer

// addFinalizer returns the set with the finalizer, without which works would be left behind.
func (c *controller) addFinalizer(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, memory *memory) (*workv1alpha1.ManifestWorkReplicaSet, error) {
	if controllerutil.ContainsFinalizer(set, finalizer) {
		return set, nil
	}
	with := set.DeepCopy()
	controllerutil.AddFinalizer(with, finalizer)
	err := c.client.Patch(ctx, with, client.MergeFromWithOptions(set, client.MergeFromWithOptimisticLock{}))
	if err == nil {
		memory.written.set = with.ResourceVersion
	}
	return with, err
}

// finalize deletes all works of a set that is being deleted, and lets it go: at once, or if its policy is Foreground when
// they are gone.
func (c *controller) finalize(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, memory *memory) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(set, finalizer) {
		return reconcile.Result{}, nil
	}
	foreground := set.Spec.CascadeDeletionPolicy == workv1alpha1.Foreground
	works := c.caches.worksOf(set)
	if err := deleteAll(ctx, c.client, works); err != nil {
		return reconcile.Result{}, err
	}
	if foreground && len(works) > 0 {
		return reconcile.Result{}, nil // each of them is an event when it is gone
	}

	// The cache may not show what this controller, or one before it, has just created.
	left := &metav1.PartialObjectMetadataList{}
	left.SetGroupVersionKind(workKind.GroupVersion().WithKind("ManifestWorkList"))
	if err := c.live.List(ctx, left, client.MatchingLabels{setLabel: labelOf(set)}); err != nil {
		return reconcile.Result{}, err
	}
	items := make([]*metav1.PartialObjectMetadata, len(left.Items))
	for i := range left.Items {
		items[i] = &left.Items[i]
	}
	if err := deleteAll(ctx, c.client, items); err != nil {
		return reconcile.Result{}, err
	}
	if foreground && len(items) > 0 {
		return reconcile.Result{RequeueAfter: patience}, nil
	}

	without := set.DeepCopy()
	controllerutil.RemoveFinalizer(without, finalizer)
	err := c.client.Patch(ctx, without, client.MergeFromWithOptions(set, client.MergeFromWithOptimisticLock{}))
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// deleteAll deletes the objects that are not being deleted yet.
func deleteAll[T client.Object](ctx context.Context, c client.Client, objects []T) error {
	var failures []error
	for _, object := range objects {
		if object.GetDeletionTimestamp().IsZero() {
			uid := object.GetUID()
			failures = append(failures, client.IgnoreNotFound(c.Delete(ctx, object, client.Preconditions{UID: &uid})))
		}
	}
	return errors.Join(failures...)
}
