// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/examples/controllers/hubshares"
	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/examples/controllers/plugins"
	"github.com/cohort-ocm/cohort/examples/controllers/removals"
	"github.com/cohort-ocm/cohort/examples/controllers/rollback"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// controller places ManifestWorks for ManifestWorkReplicaSets.
type controller struct {
	caches      caches         // to read from
	client      client.Client  // to write with
	live        client.Reader  // to read from the API server
	shares      *hubshares.Hub // this hub's share of limits; nil without a coordinator hub
	teller      kit.Teller
	now         func() time.Time
	removeAfter time.Duration  // how long a deselected cluster keeps its work
	plugins     *plugins.Hooks // nil without plugins
	begun       kit.Once
	rollback    *rollback.Keeper // nil without rollback
	removals    *removals.Order  // the order in which works of deleted sets are deleted; nil for all at once
	memories    kit.Memories[memory]
}

// memory is what the controller keeps of a set between reconciles. All of it may be lost at any time: what must last is
// stored in objects. Nothing in it is locked, since a set is reconciled by one worker at a time.
type memory struct {
	written writes.Own[*work]          // to works
	stored  writes.Own[*replicaSet]    // to the set
	read    kit.Apart                  // groups
	refused writes.Refusals            // writes to works
	results map[string]*rollout.Result // by placement: of the reconcile before
	gone    kit.Ignored                // deselected clusters, and whether their ManagedCluster is gone
	turn    *rollback.Turn             // which revision clusters get
	foreign map[writes.Foreign]bool    // those that an event told
}

// Reconcile starts the next clusters of a set, and returns when to requeue. The numbers are those of the duties in the
// documentation of package rollout.
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := c.caches.set(request.NamespacedName)
	if set == nil {
		c.memories.Forget(request.NamespacedName)
		c.teller.Forget(request.NamespacedName, nil)
		return reconcile.Result{}, nil
	}
	memory := c.memories.Of(request.NamespacedName)
	if !set.DeletionTimestamp.IsZero() {
		return c.finalize(ctx, set, memory)
	}

	//   3. Wait until the caches show your own writes, and those of the process before.
	if recheck, err := c.behind(ctx, memory); recheck > 0 || err != nil {
		return reconcile.Result{RequeueAfter: recheck}, err
	}
	if err := kit.ValidateOwner(set); err != nil {
		return reconcile.Result{}, c.refuseName(ctx, set, memory, err)
	}
	set, err := c.addFinalizer(ctx, set, memory)
	if err != nil {
		return reconcile.Result{}, err
	}
	if memory.turn, err = c.rollback.Begin(ctx, set, memory.turn); memory.turn == nil || err != nil {
		return reconcile.Result{RequeueAfter: kit.Gather}, err
	}
	set = memory.turn.Set

	//   1. Read the groups together with their Placements. 2. Name the version, and make a report for each work.
	placements, err := c.placements(set, memory)
	if err != nil {
		return reconcile.Result{}, c.refuse(set, err)
	}
	version := writes.VersionOf(set.Spec.ManifestWorkTemplate)
	now := c.now()
	owner, labelled, err := c.owner(ctx, set)
	if err != nil {
		return reconcile.Result{}, err
	}
	works, others := c.readWorks(owner, set, labelled, placements, version, now)

	//   5. Plan, and store the record of deselected clusters before any object is deleted.
	if err := c.plan(ctx, set, memory, placements, works, version, now); err != nil {
		return reconcile.Result{}, err
	}
	if aborts, err := memory.turn.Abort(ctx); aborts || err != nil {
		return reconcile.Result{RequeueAfter: kit.Gather}, err
	}
	if set, err = c.store(ctx, set, memory, placements); err != nil {
		return reconcile.Result{}, err
	}

	//   4. Keep one object for each cluster. 6. Make the writes of the plans.
	steps := c.stepsOf(owner, placements, works, others)
	notes := noteForeign(memory, steps.Foreign())
	failed := c.carryOut(ctx, set, memory, placements, owner, steps, version)
	if steps.Moved() {
		c.teller.Emit(set, notes)
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil // the set wants something else by now
	}

	//   7. Set the status, and emit events for what is new.
	c.tell(set, memory, placements, notes)
	err = errors.Join(failed, c.setStatus(ctx, set, memory, placements, now))

	//   8. Requeue for the next time of a plan, and soon after an error.
	return reconcile.Result{RequeueAfter: plugins.Soon(steps.RecheckAfter(), memory.results)}, err
}

