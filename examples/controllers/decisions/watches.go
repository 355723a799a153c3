// SPDX-License-Identifier: Apache-2.0

package main

import (
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

// watch enqueues each Placement that an event concerns. Events of a Placement itself count if its spec changes: its status
// is written by this controller.
func (c *controller) watch(m ctrl.Manager, workers int) error {
	return ctrl.NewControllerManagedBy(m).Named("decisions").
		For(&clusterv1beta1.Placement{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&clusterv1beta1.PlacementDecision{}, manager.Concerns(placementOfDecision)).
		Watches(&clusterv1.ManagedCluster{}, manager.Concerns(c.caches.placementsOfCluster), builder.WithPredicates(predicate.Funcs{UpdateFunc: matters})).
		Watches(&clusterv1beta2.ManagedClusterSet{}, manager.Concerns(c.caches.placementsOfSet)).
		Watches(&clusterv1beta2.ManagedClusterSetBinding{}, manager.Concerns(c.caches.placementsOfBinding)).
		WithOptions(manager.Options(workers)).
		Complete(manager.Paced(c))
}

// matters says whether an update of a ManagedCluster changes what the controller reads of it. Its conditions change all the
// time.
func matters(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*clusterv1.ManagedCluster), e.ObjectNew.(*clusterv1.ManagedCluster)
	return before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
		!equality.Semantic.DeepEqual(before.Spec.Taints, after.Spec.Taints) ||
		!equality.Semantic.DeepEqual(before.Status.ClusterClaims, after.Status.ClusterClaims)
}

// placementOfDecision is the Placement that controls a decision, or that its label names.
func placementOfDecision(object client.Object) []types.NamespacedName {
	name := object.GetLabels()[clusterv1beta1.PlacementLabel]
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil && owner.Kind == "Placement" {
		name = owner.Name
	}
	if name == "" {
		return nil
	}
	return []types.NamespacedName{{Namespace: object.GetNamespace(), Name: name}}
}

// placementsOfCluster are the Placements in the namespaces to which a set of the cluster is bound.
func (cached *caches) placementsOfCluster(object client.Object) (placements []types.NamespacedName) {
	for _, set := range kit.All[clusterv1beta2.ManagedClusterSet](cached.sets) {
		if has(set, object) {
			placements = append(placements, cached.placementsOfSet(set)...)
		}
	}
	return placements
}

func (cached *caches) placementsOfSet(set client.Object) (placements []types.NamespacedName) {
	for _, binding := range kit.List[clusterv1beta2.ManagedClusterSetBinding](cached.bindings, bindingsBySet, set.GetName()) {
		placements = append(placements, cached.placementsOfBinding(binding)...)
	}
	return placements
}

func (cached *caches) placementsOfBinding(binding client.Object) (placements []types.NamespacedName) {
	for _, placement := range kit.List[clusterv1beta1.Placement](cached.placements, cache.NamespaceIndex, binding.GetNamespace()) {
		placements = append(placements, client.ObjectKeyFromObject(placement))
	}
	return placements
}
