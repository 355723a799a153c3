package rollout_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
)

// R8: who comes first, R9: All.
func TestOrderAndAll(t *testing.T) {
	play(t, []scene{
		{
			name:     "R8 reported ToApply by name, then never reported by name",
			strategy: progressive("3", config("", "", 0)), groups: []string{"e c", "d b a"}, reports: "e=ToApply d=ToApply",
			want: "start d e a; 2 held: no free slot: 0 in flight and 3 starting, 3 at a time",
		}, {
			name:     "R8 groups have no part in it under Progressive",
			strategy: progressive("2", config("", "", 0)), groups: []string{"d c", "b a"},
			want: "start a b; 2 held: no free slot: 0 in flight and 2 starting, 2 at a time",
		}, {
			name:     "R9 all that wait start, whatever failed",
			strategy: all(""), groups: []string{"a b", "c d", "e"}, reports: "a=Failed b=TimeOut c=ToApply d=Progressing",
			want: "start c e; in flight a d",
		},
	})
}

// R10: ProgressivePerGroup, R13: clusters in flight in later groups.
func TestProgressivePerGroup(t *testing.T) {
	play(t, []scene{
		{
			name:     "R10 the first group starts all its clusters, later ones none",
			strategy: perGroup(config("", "", 0)), groups: []string{"c d", "a b"},
			want: "start c d; 2 held: waiting for group 0",
		}, {
			name:     "R10 the first that is not complete",
			strategy: perGroup(config("1", "", 0)), groups: []string{"a b", "c d", "e"}, reports: "a=Succeeded b=TimeOut c=Progressing",
			want: "start d; in flight c; 1 held: waiting for group 1",
		}, {
			name:     "R10 groups go by index, whatever their order",
			strategy: perGroup(config("", "", 0)), groups: []string{"9: a", "2: c", "7: b"},
			want: "start c; 2 held: waiting for group 2",
		}, {
			name:     "R10 the budget is that of the group's size",
			strategy: perGroup(config("50%", "", 0)), groups: []string{"a b", "c d e"}, reports: "a=TimeOut b=Succeeded c=TimeOut d=TimeOut",
			want: "start e",
		}, {
			name:     "R10 a breach stops the group itself",
			strategy: perGroup(config("25%", "", 0)), groups: []string{"a b c", "d"}, reports: "a=TimeOut b=TimeOut",
			want: "2 held: stopped: 2 failed in group 0, 1 tolerated",
		}, {
			name:     "R13 in flight in a later group neither blocks nor permits anything",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, reports: "a=Succeeded c=Progressing",
			want: "start b; in flight c; 1 held: waiting for group 0",
		}, {
			name:     "R10 a breach in a later group stops all, also a cluster that joins an earlier one",
			strategy: perGroup(config("", "", 0)), groups: []string{"a joins", "c d"}, reports: "a=Succeeded c=TimeOut",
			want: "2 held: stopped: 1 failed in group 1, 0 tolerated",
		}, {
			name:     "R10 the first breach is reported, in the order in which groups go",
			strategy: perGroup(config("", "", 0), "2"), groups: []string{"a", "b", "c"}, reports: "b=TimeOut c=Failed",
			want: "in flight c; 1 held: stopped: 1 failed in group 2, 0 tolerated",
		}, {
			name:     "R13 a breach in the group whose turn it is",
			strategy: perGroup(config("", "", 0)), groups: []string{"a b", "c d"}, reports: "a=Succeeded b=Succeeded c=TimeOut",
			want: "1 held: stopped: 1 failed in group 1, 0 tolerated",
		}, {
			name:     "R13 a cluster that joins an earlier group is rolled out first",
			strategy: perGroup(config("", "", 0)), groups: []string{"a new", "c d"}, reports: "a=Succeeded c=Succeeded",
			want: "start new; 1 held: waiting for group 0",
		},
	})
}

