package rollout_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

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
	// reports are what was last reported of each cluster; applied is when its caller last said that it wrote.
	reports map[string][]status.Report
	applied map[string]write
	attempt int // that is wanted
	now     time.Time
}

// write is when a caller wrote, and in which attempt.
type write struct {
	when    time.Time
	attempt int
	again   bool // at the time of the write before
}

var clusterNames = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

// start has a monotonic reading, as the clocks of controllers have.
var start = time.Now()

// ranAhead is t with a monotonic reading that has run d ahead of the wall clock, as after the clock was set back.
func ranAhead(t time.Time, d time.Duration) time.Time {
	// The second word of a time with a monotonic reading is the reading. Nothing else makes the two differ.
	if t != t.Round(0) {
		*(*int64)(unsafe.Add(unsafe.Pointer(&t), 8)) += int64(d)
	}
	return t
}

// drawTime gives a time around now, in seconds, with a monotonic reading of its own, or none.
func drawTime(t *rapid.T, what string, now time.Time, from, to int) time.Time {
	at := now.Add(time.Duration(rapid.IntRange(from, to).Draw(t, what)) * time.Second)
	at = at.Add(time.Duration(rapid.IntRange(0, 2).Draw(t, what+"'s fraction")) * 300 * time.Millisecond)
	switch rapid.IntRange(0, 4).Draw(t, what+"'s clock") {
	case 0:
		return at.Round(0)
	case 1:
		return ranAhead(at, time.Duration(rapid.IntRange(-60, 60).Draw(t, "skew"))*time.Second)
	default:
		return at
	}
}

func drawGroups(t *rapid.T) *grouping.Groups {
	w := world{incomplete: rapid.IntRange(0, 5).Draw(t, "incomplete") == 5}
	if size := rapid.SampledFrom([]string{"", "1", "3", "50%"}).Draw(t, "size"); size != "" {
		w.size = ptr(intstr.Parse(size))
	}
	free := slices.Clone(clusterNames)
	index := 0
	for range rapid.IntRange(0, 4).Draw(t, "groups") {
		key := grouping.Key{Index: int32(index), Name: rapid.SampledFrom([]string{"", "canary"}).Draw(t, "name")}
		w.groups = append(w.groups, key)
		for range rapid.IntRange(0, min(len(free), 4)).Draw(t, "clusters") {
			i := rapid.IntRange(0, len(free)-1).Draw(t, "cluster")
			w.members = append(w.members, member{free[i], key})
			free = slices.Delete(free, i, i+1)
		}
		index += rapid.IntRange(1, 2).Draw(t, "gap") // Indexes may have gaps.
	}
	return w.read(t)
}

