// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
)

// limited is a strategy with limits set, and options.
func limited(s clusterv1alpha1.RolloutStrategy, concurrency, failures intstr.IntOrString, opts rollout.Options) (clusterv1alpha1.RolloutStrategy, rollout.Options) {
	s = *s.DeepCopy()
	configOf(s).MaxFailures = failures
	if s.Type == clusterv1alpha1.Progressive {
		s.Progressive.MaxConcurrency = concurrency
		return s, opts
	}
	opts.MaxConcurrencyPerGroup = concurrency
	return s, opts
}

// within says whether a rollout with these limits stays within bounds.
func within(t fataler, w world, groups *grouping.Groups, concurrency, failures intstr.IntOrString, life exposure.Span, b exposure.Bounds) (exposure.Exposure, bool) {
	s, opts := limited(w.strategy, concurrency, failures, w.options())
	e, err := exposure.Of(s, groups, life, now, opts)
	if err != nil {
		t.Fatal(err)
	}
	return e, e.Exposed <= b.Exposed && (b.Finish == 0 || e.Finish.Longest <= b.Finish)
}

// R42: the limits found hold, by Expose; a higher maxConcurrency does not, nor a higher maxFailures that could stop every
// group; and where none is found, none holds. Whatever the strategy sets, stays.
func TestLimitFindsTheHighestThatHoldsAndNoneOnlyWhereNoneDoes(t *testing.T) {
	t.Parallel()
	life := exposure.Span{Shortest: 3 * time.Minute, Longest: 10 * time.Minute}
	worlds := searchedWorlds(exposureFleets(4))
	random := rand.New(rand.NewPCG(4, 42))
	random.Shuffle(len(worlds), func(i, j int) { worlds[i], worlds[j] = worlds[j], worlds[i] })
	foundSome, foundNone := 0, 0
	for _, s := range worlds[:exhaustive.Of(500, len(worlds))] {
		if rollsOutAll(s.strategy) {
			continue
		}
		w, groups := s.world, s.read(t)
		n := len(w.members)
		b := exposure.Bounds{Exposed: 1 + random.IntN(5), Finish: []time.Duration{0, 0, 10 * time.Minute, 25 * time.Minute, 40 * time.Minute}[random.IntN(5)]}
		// What is open: all values; what is set: itself.
		values := func(set intstr.IntOrString, from int) (values []intstr.IntOrString) {
			if set != (intstr.IntOrString{}) {
				return []intstr.IntOrString{set}
			}
			for i := from; i <= max(n, from); i++ {
				values = append(values, intstr.FromInt(i))
			}
			return values
		}
		var set intstr.IntOrString
		if w.perGroup != nil {
			set = *w.perGroup
		}
		if w.strategy.Progressive != nil {
			set = w.strategy.Progressive.MaxConcurrency
		}
		concurrencies, failures := values(set, 1), values(configOf(w.strategy).MaxFailures, 0)
		var best *exposure.Limits // by trying all, concurrency first
		for _, c := range concurrencies {
			if e, ok := within(t, w, groups, c, failures[0], life, b); ok {
				best = &exposure.Limits{MaxConcurrency: c, MaxFailures: failures[0], Exposure: e}
			}
		}
		if best != nil && len(failures) > 1 {
			for _, f := range failures[1:] {
				e, ok := within(t, w, groups, best.MaxConcurrency, f, life, b)
				if ok && !slices.ContainsFunc(e.Weaknesses, isOutOfReach) {
					best.MaxFailures, best.Exposure = f, e
				}
			}
		}
		got, err := exposure.Limit(w.strategy, groups, life, now, b, w.options())
		switch {
		case best == nil && err == nil:
			t.Fatalf("%v\nfinds %v within %v, where none holds", w, got, b)
		case best == nil:
			foundNone++
			var fault *field.Error
			if !errors.As(err, &fault) || fault.Field != "bounds.exposed" && fault.Field != "bounds.finish" {
				t.Fatalf("%v\n%v", w, err)
			}
		case err != nil:
			t.Fatalf("%v\nfinds none within %v, where %v do: %v", w, b, best, err)
		default:
			foundSome++
			if d := gocmp.Diff(*best, got); d != "" {
				t.Fatalf("%v\nwithin %v: %s", w, b, d)
			}
		}
	}
	t.Logf("limits for %d, none for %d", foundSome, foundNone)
}

