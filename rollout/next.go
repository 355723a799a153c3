package rollout

import (
	"slices"
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// Next says what a controller has to act upon now. It is a part of the [Result] of [Plan], and [Planner.Next] gives it
// alone.
type Next struct {
	// Start has the waiting clusters to give the workload to now. Clusters that are reported ToApply come before those
	// never reported; both are in the order of their names unless [Options].Order says otherwise.
	Start []Cluster `json:"start,omitempty"`
	// TimedOut has the clusters whose progress deadline has passed and that are not reported TimeOut, in the order of
	// their names.
	TimedOut []Cluster `json:"timedOut,omitempty"`
	// Removed has the names of the clusters to remove, in order: they were reported and are not selected, and their objects are
	// not being deleted yet. It is empty while the groups are incomplete, and where there are more than [Options].MaxRemoved
	// allows.
	Removed []string `json:"removed,omitempty"`
	// PendingRemoval has the names of the clusters whose removal is pending, in order: they were reported and are not selected, and
	// [Options].RemoveAfter gives them time, or the record does not have yet what [StoredRecord] asks for.
	PendingRemoval []string `json:"pendingRemoval,omitempty"`
	// Deselected has the clusters that are not selected any more and still count, in the order of their names: they have the version
	// and are in flight, or they failed. They take slots and are in budgets as if they were selected. To ignore one, name it in [Options].Ignored.
	Deselected []Cluster `json:"deselected,omitempty"`
	// Record is what the owner has to store, with [Options].StoredRecord. It is zero without it.
	Record status.Record `json:"record,omitzero"`

	// Breach is the budget that is breached, so that nothing starts; nil if none is.
	Breach *Breach `json:"breach,omitempty"`
	// Warnings say what has no effect and what is uncertain.
	Warnings []Warning `json:"warnings,omitempty"`
	// RecheckAfter is how long until something changes by time alone: a deadline or a soak ends, a gate opens, a wait ends,
	// [Options].MaxStarts allows another start, or the record delays a removal no longer. It is 0 if nothing will, and so fits RequeueAfter, which controller-runtime
	// ignores beside an error.
	RecheckAfter time.Duration `json:"recheckAfter,omitempty"`
	// Counts counts the clusters that count by their state, with the deselected ones ([Next].Deselected).
	Counts status.Counts `json:"counts"`
}

// String is what to do in a line: `starting c; timed out a; 1 of 3 clusters done, 1 not started; recheck after 9m0s`.
func (n Next) String() string {
	parts := n.actions(nil)
	if n.Breach != nil {
		parts = append(parts, n.Breach.String())
	}
	counts := n.Counts.String()
	if len(n.Start) > 0 {
		counts = "so far " + counts
	}
	parts = append(parts, counts)
	return strings.Join(n.appendRecheck(parts), "; ")
}

// observed has what a decision needs beside the view: the counts, and what was reported of clusters that are not
// selected.
type observed struct {
	fleet.Totals
	active   stages.Stage  // the first stage that is not complete; for a chain
	breached stages.Stage  // the first stage that is breached
	recheck  time.Duration // until the next deadline or soak ends; 0 if none does
	recent   limits.Recent // what started within the span of MaxStarts
	removed  []string      // the names of the clusters that were reported and are not selected, in order
	there    []string      // the ones among them whose objects are not being deleted
	merged   fleet.Names   // the clusters with several reports

	deleting map[fleet.Position]bool // the clusters whose objects are being deleted
	departed []fleet.Departure       // clusters of which only the start or the success counts
	before   []status.Breached       // the breaches that the result before and the record had

	unselected map[string]time.Time // when clusters were first found unselected, as far as earlier results know
	due        []string             // the ones to remove now, in order
}

// next decides and lists what may happen now, in n and c, which are zero. It marks the clusters that start in r, and notes the
// warnings there, unless that is nil. What it lists is the caller's.
func (s *schedule) next(n *Next, c *choice, v view, o *observed, now time.Time, r *Result) {
	c.last = s.lasting(v, o)
	s.record(&n.Record, v, c.last, o.deleting, o.departed, now)
	s.choose(c, &n.Record, v, o, now)
	pending, remaining := s.splitRemovals(o, c, now)
	withheld, released := s.withhold(&n.Record, o.due, now)
	pending = append(pending, withheld...)
	slices.Sort(pending)
	n.PendingRemoval, n.Deselected = pending, s.deselectedClusters(v)
	n.Start = s.start(v, c, r)
	n.TimedOut = s.list(v, fleet.TimedOutNowStates, o.In(fleet.TimedOutNow))
	warnings := s.warningsOf(v, o)
	if r != nil {
		r.warnings = warnings
	}
	n.Breach, n.Warnings = c.breach.clone(), slices.Clone(warnings)
	n.RecheckAfter = fleet.Sooner(fleet.Sooner(o.recheck, fleet.Sooner(remaining, released)), s.changes(c, &o.Totals, now))
	n.Counts = o.All.Counts(o.All.Waiting() - c.starting())
	n.Counts.Ignored, n.Counts.IgnoredToApply = len(s.Ignored), o.IgnoredAll.Waiting()+o.IgnoredAll.Frozen()
	n.Counts.Deselected, n.Counts.Partial = len(s.Deselected), s.missing != ""
	if removed := without(o.due, withheld); len(removed) > 0 && !s.withholds(o) {
		n.Removed = removed
	}
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

// changes gives the time from now until a gate opens, a wait ends, a full record counts no longer, or MaxStarts lets one more held
// cluster start; 0 if none of these happens.
func (s *schedule) changes(c *choice, t *fleet.Totals, now time.Time) time.Duration {
	return fleet.Sooner(fleet.Sooner(s.opening(c, t, now), s.fullEnds(c, t, now)), fleet.Sooner(s.waitEnds(c, t, now), c.nextStart(now)))
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
