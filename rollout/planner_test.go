package rollout_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// planning is a Planner beside what it should know, for a state machine test.
type planning struct {
	planner  *rollout.Planner
	strategy clusterv1alpha1.RolloutStrategy
	options  []rollout.Option
	groups   *grouping.Groups
	reports  map[string]status.Report
	now      time.Time
}

var clusterNames = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

func drawGroups(t *rapid.T) *grouping.Groups {
	f := newFleet(&testing.T{})
	for i := range rapid.IntRange(0, 4).Draw(t, "groups") {
		name := rapid.SampledFrom([]string{"", "canary"}).Draw(t, "name")
		// Indexes may have gaps.
		f.groupAt(i*rapid.IntRange(1, 2).Draw(t, "gap"), name, rapid.SliceOfDistinct(rapid.SampledFrom(clusterNames), rapid.ID).Draw(t, "clusters")...)
	}
	return f.read()
}

func drawStrategy(t *rapid.T) clusterv1alpha1.RolloutStrategy {
	config := clusterv1alpha1.RolloutConfig{
		ProgressDeadline: rapid.SampledFrom([]string{"None", "0s", "10s", "1m"}).Draw(t, "deadline"),
		MaxFailures:      rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(2), intstr.FromString("30%")}).Draw(t, "maxFailures"),
	}
	config.MinSuccessTime.Duration = rapid.SampledFrom([]time.Duration{0, 20 * time.Second}).Draw(t, "minSuccessTime")
	var mandatory clusterv1alpha1.MandatoryDecisionGroups
	if rapid.Bool().Draw(t, "mandatory") {
		mandatory.MandatoryDecisionGroups = []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}
	}
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 0:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}}
	case 1:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory,
			MaxConcurrency: rapid.SampledFrom([]intstr.IntOrString{{}, intstr.FromInt32(1), intstr.FromInt32(3), intstr.FromString("25%")}).Draw(t, "maxConcurrency"),
		}}
	default:
		return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{
			RolloutConfig: config, MandatoryDecisionGroups: mandatory,
		}}
	}
}

func drawOptions(t *rapid.T) []rollout.Option {
	all := []rollout.Option{
		rollout.Paused(),
		rollout.FailedFreesSlot(),
		rollout.MaxConcurrencyPerGroup(intstr.FromInt32(1)),
		rollout.Order(func(a, b string) int { return int(b[0])%3 - int(a[0])%3 }),
		rollout.Closed(grouping.Key{Index: 0}, rollout.Gate{Name: "window", Opens: now.Add(time.Minute)}),
		rollout.Closed(grouping.Key{Index: 1, Name: "canary"}, rollout.Gate{Name: "approval"}),
	}
	var chosen []rollout.Option
	for i, option := range all {
		if rapid.IntRange(0, 3).Draw(t, fmt.Sprintf("option %d", i)) == 0 {
			chosen = append(chosen, option)
		}
	}
	return chosen
}

func drawReport(t *rapid.T, now time.Time) status.Report {
	r := status.Report{
		Cluster: rapid.SampledFrom(clusterNames).Draw(t, "cluster"),
		Status: rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded,
			status.Failed, status.TimeOut, status.Skip, "Unheard of"}).Draw(t, "status"),
	}
	if rapid.IntRange(0, 3).Draw(t, "dated") > 0 {
		r.LastTransitionTime = now.Add(-time.Duration(rapid.IntRange(-5, 70).Draw(t, "age")) * time.Second)
	}
	return r
}

// check compares the planner with a plan from scratch, and its steps with its results.
func (p *planning) check(t *rapid.T) {
	reports := slices.SortedFunc(maps.Values(p.reports), func(a, b status.Report) int { return -int(a.Cluster[0]) + int(b.Cluster[0]) })
	want, err := rollout.Plan(p.strategy, p.groups, reports, p.now, p.options...)
	if err != nil {
		t.Fatal(err)
	}
	step, err := p.planner.Next(p.now)
	if err != nil {
		t.Fatal(err)
	}
	inFlight, err := p.planner.InFlight()
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.planner.Result(p.now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(rollout.Result{})); diff != "" {
		t.Fatalf("Result differs from Plan (-plan +planner):\n%s", diff)
	}
	if diff := cmp.Diff(want.Waiting(), got.Waiting()); diff != "" {
		t.Fatalf("reasons differ from Plan's (-plan +planner):\n%s", diff)
	}
	wantStep := rollout.Step{
		Start: want.Start, TimedOut: want.TimedOut, Removed: want.Removed, Breach: want.Breach,
		RecheckAfter: want.RecheckAfter, Counts: want.Summary().Counts,
	}
	if diff := cmp.Diff(wantStep, step); diff != "" {
		t.Fatalf("Next differs from Plan (-plan +planner):\n%s", diff)
	}
	if diff := cmp.Diff(want.InFlight, inFlight); diff != "" {
		t.Fatalf("InFlight differs from Plan (-plan +planner):\n%s", diff)
	}
}

