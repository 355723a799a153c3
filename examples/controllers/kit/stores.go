// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Gather is how long an event waits for further events of the same object. Ten thousand clusters that report within a
// minute then cause some hundreds of reconciles, not ten thousand.
const Gather = 100 * time.Millisecond

// Get is nil if the store has no such object.
func Get[T any](store cache.Indexer, namespace, name string) *T {
	object, _, _ := store.GetByKey(cache.NewObjectName(namespace, name).String()) // never an error
	t, _ := object.(*T)
	return t
}

// List returns the objects of an index, in any order. They are shared with the store, and must not be changed.
func List[T any](store cache.Indexer, index, value string) []*T {
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

// Sorted returns the objects of an index by name. They must be in one namespace.
func Sorted[T any, P interface {
	*T
	metav1.Object
}](store cache.Indexer, index, value string) []P {
	all := make([]P, 0)
	for _, object := range List[T](store, index, value) {
		all = append(all, object)
	}
	slices.SortFunc(all, func(a, b P) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all
}

// By makes an index of objects by the values that a function gives.
func By[T any](index string, values func(*T) []string) cache.Indexers {
	return cache.Indexers{index: Values(values)}
}

// Values is the index function for a function that returns keys.
func Values[T any](values func(*T) []string) cache.IndexFunc {
	return func(o any) ([]string, error) { return values(o.(*T)), nil }
}

// DecisionsByPlacement is the index of PlacementDecisions by their label, as namespace/name.
const DecisionsByPlacement = "decisions by placement"

// DecisionIndexers has that index.
var DecisionIndexers = By(DecisionsByPlacement, func(decision *clusterv1beta1.PlacementDecision) []string {
	if placement, ok := decision.Labels[clusterv1beta1.PlacementLabel]; ok {
		return []string{decision.Namespace + "/" + placement}
	}
	return nil
})

// ByOwner groups objects by their owner, without those that have none.
func ByOwner[T any](all []T, owner func(T) (types.NamespacedName, bool)) map[types.NamespacedName][]T {
	owners := make(map[types.NamespacedName][]T)
	for _, each := range all {
		if key, ok := owner(each); ok {
			owners[key] = append(owners[key], each)
		}
	}
	return owners
}

// All returns the objects of a store, in any order.
func All[T any](store cache.Indexer) []*T {
	objects := store.List()
	all := make([]*T, len(objects))
	for i := range objects {
		all[i] = objects[i].(*T)
	}
	return all
}
