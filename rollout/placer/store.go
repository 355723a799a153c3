package placer

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/cohort-ocm/cohort/status"
)

// Finalizer holds an owner until its ManifestWorks are gone. The garbage collector does not find those in other namespaces.
const Finalizer = "cohort.open-cluster-management.io/placer"

// storeRecord stores in the owner what has to be known of clusters that left, where that is new, and gives the owner with it. A plan
// removes only clusters of which it read the record back, so it is carried out all the same.
func (r *reconciler) storeRecord(ctx context.Context, owner client.Object, kept *memory, record status.Record) (client.Object, error) {
	with := owner.DeepCopyObject().(client.Object)
	changed, err := status.Records{"": record}.Note(with)
	if err != nil {
		return nil, fmt.Errorf("noting the record: %w", err)
	}
	if !changed {
		return owner, nil
	}
	if err := r.patch(ctx, owner, with, kept); err != nil {
		return nil, fmt.Errorf("storing the record: %w", err)
	}
	return with, nil
}

// addFinalizer adds the finalizer, and says whether it was not there.
func (r *reconciler) addFinalizer(ctx context.Context, owner client.Object, kept *memory) (bool, error) {
	if controllerutil.ContainsFinalizer(owner, Finalizer) {
		return false, nil
	}
	with := owner.DeepCopyObject().(client.Object)
	controllerutil.AddFinalizer(with, Finalizer)
	if err := r.patch(ctx, owner, with, kept); err != nil {
		return false, fmt.Errorf("adding the finalizer: %w", err)
	}
	return true, nil
}

// patch writes what changed in the metadata of an owner, and notes the answer. It is a conflict where the cache is late.
func (r *reconciler) patch(ctx context.Context, from, to client.Object, kept *memory) error {
	err := r.client.Patch(ctx, to, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}))
	return kept.stored.Wrote(to, err, r.now())
}