// A Planner that was told of changes says what Plan says of the whole.
func TestPlannerEqualsPlanAfterAnyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planning{strategy: drawStrategy(t), options: drawOptions(t), groups: drawGroups(t), reports: map[string]status.Report{}, now: now}
		var err error
		if p.planner, err = rollout.NewPlanner(p.strategy, p.groups, p.options...); err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"report": func(t *rapid.T) {
				r := drawReport(t, p.now)
				p.reports[r.Cluster] = r
				must(p.planner.Report(r))
			},
			"several reports": func(t *rapid.T) {
				var reports []status.Report
				for range rapid.IntRange(2, 5).Draw(t, "reports") {
					r := drawReport(t, p.now)
					p.reports[r.Cluster] = r
					reports = append(reports, r)
				}
				must(p.planner.Report(reports...))
			},
			"forget": func(t *rapid.T) {
				cluster := rapid.SampledFrom(clusterNames).Draw(t, "cluster")
				delete(p.reports, cluster)
				must(p.planner.Forget(cluster))
			},
			"groups": func(t *rapid.T) {
				p.groups = drawGroups(t)
				must(p.planner.SetGroups(p.groups))
			},
			"strategy": func(t *rapid.T) {
				p.strategy, p.options = drawStrategy(t), drawOptions(t)
				must(p.planner.SetStrategy(p.strategy, p.options...))
			},
			"later":   func(t *rapid.T) { p.now = p.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
			"earlier": func(t *rapid.T) { p.now = p.now.Add(-time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
			"recheck": func(t *rapid.T) {
				step, err := p.planner.Next(p.now)
				must(err)
				p.now = p.now.Add(step.RecheckAfter)
			},
			"": p.check,
		})
	})
}

func TestPlannerRefusesMisuse(t *testing.T) {
	var zero rollout.Planner
	_, next := zero.Next(now)
	_, result := zero.Result(now)
	_, inFlight := zero.InFlight()
	for _, err := range []error{
		next, result, inFlight, zero.Report(status.Report{Cluster: "a"}), zero.Forget("a"), zero.SetGroups(nil),
		zero.SetStrategy(clusterv1alpha1.RolloutStrategy{}),
	} {
		if err == nil {
			t.Error("a Planner that NewPlanner did not make answered without an error")
		}
	}

	bad := clusterv1alpha1.RolloutStrategy{Type: "Sideways"}
	if _, err := rollout.NewPlanner(bad, nil); err == nil {
		t.Error("NewPlanner took an unknown type")
	}

	groups := newFleet(t).group("", "a", "b").read()
	p, err := rollout.NewPlanner(clusterv1alpha1.RolloutStrategy{}, groups)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.SetStrategy(bad); err == nil {
		t.Error("SetStrategy took an unknown type")
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Succeeded}, status.Report{}); err == nil {
		t.Error("Report took a report without a cluster")
	}
	// None of the refused calls had an effect.
	result1, err := p.Result(now)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := result1.String(), "start a b"; got != want {
		t.Errorf("after refused calls: %s, want %s", got, want)
	}
}

// All methods may be called from several goroutines; the race detector looks on.
func TestPlannerIsSafeForConcurrentUse(t *testing.T) {
	groups := newFleet(t).group("", clusterNames...).read()
	p, err := rollout.NewPlanner(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(2)}}, groups)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, cluster := range clusterNames {
		wg.Go(func() {
			for _, s := range []status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded} {
				if err := p.Report(status.Report{Cluster: cluster, Status: s}); err != nil {
					t.Error(err)
				}
				if step, err := p.Next(now.Add(time.Duration(i) * time.Second)); err != nil || len(step.Start) > 2 {
					t.Errorf("Next: %v, %v", step, err)
				}
				if _, err := p.Result(now); err != nil {
					t.Error(err)
				}
				if err := p.SetGroups(groups); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	step, err := p.Next(now)
	if err != nil || step.Counts.Done() != len(clusterNames) {
		t.Errorf("in the end %v are done, %v; want all %d", step.Counts, err, len(clusterNames))
	}
}

// BenchmarkPlanner is one changed report with the decision that follows: a cluster succeeds, and the next
// one may start.
func BenchmarkPlanner(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000, 1_000_000} {
		f, reports := halfway(b, n)
		groups := f.read()
		for _, strategy := range strategies(n)[1:] {
			// As many clusters may be in flight as are: each that is done lets one start.
			if strategy.Progressive != nil {
				strategy.Progressive.MaxConcurrency = intstr.FromInt32(int32(n / 50))
			}
			p, err := rollout.NewPlanner(strategy, groups)
			if err != nil {
				b.Fatal(err)
			}
			if err := p.Report(reports...); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/n=%d", strategy.Type, n), func(b *testing.B) {
				b.ReportAllocs()
				// The clusters in flight take turns at succeeding and starting over.
				for i := 0; b.Loop(); i++ {
					r := status.Report{
						Cluster: groups.Cluster(n/2 - 1 - i/2%(n/50)), Status: status.Succeeded,
						LastTransitionTime: now.Add(time.Duration(i)),
					}
					if i%2 == 1 {
						r.Status = status.Progressing
					}
					if err := p.Report(r); err != nil {
						b.Fatal(err)
					}
					if _, err := p.Next(now.Add(time.Minute)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkPlannerMemory reports what a planner costs beside the names, its groups included.
func BenchmarkPlannerMemory(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		f, reports := halfway(b, n)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var before, after runtime.MemStats
			for b.Loop() {
				runtime.GC()
				runtime.ReadMemStats(&before)
				p, err := rollout.NewPlanner(strategies(n)[1], f.read())
				if err != nil {
					b.Fatal(err)
				}
				if err := p.Report(reports...); err != nil {
					b.Fatal(err)
				}
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/cluster")
				runtime.KeepAlive(p)
			}
		})
	}
}
