package rollout

import clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

// Uncounted names clusters that neither block nor count, such as clusters that are known to be unreachable, that hibernate,
// or that were failing before. Such a cluster gets the workload once its stage is reached, that is, when all stages that it
// comes after are complete. It takes no slot, its failure is in no budget, and no group and no rollout waits for it. A pause,
// a breach, incomplete groups, closed gates and [WaitBetweenGroups] hold it like all others. No limit bounds how many such
// clusters start at once, not even [Ramp] or [MaxStarts]. Percentages in the strategy are shares of the other clusters. The
// lists of a [Result] have these clusters like any other; status.Counts has them in Uncounted alone. Uncounted(nil) names
// none.
//
// The result warns of a mandatory group in which no cluster counts, since it protects nobody. A [Planner] calls is when its
// groups or strategy change. So the answer must depend on the name alone, and is must not call the Planner. When the answer
// changes, set the strategy again.
func Uncounted(is func(cluster string) bool) Option {
	return func(o *options) { o.uncounted = is }
}

// FailedBefore names the baseline: clusters that failed before the rollout began. Their failures are left out of every
// budget. Otherwise they are like other clusters: each takes a slot, and its group waits for it. If such a cluster fails,
// the rollout ends as Failed, with the reason ClustersFailed; use [Uncounted] where the conditions must not show that.
// Without a progressDeadline, such a cluster is in flight for ever once it is Failed, so the rollout does not end.
//
// FailedBefore(nil) names none. A [Planner] calls is when its groups or strategy change, as with [Uncounted].
func FailedBefore(is func(cluster string) bool) Option {
	return func(o *options) { o.failedBefore = is }
}

// exceptions says which clusters and which failures do not count (R37, R38).
type exceptions struct {
	aside  []int32 // the positions that are not counted, in order
	isAt   []bool  // whether each position is not counted; nil where all are counted
	before []bool  // whether the failures of each position are left out of the budgets; nil where none are
	sizes  []int   // for each group how many of its clusters are not counted
}

// except asks the options once about each cluster.
func (s *schedule) except() {
	n := s.groups.NumClusters()
	e := &s.exceptions
	if is := s.options.failedBefore; is != nil {
		e.before = make([]bool, n)
		for position := range n {
			e.before[position] = is(s.groups.Cluster(position))
		}
	}
	is, all := s.options.uncounted, 0
	if is == nil {
		return
	}
	e.isAt, e.sizes = make([]bool, n), make([]int, s.groups.Len())
	for position := range n {
		if is(s.groups.Cluster(position)) {
			e.isAt[position] = true
			e.sizes[s.groups.GroupAt(position)]++
			all++
		}
	}
	e.aside = make([]int32, 0, all)
	for position, aside := range e.isAt {
		if aside {
			e.aside = append(e.aside, int32(position))
		}
	}
}

// isAside says whether the cluster at a position is not counted.
func (e *exceptions) isAside(position int) bool { return e.isAt != nil && e.isAt[position] }

// failedBefore says whether the failures of the cluster at a position are left out of the budgets.
func (e *exceptions) failedBefore(position int) bool { return e.before != nil && e.before[position] }

// inBudget says whether the failed cluster at a position is in a budget.
func (e *exceptions) inBudget(position int) bool {
	return !e.isAside(position) && !e.failedBefore(position)
}

// uncountedIn counts the clusters of a group that are not counted.
func (e *exceptions) uncountedIn(group int) int {
	if e.sizes == nil {
		return 0
	}
	return e.sizes[group]
}

// uncountedOf counts the clusters that are not counted, in the groups that an entry of the strategy means.
func (s *schedule) uncountedOf(m clusterv1alpha1.MandatoryDecisionGroup) (n int) {
	for group, size := range s.sizes {
		key := s.groups.Key(group)
		if m.GroupName != "" && key.Name == m.GroupName || m.GroupName == "" && key.Index == m.GroupIndex {
			n += size
		}
	}
	return n
}

// sort moves the clusters that are not counted from the tallies of the groups into tallies of their own, and notes in
// the others which failures are excused. The tallies aside are nil where all clusters count.
func (s *schedule) sort(groups []tally, states []state) (aside []tally) {
	e := &s.exceptions
	if len(e.aside) > 0 {
		aside = make([]tally, len(groups))
	}
	for _, position := range e.aside {
		group := s.groups.GroupAt(int(position))
		groups[group][states[position]]--
		aside[group][states[position]]++
	}
	for position, before := range e.before {
		if before && !e.isAside(position) && failureStates.has(states[position]) {
			groups[s.groups.GroupAt(position)][excused]++
		}
	}
	return aside
}

// letsThrough says whether the waiting, uncounted clusters of a group start now. They do once no earlier stage is waited
// for and no closed gate is in the way.
func (s *schedule) letsThrough(c *choice, group int) bool {
	stage := int(s.stageOf[group])
	_, waits := c.waitsFor(stage)
	return !waits && !s.stopped(c) && s.barrierOf(c, stage) < 0 && !c.isClosed(group) && !c.isWaiting(stage)
}

// barrierOf gives the group whose closed gate holds a stage and all behind it; -1 if there is none. It takes constant
// time, since it is called for each group: in a chain the first barrier holds all stages from its own on.
func (s *schedule) barrierOf(c *choice, stage int) int {
	switch {
	case c.closed == nil:
		return -1
	case c.tracks == nil && (c.barrier < 0 || int(s.stageOf[c.barrier]) > stage):
		return -1
	case c.tracks == nil:
		return c.barrier
	case c.tracks.barriers[stage] < 0:
		return -1
	default:
		return s.alone(int(c.tracks.barriers[stage]))
	}
}

// startAside appends the uncounted clusters in one of the waiting states that start.
func (s *schedule) startAside(v view, c *choice, waiting state, mark marker, clusters []Cluster) []Cluster {
	last, through := -1, false
	for _, at := range s.exceptions.aside {
		position := int(at)
		if v.at(position) != waiting {
			continue
		}
		if group := s.groups.GroupAt(position); group != last {
			last, through = group, s.letsThrough(c, group)
		}
		if !through {
			continue
		}
		clusters = append(clusters, s.cluster(position, waiting))
		if mark != nil {
			mark.mark(position)
		}
	}
	return clusters
}
