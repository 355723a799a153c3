// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Of n and of a span that make no sense an error says so, at the option (R35, R36).
func TestPaceRefusesNonsense(t *testing.T) {
	const bothWrong = "maxStarts.count: Invalid value: 0: must be at least 1\nmaxStarts.per: Invalid value: \"0s\": must be more than 0"
	for want, option := range map[string]rollout.Options{
		`ramp: Invalid value: 0: must be at least 1`:              rollout.Options{Ramp: ptr(0)},
		`maxStarts.count: Invalid value: 0: must be at least 1`:   rollout.Options{MaxStarts: &rollout.StartLimit{Count: 0, Per: metav1.Duration{Duration: time.Hour}}},
		`maxStarts.per: Invalid value: "0s": must be more than 0`: rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: 0}}},
		bothWrong: rollout.Options{MaxStarts: &rollout.StartLimit{}},
		`waitBetweenGroups: Invalid value: "-1s": must not be negative`: rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: -time.Second}},
		`ramp: Invalid value: -7: must be at least 1`:                   rollout.Options{Ramp: ptr(-7)},
		`maxStarts.per: Invalid value: "-1m0s": must be more than 0`:    rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: -time.Minute}}},
		`maxStarts.count: Invalid value: -2: must be at least 1`:        rollout.Options{MaxStarts: &rollout.StartLimit{Count: -2, Per: metav1.Duration{Duration: 1}}},
	} {
		if _, err := rollout.NewPlanner(all(""), nil, option); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// staged is a rollout that is staged: which clusters succeed, fails or hangs, and how long each takes.
type staged struct {
	world
	takes, ends func(cluster string) int
	started     []time.Time
	seen        func(r *rollout.Result)
}

// play carries out every plan at once, and goes on to the next time at which something happens. A Planner says the same. It
// returns the last result.
func (p *staged) play(t *rapid.T) *rollout.Result {
	groups := p.read(t)
	states := map[string]status.Report{}
	planner, err := rollout.NewPlanner(p.strategy, groups, p.options())
	if err != nil {
		t.Fatal(err)
	}
	for range 40 * (len(p.members) + 1) {
		p.reports = p.reports[:0]
		for _, r := range states {
			p.reports = append(p.reports, r)
		}
		result := try(t, p.world, groups).result
		p.seen(result)
		if err := planner.Report(p.reports...); err != nil {
			t.Fatal(err)
		}
		if plan, next := mustJSON(result.Next), mustJSON(planner.Next(p.now)); plan != next {
			t.Fatalf("at the very time at which something changes Plan says\n%s\nand the Planner\n%s\n%v", plan, next, p.world)
		}
		for _, c := range result.Start {
			states[c.Name] = status.Report{Cluster: c.Name, Status: status.Progressing, Applied: p.now}
			p.started = append(p.started, p.now)
		}
		next := result.RecheckAfter
		sooner := func(d time.Duration) {
			if d > 0 && (next == 0 || d < next) {
				next = d
			}
		}
		for name, r := range states {
			if r.Status != status.Progressing {
				continue
			}
			done := r.Applied.Add(time.Duration(p.takes(name)) * time.Minute)
			if p.now.Before(done) {
				sooner(done.Sub(p.now))
				continue
			}
			switch p.ends(name) {
			case 0:
				r.Status, r.LastTransitionTime = status.Failed, done
			case 1: // hangs
				continue
			default:
				r.Status, r.LastTransitionTime = status.Succeeded, done
			}
			states[name] = r
			sooner(1)
		}
		if next == 0 {
			return result
		}
		p.now = p.now.Add(next)
	}
	t.Fatalf("does not end: %v", p.world)
	return nil
}

// drawStaged is a world without gates in which every cluster takes some minutes.
func drawStaged(t *rapid.T, succeed bool) *staged {
	w := drawn(t).world(25)
	w.freezes, w.allowlist, w.paused, w.gates, w.incomplete, w.ignored, w.before, w.attempt, w.reports = nil, nil, false, nil, false, nil, nil, 0, nil
	if w.shares != nil { // with none nothing begins
		w.shares.Concurrency = max(1, w.shares.Concurrency)
	}
	deadline, soak := rapid.SampledFrom([]string{"10m", "1h"}).Draw(t, "deadline"), time.Duration(rapid.IntRange(0, 3).Draw(t, "soak"))*time.Minute
	setSoak(w.strategy, soak)
	configOf(w.strategy).ProgressDeadline = deadline
	fails := 2 // none does
	if !succeed {
		fails = 0
		configOf(w.strategy).MaxFailures = intstr.Parse(rapid.SampledFrom([]string{"100%", "50%"}).Draw(t, "maxFailures"))
	}
	a, b := rapid.IntRange(1, 9).Draw(t, "a"), rapid.IntRange(1, 9).Draw(t, "b")
	return &staged{
		world: w,
		takes: func(cluster string) int { return 1 + score(cluster, a, b)%5 },
		ends:  func(cluster string) int { return fails + score(cluster, b, a)%6 },
		seen:  func(*rollout.Result) {},
	}
}

// R35: with a ramp the clusters that have the version and did not soak are never more than those that did, or than the
// initial number, beside those that failed for good; so a bad version has at most twice as many.
func TestRampExposesAtMostTwiceWhatSoaked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawStaged(t, false)
		p.ramp, p.starts = rapid.IntRange(1, 4).Draw(t, "ramp"), nil
		p.seen = func(r *rollout.Result) {
			c := r.Summary().Counts
			soaked := c.Succeeded - c.Soaking
			inFlight, lost := len(r.Start)+c.Progressing+c.Soaking, c.TimeOut
			if p.failedFrees {
				lost += c.Failed
			} else {
				inFlight += c.Failed
			}
			if most := max(p.ramp, soaked); inFlight > most {
				t.Fatalf("%d in flight with %d soaked and a ramp from %d: %v\n%v", inFlight, soaked, p.ramp, r, p.world)
			}
			if exposed := soaked + inFlight + lost; exposed > soaked+max(p.ramp, soaked)+lost {
				t.Fatalf("%d exposed: %v", exposed, r)
			}
		}
		p.play(t)
	})
}

