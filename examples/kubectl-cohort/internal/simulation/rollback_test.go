// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

func TestTheRollback(t *testing.T) {
	failed := map[string]simulation.Life{"b": {{After: 5 * time.Minute, Status: status.Failed}}}
	for _, test := range []struct {
		why      string
		abort    simulation.Abort
		strategy clusterv1alpha1.RolloutStrategy
		lives    map[string]simulation.Life
		want     string
	}{
		{"all at once, as soon as it is stopped", simulation.Abort{OnBreach: true}, clusterv1alpha1.RolloutStrategy{}, failed,
			"aborted after 15m0s\n0s, start b a\n5m0s, succeeded b\n10m0s, succeeded a\nComplete since 10m0s\n"},
		{"at a time, while one is in flight", simulation.Abort{At: 12 * time.Minute}, clusterv1alpha1.RolloutStrategy{}, failed,
			"aborted after 12m0s\n0s, start b a\n5m0s, succeeded b\n10m0s, succeeded a\nComplete since 10m0s\n"},
		{"one after the other, the failed one first", simulation.Abort{OnBreach: true}, progressive(1, 0, ""), failed,
			"aborted after 15m0s\n0s, start b, 1 blocked: ConcurrencyUsedUp\n5m0s, start a, succeeded b\n15m0s, succeeded a\nComplete since 15m0s\n"},
		{"one that never answers", simulation.Abort{At: time.Hour}, clusterv1alpha1.RolloutStrategy{}, map[string]simulation.Life{"a": {}},
			"aborted after 1h0m0s\n0s, start a\nStuck since 0s\n"},
		{"not before a breach", simulation.Abort{OnBreach: true}, clusterv1alpha1.RolloutStrategy{}, nil, ""},
		{"not what is complete", simulation.Abort{At: 10 * time.Hour}, clusterv1alpha1.RolloutStrategy{}, nil, ""},
	} {
		t.Run(test.why, func(t *testing.T) {
			played := simulation.Rollout{Strategy: progressive(1, 0, ""), Groups: groupsOf("abc"), Abort: test.abort}
			trace, err := played.Play(nil, livesOf(test.lives), start())
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if aborted := trace.Aborted; aborted != nil {
				back, err := aborted.Back(test.strategy, rollout.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got = "aborted after " + aborted.After.String() + "\n" + shown(back)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Whatever a rollout has done, each cluster that has its version rolls back once and no other does, by any strategy.
func TestEachClusterThatHasItRollsBackOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		observed := drawObserved(t)
		abort := simulation.Abort{OnBreach: rapid.Bool().Draw(t, "on breach"), At: time.Duration(rapid.IntRange(0, 40).Draw(t, "at")) * time.Minute}
		played := simulation.Rollout{Strategy: w.strategy, Groups: w.groups, Options: w.options, Abort: abort}
		trace, err := played.Play(observed, func(cluster string) simulation.Life { return w.lives[cluster] }, start())
		if err != nil {
			t.Fatal(err)
		}
		if trace.Aborted == nil {
			return
		}
		strategy := clusterv1alpha1.RolloutStrategy{}
		if rapid.Bool().Draw(t, "by strategy") {
			strategy = w.strategy
		}
		seen := make(map[string]int)
		back, err := trace.Aborted.Back(strategy, rollout.Options{}, func(_ time.Duration, r *rollout.Result) {
			if r.Breach != nil {
				t.Fatalf("the rollback is breached: %v", r.Breach)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, wave := range back.Waves {
			for _, cluster := range wave.Started {
				seen[cluster]++
			}
		}
		n := 0
		for cluster, times := range seen {
			if n++; times != 1 || !trace.Aborted.Has(cluster) {
				t.Fatalf("%s rolls back %d times, has the version: %v", cluster, times, trace.Aborted.Has(cluster))
			}
		}
		if held := back.Final.Counts.ToApply; n+held != trace.Aborted.HaveVersion() {
			t.Fatalf("%d roll back and %d wait, %d have the version", n, held, trace.Aborted.HaveVersion())
		}
		if strategy.Type == "" && back.Final.Counts.ToApply > 0 {
			t.Fatalf("%v wait to roll back at once", back.Final.BlockCounts())
		}
	})
}

// Of many clusters that each take a time of their own there are no more than a hundred and some waves.
func TestTheRollbackOfManyHasFewWaves(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: manyNames(1000)})
	if err != nil {
		t.Fatal(err)
	}
	lives := func(cluster string) simulation.Life {
		n, _ := groups.Position(cluster)
		return simulation.Life{{After: time.Duration(300+n) * time.Second, Status: status.Succeeded}}
	}
	trace, err := simulation.Rollout{Groups: groups, Abort: simulation.Abort{At: 10 * time.Minute}}.Play(nil, lives, start())
	if err != nil {
		t.Fatal(err)
	}
	back, err := trace.Aborted.Back(clusterv1alpha1.RolloutStrategy{}, rollout.Options{})
	if err != nil || len(back.Waves) > 102 || back.Outcome != simulation.Complete || back.Waves[len(back.Waves)-1].After > 22*time.Minute {
		t.Errorf("%v, %d waves until %v, %v", err, len(back.Waves), back.Waves[len(back.Waves)-1].After, back.Outcome)
	}
}

func manyNames(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("c%04d", i))
	}
	return names
}
