package main

import (
	"context"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	proof "github.com/cohort-ocm/cohort/examples/trial"
	"github.com/cohort-ocm/cohort/rollout/placer"
)

// unstarted is a manager that starts no controllers.
type unstarted struct{ ctrl.Manager }

func (unstarted) Add(manager.Runnable) error { return nil }

// forgetfully reconciles each time with a new reconciler of a kind. So the result before is forgotten. Writes are not: a new
// reconciler lists them from the API server.
func forgetfully(m ctrl.Manager, kind placer.Kind[*replicaSet]) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		var by reconcile.Reconciler
		err := placer.For(ctrl.Manager(unstarted{m}), kind).Wrap(func(inner reconcile.Reconciler) reconcile.Reconciler {
			by = inner
			return inner
		}).Complete()
		if err != nil {
			return reconcile.Result{}, err
		}
		return by.Reconcile(ctx, request)
	})
}

// startForgetful starts a manager with such a controller. Its reconcilers do not live to map events, so each event concerns
// the set of the process.
func startForgetful(ctx context.Context, m ctrl.Manager, kind placer.Kind[*replicaSet], p *proof.Process) error {
	set := func(context.Context, client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: p.Set}}
	}
	err := ctrl.NewControllerManagedBy(m).For(&replicaSet{}).
		Watches(&workv1.ManifestWork{}, handler.EnqueueRequestsFromMapFunc(set)).
		Watches(&clusterv1beta1.Placement{}, handler.EnqueueRequestsFromMapFunc(set)).
		Watches(&clusterv1beta1.PlacementDecision{}, handler.EnqueueRequestsFromMapFunc(set)).
		Complete(observed(p)(forgetfully(m, kind)))
	if err != nil {
		return err
	}
	return m.Start(ctx)
}
