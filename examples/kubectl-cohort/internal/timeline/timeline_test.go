// SPDX-License-Identifier: Apache-2.0

package timeline_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/picture"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/timeline"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

var start = time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)

func fleet(t interface{ Fatal(...any) }, sizes ...int) *grouping.Groups {
	names := make(map[grouping.Key][]string)
	for i, size := range sizes {
		key := grouping.Key{Index: int32(i)}
		names[key] = nil
		for c := range size {
			names[key] = append(names[key], fmt.Sprintf("g%dc%d", i, c))
		}
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

func play(t interface{ Fatal(...any) }, groups *grouping.Groups, config clusterv1alpha1.RolloutConfig, lives func(string) simulation.Life, retries simulation.Retries) *simulation.Trace {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}}
	trace, err := simulation.Rollout{Strategy: strategy, Groups: groups, Retries: retries}.Play(nil, lives, start)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestMarkIsWhereTheRolloutStopped(t *testing.T) {
	groups := fleet(t, 2, 2)
	trace := play(t, groups, clusterv1alpha1.RolloutConfig{ProgressDeadline: "2h"}, func(cluster string) simulation.Life {
		if cluster == "g1c0" {
			return simulation.Life{{After: 5 * time.Minute, Status: status.Failed}}
		}
		return simulation.Life{{After: 10 * time.Minute, Status: status.Succeeded}}
	}, simulation.Retries{})
	if got := timeline.Of(groups, trace, nil, nil).Mark.String(); got != "stopped after 15m" {
		t.Errorf("got %q, want that it stopped when g1c0 failed", got)
	}
}

// At every wave the groups together stand as all clusters do.
func TestGroupsAddUpToAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups := fleet(t, rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "sizes")...)
		config := clusterv1alpha1.RolloutConfig{
			MinSuccessTime:   metav1.Duration{Duration: time.Duration(rapid.IntRange(0, 20).Draw(t, "soak")) * time.Minute},
			ProgressDeadline: rapid.SampledFrom([]string{"", "7m", "1h"}).Draw(t, "deadline"),
			MaxFailures:      intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, "failures")),
		}
		lives := make(map[string]simulation.Life)
		for i := range groups.NumClusters() {
			end := rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Succeeded, status.Failed, ""}).Draw(t, "end")
			if end != "" {
				after := time.Duration(rapid.IntRange(0, 30).Draw(t, "after")) * time.Minute
				if rapid.Bool().Draw(t, "is validated") {
					lives[groups.Cluster(i)] = simulation.Life{{After: after, Status: status.Validating}}
					after += time.Duration(rapid.IntRange(0, 30).Draw(t, "validates")) * time.Minute
				}
				lives[groups.Cluster(i)] = append(lives[groups.Cluster(i)], simulation.Step{After: after, Status: end})
			} else if rapid.Bool().Draw(t, "is cut off") {
				lives[groups.Cluster(i)] = simulation.Life{{After: time.Duration(rapid.IntRange(1, 9).Draw(t, "lease")) * time.Minute, Drops: true}}
			}
		}
		trace := play(t, groups, config, func(c string) simulation.Life { return lives[c] }, simulation.Retries{
			Times: rapid.IntRange(0, 2).Draw(t, "retries"), After: 6 * time.Minute})
		tl := timeline.Of(groups, trace, nil, nil)
		for _, point := range tl.Points {
			var sum picture.Counts
			for _, group := range tl.Groups {
				now := picture.Counts{picture.Waiting: group.Clusters}
				for _, p := range group.Points {
					if p.After <= point.After {
						now = p.Counts
					}
				}
				for i, n := range now {
					sum[i] += n
				}
			}
			if sum != point.Counts {
				t.Fatalf("after %v the groups are %v together, all are %v", point.After, sum, point.Counts)
			}
		}
		deselected := 0
		for _, w := range trace.Waves {
			deselected += len(w.Deselected)
		}
		if last := tl.Points[len(tl.Points)-1].Counts; last[picture.Deselected] != deselected || last.Total() != groups.NumClusters() {
			t.Fatalf("at the end %v, want %d deselected of %d", last, deselected, groups.NumClusters())
		}
	})
}

// After an abort the picture goes on: a cluster that has the version rolls back, one that never had it waits.
func TestTheRollbackFollowsTheRollout(t *testing.T) {
	groups := fleet(t, 2, 2, 1)
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup,
		ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: 4 * time.Minute}}}}
	lives := func(string) simulation.Life {
		return simulation.Life{{After: 10 * time.Minute, Status: status.Succeeded}}
	}
	trace, err := simulation.Rollout{Strategy: strategy, Groups: groups, Abort: simulation.Abort{At: 26 * time.Minute}}.Play(nil, lives, start)
	if err != nil {
		t.Fatal(err)
	}
	back, err := trace.Aborted.Back(clusterv1alpha1.RolloutStrategy{}, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tl := timeline.Of(groups, trace, back, nil)
	want := []picture.Point{
		{After: 24 * time.Minute, Counts: picture.Counts{picture.Succeeded: 2, picture.Soaking: 2, picture.Waiting: 1}},
		{After: 26 * time.Minute, Counts: picture.Counts{picture.InFlight: 4, picture.Waiting: 1}},
		{After: 36 * time.Minute, Counts: picture.Counts{picture.RolledBack: 4, picture.Waiting: 1}},
	}
	if got := tl.Points[max(len(tl.Points)-3, 0):]; !slices.Equal(got, want) || tl.Mark.String() != "aborted after 26m" {
		t.Errorf("%v, %v, want %v", tl.Mark, got, want)
	}
}
