// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// resolved is where a policy goes, and what that was read of. An object in a cache is never changed, but replaced: as
// long as these are the same pointers, nothing has changed.
type resolved struct {
	root       *policy
	bindings   []*placementBinding
	sets       []*policySet
	placements kit.AllGroups
	groups     []*grouping.Groups // of each binding that names the policy, itself or by a set
	missing    []bool             // whether the placement of each of these does not exist
	resolution *override.Resolution
}

// resolve finds out to which clusters a policy goes, and with which action. Uncertain says why it does not know whether a placement
// exists; its binding is incomplete then.
func (c *controller) resolve(ctx context.Context, root *policy, memory *memory) (_ *override.Resolution, uncertain, _ error) {
	before := memory.resolved
	now := resolved{
		root:       root,
		bindings:   kit.Sorted[placementBinding](c.caches.bindings, cache.NamespaceIndex, root.Namespace),
		sets:       kit.Sorted[policySet](c.caches.sets, cache.NamespaceIndex, root.Namespace),
		placements: kit.AllGroups{},
	}
	own, err := override.Bindings(root.root, pointers(now.bindings), setPointers(now.sets))
	if err != nil {
		return nil, nil, err
	}
	for i := range own {
		ref := own[i].PlacementRef
		if ref.Kind == "Placement" && ref.APIGroup == clusterv1beta1.GroupName { // otherwise its groups stay incomplete
			own[i].Groups, err = before.placements.Read(now.placements, c.caches.placements, c.caches.decisions, root.Namespace, ref.Name)
			if err != nil && !root.root.Spec.Disabled {
				return nil, nil, err
			}
			var failed error
			if own[i].Missing, failed = c.isMissing(ctx, root.Namespace, ref.Name); own[i].Missing {
				own[i].Groups = nil
			}
			uncertain = errors.Join(uncertain, failed)
		}
		now.groups, now.missing = append(now.groups, own[i].Groups), append(now.missing, own[i].Missing)
	}
	if before.resolution != nil && sameContent(before.root, root) && slices.Equal(before.bindings, now.bindings) && slices.Equal(before.sets, now.sets) &&
		slices.Equal(before.groups, now.groups) && slices.Equal(before.missing, now.missing) {
		return before.resolution, uncertain, nil
	}
	if now.resolution, err = override.Resolve(root.root, own); err != nil {
		return nil, nil, err
	}
	memory.resolved = now
	return now.resolution, uncertain, nil
}

// isMissing says whether a Placement does not exist. A cache without it may be behind, so it is read live: a deleted placement
// removes the policy from its clusters.
func (c *controller) isMissing(ctx context.Context, namespace, name string) (bool, error) {
	if kit.Get[clusterv1beta1.Placement](c.caches.placements, namespace, name) != nil {
		return false, nil
	}
	_, err := c.client.Resource(placements).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse), nil
	}
	return false, err
}

func pointers(bindings []*placementBinding) []*policyv1.PlacementBinding {
	all := make([]*policyv1.PlacementBinding, len(bindings))
	for i := range bindings {
		all[i] = &bindings[i].PlacementBinding
	}
	return all
}

func setPointers(sets []*policySet) []*policyv1.PolicySet {
	all := make([]*policyv1.PolicySet, len(sets))
	for i := range sets {
		all[i] = &sets[i].PolicySet
	}
	return all
}
