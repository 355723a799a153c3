// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// world is a rollout to play: anything that files and flags can ask for, on up to 12 clusters.
type world struct {
	groups    *grouping.Groups
	strategy  clusterv1alpha1.RolloutStrategy
	options   rollout.Options
	lives     map[string]simulation.Life
	soak      time.Duration
	deadline  *time.Duration
	perGroup  int  // R24, 0 if unset
	freesSlot bool // R25
}

func drawWorld(t *rapid.T) world {
	letters := "abcdefghijkl"[:rapid.IntRange(0, 12).Draw(t, "clusters")]
	var words []string
	for rest := letters; ; {
		n := rapid.IntRange(0, len(rest)).Draw(t, "group")
		words, rest = append(words, rest[:n]), rest[n:]
		if len(rest) == 0 {
			break
		}
	}
	w := world{groups: groupsOf(words...), lives: make(map[string]simulation.Life)}
	for _, letter := range letters {
		w.lives[string(letter)] = drawLife(t)
	}
	w.drawStrategy(t)
	for i := range words {
		gate := rollout.Gate{}
		switch rapid.IntRange(0, 9).Draw(t, "gate") {
		case 0:
		case 1:
			gate.Opens = start().Add(time.Duration(rapid.IntRange(0, 50).Draw(t, "opens")) * time.Minute)
		default:
			continue
		}
		w.options.Gates = append(w.options.Gates, rollout.ClosedGate{Group: grouping.Key{Index: int32(i)}, Gate: gate})
	}
	return w
}

func drawLife(t *rapid.T) (life simulation.Life) {
	after := time.Duration(0)
	for _, s := range rapid.SliceOfN(rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Failed, status.Progressing, status.Validating}), 0, 3).Draw(t, "life") {
		after += time.Duration(rapid.IntRange(0, 5).Draw(t, "after")) * time.Minute
		life = append(life, simulation.Step{After: after, Status: s})
	}
	return life
}

func (w *world) drawStrategy(t *rapid.T) {
	config := clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt(rapid.IntRange(0, 4).Draw(t, "failures"))}
	if rapid.Bool().Draw(t, "has deadline") {
		d := time.Duration(rapid.IntRange(1, 12).Draw(t, "deadline")) * time.Minute
		w.deadline, config.ProgressDeadline = &d, d.String()
	}
	mandatory := clusterv1alpha1.MandatoryDecisionGroups{}
	for _, i := range rapid.SliceOfN(rapid.Int32Range(0, 3), 0, 2).Draw(t, "mandatory") {
		mandatory.MandatoryDecisionGroups = append(mandatory.MandatoryDecisionGroups, clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: i})
	}
	if w.freesSlot = rapid.Bool().Draw(t, "failed frees slot"); w.freesSlot {
		w.options.FailedFreesSlot = true
	}
	switch rapid.IntRange(0, 2).Draw(t, "type") {
	case 0:
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}}
		return
	case 1:
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			MaxConcurrency: intstr.FromInt(rapid.IntRange(1, 4).Draw(t, "concurrency")), MandatoryDecisionGroups: mandatory}}
	case 2:
		w.strategy = clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
			ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{MandatoryDecisionGroups: mandatory}}
		if w.perGroup = rapid.IntRange(0, 3).Draw(t, "per group"); w.perGroup > 0 {
			w.options.MaxConcurrencyPerGroup = intstr.FromInt(w.perGroup)
		}
	}
	w.soak = time.Duration(rapid.IntRange(0, 4).Draw(t, "soak")) * time.Minute
	config.MinSuccessTime = metav1.Duration{Duration: w.soak}
	if p := w.strategy.Progressive; p != nil {
		p.RolloutConfig = config
	} else {
		w.strategy.ProgressivePerGroup.RolloutConfig = config
	}
}

