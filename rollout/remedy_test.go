// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R29, R38: the attempt to want is one after those that breach the budget, whatever attempt others are in.
func TestTryingAgainIsTheAttemptAfterThoseThatBreach(t *testing.T) {
	reports := []status.Report{
		{Cluster: "a", Status: status.TimeOut, Attempt: 5}, {Cluster: "b", Status: status.Succeeded, Attempt: 4}, {Cluster: "c", Status: status.TimeOut, Attempt: 3},
		{Cluster: "d", Status: status.TimeOut, Attempt: 2},
	}
	r, err := rollout.Plan(perGroup(config("", "", 0)), fleetOf(t, "a b d e", "c").read(), reports, now, rollout.Options{FailedBefore: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Explain("e").String(), "retry the failed clusters: raise the rollout's attempt number to 3"; !strings.Contains(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// R29, R43: a breach stops a rollback where the caller asks for it. What can be done then is not to roll back once more.
func TestABreachOfARollbackIsNotEndedByRollingBack(t *testing.T) {
	strategy := progressive("1", config("", "10m", 0))
	abort := rollout.Abort{
		Time:         now.Add(-time.Hour),
		Failed:       []status.Report{{Cluster: "b", Status: status.Succeeded, LastTransitionTime: now.Add(-2 * time.Hour)}},
		Before:       []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Minute), Attempt: 2}},
		StopAtBreach: true,
	}
	revert := func(opts rollout.Options) *rollout.Result {
		r, err := rollout.Revert(strategy, newFleet(t).group("", "a", "b").read(), abort, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const want = "the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; to do, one of: (1) fix the workload on a; (2) retry the failed clusters: raise the rollout's attempt number to 3; (3) raise maxFailures to 1"
	if got := revert(rollout.Options{}).Explain("b").String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if r := revert(rollout.Options{Attempt: 3}); r.Breach != nil || len(r.Start) != 1 || r.Start[0].Name != "b" {
		t.Errorf("after the advice %v", r)
	}
}

// R29, R57: no sentence advises fixing a cluster whose failure only the record has. A plan and the planner say so.
func TestAClusterOnlyOnRecordCannotBeFixed(t *testing.T) {
	entry := func(cluster string, as status.RolloutStatus) status.DeselectedCluster {
		return status.DeselectedCluster{Report: status.Report{Cluster: cluster, Status: as, Applied: now.Add(-time.Hour), LastTransitionTime: now.Add(-time.Minute)}}
	}
	failed := func(cluster string) status.Report {
		return status.Report{Cluster: cluster, Status: status.Failed, Applied: now.Add(-time.Hour), LastTransitionTime: now.Add(-time.Minute)}
	}
	for name, test := range map[string]struct {
		budget   string
		deadline string
		record   []status.DeselectedCluster
		reports  []status.Report
		want     string
		shares   *rollout.Shares
	}{
		"alone": {"0", "10m", []status.DeselectedCluster{entry("a", status.Failed)}, nil,
			"retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 1, or roll back to the previous version, or add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"its object has another version": {"0", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{{Cluster: "a", Status: status.ToApply}},
			"retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 1, or roll back to the previous version, or add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"its object is back": {"0", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{{Cluster: "a", Status: status.ToApply, Applied: now}},
			"fix the workload on a, or retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 1, or roll back to the previous version", nil},
		"with another, both count": {"0", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{failed("b")},
			"retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 2, or roll back to the previous version, or add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"with another, which is enough": {"1", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{failed("b")},
			"fix the workload on b, or retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 2, or roll back to the previous version, or add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"it keeps a slot":          {"1", "None", []status.DeselectedCluster{entry("a", status.Failed)}, nil, "set a progressDeadline, or add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"it keeps a slot till ten": {"1", "10m", []status.DeselectedCluster{entry("a", status.Failed)}, nil, "add a to the ignored clusters (no longer counted as in flight, failed or done)", nil},
		"there is no right to fail": {"5", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{failed("b")},
			"retry the failed clusters: raise the rollout's attempt number to 1, or raise this hub's share of maxFailures to at least 2, or add a to the ignored clusters (no longer counted as in flight, failed or done)", &rollout.Shares{Concurrency: 3}},
		"there is one right to fail": {"5", "10m", []status.DeselectedCluster{entry("a", status.TimeOut)}, []status.Report{failed("b")},
			"fix the workload on b, or retry the failed clusters: raise the rollout's attempt number to 1, or raise this hub's share of maxFailures to at least 2, or add a to the ignored clusters (no longer counted as in flight, failed or done)", &rollout.Shares{Concurrency: 3, Failures: 1}},
		"it keeps a right to start": {"5", "None", []status.DeselectedCluster{entry("a", status.Failed)}, nil, "set a progressDeadline, or add a to the ignored clusters (no longer counted as in flight, failed or done)", &rollout.Shares{Concurrency: 1, Failures: 1}},
		"it left":                   {"0", "10m", []status.DeselectedCluster{entry("x", status.TimeOut)}, nil, "retry the failed clusters: raise the rollout's attempt number to 1, or raise maxFailures to 1, or roll back to the previous version, or add x to the ignored clusters (no longer counted as in flight, failed or done)", nil},
	} {
		strategy := progressive("1", config(test.budget, test.deadline, 0))
		groups := newFleet(t).group("", "a", "b", "c").read()
		opts := rollout.Options{Shares: test.shares, StoredRecord: &rollout.StoredRecord{Version: "2", Record: status.Record{Version: "2", Deselected: test.record}}}
		plan, err := rollout.Plan(strategy, groups, test.reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rollout.NewPlanner(strategy, groups, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Report(test.reports...); err != nil {
			t.Fatal(err)
		}
		for by, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(now)} {
			if got := ways(r.Explain("c").String()); got != test.want {
				t.Errorf("%s, %s: %s\nwant to do: %s", name, by, r.Explain("c"), test.want)
			}
			if want := "a failed at 2026-11-21T11:59:00Z, and counts as in flight until it is retried or ignored"; test.deadline == "None" && !strings.Contains(r.String(), want) {
				t.Errorf("%s, %s: %s, want %s", name, by, r, want)
			}
		}
	}
}

// R29: a wait that time ends says whether the rollout stops by then.
func TestAWaitSaysWhenTimeOutsStopTheRollout(t *testing.T) {
	running := func(name string, since time.Duration) status.Report {
		return status.Report{Cluster: name, Status: status.Progressing, LastTransitionTime: now.Add(-since)}
	}
	soaks := status.Report{Cluster: "s", Status: status.Succeeded, LastTransitionTime: now}
	stops := now.Add(time.Minute)
	for _, c := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		groups   string
		reports  []status.Report
		opts     rollout.Options
		want     time.Time
	}{
		{"the only slot, and no failure is tolerated", progressive("1", config("0", "10m", 0)), "a z", []status.Report{running("a", 9*time.Minute)}, rollout.Options{}, stops},
		{"a failure is tolerated", progressive("1", config("1", "10m", 0)), "a z", []status.Report{running("a", 9*time.Minute)}, rollout.Options{}, time.Time{}},
		{"one is, two are not, and the second is in time", progressive("1", config("1", "10m", 0)), "a b z",
			[]status.Report{running("a", 9*time.Minute), running("b", 10*time.Minute-1)}, rollout.Options{}, stops},
		{"one has failed already", progressive("1", config("1", "10m", 0)), "a b z", []status.Report{running("a", 9*time.Minute), {Cluster: "b", Status: status.TimeOut}}, rollout.Options{}, stops},
		{"a soak ends before", progressive("2", config("0", "10m", 30*time.Second)), "a s z", []status.Report{running("a", 9*time.Minute), soaks}, rollout.Options{}, time.Time{}},
		{"a soak ends later", progressive("2", config("0", "10m", 90*time.Second)), "a s z", []status.Report{running("a", 9*time.Minute), soaks}, rollout.Options{}, stops},
		{"it failed before the rollout", progressive("1", config("0", "10m", 0)), "a z", []status.Report{running("a", 9*time.Minute)},
			rollout.Options{FailedBefore: []string{"a"}}, time.Time{}},
		{"it is tried again", progressive("1", config("0", "10m", 0)), "a s z", []status.Report{running("a", 9*time.Minute), soaks},
			rollout.Options{Attempt: 1, Gates: []rollout.ClosedGate{{Group: grouping.Key{}, Gate: rollout.Gate{Opens: now.Add(time.Hour)}}}}, time.Time{}},
		{"a gate opens after", progressive("2", config("0", "10m", 0)), "a z", []status.Report{running("a", 9*time.Minute)},
			rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{}, Gate: rollout.Gate{Opens: now.Add(time.Hour)}}}}, stops},
	} {
		r, err := rollout.Plan(c.strategy, fleetOf(t, c.groups).read(), c.reports, now, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		e := r.Explain("z")
		i := slices.IndexFunc(e[0].Remedies, func(r rollout.Remedy) bool { return r.Type == rollout.RemedyWait })
		if i < 0 || !e[0].Remedies[i].Stops.Equal(c.want) {
			t.Errorf("%s: %v: %v, want a wait that stops at %v", c.why, e, e[0].Remedies, c.want)
		}
		if says := strings.Contains(e.String(), "timeouts stop the rollout at 2026"); says != !c.want.IsZero() {
			t.Errorf("%s: %v", c.why, e)
		}
	}
}

// R29: the remedies say of how many clusters a report has to tell the time, and how many have to be done. No more is to come from one
// that succeeded.
func TestARemedySaysHowManyItTakes(t *testing.T) {
	running := func(names ...string) (reports []status.Report) {
		for _, name := range names {
			reports = append(reports, status.Report{Cluster: name, Status: status.Progressing, LastTransitionTime: now})
		}
		return reports
	}
	undated := func(s status.RolloutStatus, names ...string) (reports []status.Report) {
		for _, name := range names {
			reports = append(reports, status.Report{Cluster: name, Status: s})
		}
		return reports
	}
	soak := func(strategy clusterv1alpha1.RolloutStrategy) clusterv1alpha1.RolloutStrategy {
		strategy.Progressive.MinSuccessTime = metav1.Duration{Duration: time.Minute}
		return strategy
	}
	one := soak(progressive("5", config("", "10m", 0)))
	two := soak(progressive("2", config("", "", 0)))
	ramp := rollout.Options{Ramp: ptr(1)}
	tolerant := soak(progressive("2", config("1", "", 0)))
	frees := rollout.Options{FailedFreesSlot: true}
	for _, c := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		opts     rollout.Options
		groups   []string
		reports  []status.Report
		want     string
	}{
		{"the only one", progressive("1", config("", "", 0)), rollout.Options{}, []string{"a z"}, running("a"), "wait until a is done, or set a progressDeadline"},
		{"any of two", progressive("2", config("", "", 0)), rollout.Options{}, []string{"a b z"}, running("a", "b"), "wait until at least 1 of a, b is done, or set a progressDeadline"},
		{"a whole group", perGroup(config("", "", 0)), rollout.Options{}, []string{"a b", "z"}, running("a", "b"), "wait until a, b are done, or set a progressDeadline"},
		{"one that succeeded is done, but for its time", two, rollout.Options{}, []string{"a b z"},
			append(running("a"), undated(status.Succeeded, "b")...), "wait until the status of b says when it succeeded, or wait until a is done"},
		{"the others are enough, and the time of one that succeeded is not", two, rollout.Options{}, []string{"a b c z"},
			append(running("a", "b"), undated(status.Succeeded, "c")...), "wait until a, b are done"},
		{"the others are not enough, nor is the time of one that succeeded", soak(progressive("1", config("", "", 0))), rollout.Options{}, []string{"a b z"},
			append(running("a"), undated(status.Succeeded, "b")...), "wait until the status of b says when it succeeded"},
		{"each that soaks gives back a slot of the ramp and adds one", one, ramp, []string{"a b c z"},
			undated(status.Succeeded, "a", "b", "c"), "wait until the status of at least 2 of a, b, c says when they succeeded"},
		{"it may be the time of the one that soaks that is reported last", one, ramp, []string{"a b c z"},
			append(undated(status.Progressing, "a", "b"), undated(status.Succeeded, "c")...), "wait until the status of a, b, c has a timestamp, or wait until a, b are done"},
		{"a failed one has no slot to give", tolerant, frees, []string{"a b c d z"},
			append(append(running("b", "c"), undated(status.Succeeded, "d")...), undated(status.Failed, "a")...), "wait until b, c are done"},
		{"nor one of the ramp", tolerant, merged(frees, rollout.Options{Ramp: ptr(2)}), []string{"a b c d z"},
			append(append(running("b", "c"), undated(status.Succeeded, "d")...), undated(status.Failed, "a")...), "wait until b, c are done"},
	} {
		r, err := rollout.Plan(c.strategy, fleetOf(t, c.groups...).read(), c.reports, now, c.opts)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, link := range r.Explain("z") {
			for _, remedy := range link.Remedies {
				got = append(got, remedy.String())
			}
		}
		if got := strings.Join(got, ", or "); got != c.want {
			t.Errorf("%s: to do is\n%s, want\n%s", c.why, got, c.want)
		}
	}
}

// R29, R49: objects go at once. A cluster was in flight when its object went, and its deadline has passed since. Nothing is there to mend, also
// before the record says that it timed out: it is tried again or ignored. A Planner says the same.
func TestWhatOnlyTheRecordHasCannotBeFixed(t *testing.T) {
	applied := now.Add(-time.Hour)
	for _, selected := range []bool{true, false} {
		members := map[grouping.Key][]string{{}: {"a", "b"}}
		if !selected {
			members = map[grouping.Key][]string{{}: {"b"}}
		}
		groups, err := grouping.FromNames(members)
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range []status.RolloutStatus{status.Progressing, status.ToApply, status.Validating, status.TimeOut} {
			record := status.Record{Version: "v", Deselected: []status.DeselectedCluster{{Report: status.Report{Cluster: "a", Status: stored, Applied: applied, LastTransitionTime: applied}}}}
			opts := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", AtOnce: true, Record: record}}
			strategy := progressive("1", config("0", "30m", 0))
			r, err := rollout.Plan(strategy, groups, nil, now, opts)
			if err != nil {
				t.Fatal(err)
			}
			var p rollout.Planner
			p.SetGroups(groups)
			if err := p.SetStrategy(strategy, opts); err != nil {
				t.Fatal(err)
			}
			for by, r := range map[string]*rollout.Result{"a plan": r, "the planner": p.Result(now)} {
				var types []rollout.RemedyType
				for _, l := range r.Explain("b") {
					for _, remedy := range l.Remedies {
						types = append(types, remedy.Type)
					}
				}
				if slices.Contains(types, rollout.RemedyFix) || !slices.Contains(types, rollout.RemedyTryAgain) || !slices.Contains(types, rollout.RemedyIgnore) {
					t.Errorf("selected %v, stored as %s: %s advises %v: %v", selected, stored, by, types, r.Explain("b"))
				}
			}
		}
	}
}

// R29: no sentence advises fixing a cluster that timed out because nothing says when it is done: rules have to say so, or Available has to count.
// A plan and the planner say so, also where the record tells, and where a share of failures is missing.
func TestAClusterThatIsNeverDoneCannotBeFixed(t *testing.T) {
	const rules, others = "add conditionRules to the template that tell when the workload is done, or have the controller count the workload as done when its condition Available is True (AvailableSucceeds)", "retry the failed clusters: raise the rollout's attempt number to 1"
	report := func(cluster string, as status.RolloutStatus, reason status.ReportReason, since time.Duration) status.Report {
		return status.Report{Cluster: cluster, Status: as, Reason: reason, Applied: now.Add(-2 * time.Hour), LastTransitionTime: now.Add(-since)}
	}
	untracked := func(cluster string) status.Report {
		return report(cluster, status.Progressing, status.ReportUntracked, time.Hour)
	}
	rest := func(failures string) string {
		return others + ", or raise maxFailures to " + failures + ", or roll back to the previous version"
	}
	for name, test := range map[string]struct {
		budget  string
		record  []status.DeselectedCluster
		reports []status.Report
		shares  *rollout.Shares
		want    string
	}{
		"alone":                             {"0", nil, []status.Report{untracked("a")}, nil, rules + ", or " + rest("1")},
		"with one that failed":              {"0", nil, []status.Report{untracked("a"), report("b", status.Failed, "", time.Minute)}, nil, rules + ", or " + rest("2")},
		"with one that failed, not too bad": {"1", nil, []status.Report{untracked("a"), report("b", status.Failed, "", time.Minute)}, nil, "fix the workload on b, or " + rules + ", or " + rest("2")},
		"one that timed out otherwise":      {"0", nil, []status.Report{report("a", status.Progressing, "", time.Hour)}, nil, "fix the workload on a, or " + rest("1")},
		"it was reported twice":             {"0", nil, []status.Report{untracked("a"), report("a", status.Failed, "", time.Minute)}, nil, "fix the workload on a, or " + rest("1")},
		"it left, and its object is there": {"0", []status.DeselectedCluster{{Report: untracked("x")}}, []status.Report{untracked("x")}, nil,
			rules + ", or " + rest("1") + ", or add x to the ignored clusters (no longer counted as in flight, failed or done)"},
		"only the record tells of it":  {"0", []status.DeselectedCluster{{Report: untracked("x")}}, nil, nil, rest("1") + ", or add x to the ignored clusters (no longer counted as in flight, failed or done)"}, // where objects go at once
		"there is no right to fail":    {"5", nil, []status.Report{untracked("a")}, &rollout.Shares{Concurrency: 3}, rules + ", or " + others + ", or raise this hub's share of maxFailures to at least 1"},
		"there is a right for another": {"5", nil, []status.Report{untracked("a"), report("b", status.Failed, "", time.Minute)}, &rollout.Shares{Concurrency: 3, Failures: 1}, "fix the workload on b, or " + rules + ", or " + others + ", or raise this hub's share of maxFailures to at least 2"},
	} {
		strategy := progressive("1", config(test.budget, "10m", 0))
		groups := newFleet(t).group("", "a", "b", "c").read()
		opts := rollout.Options{Shares: test.shares, StoredRecord: &rollout.StoredRecord{Version: "2", Record: status.Record{Version: "2", Deselected: test.record}, AtOnce: len(test.reports) == 0}}
		plan, err := rollout.Plan(strategy, groups, test.reports, now, opts)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rollout.NewPlanner(strategy, groups, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Report(test.reports...); err != nil {
			t.Fatal(err)
		}
		for of, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(now)} {
			if got := ways(r.Explain("c").String()); got != test.want {
				t.Errorf("%s, %s: %s\nwant to do: %s", name, of, r.Explain("c"), test.want)
			}
		}
	}
}

// ways gives the ways to do that an explanation ends with, joined by "or".
func ways(explained string) string {
	_, todo, _ := strings.Cut(explained, "; to do")
	todo = strings.TrimPrefix(strings.TrimPrefix(todo, ": "), ", one of: (1) ")
	return regexp.MustCompile(`; \(\d\) `).ReplaceAllString(todo, ", or ")
}
