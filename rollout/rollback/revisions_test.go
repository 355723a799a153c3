// SPDX-License-Identifier: Apache-2.0

package rollback_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// step is a call that changes revisions.
type step struct {
	name string
	want string
	do   func(r *rollback.Revisions, now time.Time) bool
}

var (
	wantA    = step{"want a", "a", func(r *rollback.Revisions, _ time.Time) bool { return r.Want("a") }}
	wantB    = step{"want b", "b", func(r *rollback.Revisions, _ time.Time) bool { return r.Want("b") }}
	abort    = step{"abort", "", func(r *rollback.Revisions, now time.Time) bool { return r.Abort(now) }}
	complete = step{"complete", "", func(r *rollback.Revisions, _ time.Time) bool {
		return r.Complete(status.Summary{Counts: status.Counts{Succeeded: 1}})
	}}
)

// after says by the rules alone what a history comes to: the events since the update revision became what it is decide, of
// which the first that applies counts.
func after(history []step) (r rollback.Revisions) {
	begin := 0 // of the rollout of the last revision that was wanted
	for i, e := range history {
		if e.want != "" && e.want != r.UpdateRevision {
			r.UpdateRevision, begin = e.want, i
		}
	}
	if r.UpdateRevision == "" {
		return r
	}
	r.CurrentRevision = after(history[:begin]).CurrentRevision
	if r.CurrentRevision == r.UpdateRevision {
		return r
	}
	for i := begin; i < len(history); i++ {
		switch {
		case history[i].name == "complete":
			r.CurrentRevision = r.UpdateRevision
			return r
		case history[i].name == "abort" && r.CurrentRevision != "":
			r.AbortedTime = &metav1.Time{Time: noon.Add(time.Duration(i) * time.Minute)}
			return r
		}
	}
	return r
}

// S10: every history of up to seven events.
func TestRevisionsAreWhatTheirHistoryComesTo(t *testing.T) {
	var extend func(r rollback.Revisions, history []step)
	extend = func(r rollback.Revisions, history []step) {
		want := after(history)
		if !cmp.Equal(r, want) {
			names := ""
			for _, e := range history {
				names += e.name + ", "
			}
			t.Fatalf("%sgives %+v, want %+v", names, r, want)
		}
		target := want.UpdateRevision
		if want.AbortedTime != nil {
			target = want.CurrentRevision
		}
		if r.Target() != target {
			t.Fatalf("%+v: target %q, want %q", r, r.Target(), target)
		}
		if len(history) == 7 {
			return
		}
		for _, e := range []step{wantA, wantB, abort, complete} {
			next := r
			changed := e.do(&next, noon.Add(time.Duration(len(history))*time.Minute+300*time.Millisecond))
			if changed == cmp.Equal(next, r) {
				t.Fatalf("%+v, %s: changed is %v, and then %+v", r, e.name, changed, next)
			}
			extend(next, append(history[:len(history):len(history)], e))
		}
	}
	extend(rollback.Revisions{}, nil)
}

// S10: what counts as the end of a rollout.
func TestRevisionCompletesAtTheEndOfItsRollout(t *testing.T) {
	for _, test := range []struct {
		why  string
		in   status.Summary
		want bool
	}{
		{"all succeeded", status.Summary{Counts: status.Counts{Succeeded: 2}}, true},
		{"ended with a tolerated failure", status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, true},
		{"some were left out", status.Summary{Counts: status.Counts{Succeeded: 1, Skip: 1}}, true},
		{"one waits", status.Summary{Counts: status.Counts{Succeeded: 1, ToApply: 1}}, false},
		{"one soaks", status.Summary{Counts: status.Counts{Succeeded: 2, Soaking: 1}}, false},
		{"a breach", status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}, Breach: "stopped"}, false},
		{"groups are incomplete", status.Summary{Counts: status.Counts{Succeeded: 1}, Incomplete: "no decision"}, false},
		{"all failed", status.Summary{Counts: status.Counts{TimeOut: 2}}, false},
		{"all were left out", status.Summary{Counts: status.Counts{Skip: 2}}, false},
		{"no cluster", status.Summary{}, false},
	} {
		r := rollback.Revisions{CurrentRevision: "a", UpdateRevision: "b"}
		if got := r.Complete(test.in); got != test.want || (r.CurrentRevision == "b") != test.want {
			t.Errorf("S10 %s: complete is %v, and then %+v", test.why, got, r)
		}
	}
}

// S10: what is stored and read is the same, to the second and to the wall clock.
func TestRevisionsOutliveTheController(t *testing.T) {
	r := rollback.Revisions{CurrentRevision: "a", UpdateRevision: "b"}
	r.Abort(time.Now().In(time.FixedZone("", 3600)))
	stored, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var read rollback.Revisions
	if err := json.Unmarshal(stored, &read); err != nil {
		t.Fatal(err)
	}
	if !read.AbortedTime.Time.Equal(r.AbortedTime.Time) {
		t.Errorf("stored %s, read %v, was %v", stored, read.AbortedTime, r.AbortedTime)
	}
	stored, _ = json.Marshal(rollback.Revisions{CurrentRevision: "a", UpdateRevision: "a"})
	if want := `{"currentRevision":"a","updateRevision":"a"}`; string(stored) != want {
		t.Errorf("stored %s, want %s", stored, want)
	}
}

