// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// Store returns the store of a kind's informer, before the manager starts, and adds indexes. Its objects are shared, unlike
// the copies of controller-runtime's client, and must not be changed. That makes it cheap to read 10,000 objects.
func Store(ctx context.Context, from cache.Cache, of client.Object, indexers toolscache.Indexers) (toolscache.Indexer, error) {
	informer, err := from.GetInformer(ctx, of)
	if err != nil {
		return nil, err
	}
	shared, ok := informer.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("the informer of %T is of several namespaces and has no store of its own", of)
	}
	return shared.GetIndexer(), shared.AddIndexers(indexers)
}

// ListMetadata lists the metadata of objects from the API server, in pages, and converts them.
func ListMetadata[T any](
	ctx context.Context, live client.Reader, version schema.GroupVersion, kind string, of func(metav1.ObjectMeta) T, options ...client.ListOption,
) (all []T, err error) {
	const page = 500
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(version.WithKind(kind + "List"))
	for {
		if err := live.List(ctx, list, append(options, client.Limit(page), client.Continue(list.Continue))...); err != nil {
			return nil, err
		}
		for i := range list.Items {
			all = append(all, of(list.Items[i].ObjectMeta))
		}
		if list.Continue == "" {
			return all, nil
		}
	}
}

// GetMetadata reads the metadata of an object from the API server.
func GetMetadata(
	ctx context.Context, live client.Reader, version schema.GroupVersion, kind string, key types.NamespacedName,
) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(version.WithKind(kind))
	return object, live.Get(ctx, key, object)
}

// IsGone says whether a cluster has no ManagedCluster. If the hub has no such API, none counts as deleted.
func IsGone(ctx context.Context, live client.Reader) func(cluster string) (bool, error) {
	return func(cluster string) (bool, error) {
		_, err := GetMetadata(ctx, live, schema.GroupVersion(clusterv1.GroupVersion), "ManagedCluster", types.NamespacedName{Name: cluster})
		if meta.IsNoMatchError(err) {
			return false, nil
		}
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	}
}

// Write writes a work if it is not as wanted in its version and attempt, and records the answer. It fails with a conflict
// if the cache is stale.
func Write(ctx context.Context, c client.Client, own *writes.Own[*workv1.ManifestWork], stored, wanted *workv1.ManifestWork, version string, attempt int, now func() time.Time) (err error) {
	next, changed := writes.Work(stored, wanted, version, attempt, now())
	switch {
	case !changed:
		return nil
	case stored == nil:
		err = c.Create(ctx, next)
	default:
		err = c.Update(ctx, next)
	}
	return own.Wrote(next, err, now())
}

// ListWorks lists the metadata of the ManifestWorks of a set, or of all sets if it is nil, from the API server.
func ListWorks(ctx context.Context, live client.Reader, set *workv1alpha1.ManifestWorkReplicaSet) (all []*workv1.ManifestWork, err error) {
	of := func(m metav1.ObjectMeta) *workv1.ManifestWork { return &workv1.ManifestWork{ObjectMeta: m} }
	version := schema.GroupVersion(workv1.GroupVersion)
	for _, text := range kit.OwnerSelectors(set) {
		selector, err := labels.Parse(text)
		if err != nil {
			return nil, err
		}
		works, err := ListMetadata(ctx, live, version, "ManifestWork", of, client.MatchingLabelsSelector{Selector: selector})
		if err != nil {
			return nil, err
		}
		all = append(all, works...)
	}
	return slices.DeleteFunc(all, func(work *workv1.ManifestWork) bool {
		owner, is := kit.OwnerOf(work)
		return !is || set != nil && owner != client.ObjectKeyFromObject(set)
	}), nil
}

// Unseen counts the writes that a store does not show yet. It reads uncertain objects from the API server.
func Unseen[T any, P interface {
	*T
	client.Object
}](ctx context.Context, own *writes.Own[P], store toolscache.Indexer, live client.Reader, now func() time.Time) (int, error) {
	return own.Unseen(store, func(key types.NamespacedName) (P, error) {
		object := P(new(T))
		return object, live.Get(ctx, key, object)
	}, now)
}
