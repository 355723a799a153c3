// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R27: a planner that is told of one report and of up to two writes of a cluster, in any order, says the same. Clocks may be
// ahead. (Attempts depend on what was known at a write: R39. Of two writes within a second the one counts that is told first.)
func TestWritesAndAReportAgreeInAnyOrder(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	rapid.Check(t, func(t *rapid.T) {
		strategy := drawStrategy(t)
		report := drawReport(t, rapid.SampledFrom([]string{"a", "gone"}).Draw(t, "cluster"), start)
		report.Attempt = 0
		if rapid.Bool().Draw(t, "a clock that is far ahead") {
			report.LastTransitionTime = start.Add(time.Hour)
		}
		writes := []time.Time{drawTime(t, "write", start, -20, 0), drawTime(t, "write", start, -20, 0)}
		if writes[0].Truncate(time.Second).Equal(writes[1].Truncate(time.Second)) {
			writes[1] = writes[0]
		}
		now := start.Add(time.Duration(rapid.IntRange(0, 90).Draw(t, "later")) * time.Second)
		var first *rollout.Result
		for _, order := range orders {
			p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range order {
				if i < len(writes) {
					p.Applied(report.Cluster, writes[i])
				} else if err := p.Report(report); err != nil {
					t.Fatal(err)
				}
			}
			result := p.Result(now)
			if first == nil {
				first = result
			}
			if diff := difference(first, result); diff != "" {
				t.Fatalf("in the order %v (-%v +%v):\n%s", order, orders[0], order, diff)
			}
		}
	})
}

// R27: a report of the version before, by a clock that is ahead, has no effect whichever is told first.
func TestAReportByAClockAheadIsOfTheVersionBefore(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	before := status.Report{Cluster: "a", Status: status.Succeeded, Applied: now.Add(-time.Hour), LastTransitionTime: now.Add(time.Minute)}
	for _, reportFirst := range []bool{false, true} {
		var p rollout.Planner
		p.SetGroups(groups)
		for _, tells := range []bool{reportFirst, !reportFirst} {
			if !tells {
				p.Applied("a", now)
			} else if err := p.Report(before); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := p.Next(now).String(), "0 of 1 clusters done, 1 in flight"; got != want {
			t.Errorf("report first: %v: %s, want %s", reportFirst, got, want)
		}
	}
}

// R6, R27: a success whose object is being deleted waits once more, also where a write from before is told of later;
// only a later write starts it.
func TestAWriteBeforeASuccessThatIsBeingDeletedHasNoEffect(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	var p rollout.Planner
	p.SetGroups(groups)
	if err := p.Report(status.Report{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now, Deleting: true}); err != nil {
		t.Fatal(err)
	}
	p.Applied("a", now.Add(-time.Minute))
	if got, want := p.Next(now).String(), "starting a; before that 0 of 1 clusters done, 1 not started"; got != want {
		t.Errorf("an earlier write: %s, want %s", got, want)
	}
	p.Applied("a", now.Add(time.Minute))
	if got, want := p.Next(now.Add(time.Minute)).String(), "0 of 1 clusters done, 1 in flight"; got != want {
		t.Errorf("a later write: %s, want %s", got, want)
	}
}

// R6, R39: nor does a write of a deselected cluster begin another attempt there, while a success is being deleted.
func TestAWriteOfASuccessThatIsBeingDeletedBeginsNoAttempt(t *testing.T) {
	var p rollout.Planner
	p.SetGroups(newFleet(t).group("", "a").read())
	if err := p.Report(status.Report{Cluster: "gone", Status: status.Succeeded, Deleting: true}); err != nil {
		t.Fatal(err)
	}
	if err := p.SetStrategy(clusterv1alpha1.RolloutStrategy{}, rollout.Options{Attempt: 1}); err != nil {
		t.Fatal(err)
	}
	p.Applied("gone", now)
	if left := p.Next(now).Deselected; len(left) != 1 || left[0].Attempt != 0 {
		t.Errorf("deselected: %+v, want one in the attempt of its object, 0", left)
	}
}

// R39: a planner that is told of a failure by a clock that is ahead, and of the write that tries it again, knows the failure when
// it is told of it once more. One that came later counts.
func TestAFailureByAClockAheadIsTriedAgainOnce(t *testing.T) {
	for _, tells := range []status.RolloutStatus{status.Failed, status.TimeOut} {
		p, err := rollout.NewPlanner(progressive("1", config("0", "10m", 0)), newFleet(t).group("", "a", "b").read(), rollout.Options{Attempt: 1})
		if err != nil {
			t.Fatal(err)
		}
		fails := status.Report{Cluster: "a", Status: tells, LastTransitionTime: now.Add(2 * time.Second)}
		again := fails
		again.LastTransitionTime = now.Add(3 * time.Second)
		for _, step := range []struct {
			what   func() error
			breach bool
		}{
			{func() error { return p.Report(fails) }, false}, // waits
			{func() error { p.Applied("a", now.Add(time.Second)); return nil }, false},
			{func() error { return p.Report(fails) }, false},                                            // the one that is tried again
			{func() error { p.Applied("a", now.Add(time.Second+time.Millisecond)); return nil }, false}, // kept up to date
			{func() error { return p.Report(fails, fails) }, false},
			{func() error { return p.Report(again) }, true},
		} {
			if err := step.what(); err != nil {
				t.Fatal(err)
			}
			if next := p.Next(now.Add(4 * time.Second)); (next.Breach != nil) != step.breach {
				t.Errorf("%s: %v", tells, next)
			}
		}
		p.Forget("a")
		p.Applied("a", now)
		if err := p.Report(fails); err != nil {
			t.Fatal(err)
		}
		if next := p.Next(now.Add(4 * time.Second)); next.Breach == nil {
			t.Errorf("%s: after it was forgotten: %v", tells, next)
		}
	}
}

// failing is a cluster whose agent says of each write that it failed.
type failing struct {
	work  *workv1.ManifestWork
	ahead time.Duration // its clock is ahead
	wrote int
}

func (f *failing) report(version string) status.Report {
	r, _ := status.FromManifestWork(status.WorkState{Work: f.work, Version: version})
	return r
}

// write stamps the work as documented, and gives it the version where that is new.
func (f *failing) write(version string, cluster rollout.Cluster, now time.Time) {
	before := status.StampOf(f.work)
	if after := before.NoteOn(f.work, version, cluster.Attempt, now); after.Version != before.Version || after.Attempt != before.Attempt {
		f.work.Generation++
		f.wrote++
	}
}

// answer is the agent's: it observes the generation, and fails anew at the time now where it is told so.
func (f *failing) answer(now time.Time, anew bool) {
	if anew || len(f.work.Status.Conditions) == 0 {
		f.work.Status.Conditions = nil
		for _, kind := range []string{workv1.WorkApplied, workv1.WorkProgressing, workv1.WorkDegraded} {
			f.work.Status.Conditions = append(f.work.Status.Conditions, metav1.Condition{
				Type: kind, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Add(f.ahead).Truncate(time.Second)),
			})
		}
	}
	for i := range f.work.Status.Conditions {
		f.work.Status.Conditions[i].ObservedGeneration = f.work.Generation
	}
}

