package rollout_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

func opts(o ...rollout.Option) []rollout.Option { return o }

// R8: another order; R14: the default concurrency.
func TestOrderAndDefaultConcurrency(t *testing.T) {
	reverse := rollout.Order(func(a, b string) int { return cmp.Compare(b, a) })
	play(t, []scene{
		{
			name:     "R8 another order within those reported ToApply and those never reported",
			strategy: progressive("4", config("", "", 0)), groups: []string{"a b", "c d e f"}, reports: "b=ToApply c=ToApply d=Skip",
			opts: opts(reverse),
			want: "start c b f e; 1 held: no free slot: 0 in flight and 4 starting, 4 at a time",
		}, {
			name:     "R8 names decide its ties",
			strategy: progressive("3", config("", "", 0)), groups: []string{"d c", "b a"},
			opts: opts(rollout.Order(func(a, b string) int { return 0 })),
			want: "start a b c; 1 held: no free slot: 0 in flight and 3 starting, 3 at a time",
		}, {
			name:     "R8 no order is that of the names",
			strategy: all(""), groups: []string{"b a"}, opts: opts(rollout.Order(nil)),
			want: "start a b",
		}, {
			name:     "R8 groups still go by index",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, opts: opts(reverse),
			want: "start b a; 2 held: waiting for group 0",
		}, {
			name:     "R8 of two orders the later counts",
			strategy: all(""), groups: []string{"a b"}, opts: opts(reverse, rollout.Order(cmp.Compare[string])),
			want: "start a b",
		}, {
			name:     "R14 the placement's group size where the strategy has no concurrency",
			strategy: progressive("", config("", "", 0)), groups: []string{"a b", "c"},
			size: "2",
			want: "start a b; 1 held: no free slot: 0 in flight and 2 starting, 2 at a time",
		}, {
			name:     "R14 without a placement all",
			strategy: progressive("", config("", "", 0)), groups: []string{"a b", "c"},
			want: "start a b c",
		}, {
			name:     "R14 not for ProgressivePerGroup",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c"},
			size: "1",
			want: "start a b; 1 held: waiting for group 0",
		},
	})
}

// R22: paused.
func TestPaused(t *testing.T) {
	play(t, []scene{{
		name:     "R22 nothing starts, all else as before",
		strategy: everything().strategy, groups: everything().groups, reports: everything().reports, opts: opts(rollout.Paused()),
		want: "in flight b f h; timed out d; removed x y; 2 held: the rollout is paused; recheck after 2m0s",
	}})
	t.Run("R22 a breach is still seen", func(t *testing.T) {
		result := plan(t, scene{strategy: perGroup(config("", "", 0)), groups: []string{"a b"}, reports: "a=TimeOut", opts: opts(rollout.Paused())})
		if result.Breach == nil || result.Summary().Breach == "" {
			t.Errorf("no breach in %v", result)
		}
	})
}

