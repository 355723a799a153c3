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

// Gather is how long an event waits for others of the same object. Ten thousand clusters that report within a minute are then some
// hundreds of reconciles, and not ten thousand.
const Gather = 100 * time.Millisecond

// Get is nil where the store has no such object.
func Get[T any](store cache.Indexer, namespace, name string) *T {
	object, _, _ := store.GetByKey(cache.NewObjectName(namespace, name).String()) // never an error
	t, _ := object.(*T)
	return t
}

// List gives the objects of an index, in any order. They belong to all who read the store, and nothing may be changed.
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

// Sorted gives the objects of an index by name. They are those of one namespace.
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

// Values has a function say what an object is found by.
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

// ByOwner sorts objects by the owner that they belong to, as far as they belong to any.
func ByOwner[T any](all []T, owner func(T) (types.NamespacedName, bool)) map[types.NamespacedName][]T {
	owners := make(map[types.NamespacedName][]T)
	for _, each := range all {
		if key, ok := owner(each); ok {
			owners[key] = append(owners[key], each)
		}
	}
	return owners
}

// All gives the objects of a store, in any order.
func All[T any](store cache.Indexer) []*T {
	objects := store.List()
	all := make([]*T, len(objects))
	for i := range objects {
		all[i] = objects[i].(*T)
	}
	return all
}
