// SPDX-License-Identifier: Apache-2.0

package fleet

import "github.com/cohort-ocm/cohort/status"

// Kind is what a report says of a cluster, or an entry of a record. Time and the strategy make a [State] of it.
type Kind uint8

const (
	KindNone Kind = iota // nothing was reported
	KindToApply
	KindSilent      // has the workload and has not answered
	KindRefused     // the agent could not apply the workload, and tries again
	KindUntracked   // the workload is applied, and nothing will say when it is done
	KindProgressing // also what a newer API may say
	KindValidating
	KindFailed
	KindSucceeded
	KindEnding // succeeded, and the object is being deleted (R6)
	KindSkipped
	KindTimedOut
	KindOnceStarted   // of an entry of a record: tells of the start alone (R48)
	KindOnceSucceeded // of an entry of a record: tells of the start and of the success alone (R48)
	numKinds
)

// KindOf gives the kind of a report. A status that the API may add one day counts as Progressing. The same goes for ToApply where the
// cluster has the workload and has not answered yet (R1, R27).
func KindOf(report *status.Report) Kind {
	switch report.Status {
	case status.ToApply:
		if report.Applied.IsZero() {
			return KindToApply
		}
		if report.Reason == status.ReportRefused {
			return KindRefused
		}
		return KindSilent
	case status.Succeeded:
		if report.Deleting {
			return KindEnding
		}
		return KindSucceeded
	case status.Validating:
		return KindValidating
	case status.Failed:
		return KindFailed
	case status.TimeOut:
		return KindTimedOut
	case status.Skip:
		return KindSkipped
	default:
		if report.Reason == status.ReportUntracked {
			return KindUntracked
		}
		return KindProgressing
	}
}

// Plain gives the kind of which a report decides the same. What an agent refused, or what nothing tracks, differs in sentences only.
func (k Kind) Plain() Kind {
	switch k {
	case KindRefused:
		return KindSilent
	case KindUntracked:
		return KindProgressing
	default:
		return k
	}
}

// IsWaiting says whether the cluster does not have the workload.
func (k Kind) IsWaiting() bool { return k <= KindToApply }

// IsFailure says whether the cluster failed or timed out.
func (k Kind) IsFailure() bool { return k == KindFailed || k == KindTimedOut }

// IsInFlight says whether the cluster has the workload and is not done with it, whatever time makes of that.
func (k Kind) IsInFlight() bool { return k >= KindSilent && k <= KindFailed }

// IsSuccess says whether the cluster succeeded, or once did.
func (k Kind) IsSuccess() bool {
	return k == KindSucceeded || k == KindOnceSucceeded || k == KindEnding
}

// states are the states of the kinds that time does not change.
var states = [numKinds]State{
	KindNone: Unreported, KindToApply: ToApply, KindSilent: Silent, KindRefused: Refused, KindUntracked: Untracked, KindProgressing: Progressing,
	KindValidating: Validating, KindFailed: Failed, KindSucceeded: Succeeded, KindEnding: ToApply, KindSkipped: Skipped, KindTimedOut: TimedOut,
	KindOnceStarted: Skipped, KindOnceSucceeded: Skipped,
}

// State gives the state of a cluster of this kind where time changes nothing. What only a record tells of the past is nothing to wait for.
func (k Kind) State() State { return states[k] }

// Kinds is a set of kinds.
type Kinds uint16

// KindsOf gives a set of kinds.
func KindsOf(kinds ...Kind) (set Kinds) {
	for _, kind := range kinds {
		set |= 1 << kind
	}
	return set
}

// Has says whether a kind is in the set.
func (kinds Kinds) Has(kind Kind) bool { return kinds&(1<<kind) != 0 }
