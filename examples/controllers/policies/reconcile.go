package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
)

// controller replicates Policies.
type controller struct {
	caches caches            // what it reads
	client dynamic.Interface // what it writes with
	teller teller
	now    func() time.Time

	begun  sync.Mutex
	looked bool // at the API server, as takeOver does

	mu       sync.Mutex
	memories map[types.NamespacedName]*memory
}

// memory is what the controller keeps of a root policy from one reconcile to the next. All of it may be lost at any time:
// what must last stands in the objects. A policy is reconciled by one worker at a time, so nothing in it is locked.
type memory struct {
	written  written // writes that the cache does not show yet
	stored   string  // the resourceVersion of the policy itself when the process began
	resolved resolved
	template *template
	last     *passes.Propagation
	dropped  bool                 // the API server drops the rollout status of replicas, as OCM's schema of today does
	told     *override.Resolution // of whose bindings what is ignored was told
}

// grace is how long a cluster has to be unbound before its replica is deleted. A scheduler that moves clusters rewrites one
// PlacementDecision after the other; in between a cluster may be in none, and no count shows it.
const grace = 5 * time.Second

// reconcile brings a policy on its way to the next clusters, and says when to come back by time alone; 0 for never. The
// numbers are from what the caller does in the documentation of package passes.
func (c *controller) reconcile(ctx context.Context, key types.NamespacedName) (time.Duration, error) {
	if err := c.takeOver(ctx); err != nil {
		return 0, err
	}
	root := c.caches.root(key)
	if root == nil {
		return 0, c.cleanUp(ctx, key)
	}
	memory := c.memory(key)
	if older(root.ResourceVersion, memory.stored) {
		return gather, nil // no event comes of it, if the policy stays as it was
	}
	if root.err != nil {
		return 0, c.refuse(root, root.err)
	}

	// 1. Resolve where the policy goes.
	resolution, err := c.resolve(root, memory)
	if err != nil {
		return 0, c.refuse(root, err)
	}
	template, err := c.template(root, memory)
	if err != nil {
		return 0, c.refuse(root, err)
	}

	// 2. Read the replicated policies, with your own writes, and propagate.
	replica := func(cluster string) *policy { return c.replica(key, cluster) }
	recheck, err := memory.written.missing(ctx, template.object.GetName(), replica, c.client.Resource(policies), c.now())
	if recheck > 0 || err != nil {
		return recheck, err
	}
	replicas := c.caches.replicasOf(key)
	p, err := passes.Propagate(resolution, template.version, reported(replicas), c.now(), passes.RemoveAfter(grace, memory.last))
	if err != nil {
		return 0, c.refuse(root, err)
	}

	// 3. Write what has to be written.
	current, failed := c.carryOut(ctx, root, memory, template, p)
	if !current {
		return time.Millisecond, nil // another version is wanted by now
	}

	// 4. Set the status of the root policy, and tell what is new.
	c.tell(root, memory, resolution, p)
	if err := errors.Join(failed, c.setStatus(ctx, root, p)); err != nil {
		return 0, err // tried again within a minute
	}

	// 5. Come back when an object changes, or then:
	return p.RecheckAfter, nil
}

// replica is the replicated policy of a cluster, or nil.
func (c *controller) replica(root types.NamespacedName, cluster string) *policy {
	return get[policy](c.caches.policies, types.NamespacedName{Namespace: cluster, Name: root.Namespace + "." + root.Name})
}

// refuse says that what a user wrote can't be carried out. It is not tried again until someone changes it.
func (c *controller) refuse(root *policy, err error) error {
	c.teller.event(root, warning, "Invalid", err.Error())
	return nil
}

func (c *controller) memory(key types.NamespacedName) *memory {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.memories[key]
	if m == nil {
		m = &memory{written: written{}}
		if c.memories == nil {
			c.memories = map[types.NamespacedName]*memory{}
		}
		c.memories[key] = m
	}
	return m
}

// forget drops what is remembered and measured of a policy that is gone.
func (c *controller) forget(key types.NamespacedName) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.memories, key)
	c.teller.forget(key)
}
