// SPDX-License-Identifier: Apache-2.0

package fleet

import "github.com/cohort-ocm/cohort/status"

// State says in a byte where a cluster stands at a time. The zero State is for a cluster that was never reported, so a
// fleet starts as a cleared slice.
//
// For example, with a deadline of 10 minutes, a cluster of [KindFailed] since 12:00 is Failed at 12:09 and TimedOutNow from 12:10 on. Where
// the time of the failure is unknown, it is FailedUndated at any time.
type State uint8

const (
	Unreported         State = iota // waiting
	ToApply                         // waiting
	Silent                          // in flight: has the workload and has not answered
	Refused                         // in flight: the agent could not apply the workload, and tries again
	Untracked                       // in flight: the workload is applied, and nothing will say when it is done
	UntrackedUndated                // in flight, likewise, past no deadline ever
	Progressing                     // in flight
	ProgressingUndated              // in flight, past no deadline ever
	Validating                      // in flight: succeeded, and its verdict is missing
	ValidatingUndated               // in flight, past no deadline ever
	Failed                          // in flight and a failure
	FailedUndated                   // in flight and a failure, past no deadline ever
	Soaking                         // in flight
	SoakingUndated                  // in flight, for ever
	Succeeded                       // settled
	SucceededUndated                // settled, and a stage waits for its time (R34)
	Skipped                         // settled
	TimedOut                        // settled and a failure: reported so
	TimedOutNow                     // settled and a failure: by its deadline
	FrozenUnreported                // waiting and frozen, and no cluster waits for it (R59, R60)
	FrozenToApply                   // likewise
	BlockingUnreported              // waiting and frozen, and others wait for it (R59)
	BlockingToApply                 // likewise
	NumStates
)

// States is a set of states.
type States uint32

// Has says whether a state is in the set.
func (states States) Has(state State) bool { return states&(1<<state) != 0 }

// The sets of states that are asked for.
const (
	UndatedStates     States = 1<<UntrackedUndated | 1<<ProgressingUndated | 1<<ValidatingUndated | 1<<FailedUndated | 1<<SoakingUndated
	InFlightStates    States = EndingStates | 1<<Failed | 1<<Soaking | UndatedStates
	EndingStates      States = 1<<Silent | 1<<Refused | 1<<Untracked | 1<<Progressing | 1<<Validating // a deadline makes failures of these
	UntrackedStates   States = 1<<Untracked | 1<<UntrackedUndated
	FailedStates      States = 1<<Failed | 1<<FailedUndated
	TimedOutNowStates States = 1 << TimedOutNow
	TimedOutStates    States = 1<<TimedOut | TimedOutNowStates
	FailureStates     States = FailedStates | TimedOutStates
	SucceededStates   States = 1<<Soaking | 1<<SoakingUndated | 1<<Succeeded | UndatedSuccess
	UndatedSuccess    States = 1 << SucceededUndated
	DatedStates       States = InFlightStates &^ UndatedStates // time may change these
	BlockingStates    States = 1<<BlockingUnreported | 1<<BlockingToApply
	FrozenStates      States = 1<<FrozenUnreported | 1<<FrozenToApply | BlockingStates
	ExposedStates     States = InFlightStates | FailureStates
)

// IsWaiting says whether a cluster waits for its turn, and is not frozen.
func (s State) IsWaiting() bool { return s <= ToApply }

// IsFrozen says whether a cluster waits and is frozen.
func (s State) IsFrozen() bool { return FrozenStates.Has(s) }

// Frozen gives the state of a waiting cluster that is frozen. Others wait for it if it blocks.
func (s State) Frozen(blocks bool) State {
	if blocks {
		return s + BlockingUnreported
	}
	return s + FrozenUnreported
}

// Status gives the status that a result has for a cluster in this state.
func (s State) Status() status.RolloutStatus {
	switch s {
	case Silent, Refused, Untracked, UntrackedUndated, Progressing, ProgressingUndated:
		return status.Progressing
	case Validating, ValidatingUndated:
		return status.Validating
	case Failed, FailedUndated:
		return status.Failed
	case Soaking, SoakingUndated, Succeeded, SucceededUndated:
		return status.Succeeded
	case Skipped:
		return status.Skip
	case TimedOut, TimedOutNow:
		return status.TimeOut
	default:
		return status.ToApply
	}
}
