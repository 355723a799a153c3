// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// S9: each of the words for what became of one cluster, from every kind of report to every other.
func TestChangesOfOneCluster(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	all := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{
		RolloutConfig: clusterv1alpha1.RolloutConfig{ProgressDeadline: "30m"},
	}}
	plan := func(report func(string) *status.Report) *rollout.Result {
		var reports []status.Report
		if r := report("a"); r != nil {
			reports = append(reports, *r)
		}
		r, err := rollout.Plan(all, groups, reports, atTen, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	// The kinds of kindsOfReports, by what they come to.
	words := []string{"waits", "waits", "flies", "flies", "flies", "timed out", "failed", "succeeded", "succeeded", "timed out", "flies", "flies", "flies"}
	for was, before := range kindsOfReports {
		for is, after := range kindsOfReports {
			var want rollout.Changes
			a := []string{"a"}
			from, to := words[was], words[is]
			failure := map[string]bool{"failed": true, "timed out": true}
			if from == "waits" && to != "waits" {
				want.Started = a
			}
			if to == "succeeded" && from != "succeeded" {
				want.Succeeded = a
			}
			if to == "failed" && !failure[from] {
				want.Failed = a
			}
			if to == "timed out" && from != "timed out" {
				want.TimedOut = a
			}
			if failure[from] && !failure[to] && to != "waits" {
				want.Recovered = a
			}
			got := plan(after).Changes(plan(before))
			got.Warned = nil // which the next test looks at
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("from kind %d (%s) to %d (%s):\n%s", was, from, is, to, diff)
			}
			if (got.String() == "") != cmp.Equal(got, rollout.Changes{}) {
				t.Errorf("%+v: String is %q", got, got)
			}
		}
	}
}