// S11: which conditions are True, and the reason of all three.
func TestConditionsOfRevisions(t *testing.T) {
	at := metav1.NewTime(noon)
	for _, test := range []struct {
		why     string
		aborted bool
		in      status.Summary
		isTrue  string // the first letters of those that are
		reason  string
	}{
		{"goes on", false, status.Summary{Counts: status.Counts{ToApply: 1}}, "P", "RolloutProgressing"},
		{"goes on, one failed", false, status.Summary{Counts: status.Counts{ToApply: 1, TimeOut: 1}}, "PD", "RolloutProgressing"},
		{"paused", false, status.Summary{Counts: status.Counts{ToApply: 1}, Paused: "p"}, "P", "RolloutPaused"},
		{"breached", false, status.Summary{Counts: status.Counts{ToApply: 1, TimeOut: 1}, Breach: "b"}, "D", "MaxFailuresBreached"},
		{"ended", false, status.Summary{Counts: status.Counts{Succeeded: 1}}, "", "RolloutSucceeded"},
		{"ended, one failed", false, status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, "D", "ClustersFailed"},
		{"no cluster", false, status.Summary{}, "", "NoClusterSelected"},
		{"incomplete", false, status.Summary{Incomplete: "i"}, "P", "GroupsIncomplete"},
		{"goes back", true, status.Summary{Counts: status.Counts{ToApply: 1, Skip: 1}}, "PDA", "RolloutReverting"},
		{"goes back, soaks", true, status.Summary{Counts: status.Counts{Succeeded: 1, Soaking: 1}}, "PDA", "RolloutReverting"},
		{"goes back behind a gate", true, status.Summary{Counts: status.Counts{ToApply: 1}, Gates: []string{"g"}}, "PDA", "GateClosed"},
		{"the rollback is breached", true, status.Summary{Counts: status.Counts{ToApply: 1, TimeOut: 1}, Breach: "b"}, "DA", "MaxFailuresBreached"},
		{"went back", true, status.Summary{Counts: status.Counts{Succeeded: 1, Skip: 1}}, "A", "RolloutReverted"},
		{"went back, one failed", true, status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, "DA", "ClustersFailed"},
		{"no cluster had it", true, status.Summary{Counts: status.Counts{Skip: 1}}, "A", "RolloutReverted"},
		{"no cluster is left", true, status.Summary{}, "A", "RolloutReverted"},
		{"goes back, incomplete", true, status.Summary{Incomplete: "i"}, "PDA", "GroupsIncomplete"},
	} {
		r := rollback.Revisions{CurrentRevision: "a", UpdateRevision: "b"}
		if test.aborted {
			r.AbortedTime = &at
		}
		conditions := []metav1.Condition{{Type: "Foreign", Status: metav1.ConditionTrue}}
		if !rollback.SetConditions(&conditions, r, test.in, 7, noon.Add(time.Minute)) || len(conditions) != 4 {
			t.Fatalf("S11 %s: %v", test.why, conditions)
		}
		isTrue := ""
		for _, c := range conditions[1:] {
			if c.Status == metav1.ConditionTrue {
				isTrue += c.Type[:1]
			}
			if c.Reason != test.reason || c.ObservedGeneration != 7 || c.Message != conditions[1].Message {
				t.Errorf("S11 %s: %+v, want reason %s", test.why, c, test.reason)
			}
		}
		if isTrue != test.isTrue {
			t.Errorf("S11 %s: true are %q, want %q", test.why, isTrue, test.isTrue)
		}
		if rollback.SetConditions(&conditions, r, test.in, 7, noon.Add(time.Hour)) {
			t.Errorf("S11 %s: the second call changes something", test.why)
		}
		if c := meta.FindStatusCondition(conditions, "Progressing"); !c.LastTransitionTime.Time.Equal(noon.Add(time.Minute)) {
			t.Errorf("S11 %s: since %v", test.why, c.LastTransitionTime)
		}
	}
}

// S11: clusters that do not count may still have the failed version when no other has.
func TestNoClusterThatCountsHasTheFailedVersion(t *testing.T) {
	aborted := metav1.NewTime(time.Date(2026, 11, 21, 13, 6, 0, 0, time.UTC))
	r := rollback.Revisions{CurrentRevision: "v1", UpdateRevision: "v2", AbortedTime: &aborted}
	summary := status.Summary{Counts: status.Counts{Skip: 1, Ignored: 1, IgnoredToApply: 1}}
	var conditions []metav1.Condition
	rollback.SetConditions(&conditions, r, summary, 1, aborted.Time)
	want := "only ignored clusters have v2, 1 of these still rolling back"
	for _, c := range conditions {
		if !strings.Contains(c.Message, want) {
			t.Errorf("%s says %q, want %q", c.Type, c.Message, want)
		}
	}
}