func drawStrategy(t *rapid.T) clusterv1alpha1.RolloutStrategy {
	config := clusterv1alpha1.RolloutConfig{
		ProgressDeadline: rapid.SampledFrom([]string{"None", "1s", "10s", "1m"}).Draw(t, "deadline"),
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

// drawNames gives a predicate of some of the clusters.
func drawNames(t *rapid.T, what string) func(string) bool {
	some := rapid.IntRange(0, 1<<len(clusterNames)-1).Draw(t, what)
	return func(name string) bool { return some>>slices.Index(clusterNames, name)&1 == 1 }
}

func drawOptions(t *rapid.T) []rollout.Option {
	gate := rollout.Gate{Name: "window", Opens: drawTime(t, "opens", start, 0, 90)}
	bound := rapid.SampledFrom([]intstr.IntOrString{intstr.FromInt32(0), intstr.FromInt32(1), intstr.FromString("30%")}).Draw(t, "maxRemoved")
	var chosen []rollout.Option
	for _, o := range []struct {
		name   string
		option rollout.Option
	}{
		{"Paused", rollout.Paused()},
		{"FailedFreesSlot", rollout.FailedFreesSlot()},
		{"MaxConcurrencyPerGroup", rollout.MaxConcurrencyPerGroup(intstr.FromInt32(1))},
		{"Order", rollout.Order(func(a, b string) int { return int(b[0])%3 - int(a[0])%3 })},
		{"Closed until", rollout.Closed(grouping.Key{Index: 0}, gate)},
		{"Closed", rollout.Closed(grouping.Key{Index: 1, Name: "canary"}, rollout.Gate{Name: "approval"})},
		{"Closed by index", rollout.Closed(grouping.Key{Index: 1}, rollout.Gate{Opens: gate.Opens.Add(10 * time.Second)})},
		{"MaxRemoved", rollout.MaxRemoved(bound)},
		{"Uncounted", rollout.Uncounted(drawNames(t, "uncounted"))},
		{"FailedBefore", rollout.FailedBefore(drawNames(t, "failed before"))},
		{"GroupOrder", rollout.GroupOrder(rapid.SampledFrom([]map[string][]string{nil, {"canary": {""}}, {"": {"canary"}}}).Draw(t, "group order"))},
		{"WaitBetweenGroups", rollout.WaitBetweenGroups(time.Duration(rapid.IntRange(0, 90).Draw(t, "wait")) * time.Second)},
		{"Ramp", rollout.Ramp(rapid.IntRange(1, 3).Draw(t, "ramp"))},
		{"MaxStarts", rollout.MaxStarts(rapid.IntRange(1, 3).Draw(t, "starts"), time.Duration(rapid.IntRange(1, 80).Draw(t, "per"))*time.Second)},
	} {
		if rapid.IntRange(0, 3).Draw(t, o.name) == 0 {
			chosen = append(chosen, o.option)
		}
	}
	return chosen
}

func drawReport(t *rapid.T, cluster string, now time.Time) status.Report {
	r := status.Report{
		Cluster: cluster,
		Status: rapid.SampledFrom([]status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded,
			status.Failed, status.TimeOut, status.Skip, "Unheard of"}).Draw(t, "status"),
	}
	if rapid.IntRange(0, 3).Draw(t, "dated") > 0 {
		r.LastTransitionTime = drawTime(t, "transition", now, -70, 5)
	}
	if rapid.IntRange(0, 2).Draw(t, "knows its write") > 0 {
		r.Applied = drawTime(t, "applied", now, -70, 5)
	}
	r.Attempt = max(0, rapid.IntRange(-2, 2).Draw(t, "attempt"))
	return r
}

// told takes in what one call of Report says of one cluster. What is older than the caller's own write speaks of the
// version before (R27).
func (p *planning) told(cluster string, reports ...status.Report) {
	var current []status.Report
	for _, r := range reports {
		if !p.isOutdated(r) {
			if wrote, ok := p.applied[cluster]; ok && r.Applied.IsZero() { // R39: it is of that write, which Plan does not know of
				r.Attempt = max(r.Attempt, wrote.attempt)
			}
			current = append(current, r)
		}
	}
	if current != nil {
		p.reports[cluster] = current
	}
}

// isOutdated says whether a report was made before the write of which the caller told, as far as whole seconds say.
// ToApply without Applied does not know of any write.
func (p *planning) isOutdated(r status.Report) bool {
	wrote, ok := p.applied[r.Cluster]
	made := r.Applied.Round(0)
	if made.IsZero() {
		made = r.LastTransitionTime.Round(0)
	}
	second := wrote.when.Truncate(time.Second)
	earlier := r.Attempt < wrote.attempt && (made.Before(wrote.when) || wrote.again && made.Equal(wrote.when)) // R39: of the attempt before
	// R39: what knows of no write is of the attempt before only where it is a failure.
	if r.Applied.IsZero() {
		earlier = r.Attempt < wrote.attempt && (r.Status == status.Failed || r.Status == status.TimeOut) && !made.After(wrote.when)
	}
	return ok && (made.Before(second) || earlier || r.Status == status.ToApply && r.Applied.IsZero())
}

// wrote takes in that the caller wrote: there is nothing to see of it yet, unless what was reported is later.
func (p *planning) wrote(cluster string, when time.Time) {
	when = when.Round(0)
	known := p.reports[cluster]
	attempt, later, again := p.attempt, false, false
	if len(known) > 0 {
		counts := status.Merge(known...)
		is, since := r27(counts)
		again = since.Equal(when)
		if is != status.ToApply && !p.triesAgain(counts, when) { // R39: it stays in its attempt
			attempt, later, again = counts.Attempt, !since.Before(when.Truncate(time.Second)), false
		}
	}
	last := p.applied[cluster]
	if when.Before(last.when) || when.Equal(last.when) && attempt <= last.attempt {
		return
	}
	p.applied[cluster] = write{when, attempt, again || when.Equal(last.when)}
	if later {
		return
	}
	if known == nil {
		known = make([]status.Report, 1)
	}
	known = slices.Clone(known) // as many, of which there is still a warning
	for i := range known {
		known[i] = status.Report{Cluster: cluster, Status: status.ToApply, Applied: when, Attempt: attempt}
	}
	p.reports[cluster] = known
}

// triesAgain says whether a report is of a cluster that failed in an earlier attempt than the one that is wanted (R39).
func (p *planning) triesAgain(r status.Report, now time.Time) bool {
	is, since := r27(r)
	o := oracle{world: world{strategy: p.strategy, now: now}}
	o.readStrategy()
	s := subject{status: is, since: since}
	return r.Attempt < p.attempt && (r2(&s) || o.r4(&s))
}

// known is what Plan is given.
func (p *planning) known() (reports []status.Report) {
	for i := len(clusterNames) - 1; i >= 0; i-- {
		cluster := clusterNames[i]
		reports = append(reports, p.reports[cluster]...)
	}
	return reports
}

// difference shows what the exported fields of two structs differ in. It leaves cmp, which takes a hundred times as long, to
// those that do.
func difference[T any](want, got *T) string {
	a, b := reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem()
	for i := range a.NumField() {
		if a.Type().Field(i).IsExported() && !reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			return cmp.Diff(want, got, cmpopts.IgnoreUnexported(*want))
		}
	}
	return ""
}

