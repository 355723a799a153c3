// SPDX-License-Identifier: Apache-2.0

package fleet

import "github.com/cohort-ocm/cohort/status"

// Tally has how many clusters are in each state, and how many of the failed ones are left out of the budgets (R38).
type Tally struct {
	in      [NumStates]int32
	excused int32
}

// Add counts so many more clusters in a state; fewer if n is negative.
func (t *Tally) Add(state State, n int32) { t.in[state] += n }

// Excuse leaves so many more failures out of the budgets.
func (t *Tally) Excuse(n int32) { t.excused += n }

// Sum adds the clusters of another tally.
func (t *Tally) Sum(other *Tally) {
	for i := range t.in {
		t.in[i] += other.in[i]
	}
	t.excused += other.excused
}

// In counts the clusters in a state.
func (t *Tally) In(state State) int { return int(t.in[state]) }

// Waiting counts the clusters that wait for their turn, without the frozen ones.
func (t *Tally) Waiting() int { return int(t.in[Unreported] + t.in[ToApply]) }

// Blocking counts the frozen clusters that others wait for.
func (t *Tally) Blocking() int { return int(t.in[BlockingUnreported] + t.in[BlockingToApply]) }

// Frozen counts the frozen clusters.
func (t *Tally) Frozen() int { return int(t.in[FrozenUnreported]+t.in[FrozenToApply]) + t.Blocking() }

// Failed counts the clusters that failed within their deadline.
func (t *Tally) Failed() int { return int(t.in[Failed] + t.in[FailedUndated]) }

// TimedOut counts the clusters that timed out, by their report or by their deadline.
func (t *Tally) TimedOut() int { return int(t.in[TimedOut] + t.in[TimedOutNow]) }

// Soaked counts the clusters that succeeded and soaked.
func (t *Tally) Soaked() int { return int(t.in[Succeeded] + t.in[SucceededUndated]) }

// Soaking counts the clusters that succeeded and have not soaked yet.
func (t *Tally) Soaking() int { return int(t.in[Soaking] + t.in[SoakingUndated]) }

// Undated counts the clusters in flight whose deadline or soak never ends, as no report gives a time.
func (t *Tally) Undated() int {
	return int(t.in[UntrackedUndated] + t.in[ProgressingUndated] + t.in[ValidatingUndated] + t.in[FailedUndated] + t.in[SoakingUndated])
}

// Progressing counts the clusters in flight that have neither failed nor passed their validation.
func (t *Tally) Progressing() int {
	return int(t.in[Silent]+t.in[Refused]+t.in[Progressing]+t.in[ProgressingUndated]) + t.Untracked() + t.Validating()
}

// Untracked counts the clusters of which nothing will say when they are done.
func (t *Tally) Untracked() int { return int(t.in[Untracked] + t.in[UntrackedUndated]) }

// Validating counts the clusters that succeeded and have no verdict yet.
func (t *Tally) Validating() int { return int(t.in[Validating] + t.in[ValidatingUndated]) }

// InFlight counts the clusters in flight.
func (t *Tally) InFlight() int { return t.Progressing() + t.Failed() + t.Soaking() }

// Failures counts the clusters that failed or timed out.
func (t *Tally) Failures() int { return t.Failed() + t.TimedOut() }

// InBudget counts the failures that count in a budget.
func (t *Tally) InBudget() int { return t.Failures() - int(t.excused) }

// Unsettled counts the clusters that are waiting, Progressing, Validating or soaking (R6), without those for which no cluster waits.
func (t *Tally) Unsettled() int { return t.Waiting() + t.Blocking() + t.Progressing() + t.Soaking() }

// IsUnderWay says whether a cluster has the version and is not settled (R6).
func (t *Tally) IsUnderWay() bool { return t.Progressing()+t.Soaking() > 0 }

// Exposed counts the clusters that have the version and are not done with it: in flight, or failed.
func (t *Tally) Exposed() int { return t.InFlight() + t.TimedOut() }

// Counts gives the tally as a summary has it. Blocked is how many of the waiting clusters do not start, without the frozen ones.
func (t *Tally) Counts(blocked int) status.Counts {
	return status.Counts{
		ToApply:     t.Waiting() + t.Frozen(),
		Progressing: t.Progressing(),
		Succeeded:   t.Soaking() + t.Soaked(),
		Failed:      t.Failed(),
		TimeOut:     t.TimedOut(),
		Skip:        int(t.in[Skipped]),
		Validating:  t.Validating(),
		Soaking:     t.Soaking(),
		Blocked:     blocked + t.Frozen(),
	}
}
