// SPDX-License-Identifier: Apache-2.0

package fleet

import "time"

// Phases say how time and attempts make states of what is reported (R3 to R5, R34, R39).
type Phases struct {
	MinSuccess time.Duration  // how long a cluster that succeeded soaks
	Deadline   *time.Duration // nil: none
	// DatesSuccess says that a stage waits for the time of each success.
	DatesSuccess bool
	// Attempt is the wanted one. A failure of an earlier one waits.
	Attempt int
	// Rollback says that a cluster whose object is being deleted is done once it succeeded (R6).
	Rollback bool
}

// StateOf gives a cluster's state at the time now, by a report.
func (p *Phases) StateOf(report *Report, now time.Time) State {
	kind := report.Kind
	if kind == KindEnding && p.Rollback {
		kind = KindSucceeded
	}
	is := p.At(kind, report.Since, now)
	if max(report.Attempt, 0) < p.Attempt && FailureStates.Has(is) {
		return ToApply
	}
	return is
}

// At gives the state at the time now of a cluster that has been of the kind since the given time, in the wanted attempt.
func (p *Phases) At(kind Kind, since, now time.Time) State {
	limit, before, undated, after := p.phase(kind)
	switch {
	case limit == 0 && kind == KindSucceeded && p.DatesSuccess && since.IsZero():
		return SucceededUndated
	case limit == 0:
		return kind.State()
	case since.IsZero():
		return undated
	case now.Sub(since) < limit:
		return before
	default:
		return after
	}
}

// Limit gives how long a cluster is of a kind until its state changes; 0 where time changes nothing.
func (p *Phases) Limit(kind Kind) time.Duration {
	limit, _, _, _ := p.phase(kind)
	return limit
}

// phase gives for a kind the limit at which its state changes, and the states before it, at an unknown time, and after
// it. The limit is 0 where time changes nothing.
func (p *Phases) phase(kind Kind) (limit time.Duration, before, undated, after State) {
	switch {
	case kind == KindSucceeded:
		return p.MinSuccess, Soaking, SoakingUndated, Succeeded
	case kind == KindEnding:
		return p.MinSuccess, Soaking, SoakingUndated, ToApply
	case p.Deadline == nil:
		return 0, 0, 0, 0
	}
	switch kind {
	case KindSilent:
		return *p.Deadline, Silent, Silent, TimedOutNow
	case KindRefused:
		return *p.Deadline, Refused, Refused, TimedOutNow
	case KindUntracked:
		return *p.Deadline, Untracked, UntrackedUndated, TimedOutNow
	case KindProgressing:
		return *p.Deadline, Progressing, ProgressingUndated, TimedOutNow
	case KindValidating:
		return *p.Deadline, Validating, ValidatingUndated, TimedOutNow
	case KindFailed:
		return *p.Deadline, Failed, FailedUndated, TimedOutNow
	default:
		return 0, 0, 0, 0
	}
}

// Left gives the time until time alone changes the state of a cluster of the given age; 0 if it does not. A very long time is the longest
// duration.
func (p *Phases) Left(state State, age time.Duration) time.Duration {
	limit := p.LimitOf(state)
	switch left := limit - age; {
	case limit == 0:
		return 0
	case left > 0:
		return left
	default:
		return 1<<63 - 1
	}
}

// LimitOf gives the age at which time alone changes a state; 0 if it does not.
func (p *Phases) LimitOf(state State) time.Duration {
	switch {
	case state == Soaking:
		return p.MinSuccess
	case DatedStates.Has(state) && p.Deadline != nil:
		return *p.Deadline
	default:
		return 0
	}
}
