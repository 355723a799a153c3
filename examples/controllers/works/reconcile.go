package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// controller places ManifestWorks for ManifestWorkReplicaSets.
type controller struct {
	caches caches        // what it reads
	client client.Client // what it writes with
	live   client.Reader // asks the API server itself, where a cache isn't good enough
	teller teller
	now    func() time.Time

	removeAfter time.Duration // how long a cluster is unselected before it loses its work

	begun    sync.Mutex // held while the controller looks what it has taken over
	looked   bool
	mu       sync.Mutex
	memories map[types.NamespacedName]*memory
}

// memory is what the controller keeps of a set from one reconcile to the next. All of it may be lost at any time: what
// must last stands in the objects. A set is reconciled by one worker at a time, so nothing in it is locked.
type memory struct {
	written written // writes that the cache does not show yet
	read    readPlacements
	reports reports
	results map[string]*rollout.Result // by placement: the one before
}

// Reconcile brings the next clusters of a set on their way, and says when to come back. The numbers are from the duties
// in the documentation of package rollout.
func (c *controller) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	set := c.caches.set(request.NamespacedName)
	if set == nil {
		c.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	memory := c.memory(request.NamespacedName)
	if !set.DeletionTimestamp.IsZero() {
		return c.finalize(ctx, set, memory)
	}

	// 3. Read your own writes, and the writes of the process before.
	if err := c.takeOver(ctx); err != nil {
		return reconcile.Result{}, err
	}
	if recheck, err := memory.written.missing(ctx, set, c.caches.works, c.live, c.now()); recheck > 0 || err != nil {
		return reconcile.Result{RequeueAfter: recheck}, err
	}
	set, err := c.addFinalizer(ctx, set, memory)
	if err != nil {
		return reconcile.Result{}, err
	}

	// 1. Read the groups together with their Placements. 2. Name the version, and make a report of each work.
	placements, err := c.placements(set, memory)
	if err != nil {
		return reconcile.Result{}, c.refuse(set, err)
	}
	version := versionOf(set)
	c.readWorks(set, memory, placements, version)

	// 5. Plan.
	now := c.now()
	for _, p := range placements {
		removeAfter := rollout.RemoveAfter(c.removeAfter, memory.results[p.ref.Name])
		if p.result, err = rollout.Plan(p.ref.RolloutStrategy, p.groups, p.reports, now, removeAfter); err != nil {
			return reconcile.Result{}, c.refuse(set, fmt.Errorf("placement %s: %w", p.ref.Name, err))
		}
	}

	// 4. Give a cluster one object. 6. Carry out what the plans say.
	current, failed := c.carryOut(ctx, set, memory, placements, version)
	if !current {
		return reconcile.Result{RequeueAfter: time.Millisecond}, nil // another version is wanted by now
	}

	// 7. Set the status, and tell what is new.
	c.tell(set, memory, placements)
	if err := errors.Join(failed, c.setStatus(ctx, set, memory, placements, now)); err != nil {
		return reconcile.Result{}, err // tried again within a minute
	}

	// 8. Come back when an object changes, or then:
	return reconcile.Result{RequeueAfter: recheckAfter(placements)}, nil
}

// carryOut makes the writes that the plans ask for, and says whether the set still wants this version. A cluster that
// refuses does not keep the others from theirs.
func (c *controller) carryOut(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, memory *memory, placements []*placement, version string) (current bool, failed error) {
	var failures []error
	for _, w := range c.writes(set, placements) {
		if c.caches.generation(set) != set.Generation {
			return false, nil
		}
		if err := c.write(ctx, set, memory, w, version); err != nil {
			failures = append(failures, fmt.Errorf("cluster %s: %w", w.cluster, err))
		}
	}
	if i := slices.IndexFunc(failures, refused); i >= 0 { // the first tells what is wrong; all are logged
		c.teller.event(set, corev1.EventTypeWarning, "Refused", failures[i].Error())
	}
	return true, errors.Join(failures...)
}

// setStatus writes the status of a set unless nothing in it changed.
func (c *controller) setStatus(ctx context.Context, set *workv1alpha1.ManifestWorkReplicaSet, memory *memory, placements []*placement, now time.Time) error {
	progress := make([]status.PlacementProgress, len(placements))
	for i, p := range placements {
		progress[i] = status.PlacementProgress{Name: p.ref.Name, Groups: p.groups, Works: p.works, Summary: p.result.Summary()}
	}
	set = set.DeepCopy()
	if !status.SetReplicaSetStatus(&set.Status, progress, set.Generation, now) {
		return nil
	}
	err := c.client.Status().Update(ctx, set)
	if err == nil {
		memory.written.set = set.ResourceVersion
	}
	return err
}

// recheckAfter says when time alone changes something; 0 if it does not.
func recheckAfter(placements []*placement) (recheck time.Duration) {
	for _, p := range placements {
		if after := p.result.RecheckAfter; after > 0 && (recheck == 0 || after < recheck) {
			recheck = after
		}
	}
	return recheck
}

// refuse says that what a user wrote can't be carried out. It is not tried again until someone changes it.
func (c *controller) refuse(set *workv1alpha1.ManifestWorkReplicaSet, err error) error {
	c.teller.event(set, corev1.EventTypeWarning, "Invalid", err.Error())
	return reconcile.TerminalError(err)
}

func (c *controller) memory(key types.NamespacedName) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.memories[key]
	if m == nil {
		m = &memory{results: map[string]*rollout.Result{}}
		if c.memories == nil {
			c.memories = map[types.NamespacedName]*memory{}
		}
		c.memories[key] = m
	}
	return m
}

// forget drops what is remembered and measured of a set that is gone.
func (c *controller) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.memories, key)
	c.teller.forget(key)
}
