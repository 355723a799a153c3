// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// R1, R43: what is refused, with all faults at once.
func TestRevertRefusesFaultyInput(t *testing.T) {
	ok := status.Report{Cluster: "a"}
	for _, test := range []struct {
		abort    rollout.Abort
		strategy clusterv1alpha1.RolloutStrategy
		want     []string
		why      string
	}{
		{rollout.Abort{Time: now}, all(""), nil, "nothing reported is no fault"},
		{rollout.Abort{}, all(""), []string{`abort.time: Required value: must be when the rollout was aborted`}, "without a time it is unknown which clusters rolled back"},
		{
			rollout.Abort{Time: now, Failed: []status.Report{ok, {}}, Before: []status.Report{{}, ok}}, all(""),
			[]string{`abort.failed[1].cluster: Required value: must be the name of a ManagedCluster`, `abort.before[0].cluster: Required value: must be the name of a ManagedCluster`},
			"reports without a cluster",
		},
		{
			rollout.Abort{Time: now.Add(time.Second)}, all(""), []string{`abort.time: Invalid value: "`},
			"a clock ahead of ours: one that rolls back now would count as one that never had the failed version",
		},
		{rollout.Abort{}, progressive("0%", config("", "", 0)), []string{`progressive.maxConcurrency: `, `abort.time: `}, "faults of the strategy as well"},
	} {
		_, err := rollout.Revert(test.strategy, newFleet(t).group("", "a").read(), test.abort, now, rollout.Options{})
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
	if r, err := rollout.Revert(all(""), nil, rollout.Abort{Time: now}, now, rollout.Options{}); err != nil || len(r.Start) > 0 {
		t.Errorf("no groups: %v, %v", r, err)
	}
}

// R43 to R45: undo by writing the older template is the same plan. In each call of a rollout of the version before, with
// the order of the rollback and no budget, exactly those clusters start that Revert starts, but for those that never had a
// workload; and in the end the same clusters were written.
func TestUndoByTheOlderTemplateIsTheSamePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := drawn(t)
		n := 1 + pick(12)
		f := newFleet(t)
		sizes := []int{pick(n + 1)}
		sizes = append(sizes, n-sizes[0])
		var names []string
		for _, size := range sizes {
			first := len(names)
			for range size {
				names = append(names, fmt.Sprintf("c%02d", len(names)))
			}
			f.group("", names[first:]...)
		}
		groups := f.read()
		strategy := from(pick, all(""), progressive("", config("100%", "", 0)), progressive("2", config("100%", "", 0)), progressive("30%", config("100%", "", 0)))

		failed, before := map[string]status.Report{}, map[string]status.Report{}
		had := map[string]status.Report{}
		for _, name := range names {
			lacks := status.Report{Cluster: name, Status: status.ToApply}
			switch pick(4) {
			case 0: // no workload
			case 1: // never had the failed version, and is done with the one before
				before[name] = status.Report{Cluster: name, Status: status.Succeeded, Applied: now.Add(-5 * time.Hour)}
				failed[name] = lacks
			default:
				before[name] = lacks
				failed[name] = status.Report{Cluster: name, Status: from(pick, status.Succeeded, status.Progressing, status.Failed, status.TimeOut, status.ToApply), Applied: now.Add(-time.Duration(1+pick(5)) * time.Hour)}
				had[name] = failed[name]
			}
		}
		order := rollout.Options{Order: func(a, b string) int { // R44 once more
			bad := func(name string) int {
				if s := had[name].Status; s == status.Failed || s == status.TimeOut {
					return 0
				}
				return 1
			}
			return cmp.Or(cmp.Compare(bad(a), bad(b)), had[b].Applied.Compare(had[a].Applied))
		}}
		revert := func(b map[string]status.Report, f map[string]status.Report) *rollout.Result {
			r, err := rollout.Revert(strategy, groups, rollout.Abort{Time: aborted, Failed: values(f), Before: values(b)}, now, rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		writtenBack, writtenUndo := map[string]int{}, map[string]int{}
		for wave := 0; ; wave++ {
			back := revert(before, failed)
			undo, err := rollout.Plan(strategy, groups, values(before), now, merged(order, rollout.Options{FailedFreesSlot: true}))
			if err != nil {
				t.Fatal(err)
			}
			var want []rollout.Cluster
			for _, c := range undo.Start {
				if _, has := had[c.Name]; has {
					want = append(want, c)
				}
			}
			if !slices.Equal(back.Start, want) {
				t.Fatalf("wave %d: starts %v, an undo %v", wave, back.Start, want)
			}
			if len(back.Start) == 0 {
				break
			}
			answer := from(pick, status.Succeeded, status.Failed, status.Succeeded)
			for _, c := range back.Start {
				before[c.Name] = status.Report{Cluster: c.Name, Status: answer, Applied: now.Add(-time.Minute)}
				failed[c.Name] = status.Report{Cluster: c.Name, Status: status.ToApply}
				writtenBack[c.Name]++
			}
			for _, c := range want {
				writtenUndo[c.Name]++
			}
		}
		for _, name := range names {
			_, has := had[name]
			if writtenBack[name] != one(has) || writtenUndo[name] != one(has) {
				t.Fatalf("%s was written %d times, by the undo %d times; had it %v", name, writtenBack[name], writtenUndo[name], has)
			}
		}
	})
}

