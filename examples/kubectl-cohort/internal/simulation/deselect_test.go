// SPDX-License-Identifier: Apache-2.0

package simulation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// R46, R32, R37, R39: a is cut off after five minutes, and its object hangs in deletion a minute later.
func TestAClusterThatIsCutOffLeavesAndCounts(t *testing.T) {
	for _, test := range []struct {
		why    string
		played simulation.Rollout
		want   string
	}{
		{"it takes its slot until the deadline, and is a failure then", simulation.Rollout{Strategy: progressive(1, 0, "10m")},
			"0s, start a\n5m0s, deselected a\n6m0s, deleted a\n10m0s, timed out a\nBreached since 10m0s\n"},
		{"the deadline may be before it leaves", simulation.Rollout{Strategy: progressive(1, 0, "2m")},
			"0s, start a\n2m0s, timed out a\n5m0s, deselected a\n6m0s, deleted a\nBreached since 2m0s\n"},
		{"without a deadline it takes its slot for ever", simulation.Rollout{Strategy: progressive(1, 0, "")},
			"0s, start a\n5m0s, deselected a\n6m0s, deleted a\nStuck since 5m0s\n"},
		{"a tolerated failure frees its slot", simulation.Rollout{Strategy: progressive(1, 1, "10m")},
			"0s, start a\n5m0s, deselected a\n6m0s, deleted a\n10m0s, start b, timed out a\n20m0s, succeeded b\nCompleteWithFailures since 20m0s\n"},
		{"an ignored cluster takes no slot", simulation.Rollout{Strategy: progressive(1, 0, "10m"),
			Options: rollout.Options{Ignored: []string{"a"}}},
			"0s, start a b\n5m0s, deselected a\n6m0s, deleted a\n10m0s, succeeded b\nComplete since 10m0s\n"},
		{"a later attempt gives it up", simulation.Rollout{Strategy: progressive(1, 0, "10m"), Retries: simulation.Retries{Times: 1, After: time.Hour}},
			"0s, start a\n5m0s, deselected a\n6m0s, deleted a\n10m0s, timed out a\n1h10m0s, start b\n1h20m0s, succeeded b\nComplete since 1h20m0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			test.played.Groups = groupsOf("ab")
			trace, err := test.played.Play(nil, livesOf(map[string]simulation.Life{"a": cutOff(5)}), start())
			if err != nil {
				t.Fatal(err)
			}
			for i := range trace.Waves {
				trace.Waves[i].Blocks = nil
			}
			if diff := cmp.Diff(test.want, shown(trace)); diff != "" || len(trace.Final.Removed) > 0 {
				t.Errorf("%v still to remove (-want +got):\n%s", trace.Final.Removed, diff)
			}
		})
	}
}

