// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// A change of a report takes its timer along, and time may roll back.
func TestPlannerAndItsTimers(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	p, err := rollout.NewPlanner(all("10m"), groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := func(cluster string, s status.RolloutStatus, since time.Time) {
		t.Helper()
		if err := p.Report(status.Report{Cluster: cluster, Status: s, LastTransitionTime: since}); err != nil {
			t.Fatal(err)
		}
	}
	want := func(what string, at time.Time, want string) {
		t.Helper()
		if got := p.Result(at); got.String() != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	report("a", status.Progressing, now)
	report("b", status.Progressing, now.Add(time.Minute))
	want("both in flight", now, "in flight a, b; recheck after 10m0s")
	want("R4 at the deadline of one", now.Add(10*time.Minute), "in flight b; timed out a; recheck after 1m0s")
	want("R4 before it again: the clock was set back", now.Add(9*time.Minute), "in flight a, b; recheck after 1m0s")
	// A clock ahead of ours reported it. Its timer must not stand before b's.
	report("a", status.TimeOut, now.Add(time.Hour))
	want("R19 the deadline of a settled cluster is none", now.Add(9*time.Minute), "in flight b; recheck after 2m0s")
	want("R4 the other's still is one", now.Add(11*time.Minute), "timed out b")
}

// R39, R59: a cluster times out, is to be tried again, and it is frozen. So a second time is due after the first.
func TestPlannerRechecksWhenAFreezeEndsAfterATimeOut(t *testing.T) {
	freezes := []rollout.ClusterFreeze{{Cluster: "a", Until: now.Add(15 * time.Minute)}}
	p, err := rollout.NewPlanner(all("10m"), newFleet(t).group("", "a").read(), rollout.Options{Attempt: 1, Freezes: freezes})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Progressing, LastTransitionTime: now}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ at, recheck time.Duration }{{0, 10 * time.Minute}, {10 * time.Minute, 5 * time.Minute}, {15 * time.Minute, 0}} {
		if got := p.Next(now.Add(step.at)); got.RecheckAfter != step.recheck {
			t.Errorf("after %s it comes back after %s, want %s", step.at, got.RecheckAfter, step.recheck)
		}
	}
}

