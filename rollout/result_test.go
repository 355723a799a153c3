// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// everything is a plan in which every list of the result has something.
func everything() planned {
	return planned{
		strategy: progressive("5", config("3", "10m", time.Hour), "canary", "ghost"),
		groups:   []string{"b d f h", "canary: a", "j l n"},
		reports: "a=Succeeded/2h b=Progressing/1m d=Progressing/11m f=Failed/2m h=Succeeded/58m j=Skip l=ToApply/1m " +
			"y=Skip x=Succeeded/2h",
	}
}

// R19: the lists, each with its group, the breach and the recheck.
func TestResult(t *testing.T) {
	t.Run("R19 with group and status", func(t *testing.T) {
		first, canary, last := grouping.Key{}, grouping.Key{Index: 1, Name: "canary"}, grouping.Key{Index: 2}
		s := everything()
		s.reports = strings.Replace(s.reports, "b=Progressing", "b=Pending", 1)
		result := plan(t, s)
		want := [][]rollout.Cluster{
			{{Name: "l", Group: last, Status: status.ToApply}, {Name: "n", Group: last, Status: status.ToApply}},
			{
				{Name: "b", Group: first, Status: status.Progressing}, {Name: "f", Group: first, Status: status.Failed},
				{Name: "h", Group: first, Status: status.Succeeded},
			},
			{{Name: "d", Group: first, Status: status.TimeOut}},
			{{Name: "a", Group: canary, Status: status.Succeeded}, {Name: "j", Group: last, Status: status.Skip}},
		}
		got := [][]rollout.Cluster{result.Start, result.InFlight, result.TimedOut, slices.Collect(result.Settled())}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})

	t.Run("R19 a breach is in the result", func(t *testing.T) {
		result := plan(t, planned{strategy: perGroup(config("", "", 0)), groups: []string{"a", "b"}, reports: "a=TimeOut"})
		want := &rollout.Breach{Failures: 1, Clusters: []string{"a"}}
		if d := cmp.Diff(want, result.Breach); d != "" {
			t.Error(d)
		}
	})
}

