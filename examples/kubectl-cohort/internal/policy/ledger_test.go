// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/examples/kubectl-cohort/internal/simulation"
	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override/passes"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// drawReplicas draws the replicas of a policy half way, of this version and of others, also on a cluster that is not
// bound.
func drawReplicas(t *rapid.T) (replicas []passes.Replica) {
	ago := func(what string) (at time.Time) {
		if minutes := rapid.IntRange(-1, 9).Draw(t, what); minutes >= 0 {
			at = start().Add(-time.Duration(minutes) * time.Minute)
		}
		return at
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d", "z"}), 0, 4, rapid.ID).Draw(t, "replicas")
	slices.Sort(names)
	for _, name := range names {
		replicas = append(replicas, passes.Replica{
			Cluster: name, Version: rapid.SampledFrom([]string{"1", "1", "0"}).Draw(t, "version"),
			Action:        rapid.SampledFrom([]policyv1.RemediationAction{"", policyv1.Inform, policyv1.Enforce}).Draw(t, "action"),
			RolloutStatus: rapid.SampledFrom([]status.RolloutStatus{"", status.ToApply, status.Progressing, status.Succeeded, status.TimeOut}).Draw(t, "rollout status"),
			Compliance:    rapid.SampledFrom([]policyv1.ComplianceState{"", policyv1.Compliant, policyv1.NonCompliant, policyv1.Pending}).Draw(t, "compliance"),
			Generation:    2, LastEvaluatedGeneration: int64(rapid.IntRange(1, 2).Draw(t, "evaluated")),
			Applied: ago("written"), ComplianceTime: ago("since"),
		})
		if rapid.IntRange(0, 2).Draw(t, "validated") == 0 {
			result := rapid.SampledFrom([]status.ValidationResult{"", status.ValidationFailed, status.ValidationSucceeded}).Draw(t, "verdict")
			replicas[len(replicas)-1].Verdict = &status.Verdict{Version: "1", Result: result, Time: ago("said")}
		}
	}
	return replicas
}

func drawOptions(t *rapid.T, words []string) (options rollout.Options) {
	if rapid.Bool().Draw(t, "frees slot") {
		options.FailedFreesSlot = true
	}
	if rapid.IntRange(0, 3).Draw(t, "ramps") == 0 {
		initial := rapid.IntRange(1, 3).Draw(t, "ramp")
		options.Ramp = &initial
	}
	if rapid.IntRange(0, 3).Draw(t, "limits starts") == 0 {
		options.MaxStarts = &rollout.StartLimit{Count: rapid.IntRange(1, 3).Draw(t, "starts"), Per: metav1.Duration{Duration: time.Duration(rapid.IntRange(1, 9).Draw(t, "per")) * time.Minute}}
	}
	for i := range words {
		switch key := (grouping.Key{Index: int32(i)}); rapid.IntRange(0, 5).Draw(t, "gate") {
		case 0:
			options.Gates = append(options.Gates, rollout.ClosedGate{Group: key, Gate: rollout.Gate{}})
		case 1:
			options.Gates = append(options.Gates, rollout.ClosedGate{Group: key, Gate: rollout.Gate{Opens: start().Add(7 * time.Minute)}})
		}
	}
	return options
}

// unversioned leaves out the version of a summary, which only the record tells: Play keeps a record only where it needs one.
var unversioned = cmpopts.IgnoreFields(status.Summary{}, "Version")

func TestPlayIsWhatPropagateWritesAtEveryWave(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if w.action != policyv1.Inform { // which nothing holds, see the note about flags without effect
			w.options = drawOptions(t, w.words)
		}
		if rapid.Bool().Draw(t, "under way") {
			w.replicas = drawReplicas(t)
		}
		slow, want := w.resume(t)
		fast := w.hub(t)
		got, err := fast.Play(w.life, start())
		if err != nil {
			t.Fatal(err)
		}
		if err := got.Explain(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shown(slow.Passes()), shown(fast.Passes())); diff != "" {
			t.Fatalf("what is written (-Propagate +Play):\n%s", diff)
		}
		if diff := cmp.Diff(slow.Status(), fast.Status()); diff != "" {
			t.Fatalf("the root policy (-Propagate +Play):\n%s", diff)
		}
		ignored := []cmp.Option{cmpopts.IgnoreUnexported(simulation.Trace{}), cmpopts.IgnoreFields(simulation.Trace{}, "Final"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, got, ignored...); diff != "" {
			t.Fatalf("the trace (-Resume +Play):\n%s", diff)
		}
		if want, got := want.Final, got.Final; want.String() != got.String() || !cmp.Equal(want.Summary(), got.Summary(), unversioned) {
			t.Fatalf("the end:\n%v\nwant\n%v", got, want)
		}
	})
}

// ofPolicy is an explanation without what a policy's clusters cannot do: be tried again, or roll back.
func ofPolicy(e rollout.Explanation) string {
	for i := range e {
		e[i].Remedies = slices.DeleteFunc(e[i].Remedies, func(r rollout.Remedy) bool {
			return r.Type == rollout.RemedyTryAgain || r.Type == rollout.RemedyRevert
		})
	}
	return e.String()
}

// What the watchers are told of the clusters that wait is what package passes says of them, however it is played.
func TestWhyAClusterWaitsIsWhatPropagateSays(t *testing.T) {
	waits := 0
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.options = drawOptions(t, w.words)
		hub := w.hub(t)
		var want, slowly, fast []string
		_, err := simulation.Run(hub.Plan, w.life, start(), func(after time.Duration, r *rollout.Result) {
			p, err := passes.Propagate(hub.Resolution(), "1", hub.Record(), hub.Replicas(), start().Add(after), w.options)
			if err != nil {
				t.Fatal(err)
			}
			for c := range r.Blocked() {
				want, slowly = append(want, p.Explain(c.Name).Rollout.String()), append(slowly, ofPolicy(r.Explain(c.Name)))
			}
			want, slowly = append(want, fmt.Sprint(p.Blockers())), append(slowly, fmt.Sprint(r.Blockers()))
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.hub(t).Play(w.life, start(), func(_ time.Duration, r *rollout.Result) {
			for c := range r.Blocked() {
				fast = append(fast, ofPolicy(r.Explain(c.Name)))
				waits++
			}
			fast = append(fast, fmt.Sprint(r.Blockers()))
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, slowly); diff != "" {
			t.Fatalf("(-Propagate +Plan):\n%s", diff)
		}
		if diff := cmp.Diff(want, fast); diff != "" {
			t.Fatalf("(-Propagate +Play):\n%s", diff)
		}
	})
	if waits == 0 {
		t.Error("no cluster ever waited")
	}
}
