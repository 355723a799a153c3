// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/status"
)

// takeOver lists the metadata of all sets and works from the API server, once in the life of a process and before the first
// plan. The caches may not show yet what the previous process or leader wrote.
func (c *controller) takeOver(ctx context.Context) error {
	cached := kit.ByOwner(kit.All[work](c.caches.works), kit.OwnerOf) // read first: objects that the cache shows later are newer than the lists
	of := func(m metav1.ObjectMeta) *replicaSet { return &replicaSet{ObjectMeta: m} }
	version := schema.GroupVersion(workv1alpha1.GroupVersion)
	sets, err := manager.ListMetadata(ctx, c.live, version, "ManifestWorkReplicaSet", of)
	if err != nil {
		return err
	}
	works, err := manager.ListWorks(ctx, c.live, nil)
	if err != nil {
		return err
	}
	now, live := c.now(), kit.ByOwner(works, kit.OwnerOf)
	for _, set := range sets {
		key := client.ObjectKeyFromObject(set)
		memory := c.memories.Of(key)
		memory.stored.Begin([]*replicaSet{set}, nil, now)
		memory.written.Begin(live[key], cached[key], now)
	}
	return nil
}

// behind returns when to requeue while the caches do not show all writes of this process and of the one before; 0 once they
// do. Until then nothing is planned for the set: another cluster would start in place of one that just started.
func (c *controller) behind(ctx context.Context, memory *memory) (time.Duration, error) {
	if err := c.begun.Do(func() error { return errors.Join(c.shares.Begin(ctx), c.takeOver(ctx)) }); err != nil {
		return 0, err
	}
	return kit.Behind(
		func() (int, error) { return manager.Unseen(ctx, &memory.stored, c.caches.sets, c.live, c.now) },
		func() (int, error) { return manager.Unseen(ctx, &memory.written, c.caches.works, c.live, c.now) },
		func() time.Duration { return memory.written.RecheckAfter(c.now()) })
}

// ignored are the ignored clusters: by name, or because the ManagedCluster was deleted. ManagedClusters are read live for
// deselected clusters that count, by the records or by the results before, and for those that had none the last time.
func (c *controller) ignored(ctx context.Context, names []string, memory *memory, known status.Records) ([]string, error) {
	clusters := append(memory.gone.Gone(), kit.Left(known, memory.results)...)
	return memory.gone.Of(names, clusters, manager.IsGone(ctx, c.live), c.now())
}