// R36: in no span more clusters start than may, whatever they become.
func TestMaxStartsHoldsInEverySpan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawStaged(t, false)
		p.ramp, p.starts = 0, &startLimit{rapid.IntRange(1, 4).Draw(t, "n"), time.Duration(rapid.IntRange(1, 20).Draw(t, "per")) * 30 * time.Second}
		p.play(t)
		for i := range p.started {
			if j := i + p.starts.n; j < len(p.started) && p.started[j].Sub(p.started[i]) < p.starts.per {
				t.Fatalf("%d start within %v: %v", p.starts.n+1, p.started[j].Sub(p.started[i]), p.world)
			}
		}
	})
}

// Where all clusters succeed in time everything ends, with every option of pace and order (R33 to R36).
func TestRolloutsAtAnyPaceEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawStaged(t, true)
		last := p.play(t)
		if s := last.Summary(); s.Done() != len(p.members) || s.Aggregate() != status.Succeeded {
			t.Fatalf("ends with %v: %v\n%v", s.Counts, last, p.world)
		}
	})
}

// R34: a Planner takes in that a cluster of a complete group succeeded later than it knew, or is gone.
func TestPlannerWaitsForTheLastSuccessThatItKnows(t *testing.T) {
	groups := newFleet(t).group("", "a", "b", "u").group("", "c").read()
	p, err := rollout.NewPlanner(perGroup(config("", "", 0)), groups, rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}, Ignored: []string{"u"}})
	if err != nil {
		t.Fatal(err)
	}
	succeeded := func(cluster string, at time.Time) status.Report {
		return status.Report{Cluster: cluster, Status: status.Succeeded, LastTransitionTime: at}
	}
	for _, step := range []struct {
		reports []status.Report
		want    time.Duration
	}{
		{[]status.Report{succeeded("a", now.Add(-50*time.Minute)), succeeded("b", now.Add(-40*time.Minute)), succeeded("u", now)}, 20 * time.Minute},
		{[]status.Report{succeeded("a", now.Add(-10*time.Minute))}, 50 * time.Minute},
		{[]status.Report{{Cluster: "a", Status: status.Skip}}, 20 * time.Minute},
		{[]status.Report{succeeded("b", now.Add(-time.Hour))}, 0},
		{[]status.Report{succeeded("b", now)}, time.Hour},
		{[]status.Report{succeeded("b", now)}, time.Hour}, // the same again
		{[]status.Report{succeeded("a", now)}, time.Hour},
		{[]status.Report{succeeded("b", now.Add(-30*time.Minute))}, time.Hour},
		{[]status.Report{succeeded("a", now.Add(-20*time.Minute))}, 40 * time.Minute},
		{[]status.Report{succeeded("b", now.Add(-25*time.Minute))}, 40 * time.Minute},
	} {
		if err := p.Report(step.reports...); err != nil {
			t.Fatal(err)
		}
		if next := p.Next(now); next.RecheckAfter != step.want || (len(next.Start) > 0) != (step.want == 0) {
			t.Errorf("after %v: %v, want a recheck after %v", step.reports, next, step.want)
		}
	}
}

