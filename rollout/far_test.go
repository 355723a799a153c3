// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// R29: what is said of a cluster that holds others up has the time of its report, however far away that is, and ends when its
// deadline or its soak does.
func TestBlockersSaySinceWhenTheirReportsDo(t *testing.T) {
	holds(t, func(_ fataler, p trial) string {
		blockers := p.result.Blockers()
		for _, m := range p.members {
			for _, link := range p.result.Explain(m.name) {
				blockers = append(blockers, link.Blockers...)
			}
		}
		for _, b := range blockers {
			r, n := r1Merged(p.reports, b.Name)
			_, since := r27(r)
			if b.Starting || n == 0 || b.Since.IsZero() {
				continue
			}
			if !b.Since.Equal(since) {
				return fmt.Sprintf("%s is said to be so since %v, and reported since %v", b.Name, b.Since, since)
			}
			until := b.Until
			if !b.Again.IsZero() {
				until = b.Again
			}
			s := p.result.Schedule
			soaks := b.Status == status.Succeeded && until.Equal(since.Add(s.MinSuccessTime))
			if !until.IsZero() && !soaks && (s.ProgressDeadline == nil || !until.Equal(since.Add(*s.ProgressDeadline))) {
				return fmt.Sprintf("%s is said to be so since %v until %v, with %v", b.Name, b.Since, until, s)
			}
		}
		return ""
	})
}

// R4, R5, R29, R36: times further away than a Duration can say.
func TestTimesThatAreFarAway(t *testing.T) {
	year := func(y int) time.Time { return time.Date(y, time.January, 1, 0, 0, 0, 0, time.UTC) }
	groups := newFleet(t).group("", "a", "b").read()
	for _, test := range []struct {
		why    string
		report status.Report
		opts   rollout.Options
		want   string
		says   string
	}{
		{
			"a deadline that passed when no cluster counted",
			status.Report{Status: status.Progressing, LastTransitionTime: year(2)}, rollout.Options{},
			"timed out a; the rollout is stopped: a failed, maxFailures is 0; the rollout continues once a is no longer failed or timed out; 0 of 2 clusters done, 1 failed, 1 not started",
			"",
		},
		{
			"a deadline in another age",
			status.Report{Status: status.Progressing, LastTransitionTime: year(2400)}, rollout.Options{},
			"0 of 2 clusters done, 1 in flight, 1 not started; recheck after 2562047h47m16.854775807s",
			"a is progressing and times out at 2400-01-01T00:10:00Z",
		},
		{
			"a soak in another age",
			status.Report{Status: status.Succeeded, LastTransitionTime: year(9999)}, rollout.Options{},
			"0 of 2 clusters done, 1 in flight, 1 not started; recheck after 2562047h47m16.854775807s",
			"a succeeded and has to stay so (minSuccessTime) until 9999-01-01T00:05:00Z",
		},
		{
			"it started long before it succeeded",
			status.Report{Status: status.Succeeded, LastTransitionTime: year(9999), Applied: now.Add(-time.Hour)},
			rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 2 * time.Hour}}},
			"0 of 2 clusters done, 1 in flight, 1 not started; recheck after 1h0m0s",
			"",
		},
	} {
		test.report.Cluster = "a"
		strategy := progressive("1", config("0", "10m", 5*time.Minute))
		if test.opts.MaxStarts != nil {
			strategy = progressive("2", config("0", "10m", 5*time.Minute))
		}
		planned, err := rollout.Plan(strategy, groups, []status.Report{test.report}, now, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		planner, err := rollout.NewPlanner(strategy, groups, test.opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := planner.Report(test.report); err != nil {
			t.Fatal(err)
		}
		planner.SetGroups(groups) // what was reported is kept
		for name, result := range map[string]*rollout.Result{"Plan": planned, "Planner": planner.Result(now)} {
			if got := result.Next.String(); got != test.want {
				t.Errorf("%s: %s: %s\nwant %s", test.why, name, got, test.want)
			}
			if blockers := result.Blockers(); test.says != "" && (len(blockers) != 1 || blockers[0].String() != test.says) {
				t.Errorf("%s: %s: %v, want %s", test.why, name, blockers, test.says)
			}
		}
	}
}

// R41: a gate that opens in another age makes no rollout of a certain length.
func TestARolloutThatEndsInAnotherAge(t *testing.T) {
	groups := newFleet(t).group("", "a").read()
	gate := rollout.Gate{Name: "window", Opens: time.Date(2400, time.January, 1, 0, 0, 0, 0, time.UTC)}
	exposure, err := exposure.Of(perGroup(config("", "10m", 0)), groups, exposure.Span{Longest: time.Hour}, now, rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{}, Gate: gate}}})
	if err != nil {
		t.Fatal(err)
	}
	if finish := exposure.Finish; finish.Shortest != math.MaxInt64 || finish.String() != "more than 292 years" {
		t.Errorf("it finishes after %v", finish)
	}
}
