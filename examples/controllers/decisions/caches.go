package main

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caches are the stores of the informers. The objects in them belong to all who read them: nothing here is copied, as
// controller-runtime's client does it, and nothing may be changed.
type caches struct {
	placements, decisions, clusters, sets, bindings toolscache.Indexer
}

// The indexes, beside the one by namespace that each informer has.
const (
	decisionsByPlacement = "decisions by placement" // namespace/name
	clustersBySet        = "clusters by set"        // the label's value
	bindingsBySet        = "bindings by set"        // the set's name
)

var (
	decisionIndexers = toolscache.Indexers{decisionsByPlacement: func(o any) ([]string, error) {
		if key, ok := placementOf(o.(*clusterv1beta1.PlacementDecision)); ok {
			return []string{key.String()}, nil
		}
		return nil, nil
	}}
	clusterIndexers = toolscache.Indexers{clustersBySet: func(o any) ([]string, error) {
		if set, ok := o.(*clusterv1.ManagedCluster).Labels[clusterv1beta2.ClusterSetLabel]; ok {
			return []string{set}, nil
		}
		return nil, nil
	}}
	bindingIndexers = toolscache.Indexers{bindingsBySet: func(o any) ([]string, error) {
		return []string{o.(*clusterv1beta2.ManagedClusterSetBinding).Spec.ClusterSet}, nil
	}}
)

// newCaches asks for the informers of a manager's cache and adds the indexes, before the manager starts.
func newCaches(ctx context.Context, from cache.Cache) (caches, error) {
	var c caches
	for _, each := range []struct {
		of       client.Object
		store    *toolscache.Indexer
		indexers toolscache.Indexers
	}{
		{&clusterv1beta1.Placement{}, &c.placements, nil},
		{&clusterv1beta1.PlacementDecision{}, &c.decisions, decisionIndexers},
		{&clusterv1.ManagedCluster{}, &c.clusters, clusterIndexers},
		{&clusterv1beta2.ManagedClusterSet{}, &c.sets, nil},
		{&clusterv1beta2.ManagedClusterSetBinding{}, &c.bindings, bindingIndexers},
	} {
		informer, err := from.GetInformer(ctx, each.of)
		if err != nil {
			return caches{}, err
		}
		shared, ok := informer.(toolscache.SharedIndexInformer)
		if !ok {
			return caches{}, fmt.Errorf("the informer of %T is of several namespaces and has no store of its own", each.of)
		}
		if err := shared.AddIndexers(each.indexers); err != nil {
			return caches{}, err
		}
		*each.store = shared.GetIndexer()
	}
	return c, nil
}

// list gives the objects of an index, in any order.
func list[T any](store toolscache.Indexer, index, value string) []*T {
	objects, err := store.ByIndex(index, value)
	if err != nil {
		panic(err) // there is no such index
	}
	all := make([]*T, len(objects))
	for i := range objects {
		all[i] = objects[i].(*T)
	}
	return all
}

func (c *caches) placement(key types.NamespacedName) *clusterv1beta1.Placement {
	object, _, _ := c.placements.GetByKey(key.String()) // never an error
	placement, _ := object.(*clusterv1beta1.Placement)
	return placement
}

func (c *caches) placementsIn(namespace string) []*clusterv1beta1.Placement {
	return list[clusterv1beta1.Placement](c.placements, toolscache.NamespaceIndex, namespace)
}

func (c *caches) decisionsOf(placement *clusterv1beta1.Placement) []*clusterv1beta1.PlacementDecision {
	return slices.DeleteFunc(list[clusterv1beta1.PlacementDecision](c.decisions, decisionsByPlacement, placement.Namespace+"/"+placement.Name),
		func(decision *clusterv1beta1.PlacementDecision) bool { return !isOf(decision, placement) })
}

// setsBoundTo are the cluster sets that a namespace may select from.
func (c *caches) setsBoundTo(namespace string) (sets []*clusterv1beta2.ManagedClusterSet) {
	for _, binding := range list[clusterv1beta2.ManagedClusterSetBinding](c.bindings, toolscache.NamespaceIndex, namespace) {
		object, _, _ := c.sets.GetByKey(binding.Spec.ClusterSet) // never an error
		if set, ok := object.(*clusterv1beta2.ManagedClusterSet); ok && binding.DeletionTimestamp.IsZero() && set.DeletionTimestamp.IsZero() {
			sets = append(sets, set)
		}
	}
	return sets
}

// clustersOf are the members of a cluster set: those with its label, or those that its selector matches.
func (c *caches) clustersOf(set *clusterv1beta2.ManagedClusterSet) (members []*clusterv1.ManagedCluster) {
	if set.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
		return list[clusterv1.ManagedCluster](c.clusters, clustersBySet, set.Name)
	}
	selector := selectorOf(set)
	for _, object := range c.clusters.List() {
		if cluster := object.(*clusterv1.ManagedCluster); selector.Matches(labels.Set(cluster.Labels)) {
			members = append(members, cluster)
		}
	}
	return members
}

// has says whether a cluster is a member of a cluster set.
func has(set *clusterv1beta2.ManagedClusterSet, cluster client.Object) bool {
	if set.Spec.ClusterSelector.SelectorType != clusterv1beta2.LabelSelector {
		return cluster.GetLabels()[clusterv1beta2.ClusterSetLabel] == set.Name
	}
	return selectorOf(set).Matches(labels.Set(cluster.GetLabels()))
}

// selectorOf matches nothing where the set's selector is invalid, which its API does not allow.
func selectorOf(set *clusterv1beta2.ManagedClusterSet) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(set.Spec.ClusterSelector.LabelSelector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}
