// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// next decides and lists what may happen now, in n and c, which are zero. It marks the clusters that start in m, unless that is nil. What it
// lists is the caller's; the warnings it gives are not to be changed.
func (s *schedule) next(n *Next, c *choice, v view, o *observed, now time.Time, m *marks) (warnings []Warning) {
	c.last = s.lasting(v, o)
	s.record(&n.Record, v, c.last, o.deleting, o.departed, now)
	s.choose(c, &n.Record, v, o, now)
	pending, remaining := s.splitRemovals(o, c, now)
	withheld, released := s.withhold(&n.Record, o.due, now)
	pending = append(pending, withheld...)
	slices.Sort(pending)
	n.PendingRemoval, n.Deselected = pending, s.deselectedClusters(v)
	n.Start = s.start(v, c, m)
	n.TimedOut = s.list(v, fleet.TimedOutNowStates, o.In(fleet.TimedOutNow))
	warnings = s.warningsOf(v, o)
	n.Breach, n.Warnings = c.breach.clone(), slices.Clone(warnings)
	n.RecheckAfter = fleet.Sooner(fleet.Sooner(o.recheck, fleet.Sooner(remaining, released)), s.changes(c, &o.Totals, now))
	n.Counts = o.All.Counts(o.All.Waiting() - c.starting())
	n.Counts.Ignored, n.Counts.IgnoredToApply = len(s.Ignored), o.IgnoredAll.Waiting()+o.IgnoredAll.Frozen()
	n.Counts.Deselected, n.Counts.Partial = len(s.Deselected), s.missing != ""
	if removed := without(o.due, withheld); len(removed) > 0 && !s.withholds(o) {
		n.Removed = removed
	}
	return warnings
}

// without gives the names that are not among the others. Both are in order, and the others are among the names.
func without(names, others []string) []string {
	switch len(others) {
	case 0:
		return names
	case len(names):
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		_, is := slices.BinarySearch(others, name)
		return is
	})
}

// withholds says whether nothing is removed (R7, R30).
func (s *schedule) withholds(o *observed) bool {
	return s.missing != "" || s.exceedsRemovals(o)
}

// exceedsRemovals says whether more clusters would be removed at once than MaxRemoved allows (R30).
func (s *schedule) exceedsRemovals(o *observed) bool {
	most := s.options.maxRemoved
	return most != nil && len(o.due) > most.Of(s.reported(o))
}

// reported counts the clusters with a report, selected or not.
func (s *schedule) reported(o *observed) int {
	unknown := o.In(fleet.Unreported) + o.In(fleet.FrozenUnreported) + o.In(fleet.BlockingUnreported)
	return s.NumClusters() - len(s.Deselected) - unknown - s.options.rollback.unreported() + len(o.removed)
}

// warningsOf gives the warnings of the schedule and of the reports. Where there are only the former, both share them.
func (s *schedule) warningsOf(v view, o *observed) []Warning {
	warnings := slices.Clip(s.warnings)
	if o.merged.N > 0 {
		warnings = append(warnings, Warning{Type: WarningReportsMerged, Clusters: o.merged.N, Cluster: o.merged.First})
	}
	if n := o.All.Undated() + o.IgnoredAll.Undated(); n > 0 {
		w := Warning{Type: WarningReportWithoutTime, Clusters: n}
		position, _, _ := v.In(fleet.UndatedStates, 0)
		w.Cluster = s.Cluster(position)
		warnings = append(warnings, w)
	}
	if n := o.All.Untracked() + o.IgnoredAll.Untracked(); n > 0 {
		position, _, _ := v.In(fleet.UntrackedStates, 0)
		warnings = append(warnings, Warning{Type: WarningUntracked, Clusters: n, Cluster: s.Cluster(position)})
	}
	if n := s.undatedSuccesses(&o.Totals); n > 0 {
		warnings = append(warnings, Warning{Type: WarningSuccessWithoutTime, Clusters: n, Cluster: s.firstUndatedSuccess(v)})
	}
	if s.missing == "" && s.exceedsRemovals(o) {
		warnings = append(warnings, Warning{
			Type: WarningRemovalsWithheld, Clusters: len(o.due), Cluster: o.due[0],
			Reported: s.reported(o), MaxRemoved: s.options.maxRemoved.Of(s.reported(o)),
		})
	}
	return warnings
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
