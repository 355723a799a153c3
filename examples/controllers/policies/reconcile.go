// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// controller replicates Policies.
type controller struct {
	caches   caches            // what it reads
	client   dynamic.Interface // what it writes with
	teller   kit.Teller
	now      func() time.Time
	begun    kit.Once
	memories kit.Memories[memory]
	paces    kit.Paces
}

// memory is what the controller keeps of a root policy from one reconcile to the next. All of it may be lost at any time:
// what must last stands in the objects. A policy is reconciled by one worker at a time, so nothing in it is locked.
type memory struct {
	written  writes.Own[*policy] // the replicas
	stored   writes.Own[*policy] // the policy itself
	gone     kit.Ignored         // deselected clusters, and whether their ManagedCluster is deleted
	resolved resolved
	template *template
	last     *passes.Propagation
	dropped  bool                 // the API server drops the rollout status of replicas, as OCM's schema of today does
	told     *override.Resolution // whose ignored overrides and sub filters were told by events
	asked    bool                 // whether the API server keeps rollout strategies
	warned   bool                 // that the rollout status is dropped
}

// grace is how long a cluster has to be unbound before its replica is deleted. A scheduler that moves clusters rewrites one
// PlacementDecision after the other; in between a cluster may be in none, and no count shows it.
const grace = 5 * time.Second

// reconcile brings a policy on its way to the next clusters, and says when to come back by time alone; 0 for never. The
// numbers are from what the caller does in the documentation of package passes.
func (c *controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	if err := c.begun.Do(func() error { return c.takeOver(ctx) }); err != nil {
		return 0, err
	}
	root := c.caches.root(key)
	if root == nil {
		return 0, c.cleanUp(ctx, key)
	}
	memory := c.memories.Of(key)
	if recheck, err := c.behind(ctx, memory); recheck > 0 || err != nil {
		return recheck, err
	}
	if root.err != nil {
		return 0, c.refuse(root, root.err)
	}

	// 1. Resolve where the policy goes.
	resolution, uncertain, err := c.resolve(ctx, root, memory)
	if err != nil {
		return 0, c.refuse(root, err)
	}
	template, err := c.template(root, memory)
	if err != nil {
		return 0, c.refuse(root, err)
	}

	// 2. Read the replicated policies, of which the cache shows your own writes by now, and propagate.
	replicas := kit.List[policy](c.caches.policies, replicasByRoot, key.String())
	asked, err := approvals.Of(root)
	if err != nil && !root.root.Spec.Disabled {
		return 0, c.refuse(root, err)
	}
	if asked.Ignored, err = c.ignored(ctx, root, asked.Ignored, memory); err != nil {
		return 0, err
	}
	reports, recheck, unnoted := c.heard(ctx, root, memory, template, replicas)
	if reports == nil {
		return recheck, unnoted
	}
	opts := asked.Options("", template.version)
	opts.RemoveAfter.Duration, opts.Previous = grace, memory.last.Remembered()
	p, err := passes.Propagate(resolution, template.version, root.record, reports, c.now(), opts)
	if err != nil {
		return 0, c.refuse(root, err)
	}

	// 3. Store the record, and read it back.
	if stored, err := c.store(ctx, root, memory, p.Record); stored || err != nil {
		return kit.Gather, err
	}

	// 4. Write what has to be written.
	current, failed := c.carryOut(ctx, root, memory, template, p, replicas)
	if !current {
		return time.Millisecond, nil // another version is wanted by now
	}

	// 5. Set the status of the root policy, and tell what is new.
	c.tell(ctx, root, memory, resolution, p)
	err = errors.Join(uncertain, unnoted, failed, c.setStatus(ctx, root, p))

	// 6. Requeue when an object changes, and at that time; after an error soon.
	return kit.Soon(p.RecheckAfter, map[string]*rollout.Result{"": {Next: rollout.Next{Record: p.Record}}}), err
}

// replica is the replicated policy of a cluster, or nil.
func (c *controller) replica(root types.NamespacedName, cluster string) *policy {
	return kit.Get[policy](c.caches.policies, cluster, root.Namespace+"."+root.Name)
}

// refuse says that what a user wrote can't be carried out. It is not tried again until it changes.
func (c *controller) refuse(root *policy, err error) error {
	c.teller.Event(root.raw, kit.Warning, "Invalid", err.Error())
	return nil
}
