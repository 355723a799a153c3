// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// start lists the clusters that start, in order (R8), and marks them in marks unless that is nil.
func (s *schedule) start(view view, choice *choice, marks *marks) []Cluster {
	n := choice.starting()
	if !s.stopped(choice) {
		n += choice.ignoredWaiting
	}
	if n == 0 {
		return nil
	}
	clusters, grants := make([]Cluster, 0, n), choice.grants()
	for _, waiting := range [...]fleet.State{fleet.ToApply, fleet.Unreported} {
		first := len(clusters)
		for i := range grants {
			clusters = s.startOf(view, choice, &grants[i], waiting, marks, clusters)
		}
		counted := len(clusters)
		if choice.ignoredWaiting > 0 {
			clusters = s.listIgnored(view, choice, waiting, marks, clusters)
		}
		if choice.activeStages != nil || len(clusters) > counted {
			slices.SortFunc(clusters[first:], func(a, b Cluster) int { return s.compareNames(a.Name, b.Name) })
		}
	}
	if len(clusters) == 0 {
		return nil // all ignored clusters are blocked
	}
	return clusters
}

// startOf appends the clusters of an active stage that start and are in one of the waiting states.
func (s *schedule) startOf(view view, choice *choice, grant *grant, waiting fleet.State, marks *marks, clusters []Cluster) []Cluster {
	n := grant.startingFrom(waiting)
	if n == 0 {
		return clusters
	}
	for position, place, ok := view.Turn(grant.stage, waiting, 0); ok; position, place, ok = view.Turn(grant.stage, waiting, place+1) {
		if choice.closed != nil && choice.isClosed(s.GroupOf(position)) || s.Ignores(position) {
			continue
		}
		clusters = s.addCluster(clusters, position, waiting, s.options.attempt)
		marks.add(s, position)
		if n--; n == 0 {
			break
		}
	}
	return clusters
}

// list gives the selected clusters that are in any of the states. N clusters are, with the deselected ones.
func (s *schedule) list(view view, states fleet.States, n int) []Cluster {
	if n == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, n)
	for position, state, ok := view.In(states, 0); ok; position, state, ok = view.In(states, position+1) {
		if !s.IsDeselected(position) {
			clusters = s.addCluster(clusters, position, state, view.Attempt(position))
		}
		if n--; n == 0 {
			break
		}
	}
	if len(clusters) == 0 {
		return nil
	}
	return clusters
}

// listIgnored appends the ignored clusters in one of the waiting states that start.
func (s *schedule) listIgnored(view view, choice *choice, waiting fleet.State, marks *marks, clusters []Cluster) []Cluster {
	last, through := stages.Group(stages.None), false
	for _, position := range s.Ignored {
		if view.State(position) != waiting {
			continue
		}
		if group := s.GroupOf(position); group != last {
			last, through = group, s.startsIgnored(choice, group)
		}
		if !through {
			continue
		}
		clusters = s.addCluster(clusters, position, waiting, s.options.attempt)
		marks.add(s, position)
	}
	return clusters
}

// deselectedClusters lists the deselected clusters.
func (s *schedule) deselectedClusters(view view) []Cluster {
	if len(s.Deselected) == 0 {
		return nil
	}
	clusters := make([]Cluster, 0, len(s.Deselected))
	for _, position := range s.Deselected {
		clusters = s.addCluster(clusters, position, view.State(position), view.Attempt(position))
	}
	return clusters
}

// marks says which clusters start. Both lists are nil where none does.
type marks struct {
	starts  []bool  // of each position
	inGroup []int32 // for each group how many clusters that count start
}

// add marks the cluster at a position, unless m is nil.
func (m *marks) add(schedule *schedule, position fleet.Position) {
	if m == nil {
		return
	}
	if m.starts == nil {
		m.starts = make([]bool, schedule.NumClusters())
	}
	m.starts[position] = true
	if schedule.Ignores(position) {
		return
	}
	if m.inGroup == nil {
		m.inGroup = make([]int32, schedule.Graph.NumGroups())
	}
	m.inGroup[schedule.GroupOf(position)]++
}
