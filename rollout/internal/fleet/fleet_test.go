// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "github.com/cohort-ocm/cohort/internal/seeded"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

var now = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// R1, R6, R27, R58: what a report says.
func TestAReportIsOfAKind(t *testing.T) {
	for _, test := range []struct {
		why    string
		report status.Report
		want   fleet.Kind
	}{
		{"no status is a newer API's: the safe reading is in flight", status.Report{}, fleet.KindProgressing},
		{"an unknown status, too", status.Report{Status: "Paused"}, fleet.KindProgressing},
		{"waits", status.Report{Status: status.ToApply}, fleet.KindToApply},
		{"has the workload and has not answered", status.Report{Status: status.ToApply, Applied: now}, fleet.KindSilent},
		{"the agent could not apply it", status.Report{Status: status.ToApply, Applied: now, Reason: status.ReportRefused}, fleet.KindRefused},
		{"a cluster without the workload refuses nothing", status.Report{Status: status.ToApply, Reason: status.ReportRefused}, fleet.KindToApply},
		{"nothing tracks it", status.Report{Status: status.Progressing, Reason: status.ReportUntracked}, fleet.KindUntracked},
		{"a failure is none the less", status.Report{Status: status.Failed, Reason: status.ReportUntracked}, fleet.KindFailed},
		{"validates", status.Report{Status: status.Validating}, fleet.KindValidating},
		{"succeeded", status.Report{Status: status.Succeeded}, fleet.KindSucceeded},
		{"its object goes", status.Report{Status: status.Succeeded, Deleting: true}, fleet.KindEnding},
		{"only a success ends with its object", status.Report{Status: status.Failed, Deleting: true}, fleet.KindFailed},
		{"timed out", status.Report{Status: status.TimeOut}, fleet.KindTimedOut},
		{"left out", status.Report{Status: status.Skip}, fleet.KindSkipped},
	} {
		if got := fleet.KindOf(&test.report); got != test.want {
			t.Errorf("%s: got %d, want %d", test.why, got, test.want)
		}
	}
}

// R5, R27: from when a report counts.
func TestAReportCountsFromItsLatestTime(t *testing.T) {
	early, late := now.Add(-time.Hour), now.Add(time.Hour)
	for _, test := range []struct {
		why            string
		report         status.Report
		since, applied time.Time
	}{
		{"no time at all", status.Report{Status: status.Failed}, time.Time{}, time.Time{}},
		{"the transition, where nothing says when it was applied", status.Report{Status: status.Failed, LastTransitionTime: now}, now, now},
		{"what was seen before the write is of another version", status.Report{Status: status.Failed, LastTransitionTime: early, Applied: now}, now, now},
		{"the transition after the write", status.Report{Status: status.Failed, LastTransitionTime: now, Applied: early}, now, early},
		{"a success from its first answer", status.Report{Status: status.Succeeded, LastTransitionTime: early, Applied: now, Answered: late}, late, now},
		{"a validation, too", status.Report{Status: status.Validating, LastTransitionTime: early, Applied: now, Answered: late}, late, now},
		{"a failure does not wait for an answer", status.Report{Status: status.Failed, LastTransitionTime: early, Applied: now, Answered: late}, now, now},
		{"an answer without a write says nothing", status.Report{Status: status.Succeeded, LastTransitionTime: early, Answered: late}, early, early},
	} {
		r := fleet.ReportOf(&test.report)
		if !r.Since.Equal(test.since) || !r.Applied.Equal(test.applied) {
			t.Errorf("%s: since %v, applied %v; want %v, %v", test.why, r.Since, r.Applied, test.since, test.applied)
		}
	}
}

// R36: a cluster that has the workload started when it was applied; what waits or is left out did not.
func TestAClusterStartedWhenItWasApplied(t *testing.T) {
	for kind, want := range map[fleet.Kind]bool{
		fleet.KindNone: false, fleet.KindToApply: false, fleet.KindSkipped: false, fleet.KindSilent: true, fleet.KindFailed: true, fleet.KindOnceStarted: true,
	} {
		r := fleet.Report{Kind: kind, Since: now, Applied: now.Add(-time.Minute)}
		if at := r.StartedAt(); at.IsZero() == want || want && !at.Equal(r.Applied) {
			t.Errorf("kind %d started at %v", kind, at)
		}
		if at := (fleet.Report{Kind: kind}).StartedAt(); !at.IsZero() {
			t.Errorf("kind %d without a time started at %v", kind, at)
		}
	}
}

