package main

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

// controller keeps the PlacementDecisions of Placements.
type controller struct {
	caches   caches        // what it reads
	client   client.Client // what it writes with
	live     client.Reader // asks the API server itself, where a cache isn't good enough
	teller   teller
	now      func() time.Time
	strategy decisionupdate.UpdateStrategy
	parallel int // how many PlacementDecisions of a Placement are written at a time

	takeover takeover

	mu       sync.Mutex
	memories map[types.NamespacedName]*memory
}

// memory is what the controller keeps of a Placement from one reconcile to the next. All of it may be lost at any time.
// A Placement is reconciled by one worker at a time, so nothing in it is locked.
type memory struct {
	written   written
	placement string // the resourceVersion of the Placement itself, as it was written last
}

// Reconcile brings the PlacementDecisions of a Placement to what it selects now. The numbers are from what the caller
// does in the documentation of package decisionupdate.
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if taken, err := c.takenOver(ctx); err != nil {
		return reconcile.Result{}, err
	} else if !taken {
		return reconcile.Result{RequeueAfter: gather}, nil // not everything is an event
	}
	placement := c.caches.placement(request.NamespacedName)
	if placement == nil || !placement.DeletionTimestamp.IsZero() || placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true" {
		c.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	memory := c.memory(request.NamespacedName)
	if older(placement.ResourceVersion, memory.placement) {
		return reconcile.Result{RequeueAfter: gather}, nil // no event comes of it, since its spec is the same
	}

	// 1. List what is stored.
	stored, current, err := c.stored(ctx, placement, memory)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !current {
		return reconcile.Result{RequeueAfter: patience}, nil // each write is an event when the cache shows it
	}

	// 2. Select clusters, divide them, and build the desired objects, so that as few clusters as possible move.
	before, err := grouping.Read(nil, stored)
	if err != nil {
		return reconcile.Result{}, err
	}
	if why := before.Incomplete(); why != "" && len(stored) > 0 {
		c.teller.event(placement, nil, corev1.EventTypeWarning, "Unreadable", why)
	}
	choice, err := c.caches.choose(placement, before)
	if err != nil {
		return c.refuse(ctx, placement, memory, err)
	}
	groups, err := grouping.Divide(placement, choice.clusters, grouping.Options{Previous: before})
	if err != nil {
		return c.refuse(ctx, placement, memory, err)
	}
	desired, err := groups.Decisions(placement, stored...)
	if err != nil {
		return c.refuse(ctx, placement, memory, err)
	}

	// 3. Find out what has to be written. 4. Log what readers may see on the way. 5. Carry it out.
	update, err := decisionupdate.Diff(stored, desired, c.strategy)
	if err != nil {
		return reconcile.Result{}, err
	}
	logDoubts(ctx, update)
	writer := placementDecisions{c.client, c.live, placement.Namespace}
	outcome, failed := decisionupdate.Applier{Client: writer, Parallel: c.parallel}.Apply(ctx, update)
	memory.written.note(outcome, c.now())

	// 6. Tell what was done. 7. After an error, begin again; otherwise set the status, which says that the groups are whole.
	c.teller.tell(placement, outcome, groups.Changes(before), groups.NumClusters())
	if failed != nil {
		return reconcile.Result{}, failed
	}
	return reconcile.Result{}, c.setStatus(ctx, placement, memory, desired, choice)
}

// refuse says that what a user wrote can't be carried out. What is stored stays, and it is not tried again until someone
// changes it.
func (c *controller) refuse(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory, err error) (reconcile.Result, error) {
	c.teller.event(placement, nil, corev1.EventTypeWarning, "Invalid", err.Error())
	if failed := c.setMisconfigured(ctx, placement, memory, err); failed != nil {
		return reconcile.Result{}, errors.Join(err, failed)
	}
	return reconcile.Result{}, reconcile.TerminalError(err)
}

// logDoubts logs what of an update may look odd to those who read the decisions while it is carried out. With steady
// names, there is none of it.
func logDoubts(ctx context.Context, update decisionupdate.Update) {
	for _, m := range update.Misplaced {
		log.FromContext(ctx).Info("clusters may be seen in a wrong group", "misplaced", m.String())
	}
}

func (c *controller) memory(key types.NamespacedName) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.memories[key]
	if m == nil {
		m = &memory{}
		if c.memories == nil {
			c.memories = map[types.NamespacedName]*memory{}
		}
		c.memories[key] = m
	}
	return m
}

// forget drops what is remembered and measured of a Placement that is gone.
func (c *controller) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.memories, key)
	c.teller.forget(key)
}
