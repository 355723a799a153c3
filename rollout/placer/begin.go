// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// once runs a function until it succeeds, and then never again. Concurrent callers wait.
type once struct {
	turn chan struct{}
	done bool
}

func newOnce() *once { return &once{turn: make(chan struct{}, 1)} }

func (o *once) do(run func() error) error {
	o.turn <- struct{}{}
	defer func() { <-o.turn }()
	if o.done {
		return nil
	}
	if err := run(); err != nil {
		return err
	}
	o.done = true
	return nil
}

// begin lists the metadata of all owners and of their ManifestWorks from the API server, once in the life of a process and
// before the first plan. The caches may not show yet what the previous process or leader wrote.
func (r *reconciler) begin(ctx context.Context) error {
	var list workv1.ManifestWorkList
	if err := r.client.List(ctx, &list, client.HasLabels{OwnerLabel}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the cached ManifestWorks: %w", err)
	}
	cached := make(map[types.NamespacedName][]*workv1.ManifestWork) // read first: objects that the cache shows later are newer than the lists below
	for i := range list.Items {
		if owner, ok := r.ownerNotedBy(&list.Items[i]); ok {
			cached[owner] = append(cached[owner], &list.Items[i])
		}
	}
	owners, err := r.liveOwners(ctx)
	if err != nil {
		return err
	}
	works, err := r.liveWorks(ctx, client.HasLabels{OwnerLabel})
	if err != nil {
		return err
	}
	live := make(map[types.NamespacedName][]*workv1.ManifestWork)
	for _, work := range works {
		if owner, ok := r.ownerNotedBy(work); ok {
			live[owner] = append(live[owner], work)
		}
	}
	now := r.now()
	for _, owner := range owners {
		key := client.ObjectKeyFromObject(owner)
		r.states.setInitial(key, r.hashOf(key), &initialState{owner: owner, live: live[key], cached: cached[key], at: now})
	}
	return nil
}

// initialState is what the hub had of an owner when the process began.
type initialState struct {
	owner        client.Object
	live, cached []*workv1.ManifestWork
	at           time.Time
}

// recheckUntilSeen returns when to requeue while the caches do not show all writes of this process and of the one before; 0 once they
// do. Until then nothing is planned: a cluster that has just started would look like one that waits, and another would
// start in its place.
func (r *reconciler) recheckUntilSeen(ctx context.Context, key types.NamespacedName, state *ownerState) (time.Duration, error) {
	if err := r.begun.do(func() error { return r.begin(ctx) }); err != nil {
		return 0, err
	}
	if before := r.states.takeInitial(key); before != nil {
		state.stored.Begin([]client.Object{before.owner}, nil, before.at)
		state.written.Begin(before.live, before.cached, before.at)
	}
	unseen, err := state.stored.Unseen(r.ownerStore(ctx), r.liveOwner(ctx), r.now)
	if err != nil {
		return 0, fmt.Errorf("reading the owner from the API server: %w", err)
	}
	if unseen > 0 {
		return batchDelay, nil // the predicates drop the event of a status write
	}
	unseen, err = state.written.Unseen(r.workStore(ctx), r.liveWork(ctx), r.now)
	if err != nil {
		return 0, fmt.Errorf("reading a ManifestWork from the API server: %w", err)
	}
	if unseen == 0 {
		return 0, nil
	}
	if after := state.written.RecheckAfter(r.now()); after > 0 {
		return after, nil
	}
	return writes.Patience, nil // an event follows, unless the object was deleted before the cache showed it
}

func (r *reconciler) liveOwner(ctx context.Context) func(types.NamespacedName) (client.Object, error) {
	return func(key types.NamespacedName) (client.Object, error) { return r.liveMetadata(ctx, key) }
}

func (r *reconciler) liveWork(ctx context.Context) func(types.NamespacedName) (*workv1.ManifestWork, error) {
	return func(key types.NamespacedName) (*workv1.ManifestWork, error) {
		work := &workv1.ManifestWork{}
		return work, r.live.Get(ctx, key, work)
	}
}

// isGone says whether the API server has no owner of that name, or one that is being deleted.
func (r *reconciler) isGone(ctx context.Context, key types.NamespacedName) (bool, error) {
	owner, err := r.liveMetadata(ctx, key)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("asking whether the owner is gone: %w", err)
	}
	return owner.DeletionTimestamp != nil, nil
}
