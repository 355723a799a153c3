// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"slices"

	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Groups are those of a Placement, with the objects that they were read from. Objects in a cache are replaced, never
// changed: while the pointers are the same, nothing has changed. Reading is the most expensive part of a reconcile.
type Groups struct {
	placement *clusterv1beta1.Placement
	decisions []*clusterv1beta1.PlacementDecision
	groups    *grouping.Groups
}

// Read reads the groups of a Placement, unless its objects are the same as before. The decisions have the index
// DecisionsByPlacement. The groups are incomplete while there is no Placement.
func (g Groups) Read(placements, decisions cache.Indexer, namespace, name string) (Groups, error) {
	now := Groups{
		placement: Get[clusterv1beta1.Placement](placements, namespace, name),
		decisions: Sorted[clusterv1beta1.PlacementDecision](decisions, DecisionsByPlacement, namespace+"/"+name),
	}
	if now.placement == nil {
		now.groups = now.groups.Lacking("there is no Placement " + namespace + "/" + name)
		return now, nil
	}
	if now.placement == g.placement && slices.Equal(now.decisions, g.decisions) {
		return g, nil
	}
	var err error
	if now.groups, err = grouping.Read(now.placement, now.decisions); err != nil {
		return Groups{}, err // read again next time
	}
	return now, nil
}

// AllGroups are the groups of several Placements, by name.
type AllGroups map[string]Groups

// Read reads the groups of a Placement into all, unless its objects are the same as before.
func (every AllGroups) Read(all AllGroups, placements, decisions cache.Indexer, namespace, name string) (*grouping.Groups, error) {
	if now, known := all[name]; known {
		return now.groups, nil
	}
	now, err := every[name].Read(placements, decisions, namespace, name)
	if err == nil {
		all[name] = now
	}
	return now.groups, err
}
