// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// Table says where each member stands at a time, and what was reported of it.
type Table struct {
	*Roster
	Now time.Time
	Reports
	Totals   Totals
	Departed []Departure // the clusters of which only the start or the success counts
	// Deleting has the positions whose objects are being deleted.
	Deleting map[Position]bool

	states   []State
	recorded map[Position]bool // the positions of which the record counts, and whether nothing beside it tells of the version
	says     map[Position]Message
}

// Message is what explanations repeat of a report; the zero Message is none.
type Message struct {
	Text    string
	Refusal bool // it says why the API server refused to write the object of a waiting cluster (R29)
}

// MessageOf gives the message of a report.
func MessageOf(report *status.Report) Message {
	if KindOf(report) == KindToApply && report.Reason == status.ReportRefused {
		return Message{report.Message, true}
	}
	return Message{Text: report.Message}
}

// State gives the state of the cluster at a position.
func (t *Table) State(position Position) State { return t.states[position] }

// All yields the state of each cluster, by position.
func (t *Table) All() iter.Seq2[Position, State] {
	return func(yield func(Position, State) bool) {
		for position, is := range t.states {
			if !yield(Position(position), is) {
				return
			}
		}
	}
}

// In gives the first position, from the given one on, of a cluster in any of some states, with its state.
func (t *Table) In(set States, from Position) (Position, State, bool) {
	for i, is := range t.states[from:] {
		if set.Has(is) {
			return from + Position(i), is, true
		}
	}
	return 0, 0, false
}

// Says gives the message of the report that counts for a position.
func (t *Table) Says(position Position) Message { return t.says[position] }

// say notes the message of the report that counts for a position.
func (t *Table) say(position Position, said Message) {
	switch {
	case said == Message{}:
		delete(t.says, position)
		return
	case t.says == nil:
		t.says = make(map[Position]Message)
	}
	t.says[position] = said
}

// record notes that the record counts for a position, and what was seen of the cluster.
func (t *Table) record(position Position, seen *Observation) {
	if t.recorded == nil {
		t.recorded = make(map[Position]bool)
	}
	t.recorded[position] = seen.Kind.IsWaiting()
}

// IsLost says whether the cluster at a position failed although nothing that has the version is there to recover (R29): only the record tells
// of it, maybe as of a flight whose deadline has passed since.
func (t *Table) IsLost(position Position) bool {
	return t.recorded[position] && FailureStates.Has(t.states[position])
}

// Lost gives the positions of these, in order.
func (t *Table) Lost() (lost []Position) {
	for _, position := range slices.Sorted(maps.Keys(t.recorded)) {
		if t.IsLost(position) {
			lost = append(lost, position)
		}
	}
	return lost
}

// IsUntold says whether the cluster at a position timed out while nothing says when it is done.
func (t *Table) IsUntold(position Position) bool {
	return t.states[position] == TimedOutNow && t.Kind(position) == KindUntracked
}

// IsUnknown says whether the cluster at a position counts and is in flight since an unknown time.
func (t *Table) IsUnknown(position Position) bool {
	return InFlightStates.Has(t.states[position]) && t.Since(position).IsZero() && !t.Ignores(position)
}

// success gives the time at which a position that counts succeeded; zero if it did not, or if that is unknown.
func (t *Table) success(position Position) time.Time {
	if !SucceededStates.Has(t.states[position]) || t.Ignores(position) {
		return time.Time{}
	}
	return t.Since(position)
}

// departedSuccess gives the last success of clusters that are no members of a stage any more; zero if there is none.
func (t *Table) departedSuccess(stage stages.Stage) (last time.Time) {
	for i := range t.Departed {
		departure := &t.Departed[i]
		if group, there := t.GroupWith(departure.Key); !departure.Kind.IsSuccess() || there && t.Graph.Of(group) != stage {
			continue // an unknown group may be any
		}
		if departure.Since.After(last) {
			last = departure.Since
		}
	}
	return last
}

// departedStarts gives the starts that count of clusters that are no members any more.
func (t *Table) departedStarts() (starts []time.Time) {
	for i := range t.Departed {
		if departure := &t.Departed[i]; t.HasStarted(departure.Report, t.Now) {
			starts = append(starts, departure.StartedAt())
		}
	}
	return starts
}

// Starts gives the starts that count (R36), in any order, and how many clusters in flight started at an unknown time.
func (t *Table) Starts() (starts []time.Time, unknown int) {
	starts = t.departedStarts()
	for position, is := range t.All() {
		if t.Ignores(position) {
			continue
		}
		if at := t.Of(position).StartedAt(); t.isInSpan(at, t.Now) {
			starts = append(starts, at)
		} else if at.IsZero() && InFlightStates.Has(is) {
			unknown++
		}
	}
	return starts, unknown
}

// Left gives the time until the next deadline, soak or freeze of a cluster ends; 0 if time alone ends none.
func (t *Table) Left(position Position) time.Duration {
	switch is := t.states[position]; {
	case is.IsFrozen():
		return t.Freezes.UntilUnfrozen(position, t.Now)
	case DatedStates.Has(is):
		return t.Phases.Left(is, t.Now.Sub(t.Since(position)))
	default:
		return 0
	}
}
