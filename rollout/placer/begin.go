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

// once runs a function until it succeeds, and never again. Others wait.
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

// begin asks the API server, once in the life of a process and before anything is planned, for the metadata of all owners and of their
// ManifestWorks. The process before this one, or the leader before, has written what the caches need not show yet.
func (r *reconciler) begin(ctx context.Context) error {
	var list workv1.ManifestWorkList
	if err := r.client.List(ctx, &list, client.HasLabels{OwnerLabel}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the cached ManifestWorks: %w", err)
	}
	cached := make(map[types.NamespacedName][]*workv1.ManifestWork) // what comes after is newer than the lists below
	for i := range list.Items {
		if owner, ok := r.noted(&list.Items[i]); ok {
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
		if owner, ok := r.noted(work); ok {
			live[owner] = append(live[owner], work)
		}
	}
	now := r.now()
	for _, owner := range owners {
		key := client.ObjectKeyFromObject(owner)
		r.memories.found(key, r.hashOf(key), &found{owner: owner, live: live[key], cached: cached[key], at: now})
	}
	return nil
}

// found is what there was of an owner when the process began.
type found struct {
	owner        client.Object
	live, cached []*workv1.ManifestWork
	at           time.Time
}

// behind says when to look again where the caches do not show all writes yet, of this process and of the one before; 0 where they do.
// Until then nothing is planned: a cluster that has just started would look like one that waits, and another one would start in its
// place.
func (r *reconciler) behind(ctx context.Context, key types.NamespacedName, kept *memory) (time.Duration, error) {
	if err := r.begun.do(func() error { return r.begin(ctx) }); err != nil {
		return 0, err
	}
	if before := r.memories.takeFound(key); before != nil {
		kept.stored.Begin([]client.Object{before.owner}, nil, before.at)
		kept.written.Begin(before.live, before.cached, before.at)
	}
	unseen, err := kept.stored.Unseen(r.ownerStore(ctx), r.liveOwner(ctx), r.now)
	if err != nil {
		return 0, fmt.Errorf("reading the owner from the API server: %w", err)
	}
	if unseen > 0 {
		return gathering, nil // a write of the status is no event
	}
	unseen, err = kept.written.Unseen(r.workStore(ctx), r.liveWork(ctx), r.now)
	if err != nil {
		return 0, fmt.Errorf("reading a ManifestWork from the API server: %w", err)
	}
	if unseen == 0 {
		return 0, nil
	}
	if after := kept.written.RecheckAfter(r.now()); after > 0 {
		return after, nil
	}
	return writes.Patience, nil // each is an event, unless somebody deleted it before
}

// liveOwner reads an owner from the API server.
func (r *reconciler) liveOwner(ctx context.Context) func(types.NamespacedName) (client.Object, error) {
	return func(key types.NamespacedName) (client.Object, error) { return r.liveMetadata(ctx, key) }
}

// liveWork reads a ManifestWork from the API server.
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