// run plays the world and checks each plan on its way.
func (w world) run(t *rapid.T, check func(*rollout.Result, []status.Report, time.Time)) *simulation.Trace {
	trace, err := simulation.Run(func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		r, err := rollout.Plan(w.strategy, w.groups, reports, now, w.options)
		if err == nil {
			check(r, reports, now)
		}
		return r, err
	}, func(cluster string) simulation.Life { return w.lives[cluster] }, start())
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func unchecked(*rollout.Result, []status.Report, time.Time) {}

// busy says whether a cluster holds a slot, read straight off the API's documentation.
func (w world) busy(r status.Report, now time.Time) bool {
	age := now.Sub(r.LastTransitionTime)
	switch r.Status {
	case status.Succeeded:
		return age < w.soak
	case status.Failed:
		return !w.freesSlot && (w.deadline == nil || age < *w.deadline)
	default:
		return w.deadline == nil || age < *w.deadline
	}
}

func TestEveryRolloutEndsAndItsTimeOnlyMovesForward(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		trace := drawWorld(t).run(t, unchecked)
		for i := 1; i < len(trace.Waves); i++ {
			if trace.Waves[i].After <= trace.Waves[i-1].After {
				t.Fatalf("wave %d at %v comes after one at %v", i, trace.Waves[i].After, trace.Waves[i-1].After)
			}
		}
		if n := len(trace.Final.Start); n > 0 {
			t.Fatalf("%d clusters would start at the end", n)
		}
	})
}

func TestMaxConcurrencyHoldsAtAnyTimeWhereNoClusterComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for cluster, life := range w.lives {
			life = life[:min(len(life), 1)]
			if w.deadline != nil && len(life) == 1 && life[0].After > *w.deadline {
				life = nil // it would come back after its deadline
			}
			w.lives[cluster] = life
		}
		w.run(t, func(r *rollout.Result, reports []status.Report, now time.Time) {
			for _, stage := range w.over(r, reports, now) {
				t.Fatalf("%v: too many clusters in flight in %v", now.Sub(start()), stage)
			}
		})
	})
}

// A cluster that succeeds after its slot went to another soaks beside it, so that there may be more in
// flight than MaxConcurrency for a while; but nothing starts then.
func TestNothingStartsOverMaxConcurrency(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.run(t, func(r *rollout.Result, reports []status.Report, now time.Time) {
			for _, stage := range w.over(r, reports, now) {
				if slices.ContainsFunc(r.Start, func(c rollout.Cluster) bool { return slices.Contains(stage.Groups, c.Group) }) {
					t.Fatalf("%v: start %v with too many clusters in flight in %v", now.Sub(start()), r.Start, stage)
				}
			}
		})
	})
}

// over are the stages with more clusters in flight or started than their limit.
func (w world) over(r *rollout.Result, reports []status.Report, now time.Time) (over []rollout.Stage) {
	held := make(map[grouping.Key]int)
	for _, report := range reports {
		if key, _, _ := w.groups.Find(report.Cluster); w.busy(report, now) {
			held[key]++
		}
	}
	for _, c := range r.Start {
		held[c.Group]++
	}
	for _, stage := range r.Schedule.Stages {
		n := 0
		for _, key := range stage.Groups {
			n += held[key]
		}
		if n > w.limit(stage) {
			over = append(over, stage)
		}
	}
	return over
}

// limit is how many clusters of a stage the strategy lets be in flight.
func (w world) limit(stage rollout.Stage) int {
	switch {
	case w.strategy.Progressive != nil && !stage.Mandatory:
		return w.strategy.Progressive.MaxConcurrency.IntValue()
	case w.perGroup > 0:
		return w.perGroup
	default:
		return stage.Clusters
	}
}

func TestEveryClusterIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		trace := w.run(t, unchecked)
		var started []string
		for _, wave := range trace.Waves {
			if started = append(started, wave.Started...); wave.Counts.Total() != w.groups.NumClusters() {
				t.Fatalf("%v: %d clusters counted, want %d", wave.After, wave.Counts.Total(), w.groups.NumClusters())
			}
			waiting := 0
			for _, reason := range wave.Blocks {
				waiting += reason.Clusters
			}
			if want := w.groups.NumClusters() - len(started); wave.Counts.ToApply != want || waiting != want {
				t.Fatalf("%v: %d waiting, %d with a reason, want %d", wave.After, wave.Counts.ToApply, waiting, want)
			}
		}
		slices.Sort(started)
		if len(slices.Compact(started)) != len(started) {
			t.Fatalf("started twice: %v", started)
		}
	})
}

func TestTheEndIsTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		var last []status.Report
		trace := w.run(t, func(_ *rollout.Result, reports []status.Report, _ time.Time) { last = slices.Clone(reports) })
		later, err := rollout.Plan(w.strategy, w.groups, last, start().Add(simulation.Horizon), w.options)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(trace.Final.Summary(), later.Summary()); diff != "" {
			t.Fatalf("%v, yet 100 years later things stand otherwise (-end +later):\n%s", trace.Outcome, diff)
		}
		for _, report := range last {
			if life := w.lives[report.Cluster]; len(life) > 0 && report.Status != life[len(life)-1].Status {
				t.Fatalf("%s ends as %s, want the end of its life %v", report.Cluster, report.Status, life)
			}
		}
		counts := trace.Final.Summary().Counts
		open, complete := counts.ToApply > 0 || counts.InFlight() > 0, trace.Outcome == simulation.Complete || trace.Outcome == simulation.CompleteWithFailures
		switch {
		case (counts.Total() == 0) != (trace.Outcome == simulation.NothingSelected),
			(trace.Final.Breach != nil) != (trace.Outcome == simulation.Breached),
			open && complete, !open && (trace.Outcome == simulation.Stuck || trace.Outcome == simulation.AtGate),
			complete && (counts.Failures() > 0) != (trace.Outcome == simulation.CompleteWithFailures):
			t.Fatalf("%v with %v", trace.Outcome, counts)
		}
		for i, wave := range trace.Waves[trace.Stopped:] {
			if i > 0 && len(wave.Started) > 0 || trace.Outcome == simulation.Breached && !wave.Breached {
				t.Fatalf("%v since %v, yet %v after it", trace.Outcome, trace.Waves[trace.Stopped].After, wave)
			}
		}
	})
}

// A simulation that begins half way comes to the same end.
func TestGoingOnFromTheMiddleComesToTheSameEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		for cluster, life := range w.lives {
			steps := 1
			if len(life) > 1 && life[0].Status == status.Validating && (life[1].Status == status.Succeeded || life[1].Status == status.Failed) &&
				(w.deadline == nil || life[1].After-life[0].After <= *w.deadline) {
				steps = 2
			}
			life = life[:min(len(life), steps)]
			if len(life) > 0 && (life[0].Status == status.Progressing || w.deadline != nil && life[0].After > *w.deadline) {
				life = nil // it says again what it has said, or would come back after its deadline
			}
			w.lives[cluster] = life
		}
		var seen [][]status.Report
		var times []time.Time
		whole := w.run(t, func(_ *rollout.Result, reports []status.Report, now time.Time) {
			seen, times = append(seen, slices.Clone(reports)), append(times, now)
		})
		i := rapid.IntRange(0, len(seen)-1).Draw(t, "plan")
		lives := func(cluster string) simulation.Life { return w.lives[cluster] } // from when it got the workload
		rest, err := simulation.Resume(planner(w.strategy, w.groups, w.options), seen[i], lives, times[i])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole.Final.Summary(), rest.Final.Summary()); diff != "" || whole.Outcome != rest.Outcome {
			t.Fatalf("from %v on it ends as %v, want %v (-whole +rest):\n%s", times[i].Sub(start()), rest.Outcome, whole.Outcome, diff)
		}
	})
}
