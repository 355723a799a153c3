// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// drawObserved is how a rollout stands that another process has begun, also on clusters that it has no more.
func drawObserved(t *rapid.T) (observed []status.Report) {
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "x", "y"}), 0, 5, rapid.ID).Draw(t, "observed") {
		report := status.Report{Cluster: name, Status: rapid.SampledFrom([]status.RolloutStatus{
			status.ToApply, status.Progressing, status.Validating, status.Succeeded, status.Failed, status.TimeOut, status.Skip, "Later",
		}).Draw(t, "status")}
		before := func(what string) (at time.Time) {
			if minutes := rapid.IntRange(-1, 15).Draw(t, what); minutes >= 0 {
				at = start().Add(-time.Duration(minutes) * time.Minute)
			}
			return at
		}
		report.LastTransitionTime, report.Applied = before("since"), before("applied")
		observed = append(observed, report)
	}
	return observed
}

// drawPace are the options that look back at what started and what soaked.
func drawPace(t *rapid.T, options *rollout.Options) {
	if rapid.IntRange(0, 2).Draw(t, "ramps") == 0 {
		initial := rapid.IntRange(1, 3).Draw(t, "ramp")
		options.Ramp = &initial
	}
	if rapid.IntRange(0, 2).Draw(t, "limits starts") == 0 {
		options.MaxStarts = &rollout.StartLimit{Count: rapid.IntRange(1, 3).Draw(t, "starts"), Per: metav1.Duration{Duration: time.Duration(rapid.IntRange(1, 9).Draw(t, "per")) * time.Minute}}
	}
	if rapid.IntRange(0, 2).Draw(t, "waits between groups") == 0 {
		options.WaitBetweenGroups = metav1.Duration{Duration: time.Duration(rapid.IntRange(1, 9).Draw(t, "between")) * time.Minute}
	}
}

// drawBeside are the options that take clusters out of the count.
func drawBeside(t *rapid.T, options *rollout.Options) {
	if rapid.IntRange(0, 2).Draw(t, "some are not counted") == 0 {
		options.Ignored = []string{"a", "b"}
	}
	if rapid.IntRange(0, 2).Draw(t, "some failed before") == 0 {
		options.FailedBefore = []string{"c", "d"}
	}
	if rapid.IntRange(0, 2).Draw(t, "groups in no order") == 0 {
		options.GroupOrder = rollout.GroupOrder{}
	}
}

// drawCutOff has some clusters cut off by the version.
func (w world) drawCutOff(t *rapid.T) {
	for i := range w.groups.NumClusters() {
		if rapid.IntRange(0, 3).Draw(t, "is cut off") == 0 {
			w.lives[w.groups.Cluster(i)] = cutOff(rapid.IntRange(1, 5).Draw(t, "lease"))
		}
	}
}

func cutOff(minutes int) simulation.Life {
	return simulation.Life{{After: time.Duration(minutes) * time.Minute, Drops: true}}
}

// controller is a planner of a hub: its scheduler drops clusters that are cut off, and its owner keeps the record and the last result.
func (w world) controller(observed []status.Report) simulation.Planner {
	var last *rollout.Result
	var record status.Record
	began := make(map[string]time.Time) // their lives
	waits := func(r status.Report) bool { return r.Status == status.ToApply && r.Applied.IsZero() }
	for _, report := range observed {
		if !waits(report) {
			began[report.Cluster] = start()
		}
	}
	return func(reports []status.Report, now time.Time) (*rollout.Result, error) {
		drops := make(map[string]bool)
		for _, report := range reports {
			if waits(report) {
				continue
			}
			if _, known := began[report.Cluster]; !known {
				began[report.Cluster] = report.Applied
			}
			life := w.lives[report.Cluster]
			late := slices.ContainsFunc(observed, func(o status.Report) bool { return o.Cluster == report.Cluster && !waits(o) && !w.goesOn(o) })
			drops[report.Cluster] = !late && len(life) == 1 && life[0].Drops && !began[report.Cluster].Add(life[0].After).After(now)
		}
		groups := w.groups.Only(func(_ grouping.Key, cluster string) bool { return !drops[cluster] })
		for {
			options := w.options
			options.StoredRecord, options.RemoveAfter.Duration, options.Previous = &rollout.StoredRecord{Version: "any", Record: record}, time.Minute, last
			result, err := rollout.Plan(w.strategy, groups, reports, now, options)
			if err != nil || cmp.Equal(result.Record, record) {
				last = result
				return result, err
			}
			last, record = result, result.Record
		}
	}
}

