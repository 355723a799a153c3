// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/cohort-ocm/cohort/status"
)

// Finalizer keeps an owner until its ManifestWorks are gone. The garbage collector does not delete objects in other
// namespaces.
const Finalizer = "cohort.open-cluster-management.io/placer"

// storeRecords stores the records of deselected clusters in the owner if they changed, and returns the owner with them. The
// plans that made the records can still be carried out: they remove only clusters whose entry was read back from the owner.
func (r *reconciler) storeRecords(ctx context.Context, owner client.Object, state *ownerState, progress Progress) (client.Object, error) {
	records := make(status.Records, len(progress.Placements))
	for _, placed := range progress.Placements {
		records[placed.Name] = placed.Record
	}
	with := owner.DeepCopyObject().(client.Object)
	changed, err := records.Note(with)
	if err != nil {
		return nil, fmt.Errorf("noting the record: %w", err)
	}
	if !changed {
		return owner, nil
	}
	if err := r.patch(ctx, owner, with, state); err != nil {
		return nil, fmt.Errorf("storing the record: %w", err)
	}
	return with, nil
}

// addFinalizer adds the finalizer, and says whether it was missing.
func (r *reconciler) addFinalizer(ctx context.Context, owner client.Object, state *ownerState) (bool, error) {
	if controllerutil.ContainsFinalizer(owner, Finalizer) {
		return false, nil
	}
	with := owner.DeepCopyObject().(client.Object)
	controllerutil.AddFinalizer(with, Finalizer)
	if err := r.patch(ctx, owner, with, state); err != nil {
		return false, fmt.Errorf("adding the finalizer: %w", err)
	}
	return true, nil
}

// patch writes what changed in the metadata of an owner, and records the answer. It fails with a conflict if the cache is
// stale.
func (r *reconciler) patch(ctx context.Context, from, to client.Object, state *ownerState) error {
	err := r.client.Patch(ctx, to, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}))
	return state.stored.Wrote(to, err, r.now())
}