// R11: Progressive.
func TestProgressive(t *testing.T) {
	play(t, []scene{
		{
			name:     "R11 as many start as there are slots",
			strategy: progressive("3", config("", "", 0)), groups: []string{"a b", "c d e"}, reports: "a=Progressing e=Succeeded",
			want: "start b c; in flight a; 1 held: no free slot: 1 in flight and 2 starting, 3 at a time",
		}, {
			name:     "R11 none where more are in flight already",
			strategy: progressive("1", config("", "", 0)), groups: []string{"a b c"}, reports: "a=Progressing b=Progressing",
			want: "in flight a b; 1 held: no free slot: 2 in flight, 1 at a time",
		}, {
			name:     "R11 the budget is one over all clusters",
			strategy: progressive("5", config("25%", "", 0)), groups: []string{"a b", "c d e"}, reports: "a=TimeOut c=TimeOut",
			want: "start b d e",
		}, {
			name:     "R11 past it nothing starts",
			strategy: progressive("5", config("25%", "", 0)), groups: []string{"a b", "c d e"}, reports: "a=TimeOut c=TimeOut e=TimeOut",
			want: "2 held: stopped: 3 failed, 2 tolerated",
		}, {
			name:     "R11 neither in the mandatory groups",
			strategy: progressive("5", config("", "", 0), "1"), groups: []string{"a", "canary: b c"}, reports: "a=TimeOut b=Progressing",
			want: "in flight b; 1 held: stopped: 1 failed, 0 tolerated",
		}, {
			name:     "R12 a breach in a mandatory group is reported before that of all",
			strategy: progressive("5", config("", "", 0), "1", "2"), groups: []string{"a b", "x: c", "y: d"}, reports: "a=Failed c=ToApply d=TimeOut",
			want: `in flight a; 2 held: stopped: 1 failed in group 2 "y", 0 tolerated`,
		}, {
			name:     "R11 a mandatory group in flight takes no slot of the others",
			strategy: progressive("1", config("", "", 0), "1"), groups: []string{"a b", "canary: c d e"}, reports: "a=Progressing c=Progressing",
			want: "start d e; in flight a c; 1 held: waiting for mandatory group 1 \"canary\"",
		},
	})
}

