// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

func newTeller(recorder events.EventRecorder, registry prometheus.Registerer) kit.Teller {
	return kit.NewTeller(recorder, registry, "policy")
}

// tell emits events for what is new since the reconcile before. The first reconcile of a process emits none, unless the policy
// is new.
func (c *controller) tell(ctx context.Context, root *policy, memory *memory, resolution *override.Resolution, p *passes.Propagation) {
	c.tellDropped(ctx, root, memory)
	previous := memory.last
	if previous == nil && root.status.RolloutStatus == "" {
		previous = &passes.Propagation{}
	}
	memory.last = p
	var notes kit.Notes
	c.teller.Tell(&notes, []string{root.Namespace, root.Name}, "", p.Changes(previous), p.Summary().Counts)
	for _, cluster := range p.Edited {
		notes.Add(kit.Warning, "Edited", "the replicated policy of cluster "+cluster+" was edited by hand: the controller writes it back")
	}
	if resolution != memory.told {
		for _, ignored := range resolution.Ignored() {
			notes.Add(kit.Warning, string(ignored.Type), ignored.Message)
		}
		memory.told = resolution
	}
	c.teller.Emit(root.raw, notes)
}

// tellDropped emits an event, once for a policy, about the fields that the API server drops silently, since its definition of policies lacks the fields of
// the rollout. Without its strategy a policy is enforced on all clusters at once. The rollout status is shown only.
func (c *controller) tellDropped(ctx context.Context, root *policy, memory *memory) {
	if memory.dropped && !memory.warned {
		c.teller.Event(root.raw, kit.Warning, "RolloutStatusDropped", "the API server drops status.rolloutStatus: its definition of policies lacks it")
		memory.warned = true
	}
	spec := &root.root.Spec
	if action, _ := spec.RemediationAction.Known(); memory.asked || spec.Disabled || action == policyv1.Inform || spec.RolloutStrategy.Type != "" {
		return
	}
	patch := []byte(`{"spec": {"rolloutStrategy": {"type": "All"}}}`)
	answer, err := c.client.Resource(policies).Namespace(root.Namespace).Patch(ctx, root.Name, types.MergePatchType, patch,
		metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return // it is asked at the next look
	}
	memory.asked = true
	if _, kept, _ := unstructured.NestedString(answer.Object, "spec", "rolloutStrategy", "type"); !kept {
		c.teller.Event(root.raw, kit.Warning, "RolloutStrategyDropped", "the API server drops spec.rolloutStrategy, since its definition of policies lacks it: "+
			"the policy is enforced on all clusters at once")
	}
}
