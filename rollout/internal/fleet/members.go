// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Position is the place of a cluster among the members of a rollout, from 0, in the order of the names.
type Position int32

// Members are the clusters that count in a rollout, in their groups: those that a scheduler decided, and those that count in a group which
// does not select them.
type Members struct{ *grouping.Groups }

// Position gives the place of a cluster, by its name.
func (m Members) Position(cluster string) (Position, bool) {
	position, is := m.Groups.Position(cluster)
	return Position(position), is
}

// Cluster gives the name of the cluster at a position.
func (m Members) Cluster(position Position) string { return m.Groups.Cluster(int(position)) }

// KeyOf gives the key of a group.
func (m Members) KeyOf(group stages.Group) grouping.Key { return m.Key(int(group)) }

// SizeOf counts the clusters of a group.
func (m Members) SizeOf(group stages.Group) int { return m.Size(int(group)) }

// GroupOf gives the group of the cluster at a position.
func (m Members) GroupOf(position Position) stages.Group {
	return stages.Group(m.GroupAt(int(position)))
}

// GroupWith finds a group by its key.
func (m Members) GroupWith(key grouping.Key) (group stages.Group, there bool) {
	for group := range m.Len() {
		if m.Key(group) == key {
			return stages.Group(group), true
		}
	}
	return 0, false
}

// each calls a function with the position of each of some clusters that is a member.
func (m Members) each(clusters []string, take func(Position)) {
	for _, cluster := range clusters {
		if position, is := m.Position(cluster); is {
			take(position)
		}
	}
}