// What the caller changes after a call has no part in the rollout.
func TestPlannerSharesNothing(t *testing.T) {
	groups := newFleet(t).group("", "a", "b", "c", "d").read()
	two := progressive("2", config("", "", 0))
	p, err := rollout.NewPlanner(two, groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(status.Report{Cluster: "y", Status: status.Succeeded}, status.Report{Cluster: "z", Status: status.Skip}); err != nil {
		t.Fatal(err)
	}
	starts := func(rule string, n int) {
		t.Helper()
		p.SetGroups(groups)
		next := p.Next(now)
		if len(next.Start) != n || strings.Join(next.Removed, " ") != "y z" {
			t.Errorf("%s: %v; want %d to start, and y and z removed", rule, next, n)
		}
		slices.Reverse(next.Removed)
		if next = p.Next(now); strings.Join(next.Removed, " ") != "y z" {
			t.Errorf("%s: %v after the caller reversed Removed", rule, next)
		}
	}
	two.Progressive.MaxConcurrency = intstr.FromInt32(3)
	starts("R11 the strategy of NewPlanner", 2)

	three := progressive("3", config("", "", 0))
	if err := p.SetStrategy(three, rollout.Options{}); err != nil {
		t.Fatal(err)
	}
	three.Progressive.MaxConcurrency = intstr.FromInt32(1)
	starts("R11 the strategy of SetStrategy", 3)
}

// skewed is t with a monotonic reading that has run d ahead of the wall clock, as after the clock was set back.
func skewed(t *testing.T, now time.Time, d time.Duration) time.Time {
	t.Helper()
	later := now
	// The second word of a time with a monotonic reading is the reading. Nothing else makes the two differ.
	*(*int64)(unsafe.Add(unsafe.Pointer(&later), 8)) += int64(d)
	if later.Sub(now) != d || !later.Round(0).Equal(now.Round(0)) {
		t.Skip("package time keeps the monotonic reading elsewhere")
	}
	return later
}

// R4 uses the wall clock, as reports do, in Plan and Planner alike.
func TestMonotonicReadingsHaveNoSay(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	p, err := rollout.NewPlanner(all("10m"), groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	reports := []status.Report{
		// By its monotonic reading it comes after b.
		{Cluster: "a", Status: status.Progressing, LastTransitionTime: skewed(t, start, 2*time.Minute)},
		{Cluster: "b", Status: status.Progressing, LastTransitionTime: start.Add(time.Minute)},
	}
	if err := p.Report(reports...); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   time.Time
		want string
	}{
		{start.Add(10 * time.Minute), "in flight b; timed out a; recheck after 1m0s"},
		// The wall clock was set back by 5 minutes and 6 have passed since.
		{skewed(t, start.Add(6*time.Minute), 5*time.Minute), "in flight a, b; recheck after 4m0s"},
	} {
		plan, err := rollout.Plan(all("10m"), groups, reports, c.at, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		result := p.Result(c.at)
		if plan.String() != c.want || result.String() != c.want {
			t.Errorf("Plan says %s, Planner %s, want %s", plan, result, c.want)
		}
	}
}

// R23: a gate opens by the wall clock, for Plan and Planner alike, also where its time has a monotonic reading.
func TestMonotonicReadingsOfGatesHaveNoSay(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	start := time.Now()
	opens := start.Add(10 * time.Minute)
	gate := rollout.Options{Gates: []rollout.ClosedGate{{Group: groups.Key(0), Gate: rollout.Gate{Opens: opens}}}}
	p, err := rollout.NewPlanner(all(""), groups, gate)
	if err != nil {
		t.Fatal(err)
	}
	// The wall clock was stepped by an hour: by the monotonic reading only 5 minutes have passed.
	stepped := skewed(t, start.Add(65*time.Minute), -time.Hour)
	result, err := rollout.Plan(all(""), groups, nil, stepped, gate)
	if err != nil {
		t.Fatal(err)
	}
	if plan, planner := result.String(), p.Result(stepped).String(); plan != "starting a" || planner != plan {
		t.Errorf("Plan says %s, Planner %s, want starting a", plan, planner)
	}
}

// Order is asked when groups or strategy change, not for each answer.
func TestPlannerAsksForTheOrderOnlyWhenItChanges(t *testing.T) {
	asked := 0
	order := rollout.Options{Order: func(a, b string) int { asked++; return strings.Compare(b, a) }}
	p, err := rollout.NewPlanner(progressive("2", config("", "", 0)), newFleet(t).group("", "a", "b", "c").read(), order)
	if err != nil {
		t.Fatal(err)
	}
	if asked == 0 {
		t.Fatal("never asked")
	}
	asked = 0
	for _, at := range []time.Time{now, now.Add(time.Hour), now} { // the clock is set back, too
		if got, want := p.Result(at).String(), "starting c, b; 1 more cluster blocked: the concurrency limit is reached (2 of 2 in flight or starting): b, c are starting"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		p.Next(at)
		p.InFlight(at)
	}
	if asked > 0 {
		t.Errorf("asked %d times for answers", asked)
	}
}

// InFlight answers for the time that it is given, also before any other call.
func TestInFlightIsAskedForATime(t *testing.T) {
	p, err := rollout.NewPlanner(all("10m"), newFleet(t).group("", "a").read(), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Progressing, LastTransitionTime: now}); err != nil {
		t.Fatal(err)
	}
	if got := p.InFlight(now.Add(10 * time.Minute)); len(got) > 0 {
		t.Errorf("in flight past its deadline: %v", got)
	}
	if got := p.InFlight(now); len(got) != 1 {
		t.Errorf("in flight before it: %v, want a", got)
	}
}

// R27: what the caller applied is in flight, whatever is observed late.
func TestPlannerRemembersWhatWasApplied(t *testing.T) {
	p, err := rollout.NewPlanner(progressive("1", config("100%", "10m", 0)), newFleet(t).group("", "a", "b").read(), rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	report := func(s status.RolloutStatus, transition, applied string) {
		t.Helper()
		r := status.Report{Cluster: "a", Status: s, LastTransitionTime: ago(t, transition), Applied: ago(t, applied)}
		if err := p.Report(r); err != nil {
			t.Fatal(err)
		}
	}
	want := func(why, want string) {
		t.Helper()
		if got := p.Result(now).String(); got != want {
			t.Errorf("%s: got %s, want %s", why, got, want)
		}
	}
	const inFlight = "in flight a; 1 cluster blocked: the concurrency limit is reached (1 of 1 in flight): a has not reported on this version and times out at 2026-11-21T12:09:00Z; recheck after 9m0s"
	report(status.Failed, "1h", "2h")
	p.Applied("a", ago(t, "1m"))
	want("a failure of the version before", inFlight)
	report(status.Failed, "50m", "2h")
	want("that arrives late", inFlight)
	report(status.ToApply, "", "")
	want("a cache that shows no write", inFlight)
	report(status.Succeeded, "10m", "")
	want("a success before the write", inFlight)
	p.Applied("a", ago(t, "5m"))
	want("an earlier write that is told of late", inFlight)
	p.Applied("a", time.Time{})
	p.Applied("", now)
	want("nothing at all", inFlight)
	report(status.ToApply, "", "1m")
	want("the write itself", inFlight)
	report(status.Succeeded, "30s", "1m")
	want("its success", "starting b")
	report(status.Failed, "50m", "2h")
	want("something late again", "starting b")
	p.Applied("a", ago(t, "60s"))
	want("the same write once more", "starting b")
	p.Forget("a")
	want("nothing was there after all", "starting a; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): a is starting")
	report(status.ToApply, "", "")
	want("R8 and another version is wanted", "starting a; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): a is starting")
	p.Applied("x", ago(t, "1m"))
	want("R46 a cluster that is not selected", "removing the workload from x; 2 clusters blocked: the concurrency limit is reached (1 of 1 in flight): x (deselected) has not reported on this version and times out at 2026-11-21T12:09:00Z; recheck after 9m0s")
	p.Forget("x")
	want("R46 its object is gone", "starting a; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): a is starting")
}