// R21: the strategy that took effect.
func TestSchedule(t *testing.T) {
	groups := []string{"a b c", "canary: d e", "f g", "empty: ", "canary: h"}
	three := intstr.FromString("50%")
	for _, c := range []struct {
		name     string
		strategy clusterv1alpha1.RolloutStrategy
		opts     rollout.Options
		want     string
	}{
		{"R21 empty is All", clusterv1alpha1.RolloutStrategy{}, rollout.Options{}, `All: [group 0, group 1 "canary", group 2, group 3 "empty", group 4 "canary"]`},
		{"R21 Progressive", progressive("3", config("", "", 0), "canary"), rollout.Options{}, `Progressive: [group 1 "canary"] → [group 4 "canary"] → [group 0, group 2, group 3 "empty": 3 at a time]`},
		{"R21 ProgressivePerGroup", perGroup(config("", "", 0), "4"), rollout.Options{}, `ProgressivePerGroup: [group 4 "canary"] → [group 0] → [group 1 "canary"] → [group 2] → [group 3 "empty"]`},
		{
			"R24 unset in groups", perGroup(config("", "", 0), "4"), rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(0)},
			`ProgressivePerGroup: [group 4 "canary"] → [group 0] → [group 1 "canary"] → [group 2] → [group 3 "empty"]`,
		},
		{
			"R24 in groups", perGroup(config("", "", 0), "4"), rollout.Options{MaxConcurrencyPerGroup: three},
			`ProgressivePerGroup: [group 4 "canary"] → [group 0: 2 at a time] → [group 1 "canary": 1 at a time] → [group 2: 1 at a time] → [group 3 "empty"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plan(t, planned{strategy: c.strategy, groups: groups, opts: c.opts}).Schedule
			if got := fmt.Sprintf("%s: %v", s.Type, s); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("R21 in full", func(t *testing.T) {
		deadline := 90 * time.Minute
		want := rollout.Schedule{
			Type: clusterv1alpha1.Progressive, MinSuccessTime: time.Hour, ProgressDeadline: &deadline, MaxFailures: 2, ConcurrencySource: "maxConcurrency",
			Stages: []rollout.Stage{
				{Groups: []grouping.Key{{Index: 1, Name: "canary"}}, Mandatory: true, Clusters: 2, MaxConcurrency: 2},
				{Groups: []grouping.Key{{}, {Index: 2}}, Clusters: 5, MaxConcurrency: 3, MaxFailures: 5},
			},
		}
		got := plan(t, planned{strategy: progressive("50%", config("25%", "1h30m", time.Hour), "canary"), groups: groups[:3]}).Schedule
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("R21 All has no soak and no budget, even where it says so", func(t *testing.T) {
		s := clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", "1h", time.Hour)}}
		got := plan(t, planned{strategy: s, groups: groups}).Schedule
		if got.MinSuccessTime != 0 || got.MaxFailures != 8 || got.Stages[0].MaxFailures != 8 || *got.ProgressDeadline != time.Hour {
			t.Errorf("got %+v", got)
		}
	})
}

// S5: counts, S6: the aggregate.
func TestSummary(t *testing.T) {
	t.Run("S5 counts in total, per group, removed and blocked", func(t *testing.T) {
		s := everything()
		s.strategy.Progressive.MaxConcurrency = intstr.FromInt32(4)
		want := status.Summary{
			Counts: status.Counts{ToApply: 2, Progressing: 1, Succeeded: 2, Failed: 1, TimeOut: 1, Skip: 1, Soaking: 1, Blocked: 1},
			Groups: []status.GroupCounts{
				{Counts: status.Counts{Progressing: 1, Succeeded: 1, Failed: 1, TimeOut: 1, Soaking: 1}},
				{Group: grouping.Key{Index: 1, Name: "canary"}, Counts: status.Counts{Succeeded: 1}},
				{Group: grouping.Key{Index: 2}, Counts: status.Counts{ToApply: 2, Skip: 1, Blocked: 1}},
			},
			Removed: 2,
			Waiting: []string{"the concurrency limit is reached (4 of 4 in flight or starting): f failed, and counts as in flight until 2026-11-21T12:08:00Z; b is progressing and times out at 2026-11-21T12:09:00Z; " +
				"h succeeded and has to stay so (minSuccessTime) until 2026-11-21T12:02:00Z; l is starting"},
		}
		if d := cmp.Diff(want, plan(t, s).Summary()); d != "" {
			t.Error(d)
		}
	})
	for _, c := range []struct {
		name, reports string
		want          status.RolloutStatus
	}{
		{"S6 a breach is Failed at once", "a=TimeOut b=TimeOut c=Progressing", status.Failed},
		{"S6 something waiting is Progressing", "a=Succeeded b=TimeOut", status.Progressing},
		{"S6 something in flight is Progressing", "a=Succeeded b=TimeOut c=Progressing", status.Progressing},
		{"S6 a tolerated failure within its deadline is in flight", "a=Succeeded b=Failed c=Skip", status.Progressing},
		{"S6 any failure at the end is Failed", "a=Succeeded b=TimeOut c=Skip", status.Failed},
		{"S6 Skip counts as neither", "a=Skip b=Skip c=Skip", status.Succeeded},
		{"S6 all succeeded", "a=Succeeded b=Succeeded c=Succeeded", status.Succeeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := plan(t, planned{strategy: progressive("1", config("1", "", 0)), groups: []string{"a b", "c"}, reports: c.reports})
			if got := result.Summary().Aggregate(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// S5: while groups are incomplete nothing says 100%, whether of a group or of all, by a plan or by a planner.
func TestNoCountSays100WhileGroupsAreIncomplete(t *testing.T) {
	done := status.Report{Cluster: "a", Status: status.Succeeded}
	for incomplete, want := range map[bool]int{true: 99, false: 100} {
		groups := selecting(t, incomplete, "a")
		p, err := rollout.NewPlanner(clusterv1alpha1.RolloutStrategy{}, groups, rollout.Options{})
		if err == nil {
			err = p.Report(done)
		}
		r, again := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, groups, []status.Report{done}, now, rollout.Options{})
		if err != nil || again != nil {
			t.Fatal(err, again)
		}
		s := r.Summary()
		for what, counts := range map[string]status.Counts{
			"all": s.Counts, "the group": s.Groups[0].Counts, "a result": r.Counts, "a planner": p.Next(now).Counts, "a planner's group": p.Result(now).Summary().Groups[0].Counts,
		} {
			if got := counts.Percent(); got != want {
				t.Errorf("incomplete %v: %s has %d%%, want %d%%", incomplete, what, got, want)
			}
		}
	}
}

// TestInputIsNotChanged: reports, strategy and options are as they were.
func TestInputIsNotChanged(t *testing.T) {
	s := everything()
	reports, strategy := reportsOf(t, s.reports), s.strategy.DeepCopy()
	before := slices.Clone(reports)
	if _, err := rollout.Plan(s.strategy, fleetOf(t, s.groups...).read(), reports, now, rollout.Options{}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, reports) + cmp.Diff(*strategy, s.strategy); d != "" {
		t.Error(d)
	}
}

// A result says the same in JSON as a value, and a warning names its group also where that is the zero value.
func TestJSONOfZeroValues(t *testing.T) {
	result := plan(t, planned{
		strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config("", "5m", 0),
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
				MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 0}, {GroupName: "ghost"}}},
		}},
		groups: []string{"3 canary: a"}, reports: "a=Progressing/1m",
		opts: rollout.Options{Gates: []rollout.ClosedGate{{Group: grouping.Key{}, Gate: rollout.Gate{}}}},
	})
	warnings, err := json.Marshal(result.Warnings)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"MandatoryGroupEmpty","known":"\"canary\"","mandatoryDecisionGroup":{"groupIndex":0}},` +
		`{"type":"MandatoryGroupEmpty","known":"\"canary\"","mandatoryDecisionGroup":{"groupName":"ghost"}},` +
		`{"type":"GateWithoutGroup","known":"\"canary\"","group":{"index":0}}]`
	if d := cmp.Diff(want, string(warnings)); d != "" {
		t.Error(d)
	}
	byPointer, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	byValue, err := json.Marshal(*result)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(byPointer), string(byValue)); d != "" || !strings.Contains(string(byValue), `"recheckAfter":"4m0s"`) {
		t.Errorf("by value %s\n%s", byValue, d)
	}
}
