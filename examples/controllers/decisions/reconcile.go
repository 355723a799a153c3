// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// controller keeps the PlacementDecisions of Placements.
type controller struct {
	caches   caches        // to read from
	client   client.Client // to write with
	live     client.Reader // to read from the API server
	teller   teller
	now      func() time.Time
	strategy decisionupdate.UpdateStrategy
	parallel int // how many PlacementDecisions of a Placement are written in parallel
	takeover takeOver
	memories kit.Memories[memory]
}

// memory is what the controller keeps of a Placement between reconciles. All of it may be lost at any time. Nothing in it
// is locked, since a Placement is reconciled by one worker at a time.
type memory struct {
	written writes.Own[*clusterv1beta1.PlacementDecision] // to PlacementDecisions
	stored  writes.Own[*clusterv1beta1.Placement]         // to the Placement
}

// Reconcile updates the PlacementDecisions of a Placement to its selection. The numbers are those of the caller's steps in
// the documentation of package decisionupdate.
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if taken, err := c.takenOver(ctx); err != nil {
		return reconcile.Result{}, err
	} else if !taken {
		return reconcile.Result{RequeueAfter: kit.Gather}, nil // what is awaited may cause no event
	}
	placement := kit.Get[clusterv1beta1.Placement](c.caches.placements, request.Namespace, request.Name)
	if placement == nil || !placement.DeletionTimestamp.IsZero() || placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true" {
		c.memories.Forget(request.NamespacedName)
		c.teller.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	memory := c.memories.Of(request.NamespacedName)

	//   1. List the stored decisions, once the cache shows your last writes.
	if recheck, err := c.behind(ctx, memory); recheck > 0 || err != nil {
		return reconcile.Result{RequeueAfter: recheck}, err
	}
	stored := c.caches.decisionsIn(placement.Namespace)
	c.teller.warn(placement, stored)

	//   2. Select clusters, divide them, and build the desired objects. Move as few clusters as possible.
	before, err := grouping.Read(placement, stored)
	if err != nil {
		return c.refuse(ctx, placement, memory, err)
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

	//   3. Compute the writes. 4. Log what readers may see in between. 5. Make the writes.
	update, err := decisionupdate.Diff(stored, desired, c.strategy)
	if err != nil {
		return reconcile.Result{}, err
	}
	logDoubts(ctx, update)
	by := writer{client: c.client, live: c.live, namespace: placement.Namespace}
	outcome, failed := decisionupdate.Applier{Client: by, Parallel: c.parallel}.Apply(ctx, update)
	outcome.Note(&memory.written, c.now())

	//   6. Tell what was written. 7. After an error, start again; otherwise set the status, which says that the groups are
	//      complete.
	c.teller.tell(placement, outcome, groups.Changes(before), groups.NumClusters())
	if failed != nil {
		return reconcile.Result{}, failed
	}
	return reconcile.Result{}, c.setStatus(ctx, placement, memory, desired, choice)
}

// refuse reports a Placement that cannot be carried out. Its decisions stay as they are, and there is no retry before it
// changes.
func (c *controller) refuse(ctx context.Context, placement *clusterv1beta1.Placement, memory *memory, err error) (reconcile.Result, error) {
	c.teller.event(placement, nil, kit.Warning, "Invalid", err.Error())
	if failed := c.setMisconfigured(ctx, placement, memory, err); failed != nil {
		return reconcile.Result{}, errors.Join(err, failed)
	}
	return reconcile.Result{}, reconcile.TerminalError(err)
}

// logDoubts logs what readers of the decisions may see during an update. With steady names there is nothing.
func logDoubts(ctx context.Context, update decisionupdate.Update) {
	for _, m := range update.Misplaced {
		log.FromContext(ctx).Info("clusters may be seen in a wrong group", "misplaced", m.String())
	}
}

// takenOver says whether the caches show what the previous process or leader has seen and written. A cluster that it
// placed, and that the caches do not show yet, would be removed from the decisions and added again a moment later.
func (c *controller) takenOver(ctx context.Context) (bool, error) {
	v1, v1beta1 := schema.GroupVersion(clusterv1.GroupVersion), schema.GroupVersion(clusterv1beta1.GroupVersion)
	v1beta2 := schema.GroupVersion(clusterv1beta2.GroupVersion)
	return c.takeover.done(ctx, c.live, c.now,
		takenKind{store: c.caches.placements, version: v1beta1, name: "Placement"},
		takenKind{store: c.caches.decisions, version: v1beta1, name: "PlacementDecision"},
		takenKind{store: c.caches.clusters, version: v1, name: "ManagedCluster"},
		takenKind{store: c.caches.sets, version: v1beta2, name: "ManagedClusterSet"},
		takenKind{store: c.caches.bindings, version: v1beta2, name: "ManagedClusterSetBinding"},
	)
}

// behind returns when to requeue while the caches do not show all writes of this process; 0 once they do. An update from a
// stale cache might remove a cluster from the only object that has it.
func (c *controller) behind(ctx context.Context, memory *memory) (time.Duration, error) {
	return kit.Behind(
		func() (int, error) { return manager.Unseen(ctx, &memory.stored, c.caches.placements, c.live, c.now) },
		func() (int, error) { return manager.Unseen(ctx, &memory.written, c.caches.decisions, c.live, c.now) },
		func() time.Duration { return memory.written.RecheckAfter(c.now()) },
	)
}