func values(m map[string]status.Report) (reports []status.Report) {
	for _, r := range m {
		reports = append(reports, r)
	}
	return reports
}

// R43: inputs are not changed, and neither the order of the lists nor what a report about another version says of times has
// a part in the result.
func TestRevertDependsOnNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := drawn(t)
		w := pick.world(8)
		w.back = &taken{aborted: aborted}
		for _, m := range w.members {
			from(pick, rollbackKinds...).set(&w, m.name)
		}
		w.reports = slices.DeleteFunc(w.reports, func(r status.Report) bool { return r.Cluster == "" })
		groups := w.read(t)
		r, err := w.plan(groups)
		if err != nil {
			t.Fatal(err)
		}
		turned := w
		turned.reports = slices.Clone(w.reports)
		slices.Reverse(turned.reports)
		turned.back = &taken{aborted: aborted.Local(), failed: slices.Clone(w.back.failed)}
		slices.Reverse(turned.back.failed)
		for i := range turned.reports {
			if of := &turned.reports[i]; of.Status == status.ToApply && of.Applied.IsZero() {
				of.LastTransitionTime = now.Add(-time.Duration(pick(100)) * time.Minute)
			}
		}
		other, err := turned.plan(groups)
		if err != nil {
			t.Fatal(err)
		}
		if r.String() != other.String() || !slices.Equal(r.Start, other.Start) {
			t.Fatalf("%v\n%v", r, other)
		}
	})
}

// R44, R45: what the options of a rollout do in the rollback.
func TestOptionsInARollback(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").group("", "c", "d").read()
	var failed, before []status.Report
	for i, name := range []string{"a", "b", "c", "d"} {
		failed = append(failed, status.Report{Cluster: name, Status: status.Progressing, Applied: aborted.Add(-time.Duration(9-i) * time.Minute)})
	}
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		stop     bool
		before   []status.Report
		opts     rollout.Options
		want     string
	}{
		{"R44 the latest first", all(""), false, nil, rollout.Options{}, "starting d, c, b, a"},
		{"R44 an order of the caller", all(""), false, nil, rollout.Options{Order: strings.Compare}, "starting a, b, c, d"},
		{"R44 the last group first", perGroup(config("", "", 0)), false, nil, rollout.Options{}, "starting d, c; 2 clusters blocked: waiting for group 1: 0 of 2 done; c, d are starting"},
		{"R44 mandatory groups last", perGroup(config("", "", 0), "1"), false, nil, rollout.Options{}, "starting b, a; 2 clusters blocked: waiting for group 0: 0 of 2 done; a, b are starting"},
		{"R45 concurrency", progressive("1", config("", "", 0)), false, nil, rollout.Options{}, "starting d; 3 more clusters blocked: the concurrency limit is reached (1 of 1 in flight or starting): d is starting"},
		{"R45 a pause", all(""), false, nil, rollout.Options{Paused: true}, "4 clusters blocked: the rollout is paused"},
		{"R45 a gate", perGroup(config("", "", 0)), false, nil, rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 1}, Gate: rollout.Gate{}}}}, "2 clusters blocked: waiting for group 1: 0 of 2 done; 2 clusters blocked: the gate before group 1 is closed"},
		{"R45 a failure", progressive("1", config("", "", 0)), false, []status.Report{{Cluster: "d", Status: status.Failed, Applied: now}}, rollout.Options{}, "starting c; in flight d; 2 more clusters blocked: the concurrency limit is reached (1 of 1 in flight or starting): c is starting"},
		{
			"R45 a failure where the budget counts", progressive("1", config("", "", 0)), true, []status.Report{{Cluster: "d", Status: status.Failed, Applied: now}}, rollout.Options{},
			"in flight d; 3 clusters blocked: the rollout is stopped: d failed, maxFailures is 0; the rollout continues once d is no longer failed or timed out",
		},
		{
			"R44 mandatory groups tolerate", perGroup(config("", "", 0), "0", "1"), false,
			[]status.Report{{Cluster: "c", Status: status.Succeeded, Applied: now}, {Cluster: "d", Status: status.TimeOut, Applied: now}}, rollout.Options{}, "starting b, a",
		},
		{"R35 a ramp begins anew", all(""), false, []status.Report{{Cluster: "d", Status: status.Succeeded, Applied: now.Add(-time.Hour)}}, rollout.Options{Ramp: ptr(1)}, "starting c; 2 more clusters blocked: the ramp limit is reached (1 of 1 in flight or starting; it rises once more than 1 is done): c is starting"},
		{"R36 a bound on starts", all(""), false, []status.Report{{Cluster: "d", Status: status.Succeeded, Applied: now.Add(-time.Minute)}}, rollout.Options{MaxStarts: &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: time.Hour}}}, "starting c; 2 more clusters blocked: the start limit is reached (maxStarts: 2 within 1h0m0s): 1 is starting, the next starts at 2026-11-21T12:59:00Z; recheck after 59m0s"},
		{"R45 percentages of all", progressive("50%", config("", "", 0)), false, []status.Report{{Cluster: "d", Status: status.Succeeded, Applied: now.Add(-time.Hour)}}, rollout.Options{}, "starting c, b; 1 more cluster blocked: the concurrency limit is reached (2 of 2 in flight or starting): b, c are starting"},
	} {
		f := slices.Clone(failed)
		for _, r := range test.before {
			f = slices.DeleteFunc(f, func(o status.Report) bool { return o.Cluster == r.Cluster })
		}
		r, err := rollout.Revert(test.strategy, groups, rollout.Abort{Time: aborted, Failed: f, Before: append(before, test.before...), StopAtBreach: test.stop}, now, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		if r.String() != test.want {
			t.Errorf("%s:\n%v, want\n%s", test.why, r, test.want)
		}
	}
}

