package rollout

import (
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// findMoved gives the selected clusters that count in another group than the one that selects them now, with that group (R52).
// States are by position. The schedule is the one by the current groups.
func (s *schedule) findMoved(states []fleet.State) (moved map[string]grouping.Key) {
	previous := s.options.previous
	if !s.mayMove(previous) {
		return nil
	}
	for i, is := range states {
		position := fleet.Position(i)
		if key, other := s.movedFrom(previous, position, is); other {
			moved = with(moved, s.Cluster(position), key)
		}
	}
	return moved
}

// mayMove says whether a cluster can count in another group than now.
func (s *schedule) mayMove(previous *previousResult) bool {
	knows := previous != nil && previous.Members != s.Members || s.options.record.all() != nil
	return knows && !s.layout.IsPooled()
}

// movedFrom gives the group in which the selected cluster at a position counts, where it is another than now. It takes time in
// proportion to the groups where it is.
func (s *schedule) movedFrom(previous *previousResult, position fleet.Position, is fleet.State) (key grouping.Key, moved bool) {
	if !fleet.InFlightStates.Has(is) && !fleet.FailureStates.Has(is) || s.Ignores(position) {
		return key, false
	}
	cluster, group := s.Cluster(position), s.GroupOf(position)
	if e, known := s.options.record.entry(cluster); known {
		key = e.key
	} else if key, known = previous.groupOf(cluster); !known {
		return key, false
	}
	if key == s.KeyOf(group) || key.Index < 0 {
		return key, false
	}
	before, there := s.GroupWith(key)
	if !there {
		return key, fleet.InFlightStates.Has(is) && !s.isAheadOf(group, key)
	}
	return key, s.isPut(s.Graph.Of(before), s.Graph.Of(group))
}

// isAheadOf says whether a group comes before one that is gone: a mandatory group before all that are none.
func (s *schedule) isAheadOf(group stages.Group, other grouping.Key) bool {
	return s.options.rollback == nil && s.layout.Mandatory.Has(s.KeyOf(group)) && !s.layout.Mandatory.Has(other)
}

// isPut says whether a cluster that moved from the stage before to the stage now counts in the one before.
func (s *schedule) isPut(before, now stages.Stage) bool {
	return before != now && !s.Graph.Before(before)[now]
}

// counts says how a state counts for R52: in flight, as a failure, or not at all.
func counts(s fleet.State) (as struct{ inFlight, failed bool }) {
	as.inFlight, as.failed = fleet.InFlightStates.Has(s), fleet.FailureStates.Has(s)
	return as
}

// with adds to a map that may be nil.
func with(m map[string]grouping.Key, cluster string, key grouping.Key) map[string]grouping.Key {
	if m == nil {
		m = make(map[string]grouping.Key)
	}
	m[cluster] = key
	return m
}
