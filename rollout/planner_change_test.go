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

// A change of a report takes its timer along, and time may go back.
func TestPlannerAndItsTimers(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	p, err := rollout.NewPlanner(all("10m"), groups)
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
	want("both in flight", now, "in flight a b; recheck after 10m0s")
	want("R4 at the deadline of one", now.Add(10*time.Minute), "in flight b; timed out a; recheck after 1m0s")
	want("R4 before it again: the clock was set back", now.Add(9*time.Minute), "in flight a b; recheck after 1m0s")
	// A clock ahead of ours reported it. Its timer must not stand before that of b.
	report("a", status.TimeOut, now.Add(time.Hour))
	want("R19 the deadline of a settled cluster is none", now.Add(9*time.Minute), "in flight b; recheck after 2m0s")
	want("R4 the other's still is one", now.Add(11*time.Minute), "timed out b")
}

// What the caller changes after a call has no part in the rollout.
func TestPlannerSharesNothing(t *testing.T) {
	groups := newFleet(t).group("", "a", "b", "c", "d").read()
	two := progressive("2", config("", "", 0))
	p, err := rollout.NewPlanner(two, groups, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(status.Report{Cluster: "y"}, status.Report{Cluster: "z"}); err != nil {
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
	if err := p.SetStrategy(three); err != nil {
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

// R4 goes by the wall clock, of which the reports speak, for Plan and Planner alike.
func TestMonotonicReadingsHaveNoSay(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	p, err := rollout.NewPlanner(all("10m"), groups)
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
		{skewed(t, start.Add(6*time.Minute), 5*time.Minute), "in flight a b; recheck after 4m0s"},
	} {
		plan, err := rollout.Plan(all("10m"), groups, reports, c.at)
		if err != nil {
			t.Fatal(err)
		}
		result := p.Result(c.at)
		if plan.String() != c.want || result.String() != c.want {
			t.Errorf("Plan says %s, Planner %s, want %s", plan, result, c.want)
		}
	}
}
