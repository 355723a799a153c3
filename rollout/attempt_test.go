package rollout_test

import (
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R39: what failed is written again within the second in which it failed. Times in objects have whole seconds, so that the
// old report, which comes once more, looks as new as the write; its attempt tells that it is not.
func TestAReportOfTheAttemptBeforeComesLate(t *testing.T) {
	p, err := rollout.NewPlanner(progressive("1", config("", "10m", 0)), newFleet(t).group("", "a", "b").read(), rollout.Attempt(1))
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
	says(now, "start a; 0 of 2 clusters done, 2 waiting")
	p.Applied("a", written)
	says(written, "0 of 2 clusters done, 1 in flight, 1 waiting; recheck after 10m0s")
	report(failed)
	says(written, "0 of 2 clusters done, 1 in flight, 1 waiting; recheck after 10m0s")

	// A report of a later second is newer than the write, whatever it knows of attempts: who stamps none would otherwise be
	// in flight for ever. Nor does an older one of the attempt that is wanted have an effect.
	failed.Attempt, failed.Applied, failed.LastTransitionTime = 1, now.Add(-time.Second), now.Add(-time.Second)
	report(failed)
	says(written, "0 of 2 clusters done, 1 in flight, 1 waiting; recheck after 10m0s")
	failed.Attempt, failed.Applied = 0, now.Add(time.Second)
	report(failed)
	says(now.Add(time.Second), "start a; 0 of 2 clusters done, 2 waiting")
	failed.Attempt = 1
	report(failed)
	says(now.Add(time.Second), "stopped: a failed, maxFailures 0; goes on when none is failed; 0 of 2 clusters done, 1 in flight, 1 failed, 1 waiting; recheck after 10m0s")
}

// R39: groups, strategies and attempts come and go, and a planner keeps who is in which attempt, also of those that are not
// selected meanwhile.
func TestThePlannerKeepsAttempts(t *testing.T) {
	both, one := newFleet(t).group("", "a", "b").read(), newFleet(t).group("", "b").read()
	p, err := rollout.NewPlanner(progressive("2", config("2", "10m", 0)), both)
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
		{1, "start b; 0 of 2 clusters done, 1 failed, 1 waiting"},
		{2, "start a b; 0 of 2 clusters done, 2 waiting"},
		{1, "start b; 0 of 2 clusters done, 1 failed, 1 waiting"},
	} {
		p.SetGroups(one)
		if err := p.SetStrategy(progressive("2", config("2", "10m", 0)), rollout.Attempt(step.attempt)); err != nil {
			t.Fatal(err)
		}
		p.SetGroups(both)
		if got := p.Next(now).String(); got != step.want {
			t.Errorf("attempt %d: %s\nwant %s", step.attempt, got, step.want)
		}
	}
	p.Forget("a")
	if got, want := p.Next(now).String(), "start b a; 0 of 2 clusters done, 2 waiting"; got != want {
		t.Errorf("forgotten: %s\nwant %s", got, want)
	}
}

// R39: an attempt below the first is no attempt before it, which would be tried again for ever.
func TestAnAttemptBelowTheFirstIsTheFirst(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	r, err := rollout.Plan(perGroup(config("", "", 0)), groups, []status.Report{{Cluster: "a", Status: status.Failed, Attempt: -1}}, now)
	if err != nil {
		t.Fatal(err)
	}
	if r.Breach == nil || len(r.Start) > 0 {
		t.Errorf("%v", r)
	}
}
