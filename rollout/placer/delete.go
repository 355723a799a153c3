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

// finalize deletes the ManifestWorks of an owner that is being deleted, and then lets it go.
func (r *reconciler) finalize(ctx context.Context, owner client.Object, kept *memory) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(owner, Finalizer) {
		return 0, nil
	}
	left, err := r.deleteWorks(ctx, client.ObjectKeyFromObject(owner), kept)
	if err != nil {
		return 0, err
	}
	if left > 0 {
		return writes.Patience, nil // each is an event when it is gone
	}
	without := owner.DeepCopyObject().(client.Object)
	controllerutil.RemoveFinalizer(without, Finalizer)
	if err := client.IgnoreNotFound(r.patch(ctx, owner, without, kept)); err != nil {
		return 0, fmt.Errorf("removing the finalizer: %w", err)
	}
	log.FromContext(ctx).Info("All ManifestWorks are gone, and so may be the owner")
	return 0, nil
}

// cleanUp deletes the ManifestWorks of an owner that is gone without its finalizer, and forgets it. It asks the API server whether the
// owner is gone: the cache may be empty.
func (r *reconciler) cleanUp(ctx context.Context, key types.NamespacedName, kept *memory) (time.Duration, error) {
	gone, err := r.isGone(ctx, key)
	if err != nil {
		return 0, err
	}
	if !gone {
		return writes.Patience, nil // the cache will show it
	}
	left, err := r.deleteWorks(ctx, key, kept)
	if err != nil {
		return 0, err
	}
	if left > 0 {
		return writes.Patience, nil
	}
	r.memories.forget(key)
	return 0, nil
}

// deleteWorks deletes the ManifestWorks of an owner, and of earlier owners of its name, and says how many are there yet.
func (r *reconciler) deleteWorks(ctx context.Context, key types.NamespacedName, kept *memory) (left int, err error) {
	works, err := r.worksLeft(ctx, key)
	if err != nil {
		return 0, err
	}
	for _, work := range works {
		if work.DeletionTimestamp != nil {
			continue
		}
		if failed := r.delete(ctx, kept, work); failed != nil {
			err = errors.Join(err, fmt.Errorf("deleting ManifestWork %s/%s: %w", work.Namespace, work.Name, failed))
		}
	}
	return len(works), err
}

// worksLeft are the ManifestWorks that go with an owner. The cache has those without the label, too. Once it has none, the API server is
// asked, as the cache may lack what was just created.
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

// isOf says whether a ManifestWork goes with an owner.
func isOf(owner writes.Owner, work *workv1.ManifestWork) bool {
	_, noted := owner.Noted(work)
	return noted || owner.Has(work)
}
