// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout/approvals"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// carryOut makes the writes that a propagation of these replicas asks for, and says whether the root policy is still the same. A failed
// write stops no write to other clusters, with one exception: while an enforced cluster cannot be set to inform, no cluster starts.
func (c *controller) carryOut(ctx context.Context, root *policy, memory *memory, template *template, p *passes.Propagation, replicas []*policy) (current bool, failed error) {
	planned := make(map[string]*policy, len(replicas))
	for _, replica := range replicas {
		planned[replica.Namespace] = replica
	}
	var failures kit.Failures
	notRolledBack := false
	for _, cluster := range p.Writes() {
		if cluster.Verb == passes.VerbUpdateStatus && memory.dropped {
			continue
		}
		if notRolledBack && cluster.Action != policyv1.Inform {
			break
		}
		if now := c.caches.root(root.key()); now == nil || now.UID != root.UID || now.Generation != root.Generation || !approvals.Same(now, root) ||
			now.Annotations[validateAnnotation] != root.Annotations[validateAnnotation] {
			return false, nil
		}
		err := c.replicate(ctx, memory, template, p, cluster, planned[cluster.Name])
		failures.Add(cluster.Name, err)
		notRolledBack = notRolledBack || err != nil && cluster.Verb == passes.VerbUpdate
	}
	for _, replica := range replicas {
		cluster, bound := p.Find(replica.Namespace)
		if written := cluster.Verb == passes.VerbCreate || cluster.Verb == passes.VerbUpdate; bound && !written {
			failures.Add(replica.Namespace, c.label(ctx, memory, template, replica))
		}
	}
	for _, cluster := range p.Removed {
		failures.Add(cluster, c.remove(ctx, memory, c.replica(root.key(), cluster)))
	}
	return true, failures.Tell(&c.teller, root.raw)
}

// replicate writes the replicated policy of a cluster, which had this one when the propagation was made: content, action, version and
// time in one write, and then the rollout's status.
func (c *controller) replicate(ctx context.Context, memory *memory, template *template, p *passes.Propagation, cluster passes.Cluster, had *policy) (err error) {
	api := c.client.Resource(policies).Namespace(cluster.Name)
	object, err := template.on(cluster)
	if err != nil {
		return err
	}
	if cluster.Verb != passes.VerbUpdateStatus {
		if had != nil && had.DeletionTimestamp != nil {
			return nil // its deletion is an event
		}
		p.Stamp(object, cluster, c.now())
		answer := object
		if had == nil {
			answer, err = api.Create(ctx, object, metav1.CreateOptions{})
		} else {
			// A conflict if anything has changed. A report that came meanwhile is not in the stamp, and would count as an answer.
			object.SetResourceVersion(had.ResourceVersion)
			object.SetFinalizers(had.Finalizers)
			answer, err = api.Update(ctx, object, metav1.UpdateOptions{})
		}
		if err := c.wrote(&memory.written, cluster.Name, object.GetName(), answer, err); err != nil {
			return err
		}
	}
	if memory.dropped {
		return nil
	}
	answer, err := c.patchStatus(ctx, cluster.Name, object.GetName(), map[string]any{"rolloutStatus": cluster.RolloutStatus})
	if err = c.wrote(&memory.written, cluster.Name, object.GetName(), answer, err); err == nil {
		_, kept, _ := unstructured.NestedString(answer.Object, "status", "rolloutStatus")
		memory.dropped = !kept
	}
	return err
}

// label sets the labels and annotations of a replicated policy that keeps its content, if they differ from those of the root.
func (c *controller) label(ctx context.Context, memory *memory, template *template, replica *policy) error {
	wanted, err := template.metadata(replica)
	if wanted == nil || err != nil || replica.DeletionTimestamp != nil {
		return err
	}
	patch, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	answer, err := c.client.Resource(policies).Namespace(replica.Namespace).Patch(ctx, replica.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	return c.wrote(&memory.written, replica.Namespace, replica.Name, answer, err)
}

// remove deletes a replicated policy.
func (c *controller) remove(ctx context.Context, memory *memory, replica *policy) error {
	if replica == nil || replica.DeletionTimestamp != nil {
		return nil
	}
	api := c.client.Resource(policies).Namespace(replica.Namespace)
	err := api.Delete(ctx, replica.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &replica.UID}})
	return memory.written.Deleted(replica, err, c.now())
}

// setStatus writes the status of a root policy unless nothing in it changed. What is not the rollout's stays.
func (c *controller) setStatus(ctx context.Context, root *policy, p *passes.Propagation) error {
	next := root.status
	if !p.SetStatus(&next) {
		return nil
	}
	_, err := c.patchStatus(ctx, root.Namespace, root.Name, map[string]any{
		"compliant": orNull(next.ComplianceState), "rolloutStatus": orNull(next.RolloutStatus),
		"placement": next.Placement, "status": next.Status,
	})
	return err
}

// orNull removes an empty field in a patch.
func orNull[T ~string](value T) any {
	if value == "" {
		return nil
	}
	return value
}

// patchStatus sets some fields of a Policy's status. The others are its cluster's.
func (c *controller) patchStatus(ctx context.Context, namespace, name string, fields map[string]any) (*unstructured.Unstructured, error) {
	patch, err := json.Marshal(map[string]any{"status": fields})
	if err != nil {
		return nil, err
	}
	return c.client.Resource(policies).Namespace(namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
}

// cleanUp deletes the replicas of a deleted root policy. It needs no finalizer: a replica that comes into the cache
// later is an event of its own, and leads here again. A live read confirms first that the policy was deleted.
func (c *controller) cleanUp(ctx context.Context, key types.NamespacedName) error {
	replicas := kit.List[policy](c.caches.policies, replicasByRoot, key.String())
	if len(replicas) == 0 {
		c.memories.Forget(key)
		c.teller.Forget(key, nil)
		return nil
	}
	if _, err := c.client.Resource(policies).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return err // it is there, and will be an event
	}
	memory := c.memories.Of(key)
	var failures []error
	for _, replica := range replicas {
		failures = append(failures, c.remove(ctx, memory, replica))
	}
	return errors.Join(failures...)
}