// R3 to R6, R34, R39: what time and attempts make of a kind.
func TestTimeAndAttemptsMakeStates(t *testing.T) {
	deadline := 10 * time.Minute
	with, without := fleet.Phases{Deadline: &deadline, MinSuccess: time.Minute}, fleet.Phases{}
	dates, back := fleet.Phases{DatesSuccess: true}, fleet.Phases{Rollback: true}
	again, backSoaks := fleet.Phases{Deadline: &deadline, Attempt: 1}, fleet.Phases{Rollback: true, MinSuccess: time.Minute}
	for _, test := range []struct {
		why    string
		phases *fleet.Phases
		kind   fleet.Kind
		age    time.Duration // negative: unknown
		want   fleet.State
	}{
		{"nothing was reported", &with, fleet.KindNone, -1, fleet.Unreported},
		{"within the deadline", &with, fleet.KindProgressing, deadline - 1, fleet.Progressing},
		{"at the deadline", &with, fleet.KindProgressing, deadline, fleet.TimedOutNow},
		{"no time, no deadline", &with, fleet.KindProgressing, -1, fleet.ProgressingUndated},
		{"silence times out", &with, fleet.KindSilent, deadline, fleet.TimedOutNow},
		{"so does a refusal", &with, fleet.KindRefused, deadline, fleet.TimedOutNow},
		{"so does what nothing tracks", &with, fleet.KindUntracked, deadline, fleet.TimedOutNow},
		{"and, without a time, never", &with, fleet.KindUntracked, -1, fleet.UntrackedUndated},
		{"so does a validation", &with, fleet.KindValidating, deadline, fleet.TimedOutNow},
		{"and, without a time, never", &with, fleet.KindValidating, -1, fleet.ValidatingUndated},
		{"so does a failure", &with, fleet.KindFailed, deadline, fleet.TimedOutNow},
		{"and, without a time, never", &with, fleet.KindFailed, -1, fleet.FailedUndated},
		{"without a deadline never", &without, fleet.KindFailed, time.Hour, fleet.Failed},
		{"soaks", &with, fleet.KindSucceeded, time.Minute - 1, fleet.Soaking},
		{"soaked", &with, fleet.KindSucceeded, time.Minute, fleet.Succeeded},
		{"soaks for ever", &with, fleet.KindSucceeded, -1, fleet.SoakingUndated},
		{"nothing soaks", &without, fleet.KindSucceeded, -1, fleet.Succeeded},
		{"a stage waits for the time of the success", &dates, fleet.KindSucceeded, -1, fleet.SucceededUndated},
		{"an object that goes soaks", &with, fleet.KindEnding, 0, fleet.Soaking},
		{"then its cluster waits for its turn", &with, fleet.KindEnding, time.Minute, fleet.ToApply},
		{"at once where nothing soaks", &without, fleet.KindEnding, 0, fleet.ToApply},
		{"in a rollback it is done", &back, fleet.KindEnding, 0, fleet.Succeeded},
		{"once it has soaked", &backSoaks, fleet.KindEnding, 0, fleet.Soaking},
		{"a failure of an earlier attempt is tried again", &again, fleet.KindFailed, 0, fleet.ToApply},
		{"one that was reported so, too", &again, fleet.KindTimedOut, 0, fleet.ToApply},
		{"and one by its deadline", &again, fleet.KindProgressing, deadline, fleet.ToApply},
		{"but not before", &again, fleet.KindProgressing, deadline - 1, fleet.Progressing},
		{"reported so", &with, fleet.KindTimedOut, 0, fleet.TimedOut},
		{"left out", &with, fleet.KindSkipped, 0, fleet.Skipped},
		{"what a record tells of the past is nothing to wait for", &with, fleet.KindOnceSucceeded, 0, fleet.Skipped},
	} {
		r := fleet.Report{Kind: test.kind}
		if test.age >= 0 {
			r.Since = now.Add(-test.age)
		}
		if got := test.phases.StateOf(&r, now); got != test.want {
			t.Errorf("%s: kind %d of age %v is %d, want %d", test.why, test.kind, test.age, got, test.want)
		}
	}
}

// A state changes exactly when Left says, in the first attempt.
func TestAStateChangesWhenNothingIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := fleet.Phases{MinSuccess: time.Duration(rapid.IntRange(0, 20).Draw(t, "soak"))}
		if deadline := time.Duration(rapid.IntRange(0, 20).Draw(t, "deadline")); deadline > 0 {
			p.Deadline = &deadline
		}
		kind := fleet.Kind(rapid.IntRange(int(fleet.KindNone), int(fleet.KindTimedOut)).Draw(t, "kind"))
		age := time.Duration(rapid.IntRange(0, 30).Draw(t, "age"))
		is := p.At(kind, now.Add(-age), now)
		left := p.Left(is, age)
		if left == 0 {
			for later := time.Duration(1); later < 60; later++ {
				if p.At(kind, now.Add(-age), now.Add(later)) != is {
					t.Fatalf("kind %d, state %d: changes after %d, and nothing is left", kind, is, later)
				}
			}
			return
		}
		if before := p.At(kind, now.Add(-age), now.Add(left-1)); before != is {
			t.Fatalf("kind %d, state %d: is %d before %d", kind, is, before, left)
		}
		if after := p.At(kind, now.Add(-age), now.Add(left)); after == is {
			t.Fatalf("kind %d, state %d: unchanged after %d", kind, is, left)
		}
	})
}

