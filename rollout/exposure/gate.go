package exposure

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// closedGates gives for each group the closed gate before it that opens last, at the time now (R23).
func (s *prospect) closedGates(now time.Time) map[int]rollout.Gate {
	before := make(map[grouping.Key][]rollout.Gate) // by the group's name, or by its index where the gate names none
	for _, closed := range s.options.Gates {
		if closed.Opens.IsZero() || now.Before(closed.Opens) {
			if closed.Group.Name != "" {
				closed.Group.Index = 0
			}
			before[closed.Group] = append(before[closed.Group], closed.Gate)
		}
	}
	all := make(map[int]rollout.Gate)
	for group := range s.groups.Len() {
		key := s.groups.Key(group)
		for _, placement := range [...]string{key.Placement, ""} {
			gates := before[grouping.Key{Index: key.Index, Placement: placement}]
			if key.Name != "" {
				gates = append(gates[:len(gates):len(gates)], before[grouping.Key{Name: key.Name, Placement: placement}]...)
			}
			for _, gate := range gates {
				if last, several := all[group]; !several || isLater(&gate, &last) {
					all[group] = gate
				}
			}
		}
	}
	return all
}

// isLater says whether a gate opens later than another. An unknown time is the latest; for equal times the names decide.
func isLater(a, b *rollout.Gate) bool {
	switch {
	case a.Opens.Equal(b.Opens):
		return a.Name < b.Name
	case a.Opens.IsZero() || b.Opens.IsZero():
		return a.Opens.IsZero()
	default:
		return a.Opens.After(b.Opens)
	}
}

// isOneGroup says whether a stage has one group by its nature, so that a closed gate before it is a barrier.
func (s *prospect) isOneGroup(stage int) bool {
	return s.Type == clusterv1alpha1.ProgressivePerGroup || s.Stages[stage].Mandatory
}

// ignoredIn gives the number of ignored clusters of a group.
func (s *prospect) ignoredIn(group int) int {
	if s.ignored == nil {
		return 0
	}
	return s.ignored[group]
}
