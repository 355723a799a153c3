// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R39: what failed is written again within the second in which it failed. Times in objects have whole seconds, so that the
// old report, which comes once more, looks as new as the write; its attempt tells that it is not.
func TestAReportOfTheAttemptBeforeComesLate(t *testing.T) {
	p, err := rollout.NewPlanner(progressive("1", config("", "10m", 0)), newFleet(t).group("", "a", "b").read(), rollout.Options{Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	failed := status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: now, Applied: now}
	report := func(r status.Report) {
		t.Helper()
		if err := p.Report(r); err != nil {
			t.Fatal(err)
		}
	}
	says := func(at time.Time, want string) {
		t.Helper()
		if got := p.Next(at).String(); got != want {
			t.Errorf("at %v %s\nwant %s", at.Sub(now), got, want)
		}
	}
	written := now.Add(400 * time.Millisecond)
	report(failed)
	says(now, "starting a; before that 0 of 2 clusters done, 2 not started")
	p.Applied("a", written)
	says(written, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s")
	report(failed)
	says(written, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s")

	// A report that is later than the write is newer, whatever it knows of attempts: a writer that stamps none would otherwise be
	// in flight for ever. Nor does an older one of the attempt that is wanted have an effect.
	failed.Attempt, failed.Applied, failed.LastTransitionTime = 1, now.Add(-time.Second), now.Add(-time.Second)
	report(failed)
	says(written, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s")
	failed.Attempt, failed.Applied = 0, now.Add(time.Second)
	report(failed)
	says(now.Add(time.Second), "starting a; before that 0 of 2 clusters done, 2 not started")
	failed.Attempt = 1
	report(failed)
	says(now.Add(time.Second), "the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; 0 of 2 clusters done, 1 in flight (of these 1 failed), 1 not started; recheck after 10m0s")
}

// R39: an attempt is raised while a is written, or in flight. Its object has the stamp of the attempt before, and what is
// reported of it counts as it does for a plan.
func TestAnAttemptIsRaisedMeanwhile(t *testing.T) {
	written := now.Add(400 * time.Millisecond)
	for _, test := range []struct {
		name  string
		steps func(applied, raise func())
	}{
		{"while a is written", func(applied, raise func()) { raise(); applied() }},
		{"while a is in flight", func(applied, raise func()) { applied(); raise() }},
		{"and a is kept up to date", func(applied, raise func()) { applied(); raise(); applied(); applied() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			groups := newFleet(t).group("", "a", "b").read()
			strategy := progressive("1", config("", "", 0))
			p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			says := func(want string) {
				t.Helper()
				if got := p.Next(now.Add(2 * time.Hour)).String(); got != want {
					t.Errorf("%s\nwant %s", got, want)
				}
			}
			test.steps(func() { p.Applied("a", written) }, func() {
				if err := p.SetStrategy(strategy, rollout.Options{Attempt: 1}); err != nil {
					t.Fatal(err)
				}
			})
			says("0 of 2 clusters done, 1 in flight, 1 not started")
			for _, step := range []struct {
				status status.RolloutStatus
				want   string
			}{
				{status.Failed, "starting a; before that 0 of 2 clusters done, 2 not started"},
				{status.Progressing, "0 of 2 clusters done, 1 in flight, 1 not started"},
				{status.Succeeded, "starting b; before that 1 of 2 clusters done, 1 not started"},
			} {
				r := status.Report{Cluster: "a", Status: step.status, LastTransitionTime: now.Add(time.Hour), Applied: written}
				if err := p.Report(r); err != nil {
					t.Fatal(err)
				}
				says(step.want)
			}
		})
	}
}

// R39: to update a cluster that is in flight does not try it again. Once its deadline has passed it waits.
func TestKeptUpToDateStaysInItsAttempt(t *testing.T) {
	groups, strategy := newFleet(t).group("", "a", "b").read(), progressive("1", config("", "10m", 0))
	p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p.Applied("a", now)
	if err := p.SetStrategy(strategy, rollout.Options{Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	p.Applied("a", now)
	p.Applied("a", now.Add(time.Minute))
	for at, want := range map[time.Duration]string{
		time.Minute:      "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s",
		11 * time.Minute: "starting a; before that 0 of 2 clusters done, 2 not started",
	} {
		if got := p.Next(now.Add(at)).String(); got != want {
			t.Errorf("after %v %s\nwant %s", at, got, want)
		}
	}
}

// R39: groups, strategies and attempts come and go, and a planner keeps which cluster is in which attempt, also of those that are not
// selected meanwhile.
func TestThePlannerKeepsAttempts(t *testing.T) {
	both, one := newFleet(t).group("", "a", "b").read(), newFleet(t).group("", "b").read()
	p, err := rollout.NewPlanner(progressive("2", config("2", "10m", 0)), both, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(
		status.Report{Cluster: "a", Status: status.TimeOut, Attempt: 1}, status.Report{Cluster: "b", Status: status.TimeOut},
	); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		attempt int
		want    string
	}{
		{0, "0 of 2 clusters done, 2 failed"},
		{1, "starting b; before that 0 of 2 clusters done, 1 failed, 1 not started"},
		{2, "starting a, b; before that 0 of 2 clusters done, 2 not started"},
		{1, "starting b; before that 0 of 2 clusters done, 1 failed, 1 not started"},
	} {
		p.SetGroups(one)
		if err := p.SetStrategy(progressive("2", config("2", "10m", 0)), rollout.Options{Attempt: step.attempt}); err != nil {
			t.Fatal(err)
		}
		p.SetGroups(both)
		if got := p.Next(now).String(); got != step.want {
			t.Errorf("attempt %d: %s\nwant %s", step.attempt, got, step.want)
		}
	}
	p.Forget("a")
	if got, want := p.Next(now).String(), "starting b, a; before that 0 of 2 clusters done, 2 not started"; got != want {
		t.Errorf("forgotten: %s\nwant %s", got, want)
	}
}

// R39: an attempt below the first is no attempt before it, which would be tried again for ever.
func TestAnAttemptBelowTheFirstIsTheFirst(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	r, err := rollout.Plan(perGroup(config("", "", 0)), groups, []status.Report{{Cluster: "a", Status: status.Failed, Attempt: -1}}, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Breach == nil || len(r.Start) > 0 {
		t.Errorf("%v", r)
	}
}

// R39: of two writes at the same time the attempt tells which one a report is about.
func TestAnAttemptInTheVeryTimeOfTheOneBefore(t *testing.T) {
	strategy := progressive("1", config("", "", 0))
	p, err := rollout.NewPlanner(strategy, newFleet(t).group("", "a").read(), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	failed := status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: now, Applied: now}
	p.Applied("a", now)
	if err := p.Report(failed); err != nil {
		t.Fatal(err)
	}
	if err := p.SetStrategy(strategy, rollout.Options{Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	p.Applied("a", now)
	if err := p.Report(failed); err != nil { // late
		t.Fatal(err)
	}
	if next := p.Next(now); len(next.Start) > 0 {
		t.Errorf("a is started again: %v", next)
	}
	failed.Attempt = 1
	if err := p.Report(failed); err != nil {
		t.Fatal(err)
	}
	if next := p.Next(now); next.Breach == nil {
		t.Errorf("the failure of the later attempt is not seen: %v", next)
	}
}

// R39, S1: a report that does not say which write it is about, from the second in which a was tried again or later. What it
// says counts, also if it comes once more, and of the attempt: the budget stops a cluster that always fails. But a failure of
// that second is taken for the one that is tried again, and only the deadline tells otherwise.
func TestAReportWithoutAWriteInTheSecondOfAnAttempt(t *testing.T) {
	groups, strategy := newFleet(t).group("", "a", "b").read(), progressive("1", config("", "10m", 0))
	written := now.Add(400 * time.Millisecond)
	for _, c := range []struct {
		status  status.RolloutStatus
		at      time.Time
		attempt int
		want    string
		later   string // when the deadline of a report that counts has passed
	}{
		{status.Succeeded, now, 0, "starting b; before that 1 of 2 clusters done, 1 not started", "starting b; before that 1 of 2 clusters done, 1 not started"},
		{status.Progressing, now, 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59s", "timed out a; the rollout is stopped"},
		{status.Progressing, now.Add(time.Second), 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s", "timed out a; the rollout is stopped"},
		{"Unheard of", now, -1, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59s", "timed out a; the rollout is stopped"},
		{status.Skip, now, 0, "starting b; before that 1 of 2 clusters done, 1 not started", "starting b; before that 1 of 2 clusters done, 1 not started"},
		{status.Failed, now, 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59.4s", "timed out a; the rollout is stopped"},
		{status.TimeOut, now, 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59.4s", "timed out a; the rollout is stopped"},
		{status.Failed, written, 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59.4s", "timed out a; the rollout is stopped"},
		{status.Failed, now, 1, "the rollout is stopped: a failed", "timed out a; the rollout is stopped"},
		{status.Failed, now.Add(time.Second), 0, "the rollout is stopped: a failed", "timed out a; the rollout is stopped"},
		{status.TimeOut, now.Add(time.Second), 0, "the rollout is stopped: a failed", "the rollout is stopped: a failed"},
		{status.Succeeded, now.Add(-time.Second), 0, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 9m59.4s", "timed out a; the rollout is stopped"},
	} {
		t.Run(fmt.Sprint(c.status, c.at.Sub(now), c.attempt), func(t *testing.T) {
			p, err := rollout.NewPlanner(strategy, groups, rollout.Options{Attempt: 1})
			if err != nil {
				t.Fatal(err)
			}
			report := func(r status.Report) {
				t.Helper()
				if err := p.Report(r); err != nil {
					t.Fatal(err)
				}
			}
			report(status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: now})
			p.Applied("a", written)
			for range 2 {
				report(status.Report{Cluster: "a", Status: c.status, LastTransitionTime: c.at, Attempt: c.attempt})
				if got := p.Next(now.Add(time.Second)).String(); !strings.HasPrefix(got, c.want) {
					t.Errorf("%s\nwant %s", got, c.want)
				}
			}
			if got := p.Next(now.Add(time.Hour)).String(); !strings.HasPrefix(got, c.later) {
				t.Errorf("after an hour %s\nwant %s", got, c.later)
			}
		})
	}
}

// R27, R39: to tell the Planner of a write twice is to tell it once.
func TestAWriteIsToldTwice(t *testing.T) {
	step := func(times int, late status.Report) string {
		p, err := rollout.NewPlanner(progressive("1", config("", "", 0)), newFleet(t).group("", "a").read(), rollout.Options{Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range times {
			p.Applied("a", now)
		}
		if err := p.Report(late); err != nil {
			t.Fatal(err)
		}
		return p.Next(now).String()
	}
	for _, late := range []status.Report{
		{Cluster: "a", Status: status.Failed, LastTransitionTime: now},
		{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now, Applied: now}, // of that write, whatever attempt it has
	} {
		if once, twice := step(1, late), step(2, late); once != twice {
			t.Errorf("%v, told once: %s\ntold twice: %s", late, once, twice)
		}
	}
}

// R39: a cluster that always fails, whose reports say of no write, is tried again once for each attempt that is wanted: the planner knows
// of its writes. A plan knows of none, and tries it again each time.
func TestWithoutStampsAFailureIsTriedAgainOnce(t *testing.T) {
	groups, strategy := newFleet(t).group("", "a", "b").read(), perGroup(config("0", "10m", 0))
	p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	at := now
	report := func(reports ...status.Report) {
		t.Helper()
		if err := p.Report(reports...); err != nil {
			t.Fatal(err)
		}
	}
	for attempt := range 3 {
		if err := p.SetStrategy(strategy, rollout.Options{Attempt: attempt}); err != nil {
			t.Fatal(err)
		}
		if next := p.Next(at); len(next.Start) == 0 || next.Start[0].Name != "a" {
			t.Fatalf("attempt %d: %v", attempt, next)
		}
		p.Applied("a", at)
		progresses := status.Report{Cluster: "a", Status: status.Progressing, LastTransitionTime: at}
		fails := status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: at.Add(time.Minute)}
		report(progresses)
		p.Applied("a", at.Add(time.Second)) // kept up to date
		report(fails)
		at = at.Add(2 * time.Minute)
		for _, next := range []rollout.Next{p.Next(at), p.Next(at.Add(time.Hour))} {
			if len(next.Start) > 0 || next.Breach == nil {
				t.Errorf("attempt %d: %v", attempt, next)
			}
		}
		report(fails, progresses) // of two objects: both of the attempt
		if next := p.Next(at); len(next.Start) > 0 || next.Breach == nil {
			t.Errorf("attempt %d, two reports: %v", attempt, next)
		}
		planned, err := rollout.Plan(strategy, groups, []status.Report{fails}, at, rollout.Options{Attempt: attempt})
		if err != nil {
			t.Fatal(err)
		}
		if starts := len(planned.Start) > 0; starts != (attempt > 0) {
			t.Errorf("attempt %d: %v", attempt, planned)
		}
	}
}

// R1, R39: of several reports of one cluster those without Applied are of the write that the planner was told of, and so of a later
// attempt than one that says that it is of an earlier. That holds whichever is reported first.
func TestSeveralReportsAfterAWriteAreOfItsAttempt(t *testing.T) {
	progresses := status.Report{Cluster: "a", Status: status.Progressing, LastTransitionTime: now.Add(time.Second)}
	failed := status.Report{Cluster: "a", Status: status.Failed, LastTransitionTime: now.Add(time.Second), Applied: now.Add(time.Second)}
	for _, reports := range [][]status.Report{{progresses, failed}, {failed, progresses}} {
		p, err := rollout.NewPlanner(progressive("1", config("", "10m", 0)), newFleet(t).group("", "a", "b").read(), rollout.Options{Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		p.Applied("a", now)
		if err := p.Report(reports...); err != nil {
			t.Fatal(err)
		}
		if got, want := p.Next(now.Add(time.Second)).String(), "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 10m0s"; got != want {
			t.Errorf("%s first: %s\nwant %s", reports[0].Status, got, want)
		}
	}
}
