package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// state says in a byte where a selected cluster stands. The zero state is for a cluster that was never reported, so a
// fleet starts as a cleared slice.
//
// A report gives a kind: unreported, toApply, silent, refused, untracked, progressing, failed, succeeded, ending, skipped or timedOut. Time turns kinds
// into the other states. For example, with a deadline of 10 minutes, a cluster of kind failed since 12:00 is failed at 12:09
// and timedOutNow from 12:10 on. Where the time of the failure is unknown, it is failedUndated at any time.
type state uint8

const (
	unreported         state = iota // waiting
	toApply                         // waiting
	silent                          // in flight: has the workload and has not answered
	refused                         // in flight: the agent could not apply the workload, and tries again
	untracked                       // in flight: the workload is applied, and nothing will say when it is done
	untrackedUndated                // in flight, likewise, past no deadline ever
	progressing                     // in flight
	progressingUndated              // in flight, past no deadline ever
	validating                      // in flight: succeeded, and its verdict is missing
	validatingUndated               // in flight, past no deadline ever
	failed                          // in flight and a failure
	failedUndated                   // in flight and a failure, past no deadline ever
	soaking                         // in flight
	soakingUndated                  // in flight, for ever
	succeeded                       // settled
	succeededUndated                // settled, and a stage waits for its time (R34)
	skipped                         // settled
	timedOut                        // settled and a failure: reported so
	timedOutNow                     // settled and a failure: by its deadline
	frozenUnreported                // waiting and frozen, and no cluster waits for it (R59, R60)
	frozenToApply                   // likewise
	blockingUnreported              // waiting and frozen, and others wait for it (R59)
	blockingToApply                 // likewise
	numStates

	// These are kinds only. No cluster is in such a state.
	onceStarted   // of an entry of a record (R48)
	onceSucceeded // of an entry of a record (R48)
	ending        // succeeded, and the object is being deleted (R6)
)

// starting is added to a waiting state that starts.
const starting state = 0x80

// stateSet is a set of states, or of the state groups of a wait set.
type stateSet uint32

func (set stateSet) has(s state) bool { return set&(1<<(s%32)) != 0 } // without starting

const (
	undatedStates     stateSet = 1<<untrackedUndated | 1<<progressingUndated | 1<<validatingUndated | 1<<failedUndated | 1<<soakingUndated
	inFlightStates    stateSet = endingStates | 1<<failed | 1<<soaking | undatedStates
	endingStates      stateSet = 1<<silent | 1<<refused | 1<<untracked | 1<<progressing | 1<<validating // a deadline makes failures of these
	untrackedStates   stateSet = 1<<untracked | 1<<untrackedUndated
	validatingStates  stateSet = 1<<validating | 1<<validatingUndated
	failedStates      stateSet = 1<<failed | 1<<failedUndated
	timedOutNowStates stateSet = 1 << timedOutNow
	timedOutStates    stateSet = 1<<timedOut | timedOutNowStates
	failureStates     stateSet = failedStates | timedOutStates
	succeededStates   stateSet = 1<<soaking | 1<<soakingUndated | 1<<succeeded | undatedSuccess
	undatedSuccess    stateSet = 1 << succeededUndated
	datedStates       stateSet = inFlightStates &^ undatedStates // time may change these
	blockingStates    stateSet = 1<<blockingUnreported | 1<<blockingToApply
	frozenStates      stateSet = 1<<frozenUnreported | 1<<frozenToApply | blockingStates
	agedStates        stateSet = inFlightStates | failureStates // a result has the ages of these
)

// plain gives the kind of which a report decides the same. What an agent refused, or what nothing tracks, differs in sentences only.
func (s state) plain() state {
	switch s {
	case refused:
		return silent
	case untracked:
		return progressing
	default:
		return s
	}
}

func (s state) waiting() bool { return s&^starting <= toApply }

// isFrozen says whether a cluster waits and is frozen.
func (s state) isFrozen() bool { return frozenStates.has(s) }

// status gives the status that a result has for a cluster in this state.
func (s state) status() status.RolloutStatus {
	switch s &^ starting {
	case silent, refused, untracked, untrackedUndated, progressing, progressingUndated:
		return status.Progressing
	case validating, validatingUndated:
		return status.Validating
	case failed, failedUndated:
		return status.Failed
	case soaking, soakingUndated, succeeded, succeededUndated:
		return status.Succeeded
	case skipped:
		return status.Skip
	case timedOut, timedOutNow:
		return status.TimeOut
	default:
		return status.ToApply
	}
}

func (s state) disposition() Disposition {
	switch {
	case s&starting != 0:
		return DispositionStarting
	case s.waiting(), s.isFrozen():
		return DispositionBlocked
	case inFlightStates.has(s):
		return DispositionInFlight
	case s == timedOutNow:
		return DispositionTimedOut
	default:
		return DispositionSettled
	}
}

// stateAt does what state does for the cluster at a position. A cluster that left never waits for its turn.
func (s *schedule) stateAt(position int, r report, now time.Time) state {
	is := s.state(r.kind, r.since, r.attempt, now)
	switch {
	case !is.waiting():
		return is
	case s.isDeselectedAt(position):
		return skipped
	case s.anyFrozen():
		return s.frozenState(position, is, now)
	default:
		return is
	}
}

