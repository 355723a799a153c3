// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pageSize is the limit of a page when listing from the API server.
const pageSize = 500

// cachedOwner is the owner in the cache, or nil. It is shared with the cache.
func (r *reconciler) cachedOwner(ctx context.Context, key types.NamespacedName) (client.Object, error) {
	owner := r.kind.new()
	err := r.client.Get(ctx, key, owner, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the owner: %w", err)
	}
	return owner, nil
}

// cachedWorks are the cached ManifestWorks with the label or the annotation of an owner. They are shared with the cache.
func (r *reconciler) cachedWorks(ctx context.Context, owner types.NamespacedName) ([]*workv1.ManifestWork, error) {
	var list workv1.ManifestWorkList
	of := client.MatchingFields{r.worksIndex(): r.hashOf(owner)}
	if err := r.client.List(ctx, &list, of, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing ManifestWorks: %w", err)
	}
	works := make([]*workv1.ManifestWork, len(list.Items))
	for i := range list.Items {
		works[i] = &list.Items[i]
	}
	return works, nil
}

// liveMetadata is the metadata of an owner, read from the API server.
func (r *reconciler) liveMetadata(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	owner := &metav1.PartialObjectMetadata{}
	owner.SetGroupVersionKind(r.gvk)
	return owner, r.live.Get(ctx, key, owner)
}

// liveOwners are the metadata of all owners, listed from the API server.
func (r *reconciler) liveOwners(ctx context.Context) ([]client.Object, error) {
	found, err := r.listMetadata(ctx, r.gvk)
	if err != nil {
		return nil, fmt.Errorf("listing all owners: %w", err)
	}
	owners := make([]client.Object, len(found))
	for i := range found {
		owners[i] = &found[i]
	}
	return owners, nil
}

// liveWorks are the metadata of the ManifestWorks with a label, listed from the API server.
func (r *reconciler) liveWorks(ctx context.Context, label client.ListOption) ([]*workv1.ManifestWork, error) {
	found, err := r.listMetadata(ctx, schema.GroupVersion(workv1.GroupVersion).WithKind("ManifestWork"), label)
	if err != nil {
		return nil, fmt.Errorf("listing ManifestWorks: %w", err)
	}
	works := make([]*workv1.ManifestWork, len(found))
	for i := range found {
		works[i] = &workv1.ManifestWork{ObjectMeta: found[i].ObjectMeta}
	}
	return works, nil
}

func (r *reconciler) listMetadata(ctx context.Context, of schema.GroupVersionKind, options ...client.ListOption) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(of.GroupVersion().WithKind(of.Kind + "List"))
	for {
		page := append([]client.ListOption{client.Limit(pageSize), client.Continue(list.Continue)}, options...)
		if err := r.live.List(ctx, list, page...); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if list.Continue == "" {
			return all, nil
		}
	}
}

// store makes a cache the store of package writes.
type store func(types.NamespacedName) (client.Object, error)

// GetByKey returns the object of a key (namespace/name, or name), like the stores of client-go.
func (records store) GetByKey(key string) (any, bool, error) {
	namespace, name, has := strings.Cut(key, "/")
	if !has {
		namespace, name = "", key
	}
	object, err := records(types.NamespacedName{Namespace: namespace, Name: name})
	if apierrors.IsNotFound(err) {
		return nil, false, nil
	}
	return object, err == nil, err
}

func (r *reconciler) ownerStore(ctx context.Context) store {
	return func(key types.NamespacedName) (client.Object, error) {
		owner := r.kind.new()
		return owner, r.client.Get(ctx, key, owner, client.UnsafeDisableDeepCopy)
	}
}

func (r *reconciler) workStore(ctx context.Context) store {
	return func(key types.NamespacedName) (client.Object, error) {
		work := &workv1.ManifestWork{}
		return work, r.client.Get(ctx, key, work, client.UnsafeDisableDeepCopy)
	}
}
