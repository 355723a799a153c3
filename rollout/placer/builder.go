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
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Builder makes the controller of a Kind, as those of controller-runtime make theirs.
type Builder[O client.Object] struct {
	manager ctrl.Manager
	kind    Kind[O]
	options controller.Options
	wraps   []func(reconcile.Reconciler) reconcile.Reconciler
}

// For begins the controller of a kind. The manager's scheme has the kind, and OCM's ManifestWork, Placement, PlacementDecision and
// ManagedCluster.
func For[O client.Object](m ctrl.Manager, kind Kind[O]) *Builder[O] {
	return &Builder[O]{manager: m, kind: kind}
}

// WithOptions sets the options of the controller, such as how many owners are looked at at a time. One owner is looked at by one
// worker at a time, however many there are. NeedLeaderElection must not be false. The queue is that of client-go, unless the options, or
// those of the manager, say UsePriorityQueue.
func (b *Builder[O]) WithOptions(options controller.Options) *Builder[O] {
	b.options = options
	return b
}

// Wrap puts something around each look, such as a trace. What is wrapped last is outermost. The reconciler never returns an error,
// as controller-runtime would come back too late: errors are logged, and looked at again within a minute.
func (b *Builder[O]) Wrap(wrap func(reconcile.Reconciler) reconcile.Reconciler) *Builder[O] {
	b.wraps = append(b.wraps, wrap)
	return b
}

// Complete adds the controller to the manager.
func (b *Builder[O]) Complete() error {
	r, err := b.reconciler()
	if err != nil {
		return err
	}
	if err := checkScope(r.gvk, b.manager.GetRESTMapper()); err != nil {
		return err
	}
	options, err := optionsOf(b.options, b.manager.GetControllerOptions())
	if err != nil {
		return err
	}
	if err := r.index(context.Background(), b.manager.GetFieldIndexer()); err != nil {
		return err
	}
	var outermost reconcile.Reconciler = r
	for _, wrap := range b.wraps {
		outermost = wrap(outermost)
	}
	return ctrl.NewControllerManagedBy(b.manager).
		Named(nameOf(r.gvk)).
		For(r.kind.new(), builder.WithPredicates(wanted())).
		Watches(&workv1.ManifestWork{}, gather(r.ownersOfWork)).
		Watches(&clusterv1beta1.Placement{}, gather(r.ownersOfPlacement)).
		Watches(&clusterv1beta1.PlacementDecision{}, gather(r.ownersOfDecision)).
		WatchesMetadata(&clusterv1.ManagedCluster{}, gather(r.ownersOfDeselected), builder.WithPredicates(gone())).
		WithOptions(options).
		Complete(outermost)
}

// nameOf is the name of the controller of a kind. Kinds of two groups may have one name.
func nameOf(gvk schema.GroupVersionKind) string {
	return "placer-" + strings.ToLower(gvk.GroupKind().String())
}

// checkScope says that a kind has no namespaces. What the mapper does not know yet may come.
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

// optionsOf are the options of the controller, of which those of the manager stand in for what is missing.
func optionsOf(options controller.Options, manager config.Controller) (controller.Options, error) {
	if elected := cmp.Or(options.NeedLeaderElection, manager.NeedLeaderElection); elected != nil && !*elected {
		return options, errors.New("placer: NeedLeaderElection is false, and must be true or missing: one process acts at a time")
	}
	if options.UsePriorityQueue == nil && manager.UsePriorityQueue == nil {
		options.UsePriorityQueue = new(bool) // the other may end in a deadlock: kubernetes-sigs/controller-runtime#3538
	}
	return options, nil
}

// reconciler makes the reconciler with what the manager has.
func (b *Builder[O]) reconciler() (*reconciler, error) {
	if b.kind.Rollout == nil || b.kind.Conditions == nil {
		return nil, errors.New("placer: a Kind has no Rollout or no Conditions, and must have both")
	}
	kind := kindOf(b.kind)
	gvk, err := apiutil.GVKForObject(kind.new(), b.manager.GetScheme())
	if err != nil {
		return nil, fmt.Errorf("placer: the scheme of the manager does not have %T: %w", kind.new(), err)
	}
	return &reconciler{
		kind:   kind,
		gvk:    gvk,
		client: b.manager.GetClient(),
		live:   b.manager.GetAPIReader(),
		events: b.manager.GetEventRecorder(nameOf(gvk)),
		now:    time.Now,
		begun:  newOnce(),
	}, nil
}

// anyKind is a Kind whose type is known at run time alone.
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

// wanted lets through what changes what an owner wants, or what people decided. The status is this package's own.
func wanted() predicate.Predicate {
	return predicate.Or(
		predicate.GenerationChangedPredicate{},
		predicate.AnnotationChangedPredicate{},
		predicate.LabelChangedPredicate{},
	)
}

// groupKind is the kind as objects note it.
func (r *reconciler) groupKind() schema.GroupKind { return r.gvk.GroupKind() }