// goesOn says whether a cluster that had the version at the start has its life before it: it is neither settled nor late.
func (w world) goesOn(observed status.Report) bool {
	switch observed.Status {
	case status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return false
	}
	since := observed.Applied
	if observed.LastTransitionTime.After(since) {
		since = observed.LastTransitionTime
	}
	return w.deadline == nil || since.IsZero() || start().Sub(since) < *w.deadline
}

// watched is what the watchers are told.
type watched struct {
	After   time.Duration
	Result  string
	Summary status.Summary
	Blocks  []rollout.BlockCount
}

// unversioned leaves out the version of a summary, which only the record tells: Play keeps a record only where it needs one.
var unversioned = cmpopts.IgnoreFields(status.Summary{}, "Version")

func TestPlayIsResumeWithAPlanAtEveryWave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, observed := drawWorld(t), drawObserved(t)
		w.drawCutOff(t)
		drawPace(t, &w.options)
		lives := func(cluster string) simulation.Life { return w.lives[cluster] }
		watching := func(all *[]watched) func(time.Duration, *rollout.Result) {
			return func(after time.Duration, r *rollout.Result) {
				*all = append(*all, watched{after, r.String(), r.Summary(), r.BlockCounts()})
			}
		}
		var slowly, fast []watched
		want, err := simulation.Resume(w.controller(observed), observed, lives, start(), watching(&slowly))
		if err != nil {
			t.Fatal(err)
		}
		played := simulation.Rollout{Strategy: w.strategy, Groups: w.groups, Options: w.options}
		got, err := played.Play(observed, lives, start())
		if err != nil {
			t.Fatal(err)
		}
		some := rapid.IntRange(0, len(got.Waves)-1).Draw(t, "wave")
		if err := got.Explain(some); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Waves[some], got.Waves[some]); diff != "" {
			t.Fatalf("wave %d (-Resume +Play):\n%s", some, diff)
		}
		if err := got.Explain(); err != nil {
			t.Fatal(err)
		}
		ignored := []cmp.Option{cmpopts.IgnoreUnexported(simulation.Trace{}), cmpopts.IgnoreFields(simulation.Trace{}, "Final")}
		if diff := cmp.Diff(want, got, ignored...); diff != "" {
			t.Fatalf("Resume and Play (-Resume +Play):\n%s", diff)
		}
		if want, got := want.Final, got.Final; want.String() != got.String() || !cmp.Equal(want.Summary(), got.Summary(), unversioned) ||
			!cmp.Equal(want.Next, got.Next, cmpopts.IgnoreFields(rollout.Next{}, "Record")) || !cmp.Equal(want.Record.Deselected, got.Record.Deselected) || !slices.Equal(want.InFlight, got.InFlight) ||
			!cmp.Equal(slices.Collect(want.Settled()), slices.Collect(got.Settled())) {
			t.Fatalf("the end:\n%v\nwant\n%v\n(-Resume +Play)\n%s", got, want, cmp.Diff(want.Next, got.Next))
		}
		if _, err := played.Play(observed, lives, start(), watching(&fast)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slowly, fast, unversioned); diff != "" {
			t.Fatalf("the watchers are told something else (-Resume +Play):\n%s", diff)
		}
	})
}
