// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// divide reads the groups from the decisions, without clusters that are taken, and whether the decisions are what the
// placement's status speaks of.
func (s *seenRef) divide(pds []*placementDecision, taken map[string]bool) {
	slices.SortFunc(pds, func(a, b *placementDecision) int { return cmp.Compare(a.Name, b.Name) })
	groups := map[groupKey]*seenGroup{}
	lowest := map[string]groupKey{}
	for _, pd := range pds {
		key := keyOf(pd)
		if groups[key] == nil {
			groups[key] = &seenGroup{index: key.index, name: key.name}
		}
		for _, d := range pd.Status.Decisions {
			if at, ok := lowest[d.ClusterName]; !ok || key.index < at.index {
				lowest[d.ClusterName], s.selected[d.ClusterName] = key, key.index
			}
		}
	}
	for _, cluster := range slices.Sorted(maps.Keys(lowest)) {
		if !taken[cluster] {
			g := groups[lowest[cluster]]
			g.clusters = append(g.clusters, cluster)
		}
	}
	for _, key := range slices.SortedFunc(maps.Keys(groups), groupKey.compare) {
		for _, c := range groups[key].clusters {
			s.groupOf[c] = len(s.groups)
		}
		s.groups = append(s.groups, *groups[key])
	}
	s.incomplete = s.lacks(pds, len(lowest))
}

// lacks says why decisions with so many distinct clusters are not what the placement's status speaks of, if they are not.
func (s *seenRef) lacks(pds []*placementDecision, clusters int) string {
	switch {
	case len(pds) == 0:
		return "there is no PlacementDecision"
	case s.placement == nil:
		return "there is no Placement"
	case s.placement.Annotations[clusterv1beta1.PlacementDisableAnnotation] == "true":
		return "" // its status is not written
	}
	spoken, counts := map[string]groupKey{}, map[groupKey]int{}
	for _, g := range s.placement.Status.DecisionGroups {
		key := groupKey{int(g.DecisionGroupIndex), g.DecisionGroupName}
		counts[key] = int(g.ClustersCount)
		for _, name := range g.Decisions {
			spoken[name] = key
		}
	}
	stored, places := map[string]groupKey{}, 0
	for _, pd := range pds {
		key := keyOf(pd)
		stored[pd.Name] = key
		counts[key] -= len(pd.Status.Decisions)
		places += len(pd.Status.Decisions)
		if pd.DeletionTimestamp != nil {
			return pd.Name + " is being deleted"
		}
	}
	if !maps.Equal(spoken, stored) {
		return fmt.Sprintf("the Placement's status speaks of %v, there are %v", spoken, stored)
	}
	for key, n := range counts {
		if n != 0 {
			return fmt.Sprintf("group %v has %d clusters too few", key, n)
		}
	}
	if n := int(s.placement.Status.NumberOfSelectedClusters); n != clusters || places != clusters {
		return fmt.Sprintf("%d clusters are selected, the decisions have %d in %d places", n, clusters, places)
	}
	return ""
}

// groupKey is what the labels of a PlacementDecision say of its group. A group that is renamed is another one.
type groupKey struct {
	index int
	name  string
}

func keyOf(pd *placementDecision) groupKey {
	index, _ := strconv.Atoi(pd.Labels[clusterv1beta1.DecisionGroupIndexLabel])
	return groupKey{index, pd.Labels[clusterv1beta1.DecisionGroupNameLabel]}
}

func (k groupKey) compare(other groupKey) int {
	return cmp.Or(cmp.Compare(k.index, other.index), cmp.Compare(k.name, other.name))
}
