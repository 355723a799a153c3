// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// setStatus is the status of a PolicySet, with the JSON names of the real object. What its exclusions are stands in its spec.
type setStatus struct {
	Placement []setPlacement           `json:"placement,omitempty"`
	Compliant policyv1.ComplianceState `json:"compliant,omitempty"`
	Message   string                   `json:"statusMessage,omitempty"`
}

// setPlacement is one binding in it.
type setPlacement struct {
	PlacementBinding string `json:"placementBinding,omitempty"`
	Placement        string `json:"placement,omitempty"`
	PlacementRule    string `json:"placementRule,omitempty"`
}

// setStatuses writes the status of each PolicySet that has a policy, unless nothing in it changed. A status that stays behind, since
// the caches do, follows with the next event of one of the set's policies.
func (c *controller) setStatuses(ctx context.Context, of types.NamespacedName) error {
	var failures []error
	for _, set := range kit.Sorted[policySet](c.caches.sets, cache.NamespaceIndex, of.Namespace) {
		if len(set.Spec.Policies) > 0 && !slices.Contains(set.Spec.Policies, of.Name) {
			continue
		}
		next := c.caches.statusOf(set)
		if slices.Equal(next.Placement, set.status.Placement) && next.Compliant == set.status.Compliant && next.Message == set.status.Message {
			continue
		}
		patch, err := json.Marshal(map[string]any{"status": map[string]any{
			"placement": next.Placement, "compliant": orNull(next.Compliant), "statusMessage": orNull(next.Message),
		}})
		if err == nil {
			_, err = c.client.Resource(sets).Namespace(set.Namespace).Patch(ctx, set.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

// statusOf is what the status of a set has to be: from its policies' own, as OCM's controller makes it. Policies that are disabled
// or missing do not count. While one has not reported, the set has no compliance.
func (cached *caches) statusOf(set *policySet) setStatus {
	if len(set.Spec.Policies) == 0 {
		return setStatus{}
	}
	bound := map[string]setPlacement{}
	var pending, disabled, silent, missing []string
	var states []policyv1.ComplianceState
	for _, name := range set.Spec.Policies {
		root := cached.root(types.NamespacedName{Namespace: set.Namespace, Name: name})
		if root == nil {
			missing = append(missing, name)
			continue
		}
		for _, p := range root.status.Placement {
			if p.PolicySet == set.Name {
				bound[p.PlacementBinding] = setPlacement{p.PlacementBinding, p.Placement, p.PlacementRule}
			}
		}
		if root.root != nil && root.root.Spec.Disabled {
			disabled = append(disabled, name)
			continue
		}
		switch state := cached.complianceThrough(set, root); state {
		case "":
			silent = append(silent, name)
		case policyv1.Pending:
			pending = append(pending, name)
			fallthrough
		default:
			states = append(states, state)
		}
	}
	s := setStatus{Message: setMessage(pending, disabled, silent, missing)}
	for _, name := range slices.Sorted(maps.Keys(bound)) {
		s.Placement = append(s.Placement, bound[name])
	}
	if len(silent) == 0 {
		s.Compliant = policyv1.Aggregate(states...)
	}
	return s
}

// complianceThrough is the compliance of a policy on the clusters to which a set binds it, as far as they have reported.
func (cached *caches) complianceThrough(set *policySet, root *policy) policyv1.ComplianceState {
	through := map[string]bool{}
	for _, p := range root.status.Placement {
		if p.PolicySet != set.Name {
			continue
		}
		for _, decision := range kit.List[clusterv1beta1.PlacementDecision](cached.decisions, kit.DecisionsByPlacement, set.Namespace+"/"+p.Placement) {
			for _, d := range decision.Status.Decisions {
				through[d.ClusterName] = true
			}
		}
		for _, excluded := range p.Exclusions {
			delete(through, excluded.ClusterName)
		}
	}
	var states []policyv1.ComplianceState
	for _, of := range root.status.Status {
		if of.ComplianceState != "" && through[of.ClusterName] {
			states = append(states, of.ComplianceState)
		}
	}
	return policyv1.Aggregate(states...)
}

// setMessage says which policies do not count, in the words of OCM's controller, for which users search.
func setMessage(pending, disabled, silent, missing []string) string {
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{
		{"Policies awaiting pending dependencies: ", pending}, {"Disabled policies: ", disabled},
		{"No status provided while awaiting policy status: ", silent}, {"Deleted policies: ", missing},
	} {
		if len(part.names) > 0 {
			parts = append(parts, part.what+strings.Join(part.names, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "All policies are reporting status")
}