// R42: which limits an operator gets, and why none.
func TestLimit(t *testing.T) {
	for _, c := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		groups   []string
		bounds   exposure.Bounds
		opts     rollout.Options
		want     string
	}{
		{"the fastest", progressive("", config("", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 12, maxFailures 0"},
		{"what is tolerated is set", progressive("", config("2", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 10, maxFailures 2"},
		{"a share, too", progressive("", config("1%", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 8, maxFailures 1%"},
		{"how many at a time is set", progressive("7", config("", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 7, maxFailures 5"},
		{"none is to be tolerated", progressive("7", config("0%", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 7, maxFailures 0%"},
		{"both are set, and hold", progressive("7", config("2", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 7, maxFailures 2"},
		{"failed clusters keep their slots: the budget stays one that they exceed", progressive("7", config("", "", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 7, maxFailures 6"},
		{"a canary of one is to stop a version", perGroup(config("", "1h", 0)), []string{"a", "b[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{}, "maxConcurrency 12, maxFailures 0"},
		{"how many of each group is an option", perGroup(config("", "1h", 0)), []string{"a[1..9]", "b[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{MaxConcurrencyPerGroup: intstr.FromString("3%")}, "maxConcurrency 3%, maxFailures 1"},
		{"a group in which no cluster counts needs no budget that failures exceed", perGroup(config("", "1h", 0)), []string{"a", "b[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(7), Ignored: []string{"a"}}, "maxConcurrency 7, maxFailures 5"},
		{"no bound that binds", progressive("", config("", "1h", 0)), []string{"a b c"}, exposure.Bounds{Exposed: 99}, rollout.Options{}, "maxConcurrency 3, maxFailures 2"},
		{"no cluster is selected", progressive("", config("", "1h", 0)), nil, exposure.Bounds{Exposed: 1}, rollout.Options{}, "maxConcurrency 1, maxFailures 0"},
		{
			"a mandatory group starts as a whole", progressive("", config("", "1h", 0), "canary"), []string{"canary: a[1..20]", "b[1..300]"}, exposure.Bounds{Exposed: 12}, rollout.Options{},
			`bounds.exposed: Invalid value: 12: must be at least 20: even with maxConcurrency 1, maxFailures 0, a bad version can reach 20 clusters, all of them in mandatory group 0 "canary", which maxConcurrency does not limit`,
		},
		{
			"of groups that expose as many it names the first", perGroup(config("", "1h", 0)), []string{"a", "b[1..20]", "c[1..20]"}, exposure.Bounds{Exposed: 12}, rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(15)},
			`bounds.exposed: Invalid value: 12: must be at least 15: even with maxConcurrency 15, maxFailures 0, a bad version can reach 15 clusters, all of them in group 1`,
		},
		{
			"what is set is too much", progressive("10", config("5", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12}, rollout.Options{},
			`bounds.exposed: Invalid value: 12: must be at least 15: even with maxConcurrency 10, maxFailures 5, a bad version can reach 15 clusters, all of them in group 0`,
		},
		{
			"it takes too long", progressive("", config("", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{},
			`bounds.finish: Invalid value: "1h0m0s": must be at least 13h30m0s: bounds.exposed permits at most maxConcurrency 12, maxFailures 0, and with these limits the rollout takes 13h30m0s; raise bounds.finish or bounds.exposed`,
		},
		{
			"it takes too long with what is set", progressive("7", config("2", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{},
			`bounds.finish: Invalid value: "1h0m0s": must be at least 23h0m0s: bounds.exposed permits at most maxConcurrency 7, maxFailures 2, and with these limits the rollout takes 23h0m0s; raise bounds.finish or bounds.exposed`,
		},
		{
			"it takes too long with all at a time, and the budget that is kept down", perGroup(config("", "1h", 0)), []string{"a b", "c d"}, exposure.Bounds{Exposed: 99, Finish: time.Minute}, rollout.Options{},
			`bounds.finish: Invalid value: "1m0s": must be at least 1h0m0s: bounds.exposed permits at most maxConcurrency 4, maxFailures 1, and with these limits the rollout takes 1h0m0s; raise bounds.finish or bounds.exposed`,
		},
		{
			"it is unknown how long", progressive("", config("", "1h", 0)), []string{"a[1..320]"}, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{Paused: true},
			`bounds.finish: Invalid value: "1h0m0s": must be at least 4h30m0s, and it is unknown how much longer the rollout takes while the rollout is paused`,
		},
		{
			"for several reasons, and of gates for the first that does not say when it opens", perGroup(config("", "1h", 0)), []string{"a", "b", "c", "d"}, exposure.Bounds{Exposed: 12, Finish: time.Hour},
			rollout.Options{Paused: true, Gates: []rollout.ClosedGate{{Group: grouping.Key{Index: 3}, Gate: rollout.Gate{}}, {Group: grouping.Key{Index: 2}, Gate: rollout.Gate{Name: "approval"}}, {Group: grouping.Key{Index: 2}, Gate: rollout.Gate{Name: "window"}}, {Group: grouping.Key{Index: 1}, Gate: rollout.Gate{Opens: now.Add(time.Minute)}}}},
			`bounds.finish: Forbidden: cannot be kept: it is unknown how long the rollout takes (40m0s or more) while the rollout is paused, and while the gate "approval" before group 2 is closed`,
		},
		{
			"the groups are not there", progressive("", config("", "1h", 0)), nil, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{Ramp: ptr(1)},
			"maxConcurrency 1, maxFailures 0",
		},
		{
			"a ramp side by side", perGroup(config("", "1h", 0)), []string{"x: a", "y: b c"}, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{Ramp: ptr(1), GroupOrder: rollout.GroupOrder{}},
			`bounds.finish: Forbidden: cannot be kept: it is unknown how long the rollout takes (10m0s or more) while groups roll out in parallel with ramp`,
		},
		{
			"spread starts side by side", perGroup(config("", "1h", 0)), []string{"x: a", "y: b c"}, exposure.Bounds{Exposed: 12, Finish: time.Hour}, rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}, GroupOrder: rollout.GroupOrder{}},
			`bounds.finish: Invalid value: "1h0m0s": must be at least 2h10m0s, and it is unknown how much longer the rollout takes while groups roll out in parallel with maxStarts`,
		},
		{
			"a ramp and spread starts side by side", perGroup(config("", "1h", 0)), []string{"x: a", "y: b c"}, exposure.Bounds{Exposed: 12, Finish: time.Hour},
			rollout.Options{Ramp: ptr(1), MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}, GroupOrder: rollout.GroupOrder{}},
			`bounds.finish: Invalid value: "1h0m0s": must be at least 2h10m0s, and it is unknown how much longer the rollout takes while groups roll out in parallel with ramp or maxStarts (both are set)`,
		},
		{
			"All has no limits", all("1h"), []string{"a b"}, exposure.Bounds{Exposed: 1}, rollout.Options{},
			`type: Unsupported value: "All": supported values: "Progressive", "ProgressivePerGroup"`,
		},
		{
			"nonsense", progressive("-1", config("", "", 0)), nil, exposure.Bounds{Finish: -1}, rollout.Options{},
			"progressive.maxConcurrency: Invalid value: -1: must be a count of at least 0, as an integer, or a percentage from 1% to 100% in decimal digits\n" +
				"bounds.exposed: Invalid value: 0: must be at least 1\nbounds.finish: Invalid value: \"-1ns\": must not be negative",
		},
	} {
		t.Run(c.why, func(t *testing.T) {
			f := newFleet(t)
			for _, g := range c.groups {
				name, clusters := "", g
				if before, behind, named := strings.Cut(g, ": "); named {
					name, clusters = before, behind
				}
				f.group(name, clustersIn(clusters)...)
			}
			life := exposure.Span{Shortest: 10 * time.Minute, Longest: 30 * time.Minute}
			got, err := exposure.Limit(c.strategy, f.read(), life, now, c.bounds, c.opts)
			text := got.String()
			if err != nil {
				text = err.Error()
			}
			if d := gocmp.Diff(c.want, text); d != "" {
				t.Error(d)
			}
		})
	}
}

// R41: an impossible life is an error, together with the strategy's errors.
func TestExposeChecksItsArguments(t *testing.T) {
	for _, c := range []struct {
		life exposure.Span
		want string
	}{
		{exposure.Span{Shortest: -1}, "life.shortest: Invalid value: \"-1ns\": must not be negative"},
		{exposure.Span{Shortest: 2, Longest: 1}, "life.longest: Invalid value: \"1ns\": must be at least shortest, 2ns"},
	} {
		_, err := exposure.Of(clusterv1alpha1.RolloutStrategy{Type: "Canary"}, nil, c.life, now, rollout.Options{})
		want := `type: Unsupported value: "Canary": supported values: "All", "Progressive", "ProgressivePerGroup"` + "\n" + c.want
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// R40: neither the number of clusters nor what is asked changes what is allocated, but for the stages.
func TestExposeTakesFewAllocationsAtAnySize(t *testing.T) {
	var least []float64
	for _, n := range []int{100, 30_000} {
		f, _ := halfway(t, n)
		groups := f.read()
		for i, strategy := range strategies(n) {
			allocs := fewestAllocs(t, func() {
				if _, err := exposure.Of(strategy, groups, exposure.Span{Longest: time.Hour}, now, rollout.Options{}); err != nil {
					t.Fatal(err)
				}
			})
			if allocs > 45 {
				t.Errorf("%s of %d clusters: %v allocations", strategy.Type, n, allocs)
			}
			if n == 100 {
				least = append(least, allocs)
			} else if allocs != least[i] {
				t.Errorf("%s: %v allocations for %d clusters, %v for 100", strategy.Type, allocs, n, least[i])
			}
		}
	}
}

func BenchmarkExpose(b *testing.B) {
	life := exposure.Span{Shortest: 10 * time.Minute, Longest: time.Hour}
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		names := make(map[grouping.Key][]string) // groups of a hundred
		for i := range n {
			key := grouping.Key{Index: int32(i / 100)}
			names[key] = append(names[key], fmt.Sprintf("cluster-%06d", i))
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			b.Fatal(err)
		}
		for _, strategy := range strategies(n) {
			b.Run(fmt.Sprintf("%s/n=%d", strategy.Type, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := exposure.Of(strategy, groups, life, now, rollout.Options{}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("Limit/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}
			for b.Loop() {
				if _, err := exposure.Limit(strategy, groups, life, now, exposure.Bounds{Exposed: 12}, rollout.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