// R12: mandatory groups.
func TestMandatoryGroups(t *testing.T) {
	play(t, []scene{
		{
			name:     "R12 first, all at once, in the order of their index",
			strategy: progressive("1", config("", "", 0), "prod", "2"), groups: []string{"a", "prod: b c", "d e", "prod: f"},
			want: `start b c; 4 held: waiting for mandatory group 1 "prod"`,
		}, {
			name:     "R12 a name may stand for several groups, one after the other",
			strategy: perGroup(config("", "", 0), "prod"), groups: []string{"a", "prod: b", "prod: c", "d"}, reports: "b=Succeeded",
			want: `start c; 2 held: waiting for mandatory group 2 "prod"`,
		}, {
			name:     "R12 the others when all are done",
			strategy: perGroup(config("", "", 0), "prod"), groups: []string{"a", "prod: b", "prod: c", "d"}, reports: "b=Succeeded c=Skip",
			want: "start a; 1 held: waiting for group 0",
		}, {
			name:     "R12 no failure is tolerated",
			strategy: progressive("3", config("100%", "10m", 0), "0"), groups: []string{"a b", "c"}, reports: "a=Failed/1m b=Succeeded",
			want: "in flight a; 1 held: stopped: 1 failed in group 0, 0 tolerated; recheck after 9m0s",
		}, {
			name:     "R12 a name goes before an index",
			strategy: withMandatory(clusterv1alpha1.MandatoryDecisionGroup{GroupName: "prod", GroupIndex: 0}),
			groups:   []string{"a", "prod: b"},
			want:     `start b; 1 held: waiting for mandatory group 1 "prod"`,
		}, {
			name:     "R12 the zero entry is index 0",
			strategy: withMandatory(clusterv1alpha1.MandatoryDecisionGroup{}), groups: []string{"canary: a", "b"},
			want: `start a; 1 held: waiting for mandatory group 0 "canary"`,
		}, {
			name:     "R12 an index with two names is two groups",
			strategy: perGroup(config("", "", 0), "3"), groups: []string{"a", "3 x: b", "3 y: c"}, reports: "b=Succeeded",
			want: `start c; 1 held: waiting for mandatory group 3 "y"`,
		}, {
			name:     "R12 one that matches no group is skipped",
			strategy: perGroup(config("", "", 0), "ghost", "8"), groups: []string{"a", "b"},
			want: "start a; 1 held: waiting for group 0",
		},
	})
	t.Run("R12 and warned of, as is one without clusters, once each", func(t *testing.T) {
		result := plan(t, scene{
			strategy: progressive("1", config("", "", 0), "ghost", "8", "empty", "canary", "ghost", "1"),
			groups:   []string{"canary: a", "empty: ", "b"},
		})
		var got []string
		for _, w := range result.Warnings {
			got = append(got, w.String())
		}
		want := []string{
			`mandatory decision group "ghost" selects no cluster and is skipped`,
			"mandatory decision group with index 8 selects no cluster and is skipped",
			`mandatory decision group "empty" selects no cluster and is skipped`,
			"mandatory decision group with index 1 selects no cluster and is skipped",
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
	t.Run("R12 not warned of: one of several groups of the name is empty", func(t *testing.T) {
		result := plan(t, scene{
			strategy: perGroup(config("", "", 0), "prod"), groups: []string{"prod: ", "prod: b"},
		})
		if len(result.Warnings) > 0 {
			t.Error(result.Warnings)
		}
	})
}

func withMandatory(entry clusterv1alpha1.MandatoryDecisionGroup) clusterv1alpha1.RolloutStrategy {
	s := perGroup(config("", "", 0))
	s.ProgressivePerGroup.MandatoryDecisionGroups.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{entry}
	return s
}

// R14: MaxConcurrency, R15: MaxFailures, R16: percentages, as the counts that took effect.
func TestLimitsThatTookEffect(t *testing.T) {
	hundred := make([]string, 10)
	for i := range hundred {
		for j := range 10 {
			hundred[i] += string(rune('a'+i)) + string(rune('a'+j)) + " "
		}
	}
	hundred[9] = "canary: " + hundred[9]
	type limits struct{ MaxConcurrency, MaxFailures int }
	for _, c := range []struct {
		name                        string
		maxConcurrency, maxFailures string
		mandatory                   []string
		size                        string
		want                        limits
	}{
		{name: "R14 unset means all, R15 unset means 0", want: limits{100, 0}},
		{name: "R14 and R15 above the total", maxConcurrency: "101", maxFailures: "2147483647", want: limits{100, 100}},
		{name: "R14 and R15 counts", maxConcurrency: "99", maxFailures: "1", want: limits{99, 1}},
		{name: "R16 in integers, where floats give 8", maxConcurrency: "7%", maxFailures: "7%", want: limits{7, 7}},
		{name: "R16 of the clusters outside the mandatory groups and of all, rounded up", maxConcurrency: "1%", maxFailures: "1%", mandatory: []string{"canary"}, want: limits{1, 1}},
		{name: "R16 and not of all", maxConcurrency: "50%", maxFailures: "50%", mandatory: []string{"canary"}, want: limits{45, 50}},
		{name: "R16 rounded up", maxConcurrency: "51%", mandatory: []string{"canary"}, want: limits{46, 0}},
		{name: "R16 0% failures", maxFailures: "0%", want: limits{100, 0}},
		{name: "R16 100%", maxConcurrency: "100%", maxFailures: "100%", want: limits{100, 100}},
		{name: "R14 the placement's size where it is asked for", size: "15", want: limits{15, 0}},
		{name: "R14 a percentage of all selected", mandatory: []string{"canary"}, size: "20%", want: limits{20, 0}},
		{name: "R14 above the total", mandatory: []string{"canary"}, size: "100%", want: limits{90, 0}},
		{name: "R14 not where the strategy has one", maxConcurrency: "3", size: "15", want: limits{3, 0}},
		{name: "R14 nor where the placement has none", size: "0", want: limits{100, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := plan(t, scene{strategy: progressive(c.maxConcurrency, config(c.maxFailures, "", 0), c.mandatory...), groups: hundred, size: c.size}).Schedule
			pool := s.Stages[len(s.Stages)-1]
			if got := (limits{pool.MaxConcurrency, s.MaxFailures}); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			from := rollout.ConcurrencySourceNone
			if c.maxConcurrency != "" {
				from = rollout.ConcurrencySourceStrategy
			} else if c.size != "" && c.size != "0" && c.size != "100%" {
				from = rollout.ConcurrencySourcePlacement
			}
			if s.ConcurrencySource != from {
				t.Errorf("R14 concurrency comes from %v, want %v", s.ConcurrencySource, from)
			}
		})
	}
	t.Run("R15 per group of each group's size", func(t *testing.T) {
		s := plan(t, scene{strategy: perGroup(config("34%", "", 0), "1"), groups: []string{"a b c", "d e f", "g h i j", "k", ""}}).Schedule
		var got []int
		for _, stage := range s.Stages {
			got = append(got, stage.MaxFailures)
		}
		if want := []int{0, 2, 2, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("R15 a count above the size tolerates every failure", func(t *testing.T) {
		result := plan(t, scene{strategy: perGroup(config("10", "", 0)), groups: []string{"a b", "c"}, reports: "a=TimeOut b=TimeOut"})
		if got, want := result.String(), "start c"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}
