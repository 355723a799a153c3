package rollout

import (
	"maps"
	"slices"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// A deselected cluster that has the version and is not done with it stays a member of its group (R46, R47): the schedule is made over the
// groups with these clusters. All that looks at positions, tallies and stages counts them like any other cluster. What is
// said of them alone stands here.
//
// A selected cluster that moved while it counts stays a member of the group before, in the same way (R52).
//
// For example, group 0 is {a b} and group 1 {c}. Then b is tainted with its work in flight: the groups are 0 {a} and 1 {c},
// and the schedule's groups are still 0 {a b} and 1 {c}, and b is in gone.

// unknownGroup is the key of the group of deselected clusters whose group is unknown.
func unknownGroup() grouping.Key { return grouping.Key{Index: -1} }

// elsewhere says of a cluster whether another part takes care of its removal, where the groups were taken apart (R50): another
// part selects it, or no part does and this is not the last one. Selected says whether another part selects it. For groups that
// were not taken apart both are false.
func elsewhere(groups *grouping.Groups, cluster string) (other, selected bool) {
	parts, at := groups.Parts()
	for i, part := range parts {
		if _, selects := part.Groups.Position(cluster); selects {
			return i != at, i != at
		}
	}
	return at < len(parts)-1, false
}

// formerGroups are the clusters that count in another group than the one that selects them now, with the group in which they count. Those
// that left are selected by none.
type formerGroups struct{ deselected, moved map[string]grouping.Key }

// none says whether each cluster is where the groups have it.
func (p formerGroups) none() bool { return len(p.deselected)+len(p.moved) == 0 }

// in gives the groups with the clusters where they count.
func (p formerGroups) in(groups *grouping.Groups) *grouping.Groups {
	all := p.deselected
	if len(p.moved) > 0 {
		all = maps.Clone(p.moved)
		maps.Copy(all, p.deselected)
	}
	return groups.With(all)
}

// formerMembers are the clusters of a schedule that were deselected or moved. The zero value is for a schedule in which none was found.
type formerMembers struct {
	deselected   []int32 // the deselected positions, in order
	isDeselected []bool  // of each position; nil if none is deselected
	inGroup      []int   // how many deselected clusters are in each group; nil if there are none
	moved        []int32 // the positions of those that moved, in order
	movedInGroup []int   // how many that moved count in each group; nil if none moved
	inStage      []int   // how many were deselected or moved and keep a place in each stage (R65); nil where none did
	exposed      int     // the most clusters that the groups expose, of now and since the first of these counts (R66); 0 where nothing bounds that
}

// placesKept gives how many clusters count in a stage that are not selected there, and keep a place.
func (l *formerMembers) placesKept(stage stages.Stage) int { return at(l.inStage, stage) }

// isDeselectedAt says whether the cluster at a position is not selected.
func (l *formerMembers) isDeselectedAt(position int) bool { return at(l.isDeselected, position) }

// deselectedIn counts the clusters of a group that were deselected.
func (l *formerMembers) deselectedIn(group stages.Group) int { return at(l.inGroup, group) }

// movedIn counts the clusters that count in a group and moved to another.
func (l *formerMembers) movedIn(group stages.Group) int { return at(l.movedInGroup, group) }

// at gives an element of a list, or the zero value where there is no list.
func at[T any, I int | stages.Group | stages.Stage](list []T, i I) (element T) {
	if list == nil {
		return element
	}
	return list[i]
}

// hasMoved says whether the cluster at a position is a member of another group than the one that selects it.
func (l *formerMembers) hasMoved(position int) bool {
	_, has := slices.BinarySearch(l.moved, int32(position))
	return has
}

// newFormerMembers finds the deselected or moved clusters among the members of groups.
func newFormerMembers(groups members, where formerGroups) (l formerMembers) {
	if len(where.moved) > 0 {
		l.movedInGroup = make([]int, groups.Len())
	}
	for cluster := range where.moved {
		position, _ := groups.Position(cluster)
		l.moved = append(l.moved, int32(position))
		l.movedInGroup[groups.groupAt(position)]++
	}
	slices.Sort(l.moved)
	if len(where.deselected) == 0 {
		return l
	}
	l.isDeselected, l.inGroup = make([]bool, groups.NumClusters()), make([]int, groups.Len())
	for cluster := range where.deselected {
		position, _ := groups.Position(cluster)
		l.isDeselected[position] = true
		l.deselected = append(l.deselected, int32(position))
		l.inGroup[groups.groupAt(position)]++
	}
	slices.Sort(l.deselected)
	return l
}

// deselectedClusters lists the deselected clusters.
func (s *schedule) deselectedClusters(v view) []Cluster {
	if len(s.deselected) == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, len(s.deselected))
	for _, position := range s.deselected {
		clusters = s.addCluster(clusters, int(position), v.at(int(position)), v.attempt(int(position)))
	}
	return clusters
}