// The sums of a tally are those of the sets of states.
func TestATallyCountsTheSetsOfStates(t *testing.T) {
	sets := []struct {
		name string
		set  fleet.States
		of   func(*fleet.Tally) int
	}{
		{"in flight", fleet.InFlightStates, (*fleet.Tally).InFlight},
		{"failures", fleet.FailureStates, (*fleet.Tally).Failures},
		{"failed", fleet.FailedStates, (*fleet.Tally).Failed},
		{"timed out", fleet.TimedOutStates, (*fleet.Tally).TimedOut},
		{"exposed", fleet.ExposedStates, (*fleet.Tally).Exposed},
		{"undated", fleet.UndatedStates, (*fleet.Tally).Undated},
		{"untracked", fleet.UntrackedStates, (*fleet.Tally).Untracked},
		{"frozen", fleet.FrozenStates, (*fleet.Tally).Frozen},
		{"blocking", fleet.BlockingStates, (*fleet.Tally).Blocking},
	}
	for s := range fleet.NumStates {
		var one, two fleet.Tally
		one.Add(s, 1)
		two.Sum(&one)
		two.Sum(&one)
		for _, set := range sets {
			want := 0
			if set.set.Has(s) {
				want = 2
			}
			if got := set.of(&two); got != want {
				t.Errorf("two in state %d: %d %s, want %d", s, got, set.name, want)
			}
		}
		waits := 0
		if s.IsWaiting() {
			waits = 2
		}
		if two.Waiting() != waits || two.In(s) != 2 || s.IsFrozen() != fleet.FrozenStates.Has(s) {
			t.Errorf("state %d: %d waiting, %d in it", s, two.Waiting(), two.In(s))
		}
		if c := two.Counts(0); c.Total() != 2 {
			t.Errorf("state %d counts %d times: %v", s, c.Total(), c)
		}
	}
	var t3 fleet.Tally
	t3.Add(fleet.Failed, 3)
	t3.Excuse(1)
	var sum fleet.Tally
	sum.Sum(&t3)
	if sum.InBudget() != 2 {
		t.Errorf("in a sum, %d of them are in a budget", sum.InBudget())
	}
	if t3.InBudget() != 2 || t3.Failures() != 3 {
		t.Errorf("of 3 failures, one of them excused, %d are in a budget", t3.InBudget())
	}
}

// Paged and Reports keep what was noted last, for each position alone.
func TestAReportIsKeptAsItWasNoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "clusters")
		table, want := fleet.NewReports(n), make([]fleet.Report, n)
		for range rapid.IntRange(0, 40).Draw(t, "notes") {
			position := fleet.Position(rapid.IntRange(0, n-1).Draw(t, "position"))
			r := fleet.Report{Kind: fleet.Kind(rapid.IntRange(1, 11).Draw(t, "kind")), Attempt: rapid.IntRange(0, 2).Draw(t, "attempt")}
			r.Since = now.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "since")))
			switch rapid.IntRange(0, 2).Draw(t, "applied") {
			case 0:
				r.Applied = r.Since
			case 1:
				r.Applied = r.Since.Add(-time.Hour)
			default: // further away than a Duration can say
				r.Applied = time.Date(1, 2, 3, 0, 0, 0, 0, time.UTC)
			}
			table.Note(position, r)
			want[position] = r
		}
		for position := range fleet.Position(n) {
			if got := table.Of(position); !got.Equals(want[position]) || got.Kind != table.Kind(position) || got.Attempt != table.Attempt(position) {
				t.Fatalf("position %d: %+v, want %+v", position, got, want[position])
			}
		}
	})
}

// Timers give what comes due first, whatever was set and cleared.
func TestTimersGiveWhatComesDueFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		due := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20).Draw(t, "due")
		timers := fleet.NewTimers(len(due), func(a, b fleet.Position) bool { return due[a] < due[b] })
		set := make(map[fleet.Position]bool)
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			position := fleet.Position(rapid.IntRange(0, len(due)-1).Draw(t, "position"))
			if set[position] || rapid.Bool().Draw(t, "clear") {
				timers.Clear(position)
				delete(set, position)
			} else {
				timers.Set(position)
				set[position] = true
			}
			first, least := math.MaxInt, false
			for position := range set {
				first, least = min(first, due[position]), true
			}
			next, ok := timers.Next()
			if ok != least || ok && (due[next] != first || !set[next]) || len(timers.All()) != len(set) {
				t.Fatalf("next is %d, %v of %v", next, ok, set)
			}
		}
	})
}