// S9: over a rollout, each is told once: what comes and goes, a breach and its end, a warning; after a restart nothing is
// told again.
func TestChangesTellEachOnce(t *testing.T) {
	groups := func(names ...string) *grouping.Groups {
		g, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}
	plan := func(g *grouping.Groups, reports ...status.Report) *rollout.Result {
		r, err := rollout.Plan(strategy, g, reports, atTen, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	since := atTen.Add(-time.Minute)
	of := func(cluster string, s status.RolloutStatus) status.Report {
		return status.Report{Cluster: cluster, Status: s, LastTransitionTime: since}
	}
	first := plan(groups("a", "b"), of("a", status.Progressing), of("b", status.Progressing))
	failed := plan(groups("a", "b", "d"), of("a", status.Succeeded), of("b", status.Failed), of("d", status.ToApply), of("d", status.ToApply))
	mended := plan(groups("b", "c", "d"), of("b", status.Succeeded), of("c", status.Progressing))
	for _, test := range []struct {
		why           string
		previous, now *rollout.Result
		want          string
	}{
		{"a controller that starts anew has told already", nil, failed, ""},
		{"nothing happened", first, plan(groups("a", "b"), of("a", status.Progressing), of("b", status.Progressing)), ""},
		{"a result has no news of itself", failed, failed, ""},
		{"since the beginning all is new", &rollout.Result{}, first, "a, b started"},
		{"a breach and a warning", first, failed, "a succeeded; b failed; " +
			"the rollout is stopped: b failed, maxFailures is 0; the rollout continues once b is no longer failed or timed out; the status of d is reported more than once; of several reports, the one that delays the rollout the longest is used"},
		{"told already", failed, plan(groups("a", "b", "d"), of("a", status.Succeeded), of("b", status.Failed), of("d", status.ToApply), of("d", status.ToApply)), ""},
		{"a leaves, c joins, b recovers", failed, mended, "c started; b succeeded; b recovered; maxFailures is not exceeded any more, and the rollout continues"},
	} {
		if got := test.now.Changes(test.previous).String(); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// S9: from every kind of report to every other, nothing is told of a cluster that was not selected in between and kept its
// workload, whatever kept it. One that was removed, or that was never reported, waited. Of one that counted (R46) as much is
// told as if it had been selected.
func TestChangesOfAClusterThatIsBack(t *testing.T) {
	var strategy clusterv1alpha1.RolloutStrategy
	plan := func(g *grouping.Groups, report func(string) *status.Report, opts rollout.Options) *rollout.Result {
		var reports []status.Report
		if r := report("b"); r != nil {
			reports = append(reports, *r)
		}
		r, err := rollout.Plan(strategy, g, reports, atTen, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	without, with := selecting(t, false, "a", "c"), selecting(t, false, "a", "b", "c")
	for _, test := range []struct {
		why    string
		groups *grouping.Groups
		opts   rollout.Options
		kept   bool
	}{
		{"it is removed", without, rollout.Options{}, false},
		{"it leaves", without, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}}, true},
		{"the groups are incomplete", selecting(t, true, "a", "c"), rollout.Options{}, true},
		{"its removal is withheld", without, rollout.Options{MaxRemoved: ptr(intstr.FromInt32(0))}, true},
	} {
		for was, before := range kindsOfReports {
			previous := plan(test.groups, before, test.opts)
			for is, after := range kindsOfReports {
				want := plan(with, after, rollout.Options{}).Changes(plan(without, func(string) *status.Report { return nil }, rollout.Options{}))
				if len(previous.Deselected) > 0 { // R46: the result knows how it stood
					want = plan(with, after, rollout.Options{}).Changes(plan(with, before, rollout.Options{}))
				} else if test.kept && before("b") != nil {
					want = rollout.Changes{}
				}
				got := plan(with, after, rollout.Options{}).Changes(previous)
				want.Warned, got.Warned = nil, nil
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: from kind %d to %d:\n%s", test.why, was, is, diff)
				}
			}
		}
	}
}

// S9: where the version changes, a start is told only with a result from before the first write of the new one.
func TestChangesOverAVersion(t *testing.T) {
	var strategy clusterv1alpha1.RolloutStrategy
	for _, between := range []bool{true, false} {
		p, err := rollout.NewPlanner(strategy, selecting(t, false, "a"), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		report := func(r status.Report) {
			if err := p.Report(r); err != nil {
				t.Fatal(err)
			}
		}
		report(status.Report{Cluster: "a", Status: status.Succeeded, Applied: atTen.Add(-time.Hour)})
		last := p.Result(atTen)
		p.Forget("a")
		report(status.Report{Cluster: "a", Status: status.ToApply})
		want := ""
		if between {
			base := p.Result(atTen)
			if got := base.Changes(last); got.String() != "" {
				t.Errorf("a new version is no news by itself: %v", got)
			}
			last, want = base, "a started"
		}
		for _, c := range p.Next(atTen).Start {
			p.Applied(c.Name, atTen)
		}
		if got := p.Result(atTen).Changes(last).String(); got != want {
			t.Errorf("with a result between: %v; %q, want %q", between, got, want)
		}
	}
}

// S9, R43: where a plan takes over from the rollback, a cluster that never left the version before has not succeeded, but one
// that rolls back and succeeds has.
func TestChangesOmitClustersWithoutTheFailedVersion(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	var strategy clusterv1alpha1.RolloutStrategy
	hour := func(n int) time.Time { return atTen.Add(time.Duration(n-10) * time.Hour) }
	at := func(cluster string, s status.RolloutStatus, applied time.Time) status.Report {
		return status.Report{Cluster: cluster, Status: s, Applied: applied, LastTransitionTime: applied}
	}
	before := func(a status.RolloutStatus) []status.Report {
		return []status.Report{at("a", a, hour(9)), at("b", status.Succeeded, hour(1)), at("c", status.Failed, hour(1))}
	}
	revert, err := rollout.Revert(strategy, groups, rollout.Abort{Time: hour(8), Before: before(status.Progressing)}, atTen, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.Plan(strategy, groups, before(status.Succeeded), atTen, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := plan.Changes(revert).String(), "a succeeded; c failed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := revert.Changes(plan).String(); got != "" {
		t.Errorf("%q, want nothing: c has not recovered", got)
	}
}

// S9, R43: a breach that the rollback takes out of the way is not Resumed. One that is tried again is, and so is a rollback that was
// stopped itself.
func TestChangesTellOfWhatGoesOn(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	var strategy clusterv1alpha1.RolloutStrategy
	strategy.Type = clusterv1alpha1.Progressive
	failed := []status.Report{{Cluster: "a", Status: status.Failed, Applied: atTen.Add(-time.Hour)}}
	plan := func(opts rollout.Options) *rollout.Result {
		r, err := rollout.Plan(strategy, groups, failed, atTen, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	revert := func(of []status.Report, opts rollout.Options) *rollout.Result {
		r, err := rollout.Revert(strategy, groups, rollout.Abort{Time: atTen.Add(-2 * time.Hour), Before: of, StopAtBreach: true}, atTen, opts)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, test := range []struct {
		why           string
		previous, now *rollout.Result
		want          bool
	}{
		{"what failed is tried again", plan(rollout.Options{}), plan(rollout.Options{Attempt: 1}), true},
		{"the rollback begins", plan(rollout.Options{}), revert(nil, rollout.Options{}), false},
		{"the rollback goes on", revert(failed, rollout.Options{}), revert(failed, rollout.Options{Attempt: 1}), true},
		{"a rollout follows in a rollback that was stopped", revert(failed, rollout.Options{}), plan(rollout.Options{Attempt: 1}), true},
		{"the rollback is stopped", plan(rollout.Options{}), revert(failed, rollout.Options{}), false},
		{"nothing was rolled out, and nothing is", &rollout.Result{}, &rollout.Result{}, false},
		{"a result of nothing", plan(rollout.Options{}), &rollout.Result{}, true},
	} {
		if got := test.now.Changes(test.previous); got.Resumed != test.want {
			t.Errorf("%s: %q", test.why, got)
		}
	}
}

func ExampleResult_Changes() {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c"}})
	if err != nil {
		panic(err)
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	plan := func(reports ...status.Report) *rollout.Result {
		result, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{})
		if err != nil {
			panic(err)
		}
		return result
	}
	at := func(cluster string, s status.RolloutStatus) status.Report {
		return status.Report{Cluster: cluster, Status: s, LastTransitionTime: now.Add(-time.Minute)}
	}

	// A controller keeps the result of its last reconcile. It makes an event of each change, and counts.
	last := plan(at("a", status.Progressing), at("b", status.Progressing))
	result := plan(at("a", status.Succeeded), at("b", status.Failed), at("c", status.Progressing))
	changes := result.Changes(last)
	fmt.Println(changes)
	fmt.Println("failures_total +", len(changes.Failed))
	// Output:
	// c started; a succeeded; b failed; the rollout is stopped: b failed, maxFailures is 0; the rollout continues once b is no longer failed or timed out
	// failures_total + 1
}

// S9: changes repeat what the reports of clusters say that failed or timed out, in quotes and as far as there is room. A message that
// changes by itself is no change, and no summary has it.
func TestChangesSayWhyClustersFailed(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b", "c", "d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	strategy := perGroup(config("", "30m", 0))
	plan := func(reports ...status.Report) *rollout.Result {
		r, err := rollout.Plan(strategy, groups, reports, atTen, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	says := func(cluster string, is status.RolloutStatus, message string) status.Report {
		return status.Report{Cluster: cluster, Status: is, LastTransitionTime: atTen, Message: message}
	}
	none := plan()
	for _, test := range []struct {
		why     string
		reports []status.Report
		want    string
	}{
		{"a failure", []status.Report{says("b", status.Failed, "no image")}, `b started; b failed; the rollout is stopped: b failed in group 0, maxFailures is 0; the rollout continues once b is no longer failed or timed out; b: "no image"`},
		{"a deadline", []status.Report{says("c", status.TimeOut, "a\n\x1b[31m")}, `c started; c timed out; the rollout is stopped: c failed in group 0, maxFailures is 0; the rollout continues once c is no longer failed or timed out; c: "a\n\x1b[31m"`},
		{"what others say is not told", []status.Report{says("a", status.Progressing, "1 of 3")}, "a started"},
		{"too long for a second", []status.Report{says("a", status.Failed, strings.Repeat("x", 300)), says("b", status.Failed, strings.Repeat("\x00", 300))},
			`a, b started; a, b failed; the rollout is stopped: a, b failed in group 0, maxFailures is 0; the rollout continues once none of these is failed or timed out; a: "` + strings.Repeat("x", 200) + `…"`},
	} {
		if got := plan(test.reports...).Changes(none).String(); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.why, got, test.want)
		}
	}
	before, after := plan(says("b", status.Failed, "no image"), says("a", status.Progressing, "1")), plan(says("b", status.Failed, "no disk"), says("a", status.Progressing, "2"))
	if c := after.Changes(before); !cmp.Equal(c, rollout.Changes{}) {
		t.Errorf("messages that change: %v", c)
	}
	if diff := cmp.Diff(before.Summary(), after.Summary()); diff != "" {
		t.Errorf("a summary changes with a message:\n%s", diff)
	}
}
