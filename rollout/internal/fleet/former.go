// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"maps"
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// A deselected cluster that has the version and is not done with it stays a member of its group (R46, R47). All that looks at positions and
// tallies counts it like any other cluster. What is said of such clusters alone stands here.
//
// A selected cluster that moved while it counts stays a member of the group before, in the same way (R52).
//
// For example, group 0 is {a b} and group 1 {c}. Then b is tainted with its work in flight: the groups are 0 {a} and 1 {c},
// and the members are still 0 {a b} and 1 {c}, and b is deselected.

// UnknownGroup is the key of the group of deselected clusters whose group is unknown.
func UnknownGroup() grouping.Key { return grouping.Key{Index: -1} }

// Elsewhere says of a cluster whether another part takes care of its removal, where the groups were taken apart (R50): another
// part selects it, or no part does and this is not the last one. Selected says whether another part selects it. For groups that
// were not taken apart both are false.
func Elsewhere(groups *grouping.Groups, cluster string) (other, selected bool) {
	parts, at := groups.Parts()
	for i, part := range parts {
		if _, selects := part.Groups.Position(cluster); selects {
			return i != at, i != at
		}
	}
	return at < len(parts)-1, false
}

// FormerGroups are the clusters that count in another group than the one that selects them now, with the group in which they count. Those
// that were deselected are selected by none.
type FormerGroups struct{ Deselected, Moved map[string]grouping.Key }

// None says whether each cluster is where the groups have it.
func (former FormerGroups) None() bool { return len(former.Deselected)+len(former.Moved) == 0 }

// In gives the groups with the clusters where they count.
func (former FormerGroups) In(groups *grouping.Groups) *grouping.Groups {
	all := former.Deselected
	if len(former.Moved) > 0 {
		all = maps.Clone(former.Moved)
		maps.Copy(all, former.Deselected)
	}
	return groups.With(all)
}

// FormerMembers are the members that were deselected or moved. The zero value is for a rollout in which none was found.
type FormerMembers struct {
	Deselected   []Position // in order
	Moved        []Position // in order
	isDeselected []bool     // of each position; nil if none is deselected
	inGroup      []int      // how many deselected clusters are in each group; nil if there are none
	movedInGroup []int      // how many that moved count in each group; nil if none moved
}

// NewFormerMembers finds the deselected or moved clusters among the members.
func NewFormerMembers(members Members, where FormerGroups) (formerMembers FormerMembers) {
	if len(where.Moved) > 0 {
		formerMembers.movedInGroup = make([]int, members.Len())
	}
	for cluster := range where.Moved {
		position, _ := members.Position(cluster)
		formerMembers.Moved = append(formerMembers.Moved, position)
		formerMembers.movedInGroup[members.GroupOf(position)]++
	}
	slices.Sort(formerMembers.Moved)
	if len(where.Deselected) == 0 {
		return formerMembers
	}
	formerMembers.isDeselected, formerMembers.inGroup = make([]bool, members.NumClusters()), make([]int, members.Len())
	for cluster := range where.Deselected {
		position, _ := members.Position(cluster)
		formerMembers.isDeselected[position] = true
		formerMembers.Deselected = append(formerMembers.Deselected, position)
		formerMembers.inGroup[members.GroupOf(position)]++
	}
	slices.Sort(formerMembers.Deselected)
	return formerMembers
}

// AnyFormer says whether a cluster counts where the current groups do not have it.
func (f *FormerMembers) AnyFormer() bool { return len(f.Deselected)+len(f.Moved) > 0 }

// IsDeselected says whether the cluster at a position is not selected.
func (f *FormerMembers) IsDeselected(position Position) bool { return at(f.isDeselected, position) }

// HasMoved says whether the cluster at a position is a member of another group than the one that selects it.
func (f *FormerMembers) HasMoved(position Position) bool {
	_, has := slices.BinarySearch(f.Moved, position)
	return has
}

// DeselectedIn counts the clusters of a group that were deselected.
func (f *FormerMembers) DeselectedIn(group stages.Group) int { return at(f.inGroup, group) }

// MovedIn counts the clusters that count in a group and moved to another.
func (f *FormerMembers) MovedIn(group stages.Group) int { return at(f.movedInGroup, group) }

// at gives an element of a list, or the zero value where there is no list.
func at[T any, I Position | stages.Group](list []T, i I) (element T) {
	if list == nil {
		return element
	}
	return list[i]
}