// R23: gates.
func TestGates(t *testing.T) {
	first, second := grouping.Key{}, grouping.Key{Index: 1}
	window := rollout.Gate{Name: "window", Opens: now.Add(time.Hour)}
	play(t, []scene{
		{
			name:     "R23 holds its group and under ProgressivePerGroup the later ones with it",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c"}, reports: "a=Progressing",
			opts: opts(rollout.Closed(first, rollout.Gate{})),
			want: "in flight a; 1 held: the gate before group 0 is closed; 1 held: waiting for group 0",
		}, {
			name:     "R23 also where its group is complete",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c"}, reports: "a=Skip b=Succeeded",
			opts: opts(rollout.Closed(first, rollout.Gate{})),
			want: "1 held: the gate before group 0 is closed",
		}, {
			name:     "R23 or empty",
			strategy: perGroup(config("", "", 0)), groups: []string{"", "c"},
			opts: opts(rollout.Closed(first, window)),
			want: `1 held: the gate "window" before group 0 is closed until 2026-11-21T13:00:00Z; recheck after 1h0m0s`,
		}, {
			name:     "R23 and before Progressive's pool, where it is mandatory and complete",
			strategy: progressive("9", config("", "", 0), "1"), groups: []string{"a", "b"}, reports: "b=Succeeded", opts: opts(rollout.Closed(second, rollout.Gate{})),
			want: "1 held: the gate before group 1 is closed",
		}, {
			name:     "R23 of several barriers the first is the reason",
			strategy: perGroup(config("", "", 0)), groups: []string{"a", "b", "c"}, reports: "a=Skip b=Skip",
			opts: opts(rollout.Closed(second, rollout.Gate{}), rollout.Closed(first, rollout.Gate{})),
			want: "1 held: the gate before group 0 is closed",
		}, {
			name:     "R23 by its name, wherever its index has moved to",
			strategy: all(""), groups: []string{"a", "canary: b", "canary: c"}, opts: opts(rollout.Closed(grouping.Key{Index: 7, Name: "canary"}, rollout.Gate{})),
			want: `start a; 1 held: the gate before group 1 "canary" is closed; 1 held: the gate before group 2 "canary" is closed`,
		}, {
			name:     "R23 without a name by its index, whatever its name",
			strategy: all(""), groups: []string{"canary: a", "b"}, opts: opts(rollout.Closed(first, rollout.Gate{})),
			want: `start b; 1 held: the gate before group 0 "canary" is closed`,
		}, {
			name:     "R23 of several gates before a group the one that opens last",
			strategy: all(""), groups: []string{"canary: a"},
			opts: opts(rollout.Closed(first, window), rollout.Closed(grouping.Key{Name: "canary"}, rollout.Gate{Opens: now.Add(time.Minute)})),
			want: `1 held: the gate "window" before group 0 "canary" is closed until 2026-11-21T13:00:00Z; recheck after 1h0m0s`,
		}, {
			name:     "R23 of which one that nobody knows of is the latest",
			strategy: all(""), groups: []string{"canary: a"},
			opts: opts(rollout.Closed(first, window), rollout.Closed(grouping.Key{Name: "canary"}, rollout.Gate{Name: "approval"})),
			want: `1 held: the gate "approval" before group 0 "canary" is closed`,
		}, {
			name:     "R23 under Progressive its group alone, and no slot",
			strategy: progressive("2", config("", "", 0)), groups: []string{"a b", "c d", "e"},
			opts: opts(rollout.Closed(first, rollout.Gate{Name: "approval"})),
			want: `start c d; 2 held: the gate "approval" before group 0 is closed; 1 held: no free slot: 0 in flight and 2 starting, 2 at a time`,
		}, {
			name:     "R23 under All its group alone",
			strategy: all(""), groups: []string{"a b", "c"}, opts: opts(rollout.Closed(second, rollout.Gate{})),
			want: "start a b; 1 held: the gate before group 1 is closed",
		}, {
			name:     "R23 a mandatory group's holds all behind it",
			strategy: progressive("9", config("", "", 0), "1"), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, rollout.Gate{})),
			want: "1 held: waiting for mandatory group 1; 1 held: the gate before group 1 is closed",
		}, {
			name:     "R23 says when it opens",
			strategy: all(""), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window)),
			want: `start a; 1 held: the gate "window" before group 1 is closed until 2026-11-21T13:00:00Z; recheck after 1h0m0s`,
		}, {
			name:     "R23 is open from then on",
			strategy: all(""), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, rollout.Gate{Opens: now})),
			want: "start a b",
		}, {
			name:     "R23 no recheck for a gate whose opening changes nothing: its group is not the next",
			strategy: perGroup(config("", "", 0)), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window)), reports: "a=Progressing",
			want: "in flight a; 1 held: waiting for group 0",
		}, {
			name:     "R23 or nobody waits there",
			strategy: all(""), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window)), reports: "b=Progressing",
			want: "start a; in flight b",
		}, {
			name:     "R23 or the rollout is paused",
			strategy: all(""), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window), rollout.Paused()),
			want: "2 held: the rollout is paused",
		}, {
			name:     "R23 or breached",
			strategy: progressive("1", config("", "", 0)), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window)), reports: "a=TimeOut",
			want: "1 held: stopped: 1 failed, 0 tolerated",
		}, {
			name:     "R23 the nearer of a gate and a deadline",
			strategy: all("1h"), groups: []string{"a", "b"}, opts: opts(rollout.Closed(second, window)), reports: "a=Progressing/1s",
			want: `in flight a; 1 held: the gate "window" before group 1 is closed until 2026-11-21T13:00:00Z; recheck after 59m59s`,
		}, {
			name:     "R23 two gates, two reasons",
			strategy: all(""), groups: []string{"a", "b"},
			opts: opts(rollout.Closed(second, rollout.Gate{}), rollout.Closed(first, rollout.Gate{})),
			want: "1 held: the gate before group 0 is closed; 1 held: the gate before group 1 is closed",
		}, {
			name:     "R23 a group has one gate, the later",
			strategy: all(""), groups: []string{"a"}, opts: opts(rollout.Closed(first, window), rollout.Closed(first, rollout.Gate{Opens: now})),
			want: "start a",
		}, {
			name:     "R23 a gate before no group",
			strategy: all(""), groups: []string{"canary: a"}, opts: opts(rollout.Closed(second, rollout.Gate{})),
			want: "start a",
		},
	})
}

