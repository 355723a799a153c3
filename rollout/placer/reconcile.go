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

// reconciler does the duties of the page of package rollout for the owners of a kind.
type reconciler struct {
	kind     anyKind
	gvk      schema.GroupVersionKind
	client   client.Client // reads from caches
	live     client.Reader // reads from the API server
	events   events.EventRecorder
	now      func() time.Time
	begun    *once
	memories memories
}

// Reconcile has an owner looked at again in time, also where a write failed. It returns no error: controller-runtime would then ignore
// RequeueAfter, and its own pauses grow to a quarter of an hour.
func (r *reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	kept := r.memories.get(request.NamespacedName, r.hashOf(request.NamespacedName))
	recheck, err := r.look(ctx, request.NamespacedName, kept)
	report(ctx, err)
	after := kept.pace.After(err, recheck)
	if err == nil {
		kept.pace = writes.Pace{}
	}
	log.FromContext(ctx).V(1).Info("Looked", "again", after)
	return reconcile.Result{RequeueAfter: after}, nil
}

// report logs an error. That a cache is behind, or that somebody else wrote first, is none.
func report(ctx context.Context, err error) {
	switch {
	case err == nil:
	case apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err):
		log.FromContext(ctx).Info("Looking again, as a cache was behind", "reason", err.Error())
	default:
		log.FromContext(ctx).Error(err, "Looking again, as something failed")
	}
}

// look brings the next clusters of an owner on their way, and says when to come back; 0 where only an event changes something.
func (r *reconciler) look(ctx context.Context, key types.NamespacedName, kept *memory) (time.Duration, error) {
	owner, err := r.cachedOwner(ctx, key)
	if err != nil {
		return 0, err
	}
	if owner == nil {
		return r.cleanUp(ctx, key, kept)
	}
	kept.begin(owner.GetUID())
	recheck, err := r.behind(ctx, key, kept)
	if recheck > 0 || err != nil {
		return recheck, r.refuse(ctx, owner, kept, err)
	}
	if owner.GetDeletionTimestamp() != nil {
		recheck, err := r.finalize(ctx, owner, kept)
		return recheck, r.refuse(ctx, owner, kept, err)
	}
	if added, err := r.addFinalizer(ctx, owner, kept); added || err != nil {
		return gathering, r.refuse(ctx, owner, kept, err)
	}
	rollout, err := r.rolloutOf(owner)
	if err != nil {
		return 0, r.stall(ctx, owner, kept, err)
	}
	return r.roll(ctx, owner, kept, rollout)
}

// roll takes a rollout on: it plans, stores the record, writes, tells, and sets the status.
func (r *reconciler) roll(ctx context.Context, owner client.Object, kept *memory, wanted wantedRollout) (time.Duration, error) {
	s, err := r.plan(ctx, owner, kept, wanted)
	if invalid := (*invalidError)(nil); errors.As(err, &invalid) {
		return 0, r.stall(ctx, owner, kept, err)
	}
	if err != nil {
		return 0, r.refuse(ctx, owner, kept, err)
	}
	stored, err := r.storeRecord(ctx, owner, kept, s.progress.Record)
	if err != nil {
		return 0, r.refuse(ctx, owner, kept, err)
	}
	failed := r.carryOut(ctx, kept, s)
	if s.steps.Moved() {
		return gathering, failed // another version is wanted by now
	}
	r.tell(ctx, owner, kept, s)
	kept.result = s.progress.Result
	err = r.setStatus(ctx, stored, kept, s)
	return sooner(s.recheck(), kept.written.RecheckAfter(r.now())), errors.Join(failed, err)
}