// check compares the planner with a plan from scratch, and its steps with its results.
func (p *planning) check(t *rapid.T) {
	reports := p.known()
	want, err := rollout.Plan(p.strategy, p.groups, reports, p.now, p.options...)
	if err != nil {
		t.Fatal(err)
	}
	next := p.planner.Next(p.now)
	inFlight := p.planner.InFlight(p.now)
	got := p.planner.Result(p.now)
	if diff := difference(want, got); diff != "" {
		t.Fatalf("Result differs from Plan (-plan +planner):\n%s", diff)
	}
	var wanted, answered answer
	wanted.observe(want)
	if answered.observe(got); !wanted.equal(&answered) {
		t.Fatalf("Result's methods differ from Plan's (-plan +planner):\n%s", diff(&wanted, &answered))
	}
	if diff := difference(&want.Next, &next); diff != "" {
		t.Fatalf("Next differs from Plan (-plan +planner):\n%s", diff)
	}
	if !reflect.DeepEqual(want.InFlight, inFlight) {
		t.Fatalf("InFlight differs from Plan (-plan +planner):\n%s", cmp.Diff(want.InFlight, inFlight))
	}
	p.checkClock(t, reports, want)
}

// checkClock: monotonic readings have no say, since reports come from other clocks (R4).
func (p *planning) checkClock(t *rapid.T, reports []status.Report, want *rollout.Result) {
	for i := range reports {
		reports[i].LastTransitionTime, reports[i].Applied = reports[i].LastTransitionTime.Round(0), reports[i].Applied.Round(0)
	}
	bare, err := rollout.Plan(p.strategy, p.groups, reports, p.now.Round(0), p.options...)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(bare, want); diff != "" {
		t.Fatalf("monotonic readings have a say (-without +with):\n%s", diff)
	}
}

