package main

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// caches are the stores of the informers. The objects in them belong to all who read them: nothing here is copied, as
// controller-runtime's client does it, and nothing may be changed. That is what makes looking at 10,000 works cheap.
type caches struct {
	sets, works, placements, decisions toolscache.Indexer
}

// setLabel is on every work of a set, and says whose it is, in OCM's way. A namespace has no dot in it.
const setLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

func labelOf(set *workv1alpha1.ManifestWorkReplicaSet) string { return set.Namespace + "." + set.Name }

// workKind is asked for where the metadata are enough.
var workKind = schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork")

func setOfLabel(value string) (types.NamespacedName, bool) {
	namespace, name, ok := strings.Cut(value, ".")
	return types.NamespacedName{Namespace: namespace, Name: name}, ok
}

// The indexes.
const (
	setsByPlacement      = "sets by placement"      // namespace/name
	worksBySet           = "works by set"           // the label's value
	worksBySetAndCluster = "works by set, cluster"  // the label's value/cluster
	decisionsByPlacement = "decisions by placement" // namespace/name
)

var (
	setIndexers = toolscache.Indexers{setsByPlacement: func(o any) (keys []string, _ error) {
		set := o.(*workv1alpha1.ManifestWorkReplicaSet)
		for _, ref := range set.Spec.PlacementRefs {
			keys = append(keys, set.Namespace+"/"+ref.Name)
		}
		return keys, nil
	}}
	workIndexers = toolscache.Indexers{
		worksBySet: func(o any) ([]string, error) {
			if set, ok := o.(*workv1.ManifestWork).Labels[setLabel]; ok {
				return []string{set}, nil
			}
			return nil, nil
		},
		worksBySetAndCluster: func(o any) ([]string, error) {
			work := o.(*workv1.ManifestWork)
			if set, ok := work.Labels[setLabel]; ok {
				return []string{set + "/" + work.Namespace}, nil
			}
			return nil, nil
		},
	}
	decisionIndexers = toolscache.Indexers{decisionsByPlacement: func(o any) ([]string, error) {
		decision := o.(*clusterv1beta1.PlacementDecision)
		if placement, ok := decision.Labels[clusterv1beta1.PlacementLabel]; ok {
			return []string{decision.Namespace + "/" + placement}, nil
		}
		return nil, nil
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
		{&workv1alpha1.ManifestWorkReplicaSet{}, &c.sets, setIndexers},
		{&workv1.ManifestWork{}, &c.works, workIndexers},
		{&clusterv1beta1.Placement{}, &c.placements, nil},
		{&clusterv1beta1.PlacementDecision{}, &c.decisions, decisionIndexers},
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

// get is nil where the store has no such object.
func get[T any](store toolscache.Indexer, namespace, name string) *T {
	object, _, _ := store.GetByKey(namespace + "/" + name) // never an error
	t, _ := object.(*T)
	return t
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

func (c *caches) set(key types.NamespacedName) *workv1alpha1.ManifestWorkReplicaSet {
	return get[workv1alpha1.ManifestWorkReplicaSet](c.sets, key.Namespace, key.Name)
}

// generation gives the generation that a set has by now; 0 if it is gone, or if another one has its name.
func (c *caches) generation(set *workv1alpha1.ManifestWorkReplicaSet) int64 {
	if now := get[workv1alpha1.ManifestWorkReplicaSet](c.sets, set.Namespace, set.Name); now != nil && now.UID == set.UID {
		return now.Generation
	}
	return 0
}

func (c *caches) worksOf(set *workv1alpha1.ManifestWorkReplicaSet) []*workv1.ManifestWork {
	return list[workv1.ManifestWork](c.works, worksBySet, labelOf(set))
}

// workOn is the set's work for a cluster, or nil: the one to keep if there are several.
func (c *caches) workOn(set *workv1alpha1.ManifestWorkReplicaSet, cluster string) *workv1.ManifestWork {
	var keep *workv1.ManifestWork
	for _, work := range list[workv1.ManifestWork](c.works, worksBySetAndCluster, labelOf(set)+"/"+cluster) {
		if keep == nil || keepRather(set, work, keep) {
			keep = work
		}
	}
	return keep
}
