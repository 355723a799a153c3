// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/limit"
)

// Groups holds the selected clusters of a placement in their decision groups. It never changes and is safe for
// concurrent use. Build it once per change of its source. The zero value and nil have no groups, and are incomplete.
//
// A cluster can be asked for by name or by position. Positions number all clusters from 0 in the order of their names,
// whatever their group, so that a caller can keep data about clusters in slices.
//
// A Groups takes 32 to 40 bytes a cluster beside the names, which it shares with its source. Reasons take 16 bytes more
// and scores 8, where there are any.
type Groups struct {
	keys     []Key
	starts   []int32 // group i is members[starts[i]:starts[i+1]]
	members  []int32 // positions, group by group, in the order of the decisions
	names    []string
	groups   []int32        // of each position
	index    index          // of names
	reasons  []string       // of each position; nil where no decision has one
	scores   []int64        // of each position; nil where no decision has one
	size     limit.Limit    // clustersPerDecisionGroup; the zero limit where there is none
	standing *standing      // after Read, where it is not what the indexes say; otherwise nil
	settled  map[string]int // by name, how many groups the status has, after Read with a status that does not match; otherwise nil
	part     part
	completeness
}

// newGroups makes an empty Groups with room for a number of groups of the clusters with these sorted names, which it keeps.
// addGroup, addMember and set fill it.
func newGroups(names []string, groups int) *Groups {
	return &Groups{
		keys:    make([]Key, 0, groups),
		starts:  make([]int32, 1, groups+1),
		members: make([]int32, 0, len(names)),
		names:   names,
		groups:  make([]int32, len(names)),
		index:   newIndex(names),
	}
}

// set keeps the reason and the score of the cluster at a position.
func (g *Groups) set(position int, reason string, score int64) {
	if reason != "" {
		if g.reasons == nil {
			g.reasons = make([]string, len(g.names))
		}
		g.reasons[position] = reason
	}
	if score != 0 {
		if g.scores == nil {
			g.scores = make([]int64, len(g.names))
		}
		g.scores[position] = score
	}
}

// addGroup appends a group without clusters.
func (g *Groups) addGroup(key Key) {
	g.keys = append(g.keys, key)
	g.starts = append(g.starts, int32(len(g.members)))
}

// addMember appends a cluster to the last group.
func (g *Groups) addMember(position int32) {
	last := len(g.keys) - 1
	g.groups[position] = int32(last)
	g.members = append(g.members, position)
	g.starts[last+1] = int32(len(g.members))
}

// Len gives the number of groups, empty ones included.
func (g *Groups) Len() int {
	if g == nil {
		return 0
	}
	return len(g.keys)
}

// Key gives the key of the i-th group, 0 ≤ i < Len. Keys ascend by index, then by name; after [Join] they do so within
// each placement. Where indexes have gaps, i is not the index.
func (g *Groups) Key(i int) Key { return g.keys[i] }

// Size gives the number of clusters in the i-th group.
func (g *Groups) Size(i int) int { return int(g.starts[i+1] - g.starts[i]) }

// Clusters yields the decisions of the i-th group. They are in the placement's order, by name or by score. After [Read]
// they are in the order in which they are stored: PlacementDecision after PlacementDecision, by the numbers in their
// names.
func (g *Groups) Clusters(i int) iter.Seq[clusterv1beta1.ClusterDecision] {
	return func(yield func(clusterv1beta1.ClusterDecision) bool) {
		for _, position := range g.members[g.starts[i]:g.starts[i+1]] {
			if !yield(g.decision(position)) {
				return
			}
		}
	}
}

// All yields the decisions of all groups, group after group, each with the key of its group.
func (g *Groups) All() iter.Seq2[Key, clusterv1beta1.ClusterDecision] {
	return func(yield func(Key, clusterv1beta1.ClusterDecision) bool) {
		for i := range g.Len() {
			for decision := range g.Clusters(i) {
				if !yield(g.keys[i], decision) {
					return
				}
			}
		}
	}
}

// ClustersPerDecisionGroup gives the most clusters that the placement's strategy puts into a group, as a count. It is 0
// where the strategy sets no limit (unset, or 100%), and where the groups know no Placement, as from [FromNames] and
// from [Read] without one. For groups from [Join] it is the smallest over the placements that select clusters, or 0 if
// it is 0 for one of them.
//
// A rollout with a strategy without maxConcurrency uses it.
func (g *Groups) ClustersPerDecisionGroup() int {
	if g == nil || g.size.IsZero() || g.size.IsPercent() && g.size.Of(100) == 100 {
		return 0
	}
	return max(g.size.Of(g.NumClusters()), 1)
}

// NumClusters gives the number of selected clusters.
func (g *Groups) NumClusters() int {
	if g == nil {
		return 0
	}
	return len(g.names)
}

// Cluster gives the name of the cluster at a position, 0 ≤ position < NumClusters. Names ascend.
func (g *Groups) Cluster(position int) string { return g.names[position] }

// GroupAt gives the group of the cluster at a position, as an i for Key.
func (g *Groups) GroupAt(position int) int { return int(g.groups[position]) }

// Position gives the position of the named cluster, and whether it is selected.
func (g *Groups) Position(cluster string) (position int, selected bool) {
	if g != nil {
		position, selected = g.index.find(g.names, cluster)
	}
	return position, selected
}

// Find gives the group and the decision (reason and score) of the named cluster, and whether it is
// selected.
func (g *Groups) Find(cluster string) (Key, clusterv1beta1.ClusterDecision, bool) {
	position, ok := g.Position(cluster)
	if !ok {
		return Key{}, clusterv1beta1.ClusterDecision{}, false
	}
	return g.keys[g.groups[position]], g.decision(int32(position)), true
}

func (g *Groups) decision(position int32) clusterv1beta1.ClusterDecision {
	decision := clusterv1beta1.ClusterDecision{ClusterName: g.names[position]}
	if g.reasons != nil {
		decision.Reason = g.reasons[position]
	}
	if g.scores != nil {
		decision.Score = g.scores[position]
	}
	return decision
}

// Equal says whether both have the same groups of the same clusters in the same order, with the same reasons and
// scores, and give the same for Incomplete and ClustersPerDecisionGroup.
func (g *Groups) Equal(other *Groups) bool {
	if g == other {
		return true
	}
	if g.Incomplete() != other.Incomplete() || g.ClustersPerDecisionGroup() != other.ClustersPerDecisionGroup() {
		return false
	}
	if g.Len() == 0 || other.Len() == 0 {
		return g.Len() == other.Len()
	}
	return slices.Equal(g.keys, other.keys) &&
		slices.Equal(g.starts, other.starts) &&
		slices.Equal(g.members, other.members) &&
		slices.Equal(g.names, other.names) &&
		slices.Equal(g.reasons, other.reasons) &&
		slices.Equal(g.scores, other.scores)
}

// String lists the groups with their sizes: `group 0 "canary": 10, group 1: 150`.
func (g *Groups) String() string {
	if g.Len() == 0 {
		return "no groups"
	}
	var b strings.Builder
	for i, key := range g.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%v: %d", key, g.Size(i))
	}
	return b.String()
}