// TestPlannerEqualsPlanAfterAnyChanges: a Planner that was told of changes says what Plan says of the whole (R31 for
// its warnings).
func TestPlannerEqualsPlanAfterAnyChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planning{planner: &rollout.Planner{}, reports: map[string][]status.Report{}, applied: map[string]write{}, now: start}
		must := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		setGroups := func(t *rapid.T) {
			p.groups = drawGroups(t)
			p.planner.SetGroups(p.groups)
		}
		setStrategy := func(t *rapid.T) {
			p.strategy, p.options = drawStrategy(t), drawOptions(t)
			p.attempt = max(0, rapid.IntRange(-3, 2).Draw(t, "attempt"))
			p.options = append(p.options, rollout.Attempt(p.attempt))
			must(p.planner.SetStrategy(p.strategy, p.options...))
		}
		setGroups(t)
		setStrategy(t)
		cluster := rapid.SampledFrom(clusterNames)
		t.Repeat(map[string]func(*rapid.T){
			"report": func(t *rapid.T) {
				r := drawReport(t, cluster.Draw(t, "cluster"), p.now)
				p.told(r.Cluster, r)
				must(p.planner.Report(r))
			},
			"several reports": func(t *rapid.T) {
				var reports []status.Report
				of := map[string][]status.Report{}
				for range rapid.IntRange(2, 5).Draw(t, "reports") {
					r := drawReport(t, cluster.Draw(t, "cluster"), p.now)
					of[r.Cluster] = append(of[r.Cluster], r)
					reports = append(reports, r)
				}
				for name, said := range of {
					p.told(name, said...)
				}
				must(p.planner.Report(reports...))
			},
			"forget": func(t *rapid.T) {
				name := cluster.Draw(t, "cluster")
				delete(p.reports, name)
				delete(p.applied, name)
				p.planner.Forget(name)
			},
			"applied": func(t *rapid.T) {
				name, when := cluster.Draw(t, "cluster"), drawTime(t, "applied", p.now, -20, 0)
				p.wrote(name, when)
				p.planner.Applied(name, when)
			},
			"groups":   setGroups,
			"strategy": setStrategy,
			"later":    func(t *rapid.T) { p.now = p.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
			"earlier":  func(t *rapid.T) { p.now = p.now.Add(-time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
			"set back": func(t *rapid.T) {
				d := time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second
				p.now = ranAhead(p.now.Add(-d), d)
			},
			"recheck": func(t *rapid.T) { p.now = p.now.Add(p.planner.Next(p.now).RecheckAfter) },
			"":        p.check,
		})
	})
}

// TestPlannerRefusesMisuse: what is refused has no effect.
func TestPlannerRefusesMisuse(t *testing.T) {
	var p rollout.Planner
	p.SetGroups(newFleet(t).group("", "a", "b").read())
	if err := p.SetStrategy(clusterv1alpha1.RolloutStrategy{Type: "Sideways"}); err == nil {
		t.Error("R18: SetStrategy took an unknown type")
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Succeeded}, status.Report{}); err == nil {
		t.Error("R1: Report took a report without a cluster")
	}
	if got, want := p.Result(now).String(), "start a b"; got != want {
		t.Errorf("after refused calls: %s, want %s", got, want)
	}
}

// TestZeroPlannerIsAllOverNoGroups: it works, and nobody is removed by it before it knows the groups (R7).
func TestZeroPlannerIsAllOverNoGroups(t *testing.T) {
	var p rollout.Planner
	if next := p.Next(now); len(next.Start) > 0 || next.Counts != (status.Counts{}) {
		t.Errorf("Next = %v", next)
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Succeeded}); err != nil {
		t.Fatal(err)
	}
	p.Applied("b", now)
	p.Forget("c")
	if next := p.Next(now); len(next.Removed) > 0 {
		t.Errorf("R7: removes %v without groups", next.Removed)
	}
	if inFlight := p.InFlight(now); inFlight != nil {
		t.Errorf("InFlight = %v", inFlight)
	}
	if got := p.Result(now).Schedule.Type; got != clusterv1alpha1.All {
		t.Errorf("type %v", got)
	}
}

// All methods may be called from several goroutines; the race detector looks on.
func TestPlannerIsSafeForConcurrentUse(t *testing.T) {
	groups := newFleet(t).group("", clusterNames...).read()
	var p rollout.Planner
	p.SetGroups(groups)
	if err := p.SetStrategy(progressive("2", config("", "", 0))); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i, cluster := range clusterNames {
		wg.Go(func() {
			for _, s := range []status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded} {
				if err := p.Report(status.Report{Cluster: cluster, Status: s}); err != nil {
					t.Error(err)
				}
				at := now.Add(time.Duration(i) * time.Second)
				if next := p.Next(at); len(next.Start) > 2 {
					t.Errorf("Next: %v", next)
				}
				p.Result(now)
				p.InFlight(at)
				p.SetGroups(groups)
			}
		})
	}
	wg.Wait()
	if next := p.Next(now); next.Counts.Done() != len(clusterNames) {
		t.Errorf("in the end %v are done; want all %d", next.Counts, len(clusterNames))
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
					p.Next(now.Add(time.Minute))
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