func (c *controller) plan(
	ctx context.Context, set *replicaSet, memory *memory, placements []*placement, works []*work, version string,
	now time.Time,
) error {
	asked, err := approvals.Of(set)
	groups := make([]*grouping.Groups, len(placements))
	for i, placed := range placements {
		groups[i] = placed.groups
	}
	records, unread := kit.RecordsOf(set, version, groups)
	if err := errors.Join(err, unread); err != nil {
		return c.refuse(set, err)
	}
	if asked.Ignored, err = c.ignored(ctx, asked.Ignored, memory, records); err != nil {
		return err
	}
	save := func(work *work) error { return memory.written.Wrote(work, c.client.Update(ctx, work), c.now()) }
	memory.turn.Refused = memory.refused
	for _, placed := range placements {
		placed.asks = plugins.Rollout{Set: set, Placement: placed.ref.Name, Groups: placed.groups, Works: works, Version: version, Now: now}
		if placed.reports, placed.answered, err = c.plugins.Judge(ctx, placed.asks, placed.reports, placed.answered, save); err != nil {
			return err
		}
		opts := asked.Options(placed.ref.Name, version)
		opts.RemoveAfter.Duration, opts.Previous = c.removeAfter, memory.results[placed.ref.Name]
		opts.StoredRecord = &rollout.StoredRecord{Version: version, Record: records[placed.ref.Name]}
		placed.result, err = c.shares.Plan(memory.turn, set, placed.ref, placed.groups, works, placed.reports, now, opts)
		if err != nil {
			return c.refuse(set, fmt.Errorf("placement %s: %w", placed.ref.Name, err))
		}
	}
	return nil
}

// setStatus writes the status of a set if it changed.
func (c *controller) setStatus(
	ctx context.Context, set *replicaSet, memory *memory, placements []*placement, now time.Time,
) error {
	shown := make([]status.PlacementProgress, len(placements))
	for i, placed := range placements {
		shown[i] = status.PlacementProgress{Name: placed.ref.Name, Groups: placed.groups, Works: placed.works, Summary: placed.result.Summary()}
	}
	set = set.DeepCopy()
	loaded := c.plugins.SetLoaded(ctx, set, &set.Status.Conditions, now)
	if !memory.turn.SetStatus(set, shown, now) && !loaded {
		return nil
	}
	return memory.stored.Wrote(set, memory.turn.Update(ctx, c.client, set), c.now())
}

func newTeller(recorder events.EventRecorder, registry prometheus.Registerer) kit.Teller {
	return kit.NewTeller(recorder, registry, "manifestworkreplicaset", "placement")
}

// tell emits events for what is new since the reconcile before. At the first reconcile of a process nothing is told, unless
// the set has no status yet.
func (c *controller) tell(set *replicaSet, memory *memory, placements []*placement, notes kit.Notes) {
	before := memory.results
	memory.results = make(map[string]*rollout.Result, len(placements))
	for _, placed := range placements {
		previous := before[placed.ref.Name]
		if previous == nil && len(set.Status.Conditions) == 0 {
			previous = &rollout.Result{}
		}
		values := []string{set.Namespace, set.Name, placed.ref.Name}
		c.teller.Tell(&notes, values, "placement "+placed.ref.Name+": ", placed.result.Changes(previous), placed.result.Counts)
		memory.results[placed.ref.Name] = placed.result
	}
	c.teller.Emit(set, notes)
	for name := range before {
		if memory.results[name] == nil {
			c.teller.Forget(client.ObjectKeyFromObject(set), prometheus.Labels{"placement": name})
		}
	}
}

// refuseName also sets the condition that OCM's controller sets.
func (c *controller) refuseName(ctx context.Context, set *replicaSet, memory *memory, invalid error) error {
	set = set.DeepCopy()
	if kit.SetInvalidOwner(set, invalid, c.now()) {
		if err := memory.stored.Wrote(set, c.client.Status().Update(ctx, set), c.now()); err != nil {
			return err
		}
	}
	return c.refuse(set, invalid)
}

// refuse reports a set that cannot be carried out. There is no retry before it changes.
func (c *controller) refuse(set *replicaSet, err error) error {
	c.teller.Event(set, kit.Warning, "Invalid", err.Error())
	return reconcile.TerminalError(err)
}