// R23, R34: the end of a wait behind a closed gate starts nothing, so that nothing is rechecked then. The gate is of the first group,
// which is complete.
func TestAWaitBehindAGateIsNotRechecked(t *testing.T) {
	groups := newFleet(t).group("first", "a").group("", "b").read()
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now.Add(-10 * time.Minute)}}
	for want, opts := range map[time.Duration]rollout.Options{
		50 * time.Minute: {},
		0:                {Gates: []rollout.ClosedGate{{Group: grouping.Key{Name: "first"}, Gate: rollout.Gate{}}}},
	} {
		r, err := rollout.Plan(perGroup(config("", "", 0)), groups, reports, now, merged(opts, rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}}))
		if err != nil {
			t.Fatal(err)
		}
		if r.RecheckAfter != want {
			t.Errorf("%v is rechecked after %v, want %v", r, r.RecheckAfter, want)
		}
	}
}

// R36, R46: a Planner that gets other groups still knows when its clusters started, whether they are selected or not.
func TestPlannerKeepsStartsWhenGroupsChange(t *testing.T) {
	p, err := rollout.NewPlanner(all(""), newFleet(t).group("", "a", "b").read(), rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}})
	if err != nil {
		t.Fatal(err)
	}
	done := status.Report{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now.Add(-time.Minute), Applied: now.Add(-20 * time.Minute)}
	if err := p.Report(done); err != nil {
		t.Fatal(err)
	}
	for _, groups := range [][]string{{"a", "b"}, {"b"}, {"a", "b", "c"}} {
		p.SetGroups(newFleet(t).group("", groups...).read())
		next := p.Next(now)
		if len(next.Start) > 0 || next.RecheckAfter != 40*time.Minute {
			t.Errorf("of %v: %v", groups, next)
		}
	}
}

// BenchmarkPlannerWaits has a complete group of n clusters. One is reported anew, the same again or later.
func BenchmarkPlannerWaits(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		var names []string
		var reports []status.Report
		for i := range n {
			names = append(names, fmt.Sprintf("cluster-%06d", i))
			reports = append(reports, status.Report{Cluster: names[i], Status: status.Succeeded, LastTransitionTime: now})
		}
		p, err := rollout.NewPlanner(perGroup(config("", "", 0)), newFleet(b).group("", names...).group("", "z").read(), rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}})
		if err != nil {
			b.Fatal(err)
		}
		if err := p.Report(reports...); err != nil {
			b.Fatal(err)
		}
		for _, later := range []time.Duration{0, time.Nanosecond} {
			b.Run(fmt.Sprintf("later=%v/n=%d", later, n), func(b *testing.B) {
				r := reports[0]
				for b.Loop() {
					r.LastTransitionTime = r.LastTransitionTime.Add(later)
					if err := p.Report(r); err != nil {
						b.Fatal(err)
					}
					p.Next(now)
				}
			})
		}
	}
}

// R34: a cluster that is frozen behind a success without a time waits for that time, too. The blockers have it.
func TestFrozenClustersWaitForTimesToo(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}, {Index: 1}: {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	opts := rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Minute}, Freezes: []rollout.ClusterFreeze{{Cluster: "b"}}}
	r, err := rollout.Plan(perGroup(config("", "", 0)), groups, []status.Report{{Cluster: "a", Status: status.Succeeded}}, now, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Blockers(); len(got) != 1 || got[0].Name != "a" || got[0].Waiting != 1 {
		t.Errorf("got %v of %v, want that one waits for a", got, r.Explain("b"))
	}
}
