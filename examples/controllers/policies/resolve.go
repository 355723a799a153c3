package main

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

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
	groups     map[string]readGroups // by the name of the Placement
	resolution *override.Resolution
}

// readGroups is what groups were read of.
type readGroups struct {
	placement *clusterv1beta1.Placement
	decisions []*clusterv1beta1.PlacementDecision
	groups    *grouping.Groups
}

// resolve finds out to which clusters a policy goes, and with which action.
func (c *controller) resolve(root *policy, memory *memory) (*override.Resolution, error) {
	before := memory.resolved
	now := resolved{
		root:     root,
		bindings: list[placementBinding](c.caches.bindings, cache.NamespaceIndex, root.Namespace),
		sets:     list[policySet](c.caches.sets, cache.NamespaceIndex, root.Namespace),
		groups:   map[string]readGroups{},
	}
	own, err := override.Bindings(root.root, pointers(now.bindings), setPointers(now.sets))
	if err != nil {
		return nil, err
	}
	for i := range own {
		ref := own[i].PlacementRef
		if ref.Kind != "Placement" || ref.APIGroup != clusterv1beta1.GroupName {
			continue // its groups stay incomplete
		}
		read, known := now.groups[ref.Name]
		if !known {
			if read, err = c.readGroups(root.Namespace, ref.Name, before.groups[ref.Name]); err != nil && !root.root.Spec.Disabled {
				return nil, err
			}
			now.groups[ref.Name] = read
		}
		own[i].Groups = read.groups
	}
	if before.resolution != nil && sameContent(before.root, root) && slices.Equal(before.bindings, now.bindings) && slices.Equal(before.sets, now.sets) &&
		maps.EqualFunc(before.groups, now.groups, func(a, b readGroups) bool { return a.groups == b.groups }) {
		return before.resolution, nil
	}
	if now.resolution, err = override.Resolve(root.root, own); err != nil {
		return nil, err
	}
	memory.resolved = now
	return now.resolution, nil
}

// readGroups reads the groups of a Placement unless they are still those that were read before. They are nil, which is
// incomplete, as long as there is no Placement.
func (c *controller) readGroups(namespace, name string, before readGroups) (readGroups, error) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	now := readGroups{
		placement: get[clusterv1beta1.Placement](c.caches.placements, key),
		decisions: list[clusterv1beta1.PlacementDecision](c.caches.decisions, decisionsByPlacement, key.String()),
	}
	if now.placement == nil {
		return now, nil
	}
	if now.placement == before.placement && slices.Equal(now.decisions, before.decisions) {
		return before, nil
	}
	var err error
	now.groups, err = grouping.Read(now.placement, now.decisions)
	return now, err
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
