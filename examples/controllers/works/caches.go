// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/rollout/approvals"
)

type (
	replicaSet = workv1alpha1.ManifestWorkReplicaSet
	work       = workv1.ManifestWork
)

// caches are the stores of the informers. Their objects are shared, and must not be changed.
type caches struct {
	sets, works, placements, decisions toolscache.Indexer
}

// The indexes.
const (
	setsByPlacement = "sets by placement" // namespace/name
	worksBySet      = "works by set"      // namespace/name
)

var (
	setIndexers = kit.By(setsByPlacement, func(set *replicaSet) (keys []string) {
		for _, ref := range set.Spec.PlacementRefs {
			keys = append(keys, set.Namespace+"/"+ref.Name)
		}
		return keys
	})
	workIndexers = kit.By(worksBySet, func(work *work) []string {
		if set, ok := kit.OwnerOf(work); ok {
			return []string{set.String()}
		}
		return nil
	})
)

// newCaches gets the informers of a manager's cache, before the manager starts.
func newCaches(ctx context.Context, from cache.Cache) (stores caches, err error) {
	var errs [4]error
	stores.sets, errs[0] = manager.Store(ctx, from, &replicaSet{}, setIndexers)
	stores.works, errs[1] = manager.Store(ctx, from, &work{}, workIndexers)
	stores.placements, errs[2] = manager.Store(ctx, from, &clusterv1beta1.Placement{}, nil)
	stores.decisions, errs[3] = manager.Store(ctx, from, &clusterv1beta1.PlacementDecision{}, kit.DecisionIndexers)
	return stores, errors.Join(errs[:]...)
}

func (cached *caches) set(key types.NamespacedName) *replicaSet {
	return kit.Get[replicaSet](cached.sets, key.Namespace, key.Name)
}

// now reads a set from the cache again.
func (cached *caches) now(set *replicaSet) (metav1.Object, error) {
	if now := cached.set(client.ObjectKeyFromObject(set)); now != nil && approvals.Same(now, set) {
		return now, nil
	}
	return nil, errors.New("the set changed or is gone")
}

func (cached *caches) worksOf(set *replicaSet) []*work {
	return kit.List[work](cached.works, worksBySet, client.ObjectKeyFromObject(set).String())
}

// watch enqueues each set that an event concerns. Events of a set itself count if its spec or its annotations change, which
// have operators' decisions. Its status is written by this controller.
func (c *controller) watch(to ctrl.Manager, workers int, reconciler reconcile.Reconciler) error {
	changed := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(to).Named("works").
		For(&replicaSet{}, builder.WithPredicates(changed)).
		Watches(&work{}, manager.Concerns(setsOfWork)).
		Watches(&clusterv1beta1.Placement{}, manager.Concerns(c.setsOf)).
		Watches(&clusterv1beta1.PlacementDecision{}, manager.Concerns(c.setsOf)).
		WatchesRawSource(c.shares.Source()).
		WithOptions(manager.Options(workers)).
		Complete(manager.Paced(reconciler))
}

func setsOfWork(object client.Object) []types.NamespacedName {
	if set, ok := kit.OwnerOf(object); ok {
		return []types.NamespacedName{set}
	}
	return nil
}

// setsOf are the sets that use a Placement, or the Placement of a PlacementDecision.
func (c *controller) setsOf(object client.Object) (sets []types.NamespacedName) {
	placement := object.GetName()
	if decision, ok := object.(*clusterv1beta1.PlacementDecision); ok {
		placement = decision.Labels[clusterv1beta1.PlacementLabel]
	}
	for _, set := range kit.List[replicaSet](c.caches.sets, setsByPlacement, object.GetNamespace()+"/"+placement) {
		sets = append(sets, client.ObjectKeyFromObject(set))
	}
	return sets
}
