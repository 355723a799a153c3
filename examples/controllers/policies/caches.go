// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
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

// caches are the stores of the informers. Their objects are shared: never change one.
type caches struct {
	policies, sets, bindings, placements, decisions cache.Indexer
}

// The indexes. Each informer also has the one by namespace, and the decisions have kit.DecisionsByPlacement.
const (
	replicasByRoot      = "replicas by root"      // namespace/name
	rootsBySet          = "roots by set"          // namespace/name of a set that the policy depends on
	bindingsByPlacement = "bindings by placement" // namespace/name
)

var (
	policyIndexers = cache.Indexers{
		replicasByRoot: kit.Values(func(p *policy) []string {
			if root, replicated := rootOf(p); replicated {
				return []string{root.String()}
			}
			return nil
		}),
		rootsBySet: kit.Values(setsOf),
	}
	bindingIndexers = kit.By(bindingsByPlacement, func(b *placementBinding) []string {
		return []string{b.Namespace + "/" + b.PlacementRef.Name}
	})
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
		{i.decisions, nil, kit.DecisionIndexers},
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

// root is the root policy of that name, or nil.
func (cached *caches) root(key types.NamespacedName) *policy {
	if p := kit.Get[policy](cached.policies, key.Namespace, key.Name); p != nil && p.raw != nil {
		return p
	}
	return nil
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
func (cached *caches) setsIn(root *policy) (found []*policySet) {
	for _, name := range setsOf(root) {
		if object, there, _ := cached.sets.GetByKey(name); there {
			found = append(found, object.(*policySet))
		}
	}
	return found
}
