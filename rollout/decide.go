// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// next decides and lists what may happen now, in next and choice, which are zero. It marks the clusters that start in marks, unless that is
// nil. What it lists is the caller's; the warnings it gives are not to be changed.
func (s *schedule) next(next *Next, choice *choice, view view, observed *observed, now time.Time, marks *marks) (warnings []Warning) {
	choice.last = s.lasting(view, observed)
	s.record(&next.Record, view, choice.last, observed.deleting, observed.departed, now)
	s.choose(choice, &next.Record, view, observed, now)
	pending, remaining := s.splitRemovals(observed, choice, now)
	withheld, released := s.withhold(&next.Record, observed.due, now)
	pending = append(pending, withheld...)
	slices.Sort(pending)
	next.PendingRemoval, next.Deselected = pending, s.deselectedClusters(view)
	next.Start = s.start(view, choice, marks)
	next.TimedOut = s.list(view, fleet.TimedOutNowStates, observed.In(fleet.TimedOutNow))
	warnings = s.warningsOf(view, observed)
	next.Breach, next.Warnings = choice.breach.clone(), slices.Clone(warnings)
	next.RecheckAfter = fleet.Sooner(fleet.Sooner(observed.recheck, fleet.Sooner(remaining, released)), s.changes(choice, &observed.Totals, now))
	next.Counts = observed.All.Counts(observed.All.Waiting() - choice.starting())
	next.Counts.Ignored, next.Counts.IgnoredToApply = len(s.Ignored), observed.IgnoredAll.Waiting()+observed.IgnoredAll.Frozen()
	next.Counts.Deselected, next.Counts.Partial = len(s.Deselected), s.missing != ""
	if removed := without(observed.due, withheld); len(removed) > 0 && !s.withholds(observed) {
		next.Removed = removed
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
func (s *schedule) withholds(observed *observed) bool {
	return s.missing != "" || s.exceedsRemovals(observed)
}

// exceedsRemovals says whether more clusters would be removed at once than MaxRemoved allows (R30).
func (s *schedule) exceedsRemovals(observed *observed) bool {
	most := s.options.maxRemoved
	return most != nil && len(observed.due) > most.Of(s.reported(observed))
}

// reported counts the clusters with a report, selected or not.
func (s *schedule) reported(observed *observed) int {
	unknown := observed.In(fleet.Unreported) + observed.In(fleet.FrozenUnreported) + observed.In(fleet.BlockingUnreported)
	return s.NumClusters() - len(s.Deselected) - unknown - s.options.rollback.unreported() + len(observed.removed)
}

// warningsOf gives the warnings of the schedule and of the reports. Where there are only the former, both share them.
func (s *schedule) warningsOf(view view, observed *observed) []Warning {
	warnings := slices.Clip(s.warnings)
	if observed.merged.N > 0 {
		warnings = append(warnings, Warning{Type: WarningReportsMerged, Clusters: observed.merged.N, Cluster: observed.merged.First})
	}
	if n := observed.All.Undated() + observed.IgnoredAll.Undated(); n > 0 {
		warning := Warning{Type: WarningReportWithoutTime, Clusters: n}
		position, _, _ := view.In(fleet.UndatedStates, 0)
		warning.Cluster = s.Cluster(position)
		warnings = append(warnings, warning)
	}
	if n := observed.All.Untracked() + observed.IgnoredAll.Untracked(); n > 0 {
		position, _, _ := view.In(fleet.UntrackedStates, 0)
		warnings = append(warnings, Warning{Type: WarningUntracked, Clusters: n, Cluster: s.Cluster(position)})
	}
	if n := s.undatedSuccesses(&observed.Totals); n > 0 {
		warnings = append(warnings, Warning{Type: WarningSuccessWithoutTime, Clusters: n, Cluster: s.firstUndatedSuccess(view)})
	}
	if s.missing == "" && s.exceedsRemovals(observed) {
		warnings = append(warnings, Warning{
			Type: WarningRemovalsWithheld, Clusters: len(observed.due), Cluster: observed.due[0],
			Reported: s.reported(observed), MaxRemoved: s.options.maxRemoved.Of(s.reported(observed)),
		})
	}
	return warnings
}

// undatedSuccesses counts the clusters that count, succeeded at an unknown time, and have a stage with clusters after theirs.
func (s *schedule) undatedSuccesses(totals *fleet.Totals) (n int) {
	if totals.All.In(fleet.SucceededUndated) == 0 {
		return 0
	}
	for stage, is := range s.awaited {
		if is {
			n += totals.Stages[stage].In(fleet.SucceededUndated)
		}
	}
	return n
}

// firstUndatedSuccess names the first of them.
func (s *schedule) firstUndatedSuccess(view view) string {
	position, _, ok := view.In(fleet.UndatedSuccess, 0)
	for ok && (s.Ignores(position) || !s.awaited[s.Graph.Of(s.GroupOf(position))]) {
		position, _, ok = view.In(fleet.UndatedSuccess, position+1)
	}
	return s.Cluster(position)
}
