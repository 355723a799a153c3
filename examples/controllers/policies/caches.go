package main

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// The resources of the policy API.
var (
	policies = schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1", Resource: "policies"}
	sets     = schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1beta1", Resource: "policysets"}
	bindings = schema.GroupVersionResource{Group: "policy.open-cluster-management.io", Version: "v1", Resource: "placementbindings"}
)

// policySet and placementBinding are what is kept of these objects. One that can't be read is kept without its content.
type (
	policySet struct {
		policyv1.PolicySet
		status setStatus
	}
	placementBinding struct{ policyv1.PlacementBinding }
)

// caches are the stores of the informers. The objects in them belong to all who read them, and nothing may be changed.
type caches struct {
	policies, sets, bindings, placements, decisions cache.Indexer
}

// The indexes, beside the one by namespace that each informer has.
const (
	replicasByRoot       = "replicas by root"       // namespace/name
	rootsByNamespace     = "roots by namespace"     // without the replicas
	rootsBySet           = "roots by set"           // namespace/name of a set that the policy depends on
	bindingsByPlacement  = "bindings by placement"  // namespace/name
	decisionsByPlacement = "decisions by placement" // namespace/name
)

var (
	policyIndexers = cache.Indexers{
		replicasByRoot: func(o any) ([]string, error) {
			if root, replicated := rootOf(o.(*policy)); replicated {
				return []string{root.String()}, nil
			}
			return nil, nil
		},
		rootsByNamespace: func(o any) ([]string, error) {
			if p := o.(*policy); p.raw != nil {
				return []string{p.Namespace}, nil
			}
			return nil, nil
		},
		rootsBySet: func(o any) ([]string, error) { return setsOf(o.(*policy)), nil },
	}
	bindingIndexers = cache.Indexers{bindingsByPlacement: func(o any) ([]string, error) {
		b := o.(*placementBinding)
		return []string{b.Namespace + "/" + b.PlacementRef.Name}, nil
	}}
	decisionIndexers = cache.Indexers{decisionsByPlacement: func(o any) ([]string, error) {
		decision := o.(*clusterv1beta1.PlacementDecision)
		if placement, ok := decision.Labels[clusterv1beta1.PlacementLabel]; ok {
			return []string{decision.Namespace + "/" + placement}, nil
		}
		return nil, nil
	}}
)

// informers gives the informers of the caches, in any order.
type informers struct {
	policies, sets, bindings, placements, decisions cache.SharedIndexInformer
}

// newInformers makes them, with what is kept of each object and the indexes.
func newInformers(policy dynamicinformer.DynamicSharedInformerFactory, cluster clusterinformers.SharedInformerFactory) (informers, error) {
	i := informers{
		policies:   policy.ForResource(policies).Informer(),
		sets:       policy.ForResource(sets).Informer(),
		bindings:   policy.ForResource(bindings).Informer(),
		placements: cluster.Cluster().V1beta1().Placements().Informer(),
		decisions:  cluster.Cluster().V1beta1().PlacementDecisions().Informer(),
	}
	for _, each := range []struct {
		informer cache.SharedIndexInformer
		keep     cache.TransformFunc
		indexers cache.Indexers
	}{
		{i.policies, keep, policyIndexers},
		{i.sets, keepSet, nil},
		{i.bindings, keepBinding, bindingIndexers},
		{i.placements, nil, nil},
		{i.decisions, nil, decisionIndexers},
	} {
		if each.keep != nil {
			if err := each.informer.SetTransform(each.keep); err != nil {
				return i, err
			}
		}
		if err := each.informer.AddIndexers(each.indexers); err != nil {
			return i, err
		}
	}
	return i, nil
}

func (i *informers) caches() caches {
	return caches{
		policies: i.policies.GetIndexer(), sets: i.sets.GetIndexer(), bindings: i.bindings.GetIndexer(),
		placements: i.placements.GetIndexer(), decisions: i.decisions.GetIndexer(),
	}
}

func keepSet(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	set := &policySet{}
	if err := decode(u.Object["status"], &set.status); err != nil {
		set.status = setStatus{Message: "unreadable"} // it is written anew
	}
	return set, decode(u.Object, &set.PolicySet)
}

func keepBinding(object any) (any, error) {
	u, ok := object.(*unstructured.Unstructured)
	if !ok {
		return object, nil
	}
	binding := &placementBinding{}
	return binding, decode(u.Object, &binding.PlacementBinding)
}

// get is nil where the store has no such object.
func get[T any](store cache.Indexer, key types.NamespacedName) *T {
	object, _, _ := store.GetByKey(key.String()) // never an error
	t, _ := object.(*T)
	return t
}

// list gives the objects of an index, by name.
func list[T any](store cache.Indexer, index, value string) []*T {
	objects, err := store.ByIndex(index, value)
	if err != nil {
		panic(err) // there is no such index
	}
	all := make([]*T, len(objects))
	for i := range objects {
		all[i] = objects[i].(*T)
	}
	slices.SortFunc(all, func(a, b *T) int {
		return strings.Compare(any(a).(metav1.Object).GetName(), any(b).(metav1.Object).GetName())
	})
	return all
}

// root is the root policy of that name, or nil.
func (c *caches) root(key types.NamespacedName) *policy {
	if p := get[policy](c.policies, key); p != nil && p.raw != nil {
		return p
	}
	return nil
}

// replicasOf are the replicated policies of a root policy, in any order.
func (c *caches) replicasOf(root types.NamespacedName) []*policy {
	objects, err := c.policies.ByIndex(replicasByRoot, root.String())
	if err != nil {
		panic(err) // there is no such index
	}
	all := make([]*policy, len(objects))
	for i := range objects {
		all[i] = objects[i].(*policy)
	}
	return all
}

// setsOf are the sets that a root policy depends on, as namespace/name.
func setsOf(p *policy) (names []string) {
	if p.root == nil {
		return nil
	}
	add := func(dependencies []policyv1.PolicyDependency) {
		for _, d := range dependencies {
			if d.Kind == "PolicySet" {
				namespace := d.Namespace
				if namespace == "" {
					namespace = p.Namespace
				}
				names = append(names, namespace+"/"+d.Name)
			}
		}
	}
	add(p.root.Spec.Dependencies)
	for _, t := range p.root.Spec.PolicyTemplates {
		add(t.ExtraDependencies)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// setsIn are the sets that a root policy depends on, as far as they are there.
func (c *caches) setsIn(root *policy) (found []*policySet) {
	for _, name := range setsOf(root) {
		if object, there, _ := c.sets.GetByKey(name); there {
			found = append(found, object.(*policySet))
		}
	}
	return found
}
