// SPDX-License-Identifier: Apache-2.0

package v1beta1

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/cohort-ocm/cohort/grouping"
)

// GroupKey names a decision group by its name, which may be empty, and its index.
type GroupKey struct {
	GroupName  string `json:"groupName,omitempty"`
	GroupIndex int32  `json:"groupIndex,omitempty"`
}

// ClusterGroupsMap has the names of the clusters of each group.
type ClusterGroupsMap map[GroupKey]sets.Set[string]

// GetOrderedGroupKeys returns the keys sorted by index, then by name.
func (g ClusterGroupsMap) GetOrderedGroupKeys() []GroupKey {
	keys := make([]GroupKey, 0, len(g))
	for key := range g {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b GroupKey) int {
		return cmp.Or(cmp.Compare(a.GroupIndex, b.GroupIndex), strings.Compare(a.GroupName, b.GroupName))
	})
	return keys
}

// GetClusters returns the clusters of all groups.
func (g ClusterGroupsMap) GetClusters() sets.Set[string] {
	clusters := sets.New[string]()
	for _, group := range g {
		clusters.Insert(group.UnsortedList()...)
	}
	return clusters
}

// ClusterToGroupKey returns the group of each cluster. A cluster of several groups is in the first of
// [ClusterGroupsMap.GetOrderedGroupKeys].
func (g ClusterGroupsMap) ClusterToGroupKey() map[string]GroupKey {
	groups := make(map[string]GroupKey)
	for _, key := range slices.Backward(g.GetOrderedGroupKeys()) {
		for cluster := range g[key] {
			groups[cluster] = key
		}
	}
	return groups
}

// groups converts to a value of package grouping.
func (g ClusterGroupsMap) groups() (*grouping.Groups, error) {
	names := make(map[grouping.Key][]string, len(g))
	seen := sets.New[string]("") // an empty name is not a cluster
	for _, key := range g.GetOrderedGroupKeys() {
		own := []string{}
		for _, cluster := range slices.Sorted(maps.Keys(g[key])) {
			if !seen.Has(cluster) {
				own = append(own, cluster)
			}
		}
		seen.Insert(own...)
		names[grouping.Key{Index: key.GroupIndex, Name: key.GroupName}] = own
	}
	return grouping.FromNames(names)
}

// mapOf returns the groups for which keep is true. The caller may change the sets.
func mapOf(groups *grouping.Groups, keep func(grouping.Key) bool) ClusterGroupsMap {
	all := ClusterGroupsMap{}
	for i := range groups.Len() {
		key := groups.Key(i)
		if !keep(key) {
			continue
		}
		clusters := sets.New[string]()
		for decision := range groups.Clusters(i) {
			clusters.Insert(decision.ClusterName)
		}
		all[GroupKey{GroupName: key.Name, GroupIndex: key.Index}] = clusters
	}
	return all
}
