// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sig "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/decisionupdate/mirror"
	"github.com/cohort-ocm/cohort/examples/inventory"
	"github.com/cohort-ocm/cohort/grouping"
)

// mirrorer maintains the slices of placements.
type mirrorer struct {
	source     client.Reader // one informer's objects, which are a consistent snapshot
	client     client.Client // writes slices
	live       client.Reader // to read from the API server
	convention inventory.Convention
}

var strategy = decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate, MaxSteps: 10}

// Reconcile updates the slices of a placement to its PlacementDecisions. It lists the slices live each time, so no own
// writes have to be remembered.
func (m *mirrorer) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	source, whole, err := m.decisions(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	if source == nil {
		return reconcile.Result{}, nil // nothing is scheduled yet
	}
	stored, err := m.slices(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, err
	}
	desired := inventory.Label(source)
	if whole {
		desired = grouping.Sealed(desired)
	}
	update, err := mirror.Diff(stored, desired, strategy)
	if err != nil {
		return reconcile.Result{}, reconcile.TerminalError(err)
	}
	writer := inventory.Client{Client: m.client, Live: m.live, Namespace: request.Namespace, Convention: m.convention}
	outcome, err := decisionupdate.Applier{Client: writer, Parallel: 4}.Apply(ctx, update)
	if len(outcome.Writes) > 0 {
		log.FromContext(ctx).Info("mirrored", "outcome", outcome.String())
	}
	return reconcile.Result{}, err
}

// decisions returns the PlacementDecisions of a placement: nil if there are none yet, and an empty list if the placement is
// gone. They are complete if they match the placement's status.
func (m *mirrorer) decisions(ctx context.Context, key types.NamespacedName) (source []*clusterv1beta1.PlacementDecision, whole bool, err error) {
	var list clusterv1beta1.PlacementDecisionList
	if err := m.source.List(ctx, &list, client.InNamespace(key.Namespace)); err != nil { // no selector matches an owner reference
		return nil, false, err
	}
	for i := range list.Items {
		if object := &list.Items[i]; placementOf(object) == key.Name {
			metav1.SetMetaDataLabel(&object.ObjectMeta, clusterv1beta1.PlacementLabel, key.Name)
			source = append(source, object)
		}
	}
	var placement clusterv1beta1.Placement
	switch err := m.source.Get(ctx, key, &placement); {
	case apierrors.IsNotFound(err) && len(source) == 0:
		return []*clusterv1beta1.PlacementDecision{}, false, nil
	case apierrors.IsNotFound(err):
		return source, false, nil // about to be garbage-collected
	case err != nil:
		return nil, false, err
	}
	groups, err := grouping.Read(&placement, source)
	if err != nil {
		return nil, false, reconcile.TerminalError(err)
	}
	return source, groups.Incomplete() == "", nil
}

// slices returns the mirror's slices for a placement, even if a user edited their labels: an update restores them. Another
// writer's slices with its key are an error: their clusters would be mistaken for the placement's.
func (m *mirrorer) slices(ctx context.Context, key types.NamespacedName) ([]*clusterv1beta1.PlacementDecision, error) {
	var list sig.PlacementDecisionList
	if err := m.live.List(ctx, &list, client.InNamespace(key.Namespace)); err != nil { // no selector matches a removed label
		return nil, err
	}
	var own []*clusterv1beta1.PlacementDecision
	for i := range list.Items {
		slice := &list.Items[i]
		if keyOf(slice) != key.Name {
			continue
		}
		if slice.SchedulerName != m.convention.Scheduler {
			return nil, reconcile.TerminalError(fmt.Errorf("slice %s/%s has the decision key %s and is of the scheduler %q, want %q",
				slice.Namespace, slice.Name, key.Name, slice.SchedulerName, m.convention.Scheduler))
		}
		object := inventory.ToOCM(m.convention, slice)[0]
		if slice.Labels[clusterv1beta1.PlacementLabel] != key.Name {
			delete(object.Labels, sig.DecisionKeyLabel) // makes a difference, so that the update writes all labels
			metav1.SetMetaDataLabel(&object.ObjectMeta, clusterv1beta1.PlacementLabel, key.Name)
		}
		own = append(own, object)
	}
	return own, nil
}

// placementOf names the placement of a PlacementDecision: by its label, or by its controller reference if the label was
// removed, or edited so that it contradicts the object's name. Otherwise the clusters would be missing for a moment.
func placementOf(object client.Object) string {
	label := object.GetLabels()[clusterv1beta1.PlacementLabel]
	owner := metav1.GetControllerOfNoCopy(object)
	if owner != nil && owner.Kind == "Placement" && !strings.HasPrefix(object.GetName(), label+"-decision-") {
		return owner.Name
	}
	return label
}

// keyOf names the placement of a slice: by its name if a label agrees, or else by a label, or else by its name.
func keyOf(object client.Object) string {
	labels, named := object.GetLabels(), ""
	if end := strings.LastIndex(object.GetName(), "-decision-"); end > 0 {
		named = object.GetName()[:end]
	}
	key, placement := labels[sig.DecisionKeyLabel], labels[clusterv1beta1.PlacementLabel]
	if key == named || placement == named {
		return cmp.Or(named, placement, key)
	}
	return cmp.Or(placement, key, named)
}

// by maps an object to the placement that a function names.
func by(named func(client.Object) string) func(context.Context, client.Object) []reconcile.Request {
	return func(_ context.Context, o client.Object) []reconcile.Request {
		name := named(o)
		if name == "" {
			return nil
		}
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: name}}}
	}
}
