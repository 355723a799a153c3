package rollout

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// ordersGroups says whether groups go one after the other under the type (R34).
func (s *schedule) ordersGroups() bool {
	behindMandatory := s.rules.typ == clusterv1alpha1.Progressive && len(s.rules.mandatory) > 0 && s.options.rollback == nil
	return s.rules.typ == clusterv1alpha1.ProgressivePerGroup || behindMandatory
}

// waitBetween sets the wait between groups, and which stages are awaited, if any group waits for another (R18, R34). The stages are there
// already. Where no group does, the success of a deselected cluster may still be awaited (R46).
func (s *schedule) waitBetween() {
	if s.options.wait <= 0 || !s.ordersGroups() {
		return
	}
	s.Wait = s.options.wait
	awaited := make([]bool, len(s.limits))
	for later := s.Graph.Len() - 1; later >= 0; later-- { // a stage stands behind those that it comes after
		if s.limits[later].clusters == 0 && !awaited[later] {
			continue
		}
		for _, before := range s.Graph.DirectlyBefore(later) {
			awaited[before] = true
		}
	}
	for stage := range s.Graph.Len() {
		if awaited[stage] && s.countsAny(stage) {
			s.awaited = awaited
		}
	}
}

// countsAny says whether any cluster of a stage counts.
func (s *schedule) countsAny(stage stages.Stage) bool {
	return slices.ContainsFunc(s.Graph.Groups(stage), func(group stages.Group) bool { return s.SizeOf(group) > s.IgnoredIn(group) })
}

// interval is what a stage waits for after all stages before it are complete. The zero interval is over.
type interval struct {
	// The last success of the clusters that count in the stages that it comes after, zero if there is none, and the first
	// stage with that success.
	last   time.Time
	lastOf stages.Stage
	// Whether one of these clusters succeeded at an unknown time, and the first stage with such a cluster.
	unknown   bool
	unknownOf stages.Stage
	// is says whether the wait goes on now.
	is bool
}

// join waits for what both do.
func (w *interval) join(other interval) {
	switch {
	case other.last.After(w.last):
		w.last, w.lastOf = other.last, other.lastOf
	case other.last.Equal(w.last):
		w.lastOf = min(w.lastOf, other.lastOf)
	}
	switch {
	case other.unknown && w.unknown:
		w.unknownOf = min(w.unknownOf, other.unknownOf)
	case other.unknown:
		w.unknown, w.unknownOf = true, other.unknownOf
	}
}

// waits gives the wait of each stage; nil without the option. A stage with an incomplete predecessor has none. It takes time
// linear in the stages, and in the clusters of complete stages that have changed.
func (s *schedule) waits(v view, c *choice, t *fleet.Totals, now time.Time) []interval {
	if s.Wait <= 0 {
		return nil
	}
	all := make([]interval, len(s.limits))
	for stage := range s.Graph.Len() {
		if _, waits := c.waitsFor(stage); waits {
			continue
		}
		w := &all[stage]
		if same := s.Graph.SamePredecessors(stage); same < stage {
			*w = all[same]
			continue
		}
		for _, before := range s.Graph.DirectlyBefore(stage) {
			own := interval{last: v.LastSuccess(before), lastOf: before, unknown: t.Stages[before].In(fleet.SucceededUndated) > 0, unknownOf: before}
			w.join(own)
			w.join(all[before])
		}
		w.is = w.unknown || !w.last.IsZero() && now.Before(w.last.Add(s.Wait))
	}
	return all
}

// isWaiting says whether a stage has to wait although all stages before it are complete.
func (c *choice) isWaiting(stage stages.Stage) bool { return c.waits != nil && c.waits[stage].is }

// waitEnds gives the time from now until a wait ends that alone blocks clusters; 0 if there is none.
func (s *schedule) waitEnds(c *choice, t *fleet.Totals, now time.Time) (next time.Duration) {
	if c.waits == nil || s.stopped(c) {
		return 0
	}
	for group := range s.Graph.NumGroups() {
		stage := s.Graph.Of(group)
		w := &c.waits[stage]
		if !w.is || w.unknown || s.barrierOf(c, stage) >= 0 || c.isClosed(group) {
			continue
		}
		if t.Groups[group].Waiting() > 0 || t.Ignored != nil && t.Ignored[group].Waiting() > 0 {
			next = fleet.Sooner(next, w.last.Add(s.Wait).Sub(now))
		}
	}
	return next
}

// undatedSuccesses counts the clusters that count, succeeded at an unknown time, and have a stage with clusters after theirs.
func (s *schedule) undatedSuccesses(t *fleet.Totals) (n int) {
	if t.All.In(fleet.SucceededUndated) == 0 {
		return 0
	}
	for stage, is := range s.awaited {
		if is {
			n += t.Stages[stage].In(fleet.SucceededUndated)
		}
	}
	return n
}

// firstUndatedSuccess names the first of them.
func (s *schedule) firstUndatedSuccess(v view) string {
	position, _, ok := v.In(fleet.UndatedSuccess, 0)
	for ok && (s.Ignores(position) || !s.awaited[s.Graph.Of(s.GroupOf(position))]) {
		position, _, ok = v.In(fleet.UndatedSuccess, position+1)
	}
	return s.Cluster(position)
}
