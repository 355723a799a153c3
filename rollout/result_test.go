package rollout_test

import (
	"encoding/json"
	"fmt"
	"slices"
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

// everything is a scene in which every list has something.
func everything() scene {
	return scene{
		strategy: progressive("5", config("3", "10m", time.Hour), "canary", "ghost"),
		groups:   []string{"b d f h", "canary: a", "j l n"},
		reports: "a=Succeeded/2h b=Progressing/1m d=Progressing/11m f=Failed/2m h=Succeeded/58m j=Skip l=ToApply/1m " +
			"y=Failed x=Succeeded",
	}
}

// R19: the lists, each with its group, the breach and the recheck.
func TestResult(t *testing.T) {
	play(t, []scene{{
		name:     "R19 all at once",
		strategy: everything().strategy, groups: everything().groups, reports: everything().reports,
		want: "start l n; in flight b f h; timed out d; removed x y; recheck after 2m0s",
	}, {
		name:     "R19 nothing at all",
		strategy: perGroup(config("", "", 0)), groups: []string{"a b"}, reports: "a=Succeeded b=Skip",
		want: "nothing to do",
	}, {
		name:     "R19 the nearest end of a deadline",
		strategy: all("10m"), groups: []string{"a b c"}, reports: "a=Progressing/3m b=Failed/7m c=Progressing/5m",
		want: "in flight a b c; recheck after 3m0s",
	}, {
		name:     "R19 or of a soak",
		strategy: perGroup(config("", "10m", 8*time.Minute)), groups: []string{"a b c"}, reports: "a=Progressing/3m b=Succeeded/7m c=Succeeded/5m",
		want: "in flight a b c; recheck after 1m0s",
	}, {
		name:     "R19 not of a cluster that is removed",
		strategy: all("10m"), groups: []string{"a"}, reports: "a=Succeeded/3m b=Progressing/7m",
		want: "removed b",
	}})

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
		result := plan(t, scene{strategy: perGroup(config("", "", 0)), groups: []string{"a", "b"}, reports: "a=TimeOut"})
		want := &rollout.Breach{Failures: 1, Clusters: []string{"a"}}
		if d := cmp.Diff(want, result.Breach); d != "" {
			t.Error(d)
		}
	})
}

// R20: each held cluster has one reason, the first that applies.
func TestReasonPrecedence(t *testing.T) {
	// b waits in a closed group behind an incomplete one, with concurrency used up and a breach.
	s := scene{
		strategy: progressive("1", config("", "", 0), "0"),
		groups:   []string{"a", "b", "c"},
		reports:  "a=Failed c=Progressing",
		opts:     []rollout.Option{rollout.Paused(), rollout.Closed(grouping.Key{Index: 1}, rollout.Gate{Name: "g"})},
	}
	find := func(want string) {
		t.Helper()
		d, reason, ok := plan(t, s).Find("b")
		if d != rollout.DispositionHeld || !ok || reason.String() != want {
			t.Errorf("got %v, %v, want held: %s", d, reason, want)
		}
	}
	find("the rollout is paused")
	s.opts = s.opts[1:]
	find("stopped: 1 failed in group 0, 0 tolerated")
	s.reports = "a=Succeeded c=TimeOut"
	find("stopped: 1 failed, 0 tolerated")
	s.reports = "a=Progressing c=Progressing"
	find("waiting for mandatory group 0")
	s.reports = "a=Succeeded c=Progressing"
	find(`the gate "g" before group 1 is closed`)
	s.opts = nil
	find("no free slot: 1 in flight, 1 at a time")
	s.strategy, s.reports = perGroup(config("", "", 0)), "a=Progressing"
	s.opts = []rollout.Option{rollout.Closed(grouping.Key{Index: 1}, rollout.Gate{Name: "g"})}
	find("waiting for group 0")
}

