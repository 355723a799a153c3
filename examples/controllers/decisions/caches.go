// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
)

// caches are the stores of the informers. Their objects are shared, unlike the copies of controller-runtime's client, and
// must not be changed.
type caches struct {
	placements, decisions, clusters, sets, bindings toolscache.Indexer
}

// The indexes, in addition to the one by namespace that each informer has.
const (
	clustersBySet = "clusters by set" // the label's value
	bindingsBySet = "bindings by set" // the set's name
)

var (
	clusterIndexers = kit.By(clustersBySet, func(cluster *clusterv1.ManagedCluster) []string {
		if set, ok := cluster.Labels[clusterv1beta2.ClusterSetLabel]; ok {
			return []string{set}
		}
		return nil
	})
	bindingIndexers = kit.By(bindingsBySet, func(binding *clusterv1beta2.ManagedClusterSetBinding) []string {
		return []string{binding.Spec.ClusterSet}
	})
)

// newCaches gets the informers of a manager's cache, before the manager starts.
func newCaches(ctx context.Context, from cache.Cache) (c caches, err error) {
	var errs [5]error
	c.placements, errs[0] = manager.Store(ctx, from, &clusterv1beta1.Placement{}, nil)
	c.decisions, errs[1] = manager.Store(ctx, from, &clusterv1beta1.PlacementDecision{}, nil)
	c.clusters, errs[2] = manager.Store(ctx, from, &clusterv1.ManagedCluster{}, clusterIndexers)
	c.sets, errs[3] = manager.Store(ctx, from, &clusterv1beta2.ManagedClusterSet{}, nil)
	c.bindings, errs[4] = manager.Store(ctx, from, &clusterv1beta2.ManagedClusterSetBinding{}, bindingIndexers)
	return c, errors.Join(errs[:]...)
}

// decisionsIn are all PlacementDecisions of a namespace. grouping.Owns says which of them belong to a Placement; the names
// of the others are taken.
func (cached *caches) decisionsIn(namespace string) []*clusterv1beta1.PlacementDecision {
	return kit.List[clusterv1beta1.PlacementDecision](cached.decisions, toolscache.NamespaceIndex, namespace)
}

// setsBoundTo are the cluster sets that a namespace may select from.
func (cached *caches) setsBoundTo(namespace string) (sets []*clusterv1beta2.ManagedClusterSet) {
	for _, binding := range kit.List[clusterv1beta2.ManagedClusterSetBinding](cached.bindings, toolscache.NamespaceIndex, namespace) {
		set := kit.Get[clusterv1beta2.ManagedClusterSet](cached.sets, "", binding.Spec.ClusterSet)
		if set != nil && binding.DeletionTimestamp.IsZero() && set.DeletionTimestamp.IsZero() {
			sets = append(sets, set)
		}
	}
	return sets
}

// clustersOf are the members of a cluster set: those with its label, or those that its selector matches.
func (cached *caches) clustersOf(set *clusterv1beta2.ManagedClusterSet) (members []*clusterv1.ManagedCluster) {
	if set.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
		return kit.List[clusterv1.ManagedCluster](cached.clusters, clustersBySet, set.Name)
	}
	selector := selectorOf(set)
	return slices.DeleteFunc(kit.All[clusterv1.ManagedCluster](cached.clusters), func(cluster *clusterv1.ManagedCluster) bool {
		return !selector.Matches(labels.Set(cluster.Labels))
	})
}

// has says whether a cluster is a member of a cluster set.
func has(set *clusterv1beta2.ManagedClusterSet, cluster client.Object) bool {
	if set.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
		return cluster.GetLabels()[clusterv1beta2.ClusterSetLabel] == set.Name
	}
	return selectorOf(set).Matches(labels.Set(cluster.GetLabels()))
}

// selectorOf matches nothing if the set's selector is invalid, which its API does not allow.
func selectorOf(set *clusterv1beta2.ManagedClusterSet) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.ClusterSelector.LabelSelector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}
