// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// reconciler does the duties that package rollout documents, for the owners of a kind.
type reconciler struct {
	kind   anyKind
	gvk    schema.GroupVersionKind
	client client.Client // reads from caches
	live   client.Reader // reads from the API server
	events events.EventRecorder
	now    func() time.Time
	begun  *once
	meters *metrics
	states ownerStates
}

// Reconcile requeues an owner in time, also after a failed write. It never returns an error: controller-runtime would
// ignore RequeueAfter, and its own backoff grows to a quarter of an hour.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	state := r.states.get(request.NamespacedName, r.hashOf(request.NamespacedName))
	recheck, err := r.reconcileOwner(ctx, request.NamespacedName, state)
	report(ctx, err)
	after := state.pace.After(err, recheck)
	if err == nil {
		state.pace = writes.Pace{}
	}
	log.FromContext(ctx).V(1).Info("Reconciled", "requeueAfter", after)
	return reconcile.Result{RequeueAfter: after}, nil
}

// report logs an error. A stale cache or a conflict is not logged as an error.
func report(ctx context.Context, err error) {
	switch {
	case err == nil:
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		log.FromContext(ctx).Info("Requeued: the cache was stale", "reason", err.Error())
	default:
		log.FromContext(ctx).Error(err, "Requeued after an error")
	}
}

// reconcileOwner starts the next clusters of an owner, and returns when to requeue; 0 if only an event changes something.
func (r *reconciler) reconcileOwner(ctx context.Context, key types.NamespacedName, state *ownerState) (time.Duration, error) {
	owner, err := r.cachedOwner(ctx, key)
	if err != nil {
		return 0, err
	}
	if owner == nil {
		return r.cleanUp(ctx, key, state)
	}
	state.begin(owner.GetUID())
	recheck, err := r.recheckUntilSeen(ctx, key, state)
	if recheck > 0 || err != nil {
		return recheck, r.refuse(ctx, owner, state, err)
	}
	if owner.GetDeletionTimestamp() != nil {
		recheck, err := r.finalize(ctx, owner, state)
		return recheck, r.refuse(ctx, owner, state, err)
	}
	if added, err := r.addFinalizer(ctx, owner, state); added || err != nil {
		return batchDelay, r.refuse(ctx, owner, state, err)
	}
	rollout, err := r.rolloutOf(owner)
	if err != nil {
		return 0, r.stall(ctx, owner, state, err)
	}
	return r.roll(ctx, owner, state, rollout)
}

// roll plans, stores the record, makes the writes, emits events, and sets the status.
func (r *reconciler) roll(ctx context.Context, owner client.Object, state *ownerState, wanted wantedRollout) (time.Duration, error) {
	planned, err := r.plan(ctx, owner, state, wanted)
	if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
		return 0, r.stall(ctx, owner, state, err)
	}
	if err != nil {
		return 0, r.refuse(ctx, owner, state, err)
	}
	stored, err := r.storeRecords(ctx, owner, state, planned.progress)
	if err != nil {
		return 0, r.refuse(ctx, owner, state, err)
	}
	failed := r.carryOut(ctx, state, planned)
	if planned.steps.Moved() {
		return batchDelay, failed // the owner wants something else by now
	}
	r.tell(ctx, owner, state, planned)
	r.meters.tell(client.ObjectKeyFromObject(owner), planned.progress, state.results)
	state.keep(planned.progress)
	err = r.setStatus(ctx, stored, state, planned)
	return sooner(planned.recheck(), state.written.RecheckAfter(r.now())), errors.Join(failed, err)
}
