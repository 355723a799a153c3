// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Builder builds the controller of a Kind, like the builder of controller-runtime.
type Builder[O client.Object] struct {
	manager ctrl.Manager
	kind    Kind[O]
	options controller.Options
	wraps   []func(reconcile.Reconciler) reconcile.Reconciler
}

// For begins the controller of a kind. The manager's scheme must have the kind, and OCM's ManifestWork, Placement,
// PlacementDecision and ManagedCluster.
func For[O client.Object](manager ctrl.Manager, kind Kind[O]) *Builder[O] {
	return &Builder[O]{manager: manager, kind: kind}
}

// WithOptions sets the options of the controller, such as MaxConcurrentReconciles. NeedLeaderElection must not be false.
// The queue is client-go's, unless the options, or those of the manager, set UsePriorityQueue.
func (b *Builder[O]) WithOptions(options controller.Options) *Builder[O] {
	b.options = options
	return b
}

// Wrap wraps each call of Reconcile, such as with a trace. The last wrapper is the outermost. The reconciler never returns
// an error, since controller-runtime would requeue too late: it logs errors, and requeues within a minute.
func (b *Builder[O]) Wrap(wrap func(reconcile.Reconciler) reconcile.Reconciler) *Builder[O] {
	b.wraps = append(b.wraps, wrap)
	return b
}

// Complete adds the controller to the manager.
func (b *Builder[O]) Complete() error {
	reconciler, err := b.reconciler()
	if err != nil {
		return err
	}
	if err := checkScope(reconciler.gvk, b.manager.GetRESTMapper()); err != nil {
		return err
	}
	options, err := optionsOf(b.options, b.manager.GetControllerOptions())
	if err != nil {
		return err
	}
	if err := reconciler.index(context.Background(), b.manager.GetFieldIndexer()); err != nil {
		return err
	}
	var outermost reconcile.Reconciler = reconciler
	for _, wrap := range b.wraps {
		outermost = wrap(outermost)
	}
	return ctrl.NewControllerManagedBy(b.manager).
		Named(nameOf(reconciler.gvk)).
		For(reconciler.kind.new(), builder.WithPredicates(wantChanged())).
		Watches(&workv1.ManifestWork{}, enqueueOwners(reconciler.ownersOfWork)).
		Watches(&clusterv1beta1.Placement{}, enqueueOwners(reconciler.ownersOfPlacement)).
		Watches(&clusterv1beta1.PlacementDecision{}, enqueueOwners(reconciler.ownersOfDecision)).
		WatchesMetadata(&clusterv1.ManagedCluster{}, enqueueOwners(reconciler.ownersOfDeselected), builder.WithPredicates(deletions())).
		WithOptions(options).
		Complete(outermost)
}

// nameOf is the name of a kind's controller. It contains the group: kinds of two groups may have the same name.
func nameOf(gvk schema.GroupVersionKind) string {
	return "placer-" + strings.ToLower(gvk.GroupKind().String())
}

// checkScope returns an error for a cluster-scoped kind. A kind that the mapper does not know yet passes: its CRD may come
// later.
func checkScope(gvk schema.GroupVersionKind, mapper meta.RESTMapper) error {
	namespaced, err := apiutil.IsGVKNamespaced(gvk, mapper)
	if meta.IsNoMatchError(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("placer: asking for the scope of %s: %w", gvk.GroupKind(), err)
	}
	if !namespaced {
		return fmt.Errorf("placer: %s is cluster-scoped, and must be namespaced: the Placement is in the namespace of the owner", gvk.GroupKind())
	}
	return nil
}

// optionsOf completes the options of the controller with those of the manager.
func optionsOf(options controller.Options, manager config.Controller) (controller.Options, error) {
	if elected := cmp.Or(options.NeedLeaderElection, manager.NeedLeaderElection); elected != nil && !*elected {
		return options, errors.New("placer: NeedLeaderElection is false, and must be true or missing: one process acts at a time")
	}
	if options.UsePriorityQueue == nil && manager.UsePriorityQueue == nil {
		options.UsePriorityQueue = new(bool) // the priority queue may deadlock: kubernetes-sigs/controller-runtime#3538
	}
	return options, nil
}

func (b *Builder[O]) reconciler() (*reconciler, error) {
	if b.kind.Rollout == nil || b.kind.Conditions == nil {
		return nil, errors.New("placer: a Kind has no Rollout or no Conditions, and must have both")
	}
	kind := kindOf(b.kind)
	gvk, err := apiutil.GVKForObject(kind.new(), b.manager.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("placer: the scheme of the manager does not have %T: %w", kind.new(), err)
	}
	meters, err := newMetrics(ctrlmetrics.Registry, gvk.GroupKind())
	if err != nil {
		return nil, fmt.Errorf("placer: registering the metrics: %w", err)
	}
	return &reconciler{
		kind:   kind,
		gvk:    gvk,
		client: b.manager.GetClient(),
		live:   b.manager.GetAPIReader(),
		events: b.manager.GetEventRecorder(nameOf(gvk)),
		now:    time.Now,
		begun:  newOnce(),
		meters: meters,
	}, nil
}

// anyKind is a Kind whose type parameter is erased.
type anyKind struct {
	new        func() client.Object
	rollout    func(client.Object) (Rollout, error)
	conditions func(client.Object) *[]condition
	observe    func(client.Object) // sets the observedGeneration
	show       func(client.Object, Progress)
}

func kindOf[O client.Object](kind Kind[O]) anyKind {
	of := anyKind{
		new:        func() client.Object { return reflect.New(reflect.TypeFor[O]().Elem()).Interface().(O) },
		rollout:    func(owner client.Object) (Rollout, error) { return kind.Rollout(owner.(O)) },
		conditions: func(owner client.Object) *[]condition { return kind.Conditions(owner.(O)) },
		observe:    func(client.Object) {},
		show:       func(client.Object, Progress) {},
	}
	if kind.ObservedGeneration != nil {
		of.observe = func(owner client.Object) { *kind.ObservedGeneration(owner.(O)) = owner.GetGeneration() }
	}
	if kind.Show != nil {
		of.show = func(owner client.Object, progress Progress) { kind.Show(owner.(O), progress) }
	}
	return of
}

// wantChanged passes events that may change what an owner wants or what operators decided. Writes of the status pass not: they
// are this package's own.
func wantChanged() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{},
		predicate.AnnotationChangedPredicate{},
		predicate.LabelChangedPredicate{},
	)
}

func (r *reconciler) groupKind() schema.GroupKind { return r.gvk.GroupKind() }
