// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// finalize deletes the ManifestWorks of an owner that is being deleted, and then removes the finalizer.
func (r *reconciler) finalize(ctx context.Context, owner client.Object, state *ownerState) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(owner, Finalizer) {
		return 0, nil
	}
	left, err := r.deleteWorks(ctx, client.ObjectKeyFromObject(owner), state)
	if err != nil {
		return 0, err
	}
	if left > 0 {
		return writes.Patience, nil // the deletion of each is an event
	}
	without := owner.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(without, Finalizer)
	if err := client.IgnoreNotFound(r.patch(ctx, owner, without, state)); err != nil {
		return 0, fmt.Errorf("removing the finalizer: %w", err)
	}
	log.FromContext(ctx).Info("All ManifestWorks are gone, and so may be the owner")
	return 0, nil
}

// cleanUp deletes the ManifestWorks of an owner that was deleted without its finalizer, and drops its state. A live read
// confirms that the owner is gone: the cache may not be filled.
func (r *reconciler) cleanUp(ctx context.Context, key types.NamespacedName, state *ownerState) (time.Duration, error) {
	gone, err := r.isGone(ctx, key)
	if err != nil {
		return 0, err
	}
	if !gone {
		return writes.Patience, nil // the cache will show it
	}
	left, err := r.deleteWorks(ctx, key, state)
	if err != nil {
		return 0, err
	}
	if left > 0 {
		return writes.Patience, nil
	}
	r.states.forget(key)
	r.meters.forget(key, nil)
	return 0, nil
}

// deleteWorks deletes the ManifestWorks of an owner, and of earlier owners of its name, and returns how many are still
// there.
func (r *reconciler) deleteWorks(ctx context.Context, key types.NamespacedName, state *ownerState) (left int, err error) {
	works, err := r.worksLeft(ctx, key)
	if err != nil {
		return 0, err
	}
	for _, work := range works {
		if work.DeletionTimestamp != nil {
			continue
		}
		if failed := r.delete(ctx, state, work); failed != nil {
			err = errors.Join(err, fmt.Errorf("deleting ManifestWork %s/%s: %w", work.Namespace, work.Name, failed))
		}
	}
	return len(works), err
}

// worksLeft are the ManifestWorks to delete with an owner. The cache finds those without the label, too. Once the cache has
// none, they are listed from the API server: the cache may lack one that was just created.
func (r *reconciler) worksLeft(ctx context.Context, key types.NamespacedName) ([]*workv1.ManifestWork, error) {
	owner := r.named(key)
	of := func(works []*workv1.ManifestWork) []*workv1.ManifestWork {
		return slices.DeleteFunc(works, func(work *workv1.ManifestWork) bool { return !isOf(owner, work) })
	}
	cached, err := r.cachedWorks(ctx, key)
	if err != nil {
		return nil, err
	}
	if works := of(cached); len(works) > 0 {
		return works, nil
	}
	live, err := r.liveWorks(ctx, client.MatchingLabels{OwnerLabel: r.hashOf(key)})
	if err != nil {
		return nil, err
	}
	return of(live), nil
}

// isOf says whether a ManifestWork is deleted with an owner.
func isOf(owner writes.Owner, work *workv1.ManifestWork) bool {
	_, noted := owner.Noted(work)
	return noted || owner.Has(work)
}
