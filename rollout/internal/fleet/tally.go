// SPDX-License-Identifier: Apache-2.0

package fleet

import "github.com/cohort-ocm/cohort/status"

// Tally has how many clusters are in each state, and how many of the failed ones are left out of the budgets (R38).
type Tally struct {
	in      [NumStates]int32
	excused int32
}

// Add counts so many more clusters in a state; fewer if n is negative.
func (tally *Tally) Add(state State, n int32) { tally.in[state] += n }

// Excuse leaves so many more failures out of the budgets.
func (tally *Tally) Excuse(n int32) { tally.excused += n }

// Sum adds the clusters of another tally.
func (tally *Tally) Sum(other *Tally) {
	for i := range tally.in {
		tally.in[i] += other.in[i]
	}
	tally.excused += other.excused
}

// In counts the clusters in a state.
func (tally *Tally) In(state State) int { return int(tally.in[state]) }

// Waiting counts the clusters that wait for their turn, without the frozen ones.
func (tally *Tally) Waiting() int { return int(tally.in[Unreported] + tally.in[ToApply]) }

// Blocking counts the frozen clusters that others wait for.
func (tally *Tally) Blocking() int {
	return int(tally.in[BlockingUnreported] + tally.in[BlockingToApply])
}

// Frozen counts the frozen clusters.
func (tally *Tally) Frozen() int {
	return int(tally.in[FrozenUnreported]+tally.in[FrozenToApply]) + tally.Blocking()
}

// Failed counts the clusters that failed within their deadline.
func (tally *Tally) Failed() int { return int(tally.in[Failed] + tally.in[FailedUndated]) }

// TimedOut counts the clusters that timed out, by their report or by their deadline.
func (tally *Tally) TimedOut() int { return int(tally.in[TimedOut] + tally.in[TimedOutNow]) }

// Soaked counts the clusters that succeeded and soaked.
func (tally *Tally) Soaked() int { return int(tally.in[Succeeded] + tally.in[SucceededUndated]) }

// Soaking counts the clusters that succeeded and have not soaked yet.
func (tally *Tally) Soaking() int { return int(tally.in[Soaking] + tally.in[SoakingUndated]) }

// Undated counts the clusters in flight whose deadline or soak never ends, as no report gives a time.
func (tally *Tally) Undated() int {
	return int(tally.in[UntrackedUndated] + tally.in[ProgressingUndated] + tally.in[ValidatingUndated] + tally.in[FailedUndated] + tally.in[SoakingUndated])
}

// Progressing counts the clusters in flight that have neither failed nor passed their validation.
func (tally *Tally) Progressing() int {
	return int(tally.in[Silent]+tally.in[Refused]+tally.in[Progressing]+tally.in[ProgressingUndated]) + tally.Untracked() + tally.Validating()
}

// Untracked counts the clusters of which nothing will say when they are done.
func (tally *Tally) Untracked() int { return int(tally.in[Untracked] + tally.in[UntrackedUndated]) }

// Validating counts the clusters that succeeded and have no verdict yet.
func (tally *Tally) Validating() int { return int(tally.in[Validating] + tally.in[ValidatingUndated]) }

// InFlight counts the clusters in flight.
func (tally *Tally) InFlight() int { return tally.Progressing() + tally.Failed() + tally.Soaking() }

// Failures counts the clusters that failed or timed out.
func (tally *Tally) Failures() int { return tally.Failed() + tally.TimedOut() }

// InBudget counts the failures that count in a budget.
func (tally *Tally) InBudget() int { return tally.Failures() - int(tally.excused) }

// Unsettled counts the clusters that are waiting, Progressing, Validating or soaking (R6), without those for which no cluster waits.
func (tally *Tally) Unsettled() int {
	return tally.Waiting() + tally.Blocking() + tally.Progressing() + tally.Soaking()
}

// IsUnderWay says whether a cluster has the version and is not settled (R6).
func (tally *Tally) IsUnderWay() bool { return tally.Progressing()+tally.Soaking() > 0 }

// Exposed counts the clusters that have the version and are not done with it: in flight, or failed.
func (tally *Tally) Exposed() int { return tally.InFlight() + tally.TimedOut() }

// Counts gives the tally as a summary has it. Blocked is how many of the waiting clusters do not start, without the frozen ones.
func (tally *Tally) Counts(blocked int) status.Counts {
	return status.Counts{
		ToApply:     tally.Waiting() + tally.Frozen(),
		Progressing: tally.Progressing(),
		Succeeded:   tally.Soaking() + tally.Soaked(),
		Failed:      tally.Failed(),
		TimeOut:     tally.TimedOut(),
		Skip:        int(tally.in[Skipped]),
		Validating:  tally.Validating(),
		Soaking:     tally.Soaking(),
		Blocked:     blocked + tally.Frozen(),
	}
}
