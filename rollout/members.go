package rollout

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// members are the groups of a schedule: the groups that a scheduler decided, with the clusters that count in a group which does not select
// them. A position is the place of a cluster among the members, in the order of the names.
type members struct{ *grouping.Groups }

// key gives the key of a group.
func (m members) key(group stages.Group) grouping.Key { return m.Key(int(group)) }

// size counts the clusters of a group.
func (m members) size(group stages.Group) int { return m.Size(int(group)) }

// groupAt gives the group of the cluster at a position.
func (m members) groupAt(position int) stages.Group { return stages.Group(m.GroupAt(position)) }

// groupWith finds a group by its key.
func (m members) groupWith(key grouping.Key) (group stages.Group, there bool) {
	for group := range m.Len() {
		if m.Key(group) == key {
			return stages.Group(group), true
		}
	}
	return 0, false
}
