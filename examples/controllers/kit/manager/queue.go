// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// Concerns enqueues the objects that an event concerns. For an update these are the objects of the old and of the new
// state, so that an object that loses a label is noticed.
func Concerns(concerned func(client.Object) []types.NamespacedName) handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	add := func(q queue, objects ...client.Object) {
		for _, object := range objects {
			for _, key := range concerned(object) {
				q.AddAfter(reconcile.Request{NamespacedName: key}, kit.Gather)
			}
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { add(q, e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) { add(q, e.ObjectOld, e.ObjectNew) },
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) { add(q, e.Object) },
	}
}

// Options are those of a controller with some workers, which retries within a minute.
func Options(workers int) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: workers,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](kit.Gather, time.Minute),
	}
}

// Paced requeues an object in time also after an error: no later than its result says. It logs the error.
// Controller-runtime ignores RequeueAfter when Reconcile returns an error, and one failing cluster must not delay the
// deadlines of the others.
func Paced(by reconcile.Reconciler) reconcile.Reconciler { return &paced{Reconciler: by} }

type paced struct {
	reconcile.Reconciler
	paces kit.Paces
}

func (p *paced) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	result, err := p.Reconciler.Reconcile(ctx, request)
	if errors.Is(err, reconcile.TerminalError(nil)) {
		return result, err
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "it failed, and is tried again")
	}
	return reconcile.Result{RequeueAfter: p.paces.After(request.NamespacedName, err, result.RequeueAfter)}, nil
}
