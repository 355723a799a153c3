// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// setSoak changes the strategy to another soak and no deadline.
func setSoak(s clusterv1alpha1.RolloutStrategy, soak time.Duration) {
	c := configOf(s)
	c.ProgressDeadline = ""
	c.MinSuccessTime = metav1.Duration{Duration: soak}
}

func configOf(s clusterv1alpha1.RolloutStrategy) *clusterv1alpha1.RolloutConfig {
	switch s.Type {
	case clusterv1alpha1.Progressive:
		return &s.Progressive.RolloutConfig
	case clusterv1alpha1.ProgressivePerGroup:
		return &s.ProgressivePerGroup.RolloutConfig
	default:
		return &s.All.RolloutConfig
	}
}

// succeeding is a random world in which no cluster fails and nothing is blocked.
func succeeding(t *rapid.T) world {
	w := drawn(t).world(60)
	w.freezes, w.allowlist, w.paused, w.gates, w.incomplete, w.ramp, w.starts, w.shares, w.wait, w.ignored = nil, nil, false, nil, false, 0, nil, nil, 0, nil
	for i := range w.reports {
		switch r := &w.reports[i]; r.Status {
		case status.Failed, status.TimeOut:
			r.Status = status.Progressing
		}
	}
	w.reports = slices.DeleteFunc(w.reports, func(r status.Report) bool { return strings.HasSuffix(r.Cluster, "-gone") }) // R46
	return w
}

// waves runs a rollout whose clusters all succeed: what started or was in flight at one wave has succeeded
// at the next, which comes after the soak. It ends when all are settled.
func waves(t *rapid.T, w world, soak time.Duration) (n int, last *rollout.Result) {
	groups := w.read(t)
	observed := map[string]status.Report{}
	for _, r := range w.reports {
		observed[r.Cluster] = r
	}
	for ; ; n++ {
		w.reports = w.reports[:0]
		for _, r := range observed {
			w.reports = append(w.reports, r)
		}
		last = try(t, w, groups).result
		if n == 0 && holdsByGroups(last) { // R66: those that are exposed out of turn have a wave of their own
			n--
		}
		if len(last.Start)+len(last.InFlight) == 0 || n > len(w.members) {
			return n, last
		}
		for _, list := range [][]rollout.Cluster{last.Start, last.InFlight} {
			for _, c := range list {
				if observed[c.Name].Status != status.Succeeded {
					observed[c.Name] = status.Report{Cluster: c.Name, Status: status.Succeeded, LastTransitionTime: w.now}
				}
			}
		}
		w.now = w.now.Add(soak)
	}
}

// fewestWaves is the sum of ceil(n/MaxConcurrency) over the stages: one for each mandatory group, and for
// Progressive without any, ceil(n/MaxConcurrency) in all. Stages that are no chain take as long as the longest way through
// them (R33).
func fewestWaves(s rollout.Schedule) (most int) {
	ends := make([]int, len(s.Stages))
	for i, stage := range s.Stages {
		for j := range i {
			if comesBefore(s, j, i) {
				ends[i] = max(ends[i], ends[j])
			}
		}
		if stage.Clusters > 0 {
			ends[i] += (stage.Clusters + stage.MaxConcurrency - 1) / stage.MaxConcurrency
		}
		most = max(most, ends[i])
	}
	return most
}

// TestARolloutWhoseClustersAllSucceedEndsInExactlyAsManyWavesAsItsLimitsAsk is the second half of
// invariant 5, from a fleet that has nothing yet.
func TestARolloutWhoseClustersAllSucceedEndsInExactlyAsManyWavesAsItsLimitsAsk(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := succeeding(t)
		w.reports = nil
		soak := rapid.SampledFrom([]time.Duration{0, time.Minute}).Draw(t, "soak")
		setSoak(w.strategy, soak)
		n, last := waves(t, w, soak)
		if want := fewestWaves(last.Schedule); n != want {
			t.Fatalf("%d waves, want %d, for %v\n%v", n, want, last.Schedule, w)
		}
		if s := last.Summary(); s.Done() != len(w.members) || s.Aggregate() != status.Succeeded || last.RecheckAfter != 0 {
			t.Fatalf("ends with %v, %v, recheck after %v", s.Counts, s.Aggregate(), last.RecheckAfter)
		}
	})
}

// TestARolloutWhoseClustersAllSucceedEndsFromAnywhere is the same from any reports, where it may be done
// sooner.
func TestARolloutWhoseClustersAllSucceedEndsFromAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := succeeding(t)
		setSoak(w.strategy, 0)
		n, last := waves(t, w, 0)
		if most := fewestWaves(last.Schedule); n > most {
			t.Fatalf("%d waves, want at most %d, for %v\n%v", n, most, last.Schedule, w)
		}
		if s := last.Summary(); s.Done() != len(w.members) || s.Aggregate() != status.Succeeded {
			t.Fatalf("ends with %v, %v", s.Counts, s.Aggregate())
		}
	})
}