// R44: all at once, a failed cluster goes first; group by group, a failed cluster in the first group goes with that, which is the last.
func TestWhenFailedClustersRollBack(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").group("", "c").read()
	abort := rollout.Abort{Time: aborted, Failed: []status.Report{
		{Cluster: "a", Status: status.Succeeded, Applied: aborted.Add(-time.Hour)},
		{Cluster: "b", Status: status.Failed, Applied: aborted.Add(-time.Hour)},
		{Cluster: "c", Status: status.Succeeded, Applied: aborted.Add(-time.Minute)},
	}}
	for _, test := range []struct {
		strategy clusterv1alpha1.RolloutStrategy
		want     string
	}{
		{all("10m"), "starting b, c, a"},
		{perGroup(config("", "10m", 0)), "starting c; 2 clusters blocked: waiting for group 1: 0 of 1 done; c is starting"},
	} {
		r, err := rollout.Revert(test.strategy, groups, abort, now, rollout.Options{})
		if err != nil || r.String() != test.want {
			t.Errorf("R44 %s: %v %v, want %s", test.strategy.Type, r, err, test.want)
		}
	}
}

// R44, R39: a cluster which rolled back, failed and is tried again comes after all that have the failed version.
func TestAClusterThatIsTriedAgainRollsBackLast(t *testing.T) {
	groups := newFleet(t).group("", "a", "b", "c").read()
	r, err := rollout.Revert(progressive("2", config("", "", 0)), groups, rollout.Abort{
		Time:   aborted,
		Before: []status.Report{{Cluster: "a", Status: status.Failed, Applied: aborted.Add(time.Minute)}},
		Failed: []status.Report{{Cluster: "b", Status: status.Succeeded, Applied: aborted.Add(-time.Hour)}, {Cluster: "c", Status: status.Succeeded}},
	}, now, rollout.Options{Attempt: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Next.Start; len(got) != 2 || got[0].Name != "c" || got[1].Name != "b" {
		t.Errorf("starts %v, want c and b", got)
	}
}

// R32 goes on where the rollout turns round: a cluster that is not selected stays for a while.
func TestRemoveAfterContinuesInARollback(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	reports := []status.Report{{Cluster: "gone", Status: status.Failed, Applied: now.Add(-time.Hour)}}
	last, err := rollout.Plan(all(""), groups, reports, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}})
	if err != nil || !slices.Equal(last.PendingRemoval, []string{"gone"}) {
		t.Fatal(last, err)
	}
	abort := rollout.Abort{Time: now, Failed: reports, Before: []status.Report{{Cluster: "gone", Status: status.ToApply}}}
	for _, test := range []struct {
		after time.Duration
		want  string
	}{{30 * time.Second, "removing the workload later from gone; recheck after 30s"}, {time.Minute, "removing the workload from gone"}} {
		r, err := rollout.Revert(all(""), groups, abort, now.Add(test.after), rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
		if err != nil || r.String() != test.want {
			t.Errorf("R32 after %v: %v %v, want %s", test.after, r, err, test.want)
		}
	}
}

// R32: a result of Revert says as well what was deselected and when, also for the plan that takes over from it.
func TestRevertsResultIsAPreviousOne(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	a := status.Report{Cluster: "a", Status: status.Succeeded, Applied: now.Add(-time.Hour)}
	gone := status.Report{Cluster: "gone", Status: status.ToApply}
	abort := rollout.Abort{Time: now, Before: []status.Report{a, gone}}
	var last *rollout.Result
	for _, test := range []struct {
		after  time.Duration
		revert bool
		want   string
	}{
		{0, true, "removing the workload later from gone; recheck after 1m0s"},
		{20 * time.Second, true, "removing the workload later from gone; recheck after 40s"},
		{40 * time.Second, false, "removing the workload later from gone; recheck after 20s"},
		{50 * time.Second, true, "removing the workload later from gone; recheck after 10s"},
		{time.Minute, false, "removing the workload from gone"},
	} {
		at, opt := now.Add(test.after), rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last}
		var err error
		if test.revert {
			last, err = rollout.Revert(all(""), groups, abort, at, opt)
		} else {
			last, err = rollout.Plan(all(""), groups, abort.Before, at, opt)
		}
		if err != nil || last.String() != test.want {
			t.Fatalf("R32 after %v: %v %v, want %s", test.after, last, err, test.want)
		}
	}
}