// R24: concurrency within groups.
func TestMaxConcurrencyPerGroup(t *testing.T) {
	two := rollout.MaxConcurrencyPerGroup(intstr.FromInt32(2))
	play(t, []scene{
		{
			name:     "R24 a count",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b c", "d"}, reports: "b=Progressing", opts: opts(two),
			want: "start a; in flight b; 1 held: no free slot in group 0: 1 in flight and 1 starting, 2 at a time; 1 held: waiting for group 0",
		}, {
			name:     "R24 a percentage of the group, rounded up",
			strategy: perGroup(config("", "", 0)), groups: []string{"a", "b c d e"}, reports: "a=Skip",
			opts: opts(rollout.MaxConcurrencyPerGroup(intstr.FromString("26%"))),
			want: "start b c; 2 held: no free slot in group 1: 0 in flight and 2 starting, 2 at a time",
		}, {
			name:     "R24 in mandatory groups as well",
			strategy: perGroup(config("", "", 0), "1"), groups: []string{"a", "b c d"}, opts: opts(two),
			want: "start b c; 1 held: waiting for mandatory group 1; 1 held: no free slot in group 1: 0 in flight and 2 starting, 2 at a time",
		}, {
			name:     "R24 0 is unset",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b c"}, opts: opts(rollout.MaxConcurrencyPerGroup(intstr.IntOrString{})),
			want: "start a b c",
		}, {
			name:     "R24 clusters in flight in later groups take no slot",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, reports: "c=Progressing d=Progressing", opts: opts(two),
			want: "start a b; in flight c d",
		}, {
			name:     "R24 not under Progressive",
			strategy: progressive("3", config("", "", 0)), groups: []string{"a b c d"}, opts: opts(two),
			want: "start a b c; 1 held: no free slot: 0 in flight and 3 starting, 3 at a time",
		}, {
			name:     "R24 nor All",
			strategy: all(""), groups: []string{"a b c d"}, opts: opts(two),
			want: "start a b c d",
		},
	})
}

// R25: failed clusters and their slots.
func TestFailedFreesSlot(t *testing.T) {
	s := scene{strategy: progressive("2", config("2", "10m", 0)), groups: []string{"a b c d"}, reports: "a=Failed/1m b=Progressing/1m"}
	free := opts(rollout.FailedFreesSlot())
	play(t, []scene{
		{
			name:     "R25 a tolerated failure holds its slot until its deadline",
			strategy: s.strategy, groups: s.groups, reports: s.reports,
			want: "in flight a b; 2 held: no free slot: 2 in flight, 2 at a time; 1 of them failed: a failed cluster keeps its slot until its deadline; " +
				"recheck after 9m0s",
		}, {
			name:     "R25 with the option it gives it back and stays in flight",
			strategy: s.strategy, groups: s.groups, reports: s.reports, opts: free,
			want: "start c; in flight a b; 1 held: no free slot: 1 in flight and 1 starting, 2 at a time; recheck after 9m0s",
		}, {
			name:     "R25 without a deadline it holds its slot for ever",
			strategy: progressive("1", config("2", "None", 0)), groups: s.groups, reports: s.reports,
			want: "in flight a b; 2 held: no free slot: 2 in flight, 1 at a time; 1 of them failed: a failed cluster keeps its slot until it recovers, " +
				"as there is no progressDeadline",
		}, {
			name:     "R25 a failure that is not tolerated stops the rollout all the same",
			strategy: progressive("2", config("", "10m", 0)), groups: s.groups, reports: s.reports, opts: free,
			want: "in flight a b; 2 held: stopped: 1 failed, 0 tolerated; recheck after 9m0s",
		}, {
			name:     "R25 in the groups of R24 too",
			strategy: perGroup(config("2", "", 0)), groups: s.groups, reports: s.reports,
			opts: opts(rollout.FailedFreesSlot(), rollout.MaxConcurrencyPerGroup(intstr.FromInt32(2))),
			want: "start c; in flight a b; 1 held: no free slot in group 0: 1 in flight and 1 starting, 2 at a time",
		},
	})
}

