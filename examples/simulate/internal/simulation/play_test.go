package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/simulate/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// drawObserved is how a rollout stands that somebody else has begun, also on clusters that it has no more.
func drawObserved(t *rapid.T) (observed []status.Report) {
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "x", "y"}), 0, 5, rapid.ID).Draw(t, "observed") {
		report := status.Report{Cluster: name, Status: rapid.SampledFrom([]status.RolloutStatus{
			status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip, "Later",
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
func drawPace(t *rapid.T) (options []rollout.Option) {
	if rapid.IntRange(0, 2).Draw(t, "ramps") == 0 {
		options = append(options, rollout.Ramp(rapid.IntRange(1, 3).Draw(t, "ramp")))
	}
	if rapid.IntRange(0, 2).Draw(t, "limits starts") == 0 {
		options = append(options, rollout.MaxStarts(rapid.IntRange(1, 3).Draw(t, "starts"), time.Duration(rapid.IntRange(1, 9).Draw(t, "per"))*time.Minute))
	}
	if rapid.IntRange(0, 2).Draw(t, "waits between groups") == 0 {
		options = append(options, rollout.WaitBetweenGroups(time.Duration(rapid.IntRange(1, 9).Draw(t, "between"))*time.Minute))
	}
	return options
}

// drawBeside are the options that take clusters out of the count.
func drawBeside(t *rapid.T) (options []rollout.Option) {
	if rapid.IntRange(0, 2).Draw(t, "some are not counted") == 0 {
		options = append(options, rollout.Uncounted(func(cluster string) bool { return cluster < "c" }))
	}
	if rapid.IntRange(0, 2).Draw(t, "some failed before") == 0 {
		options = append(options, rollout.FailedBefore(func(cluster string) bool { return cluster > "b" && cluster < "e" }))
	}
	if rapid.IntRange(0, 2).Draw(t, "groups in no order") == 0 {
		options = append(options, rollout.GroupOrder(nil))
	}
	return options
}

// watched is what those who watch are told.
type watched struct {
	After   time.Duration
	Result  string
	Summary status.Summary
	Holds   []rollout.HoldCount
}

func TestPlayIsResumeWithAPlanAtEveryWave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, observed := drawWorld(t), drawObserved(t)
		w.options = append(w.options, drawPace(t)...)
		lives := func(cluster string) simulation.Life { return w.lives[cluster] }
		watching := func(all *[]watched) func(time.Duration, *rollout.Result) {
			return func(after time.Duration, r *rollout.Result) {
				*all = append(*all, watched{after, r.String(), r.Summary(), r.Holds()})
			}
		}
		var slowly, fast []watched
		want, err := simulation.Resume(planner(w.strategy, w.groups, w.options...), observed, lives, start(), watching(&slowly))
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
		if want, got := want.Final, got.Final; want.String() != got.String() || !cmp.Equal(want.Summary(), got.Summary()) ||
			!cmp.Equal(want.Next, got.Next) || !slices.Equal(want.InFlight, got.InFlight) ||
			!cmp.Equal(slices.Collect(want.Settled()), slices.Collect(got.Settled())) {
			t.Fatalf("the end:\n%v\nwant\n%v", got, want)
		}
		if _, err := played.Play(observed, lives, start(), watching(&fast)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slowly, fast); diff != "" {
			t.Fatalf("those who watch are told something else (-Resume +Play):\n%s", diff)
		}
	})
}