// R20: the sentences of all reasons.
func TestReasonString(t *testing.T) {
	canary := grouping.Key{Index: 1, Name: "canary"}
	opens := time.Date(2026, 11, 22, 1, 30, 0, 5, time.FixedZone("CET", 3600))
	for _, c := range []struct {
		name   string
		reason rollout.Hold
		want   string
	}{
		{"R20 paused", rollout.Hold{Type: rollout.HoldPaused}, "the rollout is paused"},
		{
			"R20 breach in a group", rollout.Hold{Type: rollout.HoldBreached, Group: canary, Failures: 3, MaxFailures: 2},
			`stopped: 3 failed in group 1 "canary", 2 tolerated`,
		},
		{
			"R20 breach over all", rollout.Hold{Type: rollout.HoldBreached, AllGroups: true, Failures: 1},
			"stopped: 1 failed, 0 tolerated",
		},
		{
			"R20 mandatory group incomplete", rollout.Hold{Type: rollout.HoldMandatoryGroup, Group: canary},
			`waiting for mandatory group 1 "canary"`,
		},
		{"R20 earlier group incomplete", rollout.Hold{Type: rollout.HoldEarlierGroup, Group: canary}, `waiting for group 1 "canary"`},
		{"R20 an unnamed group", rollout.Hold{Type: rollout.HoldEarlierGroup, Group: grouping.Key{Index: 4}}, "waiting for group 4"},
		{"R20 gate closed", rollout.Hold{Type: rollout.HoldGateClosed, Group: canary}, `the gate before group 1 "canary" is closed`},
		{
			"R20 gate closed, which and until when, in UTC",
			rollout.Hold{Type: rollout.HoldGateClosed, Group: canary, Gate: rollout.Gate{Name: "window", Opens: opens}},
			`the gate "window" before group 1 "canary" is closed until 2026-11-22T00:30:00Z`,
		},
		{
			"R20 concurrency used up, by how many", rollout.Hold{Type: rollout.HoldConcurrency, AllGroups: true, InFlight: 2, MaxConcurrency: 2},
			"no free slot: 2 in flight, 2 at a time",
		},
		{
			"R20 also by those that start", rollout.Hold{Type: rollout.HoldConcurrency, AllGroups: true, InFlight: 2, Starting: 3, MaxConcurrency: 5},
			"no free slot: 2 in flight and 3 starting, 5 at a time",
		},
		{
			"R24 in a group", rollout.Hold{Type: rollout.HoldConcurrency, Group: canary, InFlight: 2, MaxConcurrency: 2},
			`no free slot in group 1 "canary": 2 in flight, 2 at a time`,
		},
		{
			"R25 by failed ones", rollout.Hold{Type: rollout.HoldConcurrency, AllGroups: true, InFlight: 2, MaxConcurrency: 2, Failed: 1},
			"no free slot: 2 in flight, 2 at a time; 1 of them failed: a failed cluster keeps its slot until its deadline",
		},
		{
			"R25 for ever", rollout.Hold{Type: rollout.HoldConcurrency, AllGroups: true, InFlight: 2, MaxConcurrency: 2, Failed: 2, ForEver: true},
			"no free slot: 2 in flight, 2 at a time; 2 of them failed: a failed cluster keeps its slot until it recovers, as there is no progressDeadline",
		},
		{"R20 a type from elsewhere", rollout.Hold{Type: "Frozen"}, "Frozen"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.reason.String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("R20 with its number of clusters", func(t *testing.T) {
		w := rollout.HoldCount{Hold: rollout.Hold{Type: rollout.HoldPaused}, Clusters: 7}
		if got, want := w.String(), "7 held: the rollout is paused"; got != want {
			t.Errorf("got %s, want %s", got, want)
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
		opts     []rollout.Option
		want     string
	}{
		{"R21 empty is All", clusterv1alpha1.RolloutStrategy{}, nil, `All: [group 0, group 1 "canary", group 2, group 3 "empty", group 4 "canary"]`},
		{"R21 Progressive", progressive("3", config("", "", 0), "canary"), nil, `Progressive: [group 1 "canary"] → [group 4 "canary"] → [group 0, group 2, group 3 "empty": 3 at a time]`},
		{"R21 ProgressivePerGroup", perGroup(config("", "", 0), "4"), nil, `ProgressivePerGroup: [group 4 "canary"] → [group 0] → [group 1 "canary"] → [group 2] → [group 3 "empty"]`},
		{
			"R24 in groups", perGroup(config("", "", 0), "4"), []rollout.Option{rollout.MaxConcurrencyPerGroup(three)},
			`ProgressivePerGroup: [group 4 "canary"] → [group 0: 2 at a time] → [group 1 "canary": 1 at a time] → [group 2: 1 at a time] → [group 3 "empty"]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plan(t, scene{strategy: c.strategy, groups: groups, opts: c.opts}).Schedule
			if got := fmt.Sprintf("%s: %v", s.Type, s); got != c.want {
				t.Errorf("\ngot  %s\nwant %s", got, c.want)
			}
		})
	}
	t.Run("R21 in full", func(t *testing.T) {
		deadline := 90 * time.Minute
		want := rollout.Schedule{
			Type: clusterv1alpha1.Progressive, MinSuccessTime: time.Hour, ProgressDeadline: &deadline, MaxFailures: 2, ConcurrencySource: rollout.ConcurrencySourceStrategy,
			Stages: []rollout.Stage{
				{Groups: []grouping.Key{{Index: 1, Name: "canary"}}, Mandatory: true, Clusters: 2, MaxConcurrency: 2},
				{Groups: []grouping.Key{{}, {Index: 2}}, Clusters: 5, MaxConcurrency: 3, MaxFailures: 5},
			},
		}
		got := plan(t, scene{strategy: progressive("50%", config("25%", "1h30m", time.Hour), "canary"), groups: groups[:3]}).Schedule
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("R21 All has no soak and no budget, even where it says so", func(t *testing.T) {
		s := clusterv1alpha1.RolloutStrategy{All: &clusterv1alpha1.RolloutAll{RolloutConfig: config("1", "1h", time.Hour)}}
		got := plan(t, scene{strategy: s, groups: groups}).Schedule
		if got.MinSuccessTime != 0 || got.MaxFailures != 8 || got.Stages[0].MaxFailures != 8 || *got.ProgressDeadline != time.Hour {
			t.Errorf("got %+v", got)
		}
	})
}

// S5: counts, S6: the aggregate.
func TestSummary(t *testing.T) {
	t.Run("S5 counts in total, per group, removed and held", func(t *testing.T) {
		s := everything()
		s.strategy.Progressive.MaxConcurrency = intstr.FromInt32(4)
		want := status.Summary{
			Counts: status.Counts{ToApply: 2, Progressing: 1, Succeeded: 2, Failed: 1, TimeOut: 1, Skip: 1, Soaking: 1, Held: 1},
			Groups: []status.GroupCounts{
				{Counts: status.Counts{Progressing: 1, Succeeded: 1, Failed: 1, TimeOut: 1, Soaking: 1}},
				{Group: grouping.Key{Index: 1, Name: "canary"}, Counts: status.Counts{Succeeded: 1}},
				{Group: grouping.Key{Index: 2}, Counts: status.Counts{ToApply: 2, Skip: 1, Held: 1}},
			},
			Removed: 2,
			Waiting: []string{"no free slot: 3 in flight and 1 starting, 4 at a time; 1 of them failed: a failed cluster keeps its slot until its deadline"},
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
			result := plan(t, scene{strategy: progressive("1", config("1", "", 0)), groups: []string{"a b", "c"}, reports: c.reports})
			if got := result.Summary().Aggregate(); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestInputIsNotChanged: reports, strategy and options are as they were.
func TestInputIsNotChanged(t *testing.T) {
	s := everything()
	reports, strategy := reportsOf(t, s.reports), s.strategy.DeepCopy()
	before := slices.Clone(reports)
	if _, err := rollout.Plan(s.strategy, fleetOf(t, s.groups...).read(), reports, now); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, reports) + cmp.Diff(*strategy, s.strategy); d != "" {
		t.Error(d)
	}
}

// TestResultAsJSON: the names that a user of -o json sees, and nothing empty.
func TestResultAsJSON(t *testing.T) {
	s := scene{
		strategy: perGroup(clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: time.Minute}}, "ghost"),
		groups:   []string{"canary: a b", "c"}, reports: "a=TimeOut/1m b=Succeeded/10s x=Failed",
	}
	got, err := json.MarshalIndent(plan(t, s), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "result.json", got)
}

// A result says the same in JSON as a value, and a warning names its group also where that is the zero value.
func TestJSONOfZeroValues(t *testing.T) {
	result := plan(t, scene{
		strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config("", "5m", 0),
			MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
				MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupIndex: 0}, {GroupName: "ghost"}}},
		}},
		groups: []string{"3 canary: a"}, reports: "a=Progressing/1m",
		opts: []rollout.Option{rollout.Closed(grouping.Key{}, rollout.Gate{})},
	})
	warnings, err := json.Marshal(result.Warnings)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"MandatoryGroupEmpty","mandatoryDecisionGroup":{"groupIndex":0}},` +
		`{"type":"MandatoryGroupEmpty","mandatoryDecisionGroup":{"groupName":"ghost"}},` +
		`{"type":"GateWithoutGroup","group":{"index":0}}]`
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