// R39, R43: a controller that stamps what the result says tries a failed cluster again once for each attempt, in the rollback,
// too, for a day.
func TestTheRollbackEndsWithAttempts(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	for _, attempt := range []int{0, 1, 3} {
		aborted := now
		f := &failing{work: &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Generation: 1}}}
		f.write("failed", rollout.Cluster{}, now.Add(-time.Hour))
		f.answer(now.Add(-time.Hour), true)
		f.wrote = 0
		starts := 0
		for call := range 144 {
			at := aborted.Add(time.Duration(call+1) * 10 * time.Minute)
			abort := rollout.Abort{Time: aborted, Failed: []status.Report{f.report("failed")}, Before: []status.Report{f.report("before")}}
			result, err := rollout.Revert(all("1h"), groups, abort, at, rollout.Options{Attempt: attempt})
			if err != nil {
				t.Fatal(err)
			}
			starts += len(result.Start)
			for _, cluster := range slices.Concat(result.InFlight, result.Start) {
				f.write("before", cluster, at)
			}
			f.answer(at.Add(time.Minute), len(result.Start) > 0)
		}
		if starts != 1 || f.wrote != 1 {
			t.Errorf("attempt %d: started %d times, and written %d times", attempt, starts, f.wrote)
		}
	}
}

// R39, S1: attempts that are raised at each breach, up to 3, last as long as there are failures to try again, also where the
// clock of the agent is ahead.
func TestAClockAheadUsesUpNoAttempts(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, ahead := range []time.Duration{0, 2 * time.Second, time.Minute} {
		f := &failing{work: &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Generation: 1}}, ahead: ahead}
		attempt := 0
		at := now
		f.write("v1", rollout.Cluster{}, at)
		f.answer(at.Add(time.Second), true)
		for range 20 { // of 200 ms: the agent has not looked at the workload again yet
			at = at.Add(200 * time.Millisecond)
			result, err := rollout.Plan(progressive("1", config("0", "10m", 0)), groups, []status.Report{f.report("v1")}, at, rollout.Options{Attempt: attempt})
			if err != nil {
				t.Fatal(err)
			}
			if result.Breach != nil {
				attempt++
			}
			for _, cluster := range slices.Concat(result.InFlight, result.Start) {
				f.write("v1", cluster, at)
			}
			f.answer(at, false)
		}
		if attempt != 1 {
			t.Errorf("a clock %v ahead: one failure used up %d attempts", ahead, attempt)
		}
	}
}

// R5: a soak runs from the answer where that is recorded; a start, a deadline and a report that says otherwise do not.
func TestASoakRunsFromTheAnswer(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	strategy := progressive("1", config("0", "1h", 30*time.Minute))
	late := now.Add(-45 * time.Minute)
	for _, test := range []struct {
		why    string
		report status.Report
		opts   rollout.Options
		want   string
	}{
		{"not noted", status.Report{Status: status.Succeeded, Applied: late}, rollout.Options{}, "starting b; before that 1 of 2 clusters done, 1 not started"},
		{"noted", status.Report{Status: status.Succeeded, Applied: late, Answered: now}, rollout.Options{}, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 30m0s"},
		{"the condition has moved since", status.Report{Status: status.Succeeded, Applied: late, Answered: now.Add(-40 * time.Minute), LastTransitionTime: now.Add(-10 * time.Minute)}, rollout.Options{},
			"0 of 2 clusters done, 1 in flight, 1 not started; recheck after 20m0s"},
		{"of an unknown write", status.Report{Status: status.Succeeded, LastTransitionTime: late, Answered: now}, rollout.Options{}, "starting b; before that 1 of 2 clusters done, 1 not started"},
		{"it is no success", status.Report{Status: status.Progressing, Applied: late, Answered: now}, rollout.Options{}, "0 of 2 clusters done, 1 in flight, 1 not started; recheck after 15m0s"},
		{"it started when it was written", status.Report{Status: status.Succeeded, Applied: late, Answered: now.Add(-30 * time.Minute)},
			rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 40 * time.Minute}}}, "starting b; before that 1 of 2 clusters done, 1 not started"},
	} {
		test.report.Cluster = "a"
		result, err := rollout.Plan(strategy, groups, []status.Report{test.report}, now, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		if got := result.Next.String(); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.why, got, test.want)
		}
	}
}
