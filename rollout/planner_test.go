// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
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
	options  rollout.Options
	groups   *grouping.Groups
	// reports are what was last reported of each cluster; applied is when its caller last said that it wrote.
	reports map[string][]status.Report
	applied map[string]write
	tried   map[string]time.Time // when those failed that were tried again
	attempt int                  // that is wanted
	// Of deselected clusters: what is stored, the grace, and the last answer.
	storedRecord *rollout.StoredRecord
	grace        time.Duration
	last         *rollout.Result
	now          time.Time
	kept         func(t *rapid.T) // checks what the answer before says now
}

// write is when a caller wrote, and in which attempt.
type write struct {
	when    time.Time
	attempt int
	again   bool // at the time of the write before
}

// made is when the cluster of a report got the version, or what the report has instead (R27).
func made(r status.Report) time.Time {
	if !r.Applied.IsZero() {
		return r.Applied.Round(0)
	}
	return r.LastTransitionTime.Round(0)
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

// isOutdated says whether a report was made before the write that Applied told of, as far as whole seconds say. ToApply
// without Applied does not know of any write.
func (p *planning) isOutdated(r status.Report) bool {
	wrote, ok := p.applied[r.Cluster]
	made := made(r)
	second := wrote.when.Truncate(time.Second)
	earlier := r.Attempt < wrote.attempt && (made.Before(wrote.when) || wrote.again && made.Equal(wrote.when)) // R39: of the attempt before
	// R39: what knows of no write is of the attempt before only where it is a failure.
	if r.Applied.IsZero() {
		earlier = r.Attempt < wrote.attempt && (r.Status == status.Failed || r.Status == status.TimeOut) &&
			(!made.After(wrote.when) || !made.After(p.tried[r.Cluster]))
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
			attempt, later, again = counts.Attempt, !made(counts).Before(when.Truncate(time.Second)), false
		}
	}
	last := p.applied[cluster]
	if when.Before(last.when) || when.Equal(last.when) && attempt <= last.attempt {
		return
	}
	p.applied[cluster] = write{when, attempt, again || when.Equal(last.when)}
	if len(known) > 0 {
		counts := status.Merge(known...)
		if is, since := r27(counts); (is == status.Failed || is == status.TimeOut) && p.triesAgain(counts, when) {
			p.tried[cluster] = since
		}
	}
	if later {
		return
	}
	if known == nil {
		known = make([]status.Report, 1)
	}
	known = slices.Clone(known) // as many, and there is still a warning
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

// opts are the options of Plan, with the result before, or of the planner, which remembers by itself.
func (p *planning) opts(previous *rollout.Result) rollout.Options {
	opts := p.options
	opts.Attempt, opts.RemoveAfter.Duration, opts.Previous, opts.StoredRecord = p.attempt, p.grace, previous, p.storedRecord
	return opts
}

// check compares the planner with a plan from scratch after the last answer, and its steps with its results.
func (p *planning) check(t *rapid.T) {
	reports, before := p.known(), p.last
	want, err := rollout.Plan(p.strategy, p.groups, reports, p.now, p.opts(before))
	if err != nil {
		t.Fatal(err)
	}
	p.last = want
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
	says := p.said(want)
	if got := p.said(got); says != got {
		t.Fatalf("the planner explains otherwise than Plan\n%s\n%s", says, got)
	}
	if p.kept != nil {
		p.kept(t)
	}
	then, unasked := planning{options: p.options}, p.planner.Result(p.now)
	p.kept = func(t *rapid.T) {
		if got := then.said(unasked); says != got {
			t.Fatalf("a result changed with what the planner was told after it:\n%s\n%s", says, got)
		}
	}
	if diff := difference(&want.Next, &next); diff != "" {
		t.Fatalf("Next differs from Plan (-plan +planner):\n%s", diff)
	}
	if !reflect.DeepEqual(want.InFlight, inFlight) {
		t.Fatalf("InFlight differs from Plan (-plan +planner):\n%s", cmp.Diff(want.InFlight, inFlight))
	}
	p.checkClock(t, reports, want, before)
}

// said is what a result says of clusters that wait and of those that are waited for, of approvals, and of which cluster starts as which.
func (p *planning) said(r *rollout.Result) string {
	lines := fmt.Sprintln(r.Blockers())
	for _, cluster := range clusterNames {
		lines += fmt.Sprintln(r.Explain(cluster))
	}
	for _, gate := range p.options.Gates {
		lines += fmt.Sprintln(r.WouldStart(gate.Group))
	}
	return lines + fmt.Sprintln(r.Positions(nil))
}

// checkClock: monotonic readings have no say, since reports come from other clocks (R4).
func (p *planning) checkClock(t *rapid.T, reports []status.Report, want, before *rollout.Result) {
	for i := range reports {
		r := &reports[i]
		r.LastTransitionTime, r.Applied, r.Answered = r.LastTransitionTime.Round(0), r.Applied.Round(0), r.Answered.Round(0)
	}
	bare, err := rollout.Plan(p.strategy, p.groups, reports, p.now.Round(0), p.opts(before))
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
		p := &planning{planner: &rollout.Planner{}, reports: map[string][]status.Report{}, applied: map[string]write{}, tried: map[string]time.Time{}, now: start}
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
			p.grace = rapid.SampledFrom([]time.Duration{0, 0, 20 * time.Second}).Draw(t, "grace")
			must(p.planner.SetStrategy(p.strategy, p.opts(nil)))
		}
		remember := func(t *rapid.T) {
			p.storedRecord = &rollout.StoredRecord{Version: "v2", AtOnce: rapid.Bool().Draw(t, "at once")}
			if p.last != nil {
				p.storedRecord.Record = p.last.Record
			}
			if rapid.IntRange(0, 3).Draw(t, "drawn") == 0 {
				p.storedRecord.Record = drawRecord(t, p.now)
			}
			must(p.planner.SetStrategy(p.strategy, p.opts(nil)))
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
				delete(p.tried, name)
				p.planner.Forget(name)
			},
			"applied": func(t *rapid.T) {
				name, when := cluster.Draw(t, "cluster"), drawTime(t, "applied", p.now, -20, 0)
				p.wrote(name, when)
				p.planner.Applied(name, when)
			},
			"groups":   setGroups,
			"strategy": setStrategy,
			"remember": remember,
			"store":    remember,
			"forget the record": func(t *rapid.T) {
				p.storedRecord = nil
				must(p.planner.SetStrategy(p.strategy, p.opts(nil)))
			},
			"groups twice": func(t *rapid.T) {
				setGroups(t)
				setGroups(t)
			},
			"later":   func(t *rapid.T) { p.now = p.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
			"earlier": func(t *rapid.T) { p.now = p.now.Add(-time.Duration(rapid.IntRange(1, 40).Draw(t, "s")) * time.Second) },
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
	if err := p.SetStrategy(clusterv1alpha1.RolloutStrategy{Type: "Sideways"}, rollout.Options{}); err == nil {
		t.Error("R18: SetStrategy took an unknown type")
	}
	if err := p.Report(status.Report{Cluster: "a", Status: status.Succeeded}, status.Report{}); err == nil {
		t.Error("R1: Report took a report without a cluster")
	}
	if got, want := p.Result(now).String(), "starting a, b"; got != want {
		t.Errorf("after refused calls: %s, want %s", got, want)
	}
}

// TestZeroPlannerIsAllOverNoGroups: it works, and nothing is removed by it before it knows the groups (R7).
func TestZeroPlannerIsAllOverNoGroups(t *testing.T) {
	var p rollout.Planner
	if next := p.Next(now); len(next.Start) > 0 || next.Counts != (status.Counts{Partial: true}) {
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
	if err := p.SetStrategy(progressive("2", config("", "", 0)), rollout.Options{}); err != nil {
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
