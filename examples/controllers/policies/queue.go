// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// queue has the root policies that are to be looked at.
type queue = workqueue.TypedDelayingInterface[types.NamespacedName]

func newQueue() queue { return workqueue.NewTypedDelayingQueue[types.NamespacedName]() }

// listen has the queue get the policies that events concern.
func (i *informers) listen(c *caches, q queue) error {
	for _, each := range []struct {
		informer cache.SharedIndexInformer
		concerns func(object any) []types.NamespacedName
	}{
		{i.policies, rootOfPolicy},
		{i.bindings, func(o any) []types.NamespacedName { return c.rootsOfBinding(o.(*placementBinding)) }},
		{i.sets, func(o any) []types.NamespacedName { return c.rootsOfSet(o.(*policySet)) }},
		{i.placements, func(o any) []types.NamespacedName {
			placement := o.(*clusterv1beta1.Placement)
			return c.rootsOfPlacement(placement.Namespace, placement.Name)
		}},
		{i.decisions, func(o any) []types.NamespacedName {
			decision := o.(*clusterv1beta1.PlacementDecision)
			return c.rootsOfPlacement(decision.Namespace, decision.Labels[clusterv1beta1.PlacementLabel])
		}},
	} {
		if _, err := each.informer.AddEventHandler(concerns(q, each.concerns)); err != nil {
			return err
		}
	}
	return nil
}

// concerns queues the policies that an event is about. An event of a change is asked for the object before and the one
// after, so that a binding that turns to another policy is noticed by both.
func concerns(q queue, roots func(object any) []types.NamespacedName) cache.ResourceEventHandlerFuncs {
	add := func(objects ...any) {
		for _, object := range objects {
			if deleted, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = deleted.Obj
			}
			for _, root := range roots(object) {
				q.AddAfter(root, kit.Gather)
			}
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { add(o) },
		UpdateFunc: func(before, after any) { add(before, after) },
		DeleteFunc: func(o any) { add(o) },
	}
}

func rootOfPolicy(object any) []types.NamespacedName {
	p := object.(*policy)
	if root, replicated := rootOf(p); replicated {
		return []types.NamespacedName{root}
	}
	return []types.NamespacedName{p.key()}
}

// rootsOfBinding are the policies that a binding names, itself or by their sets.
func (cached *caches) rootsOfBinding(b *placementBinding) (roots []types.NamespacedName) {
	for _, subject := range b.Subjects {
		key := types.NamespacedName{Namespace: b.Namespace, Name: subject.Name}
		if subject.Kind == "Policy" {
			roots = append(roots, key)
		} else if set := kit.Get[policySet](cached.sets, b.Namespace, subject.Name); set != nil {
			roots = append(roots, policiesOf(set)...)
		}
	}
	return roots
}

// rootsOfSet are the policies in a set, and those that depend on it.
func (cached *caches) rootsOfSet(set *policySet) []types.NamespacedName {
	roots := policiesOf(set)
	for _, root := range kit.List[policy](cached.policies, rootsBySet, set.Namespace+"/"+set.Name) {
		roots = append(roots, root.key())
	}
	return roots
}

func policiesOf(set *policySet) (roots []types.NamespacedName) {
	for _, name := range set.Spec.Policies {
		roots = append(roots, types.NamespacedName{Namespace: set.Namespace, Name: name})
	}
	return roots
}

func (cached *caches) rootsOfPlacement(namespace, name string) (roots []types.NamespacedName) {
	for _, binding := range kit.List[placementBinding](cached.bindings, bindingsByPlacement, namespace+"/"+name) {
		roots = append(roots, cached.rootsOfBinding(binding)...)
	}
	return roots
}

// work takes policies from the queue until the context ends.
func (c *controller) work(ctx context.Context, q queue, workers int) {
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				key, end := q.Get()
				if end {
					return
				}
				_, _ = c.look(ctx, q, key) // it is logged
				q.Done(key)
			}
		})
	}
	<-ctx.Done()
	q.ShutDown()
	all.Wait()
}

// look looks at a policy, and says when it comes back. What failed is tried again soon, and no later than deadlines and soaks ask for:
// one cluster that refuses must not make those of the others late.
func (c *controller) look(ctx context.Context, q queue, key types.NamespacedName) (after time.Duration, err error) {
	recheck, err := c.reconcile(ctx, key)
	if err = errors.Join(err, c.setStatuses(ctx, key)); err != nil {
		klog.FromContext(ctx).Error(err, "a policy was not propagated as it should be", "policy", key)
	}
	if after = c.paces.After(key, err, recheck); after > 0 {
		q.AddAfter(key, after)
	}
	return after, err
}