// A cluster that is tried again before it leaves is as silent as before: trying again does not renew its lease.
func TestTryingAgainRenewsNoLease(t *testing.T) {
	played := simulation.Rollout{Strategy: progressive(1, 0, "10m"), Groups: groupsOf("ab"), Retries: simulation.Retries{Times: 1, After: 20 * time.Minute}}
	trace, err := played.Play(nil, livesOf(map[string]simulation.Life{"a": cutOff(35)}), start())
	if err != nil {
		t.Fatal(err)
	}
	for i := range trace.Waves {
		trace.Waves[i].Blocks = nil
	}
	want := "0s, start a\n10m0s, timed out a\n30m0s, start a\n35m0s, deselected a\n36m0s, deleted a\n40m0s, timed out a\nBreached since 40m0s\n"
	if diff := cmp.Diff(want, shown(trace)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// R46: an agent that lives lets go of an object on a cluster that is not selected. What was in flight frees its slot, and a
// failure lasts.
func TestDeselectedBeforeTheSimulation(t *testing.T) {
	for _, test := range []struct {
		why   string
		gone  status.RolloutStatus
		while bool // its object is being deleted
		want  string
	}{
		{"in flight", status.Progressing, false, "0s\n1m0s, start a\n11m0s, succeeded a\nComplete since 11m0s\n"},
		{"failed", status.Failed, false, "0s\n1m0s\n30m0s, timed out x\nBreached since 0s\n"},
		{"in flight, and its agent is gone", status.Progressing, true, "0s\n30m0s, timed out x\nBreached since 30m0s\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			observed := []status.Report{{Cluster: "x", Status: test.gone, LastTransitionTime: start(), Applied: start(), Deleting: test.while}}
			trace, err := simulation.Rollout{Strategy: progressive(1, 0, "30m"), Groups: groupsOf("a")}.Play(observed, livesOf(map[string]simulation.Life{"x": nil}), start())
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

// R43: a deselected cluster does not roll back, nor does one that is deselected during the rollback.
func TestAClusterThatIsCutOffDoesNotGoBack(t *testing.T) {
	for _, test := range []struct {
		why   string
		abort time.Duration
		want  string
	}{
		{"it was deselected before", 7 * time.Minute, "0s, start b\n10m0s, succeeded b\n"},
		{"it is deselected meanwhile", 3 * time.Minute, "0s, start a b\n2m0s, deselected a\n3m0s, deleted a\n10m0s, succeeded b, timed out a\n"},
	} {
		t.Run(test.why, func(t *testing.T) {
			played := simulation.Rollout{Strategy: progressive(2, 0, "10m"), Groups: groupsOf("abc"), Abort: simulation.Abort{At: test.abort}}
			trace, err := played.Play(nil, livesOf(map[string]simulation.Life{"a": cutOff(5)}), start())
			if err != nil {
				t.Fatal(err)
			}
			back, err := trace.Aborted.Back(progressive(3, 3, "10m"), rollout.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want+"CompleteWithFailures since 10m0s\n", shown(back)); diff != "" || trace.Aborted.HaveVersion() != 2 {
				t.Errorf("%d have it, want 2 (-want +got):\n%s", trace.Aborted.HaveVersion(), diff)
			}
			if left := back.Final.Deselected; len(left) != 1 || left[0].Name != "a" || left[0].Group.Index != 0 {
				t.Errorf("%v left, want a of group 0", left)
			}
		})
	}
}

// A version that cuts off, fails, or works now and then: never more clusters have it without success than Expose says.
func TestNeverMoreHaveABadVersionThanExposeSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		drawPace(t, &w.options)
		works := false
		for i := range w.groups.NumClusters() { // in order, so that a failure can be drawn again
			cluster := w.groups.Cluster(i)
			after := time.Duration(rapid.IntRange(1, 9).Draw(t, "after")) * time.Minute
			life := simulation.Life{{After: after, Status: status.Failed}}
			switch rapid.IntRange(0, 5).Draw(t, "life") {
			case 0:
			case 1:
				life = nil
			case 2:
				life, works = simulation.Life{{After: after, Status: status.Succeeded}}, true
			default:
				life = cutOff(int(after / time.Minute))
			}
			w.lives[cluster] = life
		}
		exposure, err := exposure.Of(w.strategy, w.groups, exposure.Span{}, start(), w.options)
		if err != nil {
			t.Fatal(err)
		}
		most := exposure.Exposed
		if !works {
			most = exposure.ExposedIfAllFail
		}
		trace, err := simulation.Rollout{Strategy: w.strategy, Groups: w.groups, Options: w.options}.Play(nil, func(cluster string) simulation.Life { return w.lives[cluster] }, start())
		if err != nil {
			t.Fatal(err)
		}
		exposed, soaked := make(map[string]bool), make(map[string]time.Duration)
		for _, wave := range trace.Waves {
			for _, cluster := range wave.Succeeded {
				soaked[cluster] = wave.After + w.soak
			}
			for cluster, at := range soaked {
				if at <= wave.After {
					delete(exposed, cluster)
				}
			}
			for _, cluster := range wave.Started {
				exposed[cluster] = true
			}
			if len(exposed) > most {
				t.Fatalf("%v: %v have it, %v allows %d", wave.After, exposed, exposure, most)
			}
		}
		for _, cluster := range trace.Final.Deselected {
			if trace.Outcome == simulation.Complete {
				t.Fatalf("complete, and %v deselected with the version", cluster)
			}
		}
	})
}
