// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

func TestWhatFailedIsTriedAgain(t *testing.T) {
	failsAt := func(minutes int) simulation.Life {
		return simulation.Life{{After: time.Duration(minutes) * time.Minute, Status: status.Failed}}
	}
	for _, test := range []struct {
		why, deadline string
		failures      int
		lives         map[string]simulation.Life
		again         map[string][]simulation.Life // from the second start on; all others succeed after 10 minutes
		want          string
	}{
		{"after a breach", "", 0, map[string]simulation.Life{"a": failsAt(5)}, nil,
			"0s, start a\n5m0s, failed a\n35m0s, start a\n45m0s, start b, succeeded a\n55m0s, succeeded b\nComplete since 55m0s\n"},
		{"no more often than wanted", "", 0, map[string]simulation.Life{"a": failsAt(5)}, map[string][]simulation.Life{"a": {failsAt(1), failsAt(2)}},
			"0s, start a\n5m0s, failed a\n35m0s, start a\n36m0s, failed a\n1h6m0s, start a\n1h8m0s, failed a\nBreached since 1h8m0s\n"},
		{"at once and in vain", "", 0, map[string]simulation.Life{"a": failsAt(5)}, map[string][]simulation.Life{"a": {failsAt(0), failsAt(0)}},
			"0s, start a\n5m0s, failed a\n35m0s, start a, failed a\n1h5m0s, start a, failed a\nBreached since 1h5m0s\n"},
		{"at the end, where the failure is tolerated", "20m", 1, map[string]simulation.Life{"a": failsAt(5)}, nil,
			"0s, start a\n5m0s, failed a\n25m0s, start b, timed out a\n35m0s, succeeded b\n1h5m0s, start a\n1h15m0s, succeeded a\nComplete since 1h15m0s\n"},
		{"a cluster that never answered", "20m", 0, map[string]simulation.Life{"a": {}}, nil,
			"0s, start a\n20m0s, timed out a\n50m0s, start a\n1h0m0s, start b, succeeded a\n1h10m0s, succeeded b\nComplete since 1h10m0s\n"},
		{"not one that recovers before", "", 0, map[string]simulation.Life{"a": {{After: 5 * time.Minute, Status: status.Failed}, {After: 15 * time.Minute, Status: status.Succeeded}}}, nil,
			"0s, start a\n5m0s, failed a\n15m0s, start b, succeeded a\n25m0s, succeeded b\nComplete since 25m0s\n"},
		{"a recovery of the first attempt is none of the second", "", 0, map[string]simulation.Life{
			"a": {{After: 5 * time.Minute, Status: status.Failed}, {After: 37 * time.Minute, Status: status.Succeeded}}}, map[string][]simulation.Life{"a": {failsAt(4)}},
			"0s, start a\n5m0s, failed a\n35m0s, start a\n39m0s, failed a\n1h9m0s, start a\n1h19m0s, start b, succeeded a\n1h29m0s, succeeded b\nComplete since 1h29m0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			lives := livesOf(test.lives)
			played := simulation.Rollout{Strategy: progressive(1, test.failures, test.deadline), Groups: groupsOf("ab"), Retries: simulation.Retries{
				Times: 2, After: 30 * time.Minute, Lives: func(cluster string, again int) simulation.Life {
					if of := test.again[cluster]; again <= len(of) {
						return of[again-1]
					}
					return simulation.Life{{After: 10 * time.Minute, Status: status.Succeeded}}
				}}}
			trace, err := played.Play(nil, lives, start())
			if err != nil {
				t.Fatal(err)
			}
			for i := range trace.Waves {
				trace.Waves[i].Blocks = nil
			}
			if diff := cmp.Diff(test.want, shown(trace)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A cluster that is in flight from an earlier attempt waits once its deadline has passed, and is in flight once more when it succeeds. If the deadline of
// its validation passes, too, it waits again, and the waves tell that.
func TestAClusterThatIsLateTwiceWaitsTwice(t *testing.T) {
	lives := map[string]simulation.Life{
		"a": {{After: 0, Status: status.Failed}},
		"b": {{After: 14 * time.Minute, Status: status.Validating}, {After: 22 * time.Minute, Status: status.Succeeded}},
	}
	played := simulation.Rollout{Strategy: progressive(2, 0, "7m"), Groups: groupsOf("ab"), Retries: simulation.Retries{Times: 1, After: 6 * time.Minute}}
	trace, err := played.Play(nil, livesOf(lives), start())
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	for _, w := range trace.Waves {
		if slices.Contains(w.Again, "b") {
			waits = append(waits, w.After)
		}
	}
	if want := []time.Duration{7 * time.Minute, 21 * time.Minute}; !slices.Equal(waits, want) {
		t.Errorf("b waits again after %v, want %v:\n%s", waits, want, shown(trace))
	}
}

// Whatever happens, time goes on, no cluster starts more often than it is tried, reasons are the same as in a plan in the
// attempt of the wave, and a failed cluster at the end has been tried as often as wanted.
func TestRetriesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		drawPace(t, &w.options)
		drawBeside(t, &w.options)
		w.drawCutOff(t)
		second := make(map[string]simulation.Life)
		for cluster := range w.lives {
			second[cluster] = drawLife(t)
		}
		retries := simulation.Retries{Times: rapid.IntRange(0, 3).Draw(t, "times"), After: time.Duration(rapid.IntRange(1, 20).Draw(t, "after")) * time.Minute,
			Lives: func(cluster string, _ int) simulation.Life { return second[cluster] }}
		played := simulation.Rollout{Strategy: w.strategy, Groups: w.groups, Options: w.options, Retries: retries}
		observed := drawObserved(t)
		first := 0
		for i := range observed {
			if observed[i].Status != status.ToApply {
				observed[i].Attempt = rapid.IntRange(0, 2).Draw(t, "attempt")
				first = max(first, observed[i].Attempt)
			}
		}
		trace, err := played.Play(observed, func(cluster string) simulation.Life { return w.lives[cluster] }, start())
		if err != nil {
			t.Fatal(err)
		}
		if err := trace.Explain(); err != nil {
			t.Fatal(err)
		}
		starts, attempts := make(map[string]int), first
		for i, wave := range trace.Waves {
			if i > 0 && wave.After <= trace.Waves[i-1].After {
				t.Fatalf("wave %d at %v comes after one at %v", i, wave.After, trace.Waves[i-1].After)
			}
			if wave.Attempt > 0 {
				if attempts++; wave.Attempt != attempts {
					t.Fatalf("attempt %d begins, want %d", wave.Attempt, attempts)
				}
			}
			for _, cluster := range wave.Started {
				starts[cluster]++
			}
			held := 0
			for _, hold := range wave.Blocks {
				held += hold.Clusters
			}
			if held != wave.Counts.Blocked+wave.Counts.IgnoredToApply {
				t.Fatalf("%v: reasons for %d clusters, %d are blocked, %d ignored", wave.After, held, wave.Counts.Blocked, wave.Counts.IgnoredToApply)
			}
		}
		for cluster, n := range starts {
			if n > 1+attempts {
				t.Fatalf("%s started %d times in %d attempts", cluster, n, attempts)
			}
		}
		if attempts > first+retries.Times || trace.Final.Counts.Failures() > 0 && attempts < first+retries.Times {
			t.Fatalf("%d attempts, want %d, and %d clusters failed in the end", attempts-first, retries.Times, trace.Final.Counts.Failures())
		}
		if len(trace.Final.Start) > 0 {
			t.Fatalf("%v would start at the end", trace.Final.Start)
		}
		for i, wave := range trace.Waves { // an attempt also drops the failures of deselected clusters
			if wave.Attempt > 0 && len(wave.Again) == 0 && trace.Waves[i-1].Counts.Deselected == 0 && !slices.ContainsFunc(observed, func(r status.Report) bool { return r.Status == status.Failed || r.Status == status.TimeOut }) {
				t.Fatalf("%v: attempt %d for no cluster", wave.After, wave.Attempt)
			}
		}
	})
}

// A cluster that watches sees each start, also of a cluster that starts again in the instant in which it fails.
func TestAWatcherSeesThatItStartsAgain(t *testing.T) {
	fails := func(minutes int) simulation.Life {
		return simulation.Life{{After: time.Duration(minutes) * time.Minute, Status: status.Failed}}
	}
	played := simulation.Rollout{Strategy: progressive(2, 0, ""), Groups: groupsOf("ab"), Retries: simulation.Retries{Times: 1, After: 10 * time.Minute,
		Lives: func(string, int) simulation.Life { return fails(3) }}}
	starting := make(map[string]int)
	_, err := played.Play(nil, livesOf(map[string]simulation.Life{"a": fails(5), "b": fails(16)}), start(), func(_ time.Duration, r *rollout.Result) {
		for _, c := range r.Start {
			starting[c.Name]++
		}
	})
	if err != nil || starting["a"] != 1 || starting["b"] != 1 {
		t.Errorf("%v: seen to start again: %v, want each once", err, starting)
	}
}

// A cluster that was in flight when an attempt began and runs out of time after that waits once more, and did not fail.
func TestAClusterThatRunsOutOfTimeInALaterAttemptWaits(t *testing.T) {
	fails := func(minutes int) simulation.Life {
		return simulation.Life{{After: time.Duration(minutes) * time.Minute, Status: status.Failed}}
	}
	played := simulation.Rollout{Strategy: progressive(2, 0, "40m"), Groups: groupsOf("ab"), Retries: simulation.Retries{Times: 1, After: 30 * time.Minute,
		Lives: func(string, int) simulation.Life { return fails(1) }}}
	trace, err := played.Play(nil, livesOf(map[string]simulation.Life{"a": fails(5), "b": {}}), start())
	if err != nil {
		t.Fatal(err)
	}
	for _, wave := range trace.Waves {
		if slices.Contains(wave.TimedOut, "b") {
			t.Errorf("%v: b timed out, want that it waits", wave.After)
		}
		if slices.Contains(wave.Again, "b") != (wave.After == 40*time.Minute) {
			t.Errorf("%v: %v wait again, want b at 40m", wave.After, wave.Again)
		}
	}
}
