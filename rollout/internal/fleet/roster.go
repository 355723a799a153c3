// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Roster says which clusters count in a rollout, where, and how what is reported of them counts. It follows from the groups, the strategy
// and the options alone, and never changes once it is made.
type Roster struct {
	Members // with the deselected clusters that still count
	FormerMembers
	Exceptions
	Freezes  Freezes
	Layout   stages.Layout
	Graph    stages.Graph
	Budgets  []int // how many failures each stage tolerates
	Phases   Phases
	Timeless Kinds // whose time is not needed
	Record   Record
	Span     time.Duration           // how long a start counts (R36); 0 where it does not
	Wait     time.Duration           // how long a success counts (R34); 0 where it does not
	Compare  func(a, b Position) int // of a stage's clusters, their turn; nil for the order of their names
}

// StageOf gives the stage of the cluster at a position.
func (r *Roster) StageOf(position Position) stages.Stage { return r.Graph.Of(r.GroupOf(position)) }

// SizeOfStage counts the clusters of a stage.
func (r *Roster) SizeOfStage(stage stages.Stage) (n int) {
	for _, group := range r.Graph.Groups(stage) {
		n += r.SizeOf(group)
	}
	return n
}

// StateAt gives the state of the cluster at a position, by a report. A deselected cluster never waits for its turn.
func (r *Roster) StateAt(position Position, report Report, now time.Time) State {
	is := r.Phases.StateOf(&report, now)
	switch {
	case !is.IsWaiting():
		return is
	case r.IsDeselected(position):
		return Skipped
	case r.Freezes.Any():
		return r.Freezes.StateOf(position, is, now)
	default:
		return is
	}
}

// IsComplete says whether all clusters of a stage are settled and its failures are within its budget (R6).
func (r *Roster) IsComplete(stage stages.Stage, tally *Tally) bool {
	return tally.Unsettled() == 0 && !r.IsBreached(stage, tally)
}

// IsBreached says whether the failures of a stage exceed its budget.
func (r *Roster) IsBreached(stage stages.Stage, tally *Tally) bool {
	return tally.InBudget() > r.Budgets[stage]
}

// StillCounts says whether a deselected cluster is in flight or a failure (R46).
func (r *Roster) StillCounts(report Report, now time.Time) bool {
	return ExposedStates.Has(r.Phases.StateOf(&report, now))
}

// MayCount says whether a deselected cluster can count for anything by a report.
func (r *Roster) MayCount(report Report, now time.Time) bool {
	return r.StillCounts(report, now) || r.HasStarted(report, now) || r.IsAwaited(report, now)
}

// HasStarted says whether a cluster started so lately that its start counts (R36). An unknown start does not.
func (r *Roster) HasStarted(report Report, now time.Time) bool {
	return r.isInSpan(report.StartedAt(), now)
}

func (r *Roster) isInSpan(start, now time.Time) bool {
	return r.Span > 0 && !start.IsZero() && now.Sub(start) < r.Span
}

// IsAwaited says whether a stage may wait for the time since the success of a cluster (R34).
func (r *Roster) IsAwaited(report Report, now time.Time) bool {
	return r.Wait > 0 && report.Kind.IsSuccess() && !report.Since.IsZero() && now.Before(report.Since.Add(r.Wait))
}
