// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Previous is what an earlier result knew of the groups of clusters. Nil knows nothing.
type Previous struct {
	Members // with those that had been deselected or moved
	FormerMembers
	Departed   map[string]grouping.Key // of clusters of which only the start or the success counted
	Incomplete bool                    // the groups were being written: they tell the part of a cluster, and its group only if it had been deselected or moved
}

// KeyBefore gives the group in which a cluster was.
func (previous *Previous) KeyBefore(cluster string) (key grouping.Key, known bool) {
	if previous == nil {
		return key, false
	}
	if position, was := previous.Position(cluster); was {
		if previous.Incomplete && !previous.IsDeselected(position) && !previous.HasMoved(position) {
			return UnknownGroup(), true
		}
		return previous.KeyOf(previous.GroupOf(position)), true
	}
	key, known = previous.Departed[cluster]
	return key, known
}

// FindMoved gives the selected clusters that count in another group than the one that selects them now, with that group (R52).
// The roster is the one by the current groups.
func (r *Roster) FindMoved(previous *Previous, table *Table) (moved map[string]grouping.Key) {
	if !r.MayMove(previous) {
		return nil
	}
	for position, is := range table.All() {
		if key, other := r.MovedFrom(previous, position, is); other {
			moved = With(moved, r.Cluster(position), key)
		}
	}
	return moved
}

// MayMove says whether a cluster can count in another group than now.
func (r *Roster) MayMove(previous *Previous) bool {
	knows := previous != nil && previous.Groups != r.Groups || len(r.Record) > 0
	return knows && !r.Layout.IsPooled()
}

// MovedFrom gives the group in which the selected cluster at a position counts, where it is another than now. It takes time in
// proportion to the groups where it is.
func (r *Roster) MovedFrom(previous *Previous, position Position, is State) (key grouping.Key, moved bool) {
	if !ExposedStates.Has(is) || r.Ignores(position) {
		return key, false
	}
	key, known := r.KeyBefore(previous, r.Cluster(position))
	group := r.GroupOf(position)
	if !known || key == r.KeyOf(group) || key.Index < 0 {
		return key, false
	}
	before, there := r.GroupWith(key)
	if !there {
		return key, InFlightStates.Has(is) && !r.isAheadOf(group, key)
	}
	return key, r.isPut(r.Graph.Of(before), r.Graph.Of(group))
}

// CountsElsewhere says whether the cluster at a position may count in another group than it does, once it begins or ceases to be in flight
// or a failure (R52).
func (r *Roster) CountsElsewhere(previous *Previous, position Position) bool {
	if r.HasMoved(position) {
		return true
	}
	cluster := r.Cluster(position)
	_, recorded := r.Record[cluster]
	if !recorded && (previous == nil || previous.Groups == r.Groups) || r.IsDeselected(position) {
		return false
	}
	key, known := r.KeyBefore(previous, cluster)
	return known && key != r.KeyOf(r.GroupOf(position))
}

// isAheadOf says whether a group comes before one that is gone: a mandatory group before all that are none.
func (r *Roster) isAheadOf(group stages.Group, other grouping.Key) bool {
	return !r.Phases.Rollback && r.Layout.Mandatory.Has(r.KeyOf(group)) && !r.Layout.Mandatory.Has(other)
}

// isPut says whether a cluster that moved from the stage before to the stage now counts in the one before.
func (r *Roster) isPut(before, now stages.Stage) bool {
	return before != now && !r.Graph.Before(before)[now]
}
