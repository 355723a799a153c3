// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on groups that were cut again (R65, R66), for a policy in two passes.

// naiveFleet has the groups, and the state of each cluster. Departed are the deselected or moved clusters that count, with the group
// in which they count. Before is how many clusters may be exposed by the result before and the record.
type naiveFleet struct {
	groups   []naiveGroup
	of       func(string) (s status.RolloutStatus, inFlight bool)
	ready    func(string) bool // whether it is through the first pass
	departed map[string]grouping.Key
	before   int
	lasting  []naiveBreach // of before
}

// naiveStage are the clusters that start together, up to a concurrency.
type naiveStage struct {
	clusters            []string
	isGroup             bool // and not the pool
	concurrency, budget int
}

// naiveStages are the stages of groups in the order of their index (R10, R11, R12, O9).
func (l naiveLimits) naiveStages(groups []naiveGroup) (stages []naiveStage) {
	isMandatory := func(g naiveGroup) bool {
		pooled := l.typ == clusterv1alpha1.Progressive && l.mandatory == ""
		return l.mandatory != "" && g.name == l.mandatory || g.index < 0 && !pooled // R47: an unknown group
	}
	pool := naiveStage{concurrency: max(l.maxConcurrency, 1), budget: l.maxFailures} // O9: one where it says none
	var others []naiveStage
	for _, g := range groups {
		switch {
		case isMandatory(g):
			stages = append(stages, naiveStage{g.clusters, true, len(g.clusters), 0})
		case l.typ == clusterv1alpha1.Progressive:
			pool.clusters = append(pool.clusters, g.clusters...)
		default:
			others = append(others, naiveStage{g.clusters, true, len(g.clusters), l.maxFailures})
		}
	}
	if l.typ == clusterv1alpha1.Progressive {
		others = []naiveStage{pool}
	}
	return append(stages, others...)
}

// isExposed says whether a cluster has the version and is not done with it (R40).
func (f naiveFleet) isExposed(cluster string) bool {
	s, inFlight := f.of(cluster)
	return inFlight || s == status.Failed || s == status.TimeOut
}

// isDeparted says whether a cluster counts that is not in the present groups.
func (f naiveFleet) isDeparted(cluster string) bool {
	_, is := f.departed[cluster]
	return is
}

// naivePlaces is how many clusters of a stage may start in addition to its departed clusters. Each of those keeps the place of a
// waiting cluster until all others are settled (R65).
func (f naiveFleet) naivePlaces(stage naiveStage) int {
	waiting, departed, underWay := 0, 0, false
	for _, c := range stage.clusters {
		s, inFlight := f.of(c)
		if s == status.ToApply {
			waiting++
		}
		if f.isDeparted(c) {
			departed++
		}
		underWay = underWay || inFlight && s != status.Failed
	}
	switch {
	case !stage.isGroup, departed == 0:
		return len(stage.clusters)
	case waiting > departed:
		return waiting - departed
	case underWay:
		return 0
	}
	return len(stage.clusters) // all others are settled
}

// naiveExposes is how many clusters of a stage are exposed at most by the groups of now: while it is active, and once it is complete.
func (f naiveFleet) naiveExposes(stage naiveStage, free bool) (active, complete int) {
	n := 0
	for _, c := range stage.clusters {
		if !f.isDeparted(c) {
			n++
		}
	}
	slots, failures := min(n, stage.concurrency), min(n, stage.budget)
	if !free { // a failed cluster keeps its slot
		return slots, min(slots, failures)
	}
	return failures + min(slots, n-failures), failures
}

// naiveExposesInOrder is how many clusters the groups of now expose at most, stage after stage (R66).
func (f naiveFleet) naiveExposesInOrder(stages []naiveStage, free bool) (most int) {
	passed := 0
	for _, stage := range stages {
		active, complete := f.naiveExposes(stage, free)
		most = max(most, passed+active)
		passed += complete
	}
	return most
}

// naiveRoom is how many more clusters may be exposed while the stage at an index is active (R66).
func (f naiveFleet) naiveRoom(l naiveLimits, stages []naiveStage, at int) int {
	in, exposed, free := make([]int, len(stages)), 0, l.deadline > 0
	for i, stage := range stages {
		for _, c := range stage.clusters {
			if s, _ := f.of(c); s == status.TimeOut {
				free = true
			}
			if f.isExposed(c) {
				exposed++
				in[i]++
			}
		}
	}
	together, crowded := 0, false
	for i, stage := range stages {
		active, complete := f.naiveExposes(stage, free)
		most := 0 // before its turn
		switch {
		case i == at:
			most = active
		case i < at:
			most = complete
		}
		together += most
		crowded = crowded || in[i] > most
	}
	if len(f.departed) == 0 && !crowded {
		return len(f.everyone())
	}
	return max(f.naiveExposesInOrder(stages, free), together, f.before) - exposed
}

func (f naiveFleet) everyone() (clusters []string) {
	for _, g := range f.groups {
		clusters = append(clusters, g.clusters...)
	}
	return clusters
}

// naiveCeiling is what the result says to the next one, and, while a cluster is a stranger, the record (R48, R66).
func (f naiveFleet) naiveCeiling(l naiveLimits) int {
	return max(f.naiveExposesInOrder(l.naiveStages(f.groups), l.deadline > 0), f.before)
}

// naiveFleet are the present groups with the deselected or moved clusters that have a place there.
func (w *world) naiveFleet(joined []naiveGroup, bound []string, placed map[string]grouping.Key) naiveFleet {
	f := naiveFleet{
		groups: naiveWith(joined, placed, len(w.bindings)),
		of: func(cluster string) (status.RolloutStatus, bool) {
			stands := w.naiveStand(cluster, slices.Contains(bound, cluster))
			return stands.status, stands.inFlight
		},
		ready:    func(c string) bool { return w.replicas[c] != nil && w.replicas[c].Version == w.versionName() },
		departed: placed,
	}
	if len(placed) > 0 {
		f.before = w.formerExposes
		if w.record.Version == w.versionName() {
			f.before = max(f.before, w.record.Exposed)
		}
	}
	f.lasting = w.limits.naiveLasting(f, nil, w.naiveTold()...)
	return f
}