// state gives a cluster's state at the time now, from its reported kind, the time from which it is of that kind, and its attempt
// (R3 to R5, R39).
func (s *schedule) state(kind state, since time.Time, attempt int, now time.Time) state {
	if kind == ending && s.options.rollback != nil {
		kind = succeeded
	}
	is := s.rules.at(kind, since, now)
	if max(attempt, 0) < s.options.attempt && failureStates.has(is) {
		return toApply
	}
	return is
}

// at gives the state at the time now of a cluster that has been of the kind since the given time (R3 to R5).
func (r *rules) at(kind state, since, now time.Time) state {
	limit, before, undated, after := r.phase(kind)
	switch {
	case limit == 0 && kind == ending:
		return toApply
	case limit == 0 && kind == succeeded && r.datesSuccess && since.IsZero():
		return succeededUndated
	case limit == 0:
		return kind
	case since.IsZero():
		return undated
	case now.Sub(since) < limit:
		return before
	default:
		return after
	}
}

// phase gives for a kind the limit at which its state changes, and the states before it, at an unknown time, and after
// it. The limit is 0 where time changes nothing.
func (r *rules) phase(kind state) (limit time.Duration, before, undated, after state) {
	switch {
	case kind == succeeded:
		return r.minSuccessTime, soaking, soakingUndated, succeeded
	case kind == ending:
		return r.minSuccessTime, soaking, soakingUndated, toApply
	case (kind == silent || kind == refused) && r.deadline != nil:
		return *r.deadline, kind, kind, timedOutNow
	case kind == untracked && r.deadline != nil:
		return *r.deadline, untracked, untrackedUndated, timedOutNow
	case kind == progressing && r.deadline != nil:
		return *r.deadline, progressing, progressingUndated, timedOutNow
	case kind == validating && r.deadline != nil:
		return *r.deadline, validating, validatingUndated, timedOutNow
	case kind == failed && r.deadline != nil:
		return *r.deadline, failed, failedUndated, timedOutNow
	default:
		return 0, kind, kind, kind
	}
}

// left gives the time until time alone changes the state of a cluster of the given age; 0 if it does not.
func (r *rules) left(s state, age time.Duration) time.Duration {
	if limit := r.limitOf(s); limit > 0 {
		return minus(limit, age)
	}
	return 0
}

// limitOf gives the age at which time alone changes a state; 0 if it does not.
func (r *rules) limitOf(s state) time.Duration {
	switch {
	case s == soaking:
		return r.minSuccessTime
	case datedStates.has(s) && r.deadline != nil:
		return *r.deadline
	default:
		return 0
	}
}

// minus gives a - b for a > b, or the longest duration where that is too long.
func minus(a, b time.Duration) time.Duration {
	if d := a - b; d > 0 {
		return d
	}
	return 1<<63 - 1
}

// tally has how many clusters are in each state, and how many of the failed ones are excused.
type tally [numStates + 1]int32

// excused is the place in a tally for the failures that are left out of the budgets (R38).
const excused = numStates

func (t *tally) waiting() int { return int(t[unreported] + t[toApply]) }
func (t *tally) blocking() int {
	return int(t[blockingUnreported] + t[blockingToApply])
}
func (t *tally) frozen() int  { return int(t[frozenUnreported]+t[frozenToApply]) + t.blocking() }
func (t *tally) failed() int  { return int(t[failed] + t[failedUndated]) }
func (t *tally) soaked() int  { return int(t[succeeded] + t[succeededUndated]) }
func (t *tally) soaking() int { return int(t[soaking] + t[soakingUndated]) }
func (t *tally) undated() int {
	return int(t[untrackedUndated] + t[progressingUndated] + t[validatingUndated] + t[failedUndated] + t[soakingUndated])
}
func (t *tally) progressing() int {
	return int(t[silent]+t[refused]+t[progressing]+t[progressingUndated]) + t.untracked() + t.validating()
}
func (t *tally) untracked() int  { return int(t[untracked] + t[untrackedUndated]) }
func (t *tally) validating() int { return int(t[validating] + t[validatingUndated]) }
func (t *tally) inFlight() int   { return t.progressing() + t.failed() + t.soaking() }
func (t *tally) failures() int   { return t.failed() + int(t[timedOut]+t[timedOutNow]) }

// inBudget counts the failures that count in a budget.
func (t *tally) inBudget() int { return t.failures() - int(t[excused]) }

// unsettled counts the clusters that are waiting, Progressing, Validating or soaking (R6), without those for which no cluster waits.
func (t *tally) unsettled() int { return t.waiting() + t.blocking() + t.progressing() + t.soaking() }

// isUnderWay says whether a cluster has the version and is not settled (R6).
func (t *tally) isUnderWay() bool { return t.progressing()+t.soaking() > 0 }

// exposed counts the clusters that have the version and are not done with it: in flight, or failed.
func (t *tally) exposed() int { return t.inFlight() + int(t[timedOut]+t[timedOutNow]) }

func (t *tally) add(other *tally) {
	for i := range t {
		t[i] += other[i]
	}
}

// counts gives the tally as a summary has it. Blocked is how many of the waiting clusters do not start, without the frozen ones.
func (t *tally) counts(blocked int) status.Counts {
	return status.Counts{
		ToApply:     t.waiting() + t.frozen(),
		Progressing: t.progressing(),
		Succeeded:   t.soaking() + t.soaked(),
		Failed:      t.failed(),
		TimeOut:     int(t[timedOut] + t[timedOutNow]),
		Skip:        int(t[skipped]),
		Validating:  t.validating(),
		Soaking:     t.soaking(),
		Blocked:     blocked + t.frozen(),
	}
}