// R4, S10, S11: without a deadline one failure, also of the baseline, keeps a rollout from its end, and one silent cluster
// the rollback; with it both end.
func TestWithoutADeadlineNothingEnds(t *testing.T) {
	groups := newFleet(t).group("", "a", "b").read()
	ago := func(hours int) time.Time { return now.Add(-time.Duration(hours) * time.Hour) }
	reports := []status.Report{
		{Cluster: "a", Status: status.Succeeded, Applied: ago(9), LastTransitionTime: ago(9)},
		{Cluster: "b", Status: status.Failed, Applied: ago(9), LastTransitionTime: ago(9)},
	}
	abort := rollout.Abort{
		Time: ago(9), Failed: []status.Report{{Cluster: "a", Status: status.ToApply}},
		Before: []status.Report{{Cluster: "a", Status: status.ToApply, Applied: ago(8)}},
	}
	for deadline, ends := range map[string]bool{"": false, "10m": true} {
		plan, err := rollout.Plan(all(deadline), groups, reports, now, rollout.Options{FailedBefore: []string{"b"}})
		if err != nil {
			t.Fatal(err)
		}
		first := rollback.Revisions{UpdateRevision: "v1"}
		first.Complete(plan.Summary())
		first.Want("v2")
		if first.Abort(now) != ends {
			t.Errorf("S10: deadline %q: %+v", deadline, first)
		}
		back, err := rollout.Revert(all(deadline), groups, abort, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if is := back.Summary().Aggregate() != status.Progressing; is != ends {
			t.Errorf("S11: deadline %q: the rollback ended %v, want %v", deadline, is, ends)
		}
	}
}

// A rollback of a large fleet takes as many allocations as in a small one.
func TestRevertTakesFewAllocationsAtAnySize(t *testing.T) {
	var least float64
	for _, n := range []int{100, 10_000} {
		groups, abort := goingBack(t, n)
		allocs := fewestAllocs(t, func() {
			if _, err := rollout.Revert(progressive("10%", config("", "10m", 0)), groups, abort, now, rollout.Options{}); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 50 || least > 0 && allocs > least {
			t.Errorf("%d clusters: %v allocations, %v for fewer", n, allocs, least)
		}
		least = allocs
	}
}

// goingBack is a fleet where a quarter never had the failed version, half have it and a quarter rolled back.
func goingBack(tb testing.TB, n int) (*grouping.Groups, rollout.Abort) {
	f, _ := halfway(tb, n)
	groups := f.read()
	abort := rollout.Abort{Time: aborted}
	for i := range n {
		cluster := groups.Cluster(i)
		has := status.Report{Cluster: cluster, Status: status.Progressing, Applied: aborted.Add(-time.Duration(i*7919%n) * time.Second)}
		lacks := status.Report{Cluster: cluster, Status: status.ToApply}
		switch i % 4 {
		case 0:
			abort.Failed, abort.Before = append(abort.Failed, lacks), append(abort.Before, has)
		case 1:
			has.Applied = now
			abort.Failed, abort.Before = append(abort.Failed, lacks), append(abort.Before, has)
		default:
			abort.Failed, abort.Before = append(abort.Failed, has), append(abort.Before, lacks)
		}
	}
	return groups, abort
}

func BenchmarkRevert(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		groups, abort := goingBack(b, n)
		for name, strategy := range map[string]clusterv1alpha1.RolloutStrategy{"All": all("10m"), "Progressive": progressive("10%", config("", "10m", 0))} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := rollout.Revert(strategy, groups, abort, now, rollout.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