// TestInvalidOptions: an option's fault is an error of Plan, together with those of the strategy.
func TestInvalidOptions(t *testing.T) {
	const limit = "must be a count of at least 0, as an integer, or a percentage from 0% to 100% in decimal digits"
	perGroup := func(n string) rollout.Option { return rollout.MaxConcurrencyPerGroup(intstr.Parse(n)) }
	for _, c := range []struct {
		name string
		opts []rollout.Option
		want string
	}{
		{"R16 MaxConcurrencyPerGroup", opts(perGroup("NaN%")), `maxConcurrencyPerGroup: Invalid value: "NaN%": ` + limit},
		{"R16 of nobody", opts(perGroup("0%")), `maxConcurrencyPerGroup: Invalid value: "0%": must be above 0%: no cluster would ever start`},
		{"R30 MaxRemoved", opts(rollout.MaxRemoved(intstr.FromString("-1%"))), `maxRemoved: Invalid value: "-1%": ` + limit},
		{
			"R16 each of them", opts(rollout.MaxRemoved(intstr.FromInt32(-1)), perGroup("-2")),
			"maxConcurrencyPerGroup: Invalid value: -2: " + limit + "\nmaxRemoved: Invalid value: -1: " + limit,
		},
		{"the later counts, its error too", opts(perGroup("2"), perGroup("-2")), "maxConcurrencyPerGroup: Invalid value: -2: " + limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			result, err := rollout.Plan(all(""), fleetOf(t, "a").read(), nil, now, c.opts...)
			var fieldErr *field.Error
			if result != nil || !errors.As(err, &fieldErr) {
				t.Fatalf("Plan = %v, %v, want a *field.Error", result, err)
			}
			if d := gocmp.Diff(c.want, err.Error()); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("R18 with the strategy's", func(t *testing.T) {
		_, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: "Canary"}, nil, nil, now, perGroup("0%"))
		want := `type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"` + "\n" +
			`maxConcurrencyPerGroup: Invalid value: "0%": must be above 0%: no cluster would ever start`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("an error that a later option replaced is none", func(t *testing.T) {
		if _, err := rollout.Plan(all(""), nil, nil, now, perGroup("0%"), perGroup("2"),
			rollout.MaxRemoved(intstr.FromInt32(-1)), rollout.MaxRemoved(intstr.FromInt32(1))); err != nil {
			t.Error(err)
		}
	})
}

// R23: a gate that is put before a group that does not exist must not pass unseen.
func TestGateWithoutGroup(t *testing.T) {
	result := plan(t, scene{groups: []string{"canary: a"}, opts: []rollout.Option{
		rollout.Closed(grouping.Key{Index: 4}, rollout.Gate{}),
		rollout.Closed(grouping.Key{Index: 0, Placement: "p"}, rollout.Gate{}),
		rollout.Closed(grouping.Key{Index: 3, Name: "canaries"}, rollout.Gate{}), // mistyped
		rollout.Closed(grouping.Key{Index: 0}, rollout.Gate{}),
		rollout.Closed(grouping.Key{Index: 0, Name: "canary"}, rollout.Gate{}),
	}})
	var got []string
	for _, w := range result.Warnings {
		got = append(got, w.String())
	}
	want := []string{
		"the gate before group 0 of placement p holds nothing: there is no such group",
		`the gate before group "canaries" holds nothing: there is no such group`,
		"the gate before group 4 holds nothing: there is no such group",
	}
	if d := gocmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// R20: the JSON of a reason has the group wherever there is one, also the nameless one with index 0, and
// nowhere else.
func TestReasonJSONHasTheGroup(t *testing.T) {
	for _, c := range []struct {
		reason rollout.Hold
		want   string
	}{
		{rollout.Hold{Type: rollout.HoldEarlierGroup}, `{"type":"EarlierGroupIncomplete","group":{"index":0}}`},
		{rollout.Hold{Type: rollout.HoldBreached, AllGroups: true, Failures: 1}, `{"type":"BudgetBreached","allGroups":true,"failures":1}`},
		{rollout.Hold{Type: rollout.HoldPaused}, `{"type":"Paused"}`},
	} {
		got, err := json.Marshal(c.reason)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v, want %s", got, err, c.want)
		}
	}
}
