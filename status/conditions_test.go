// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

// S7: which condition is True, and why.
func TestConditionsFollowTheAggregate(t *testing.T) {
	for _, test := range []struct {
		why    string
		in     status.Summary
		isTrue string
		reason string
	}{
		{"S7 something waits", status.Summary{Counts: status.Counts{ToApply: 1}}, "Progressing", "RolloutProgressing"},
		{"S7 all done", status.Summary{Counts: status.Counts{Succeeded: 1}}, "Succeeded", "RolloutSucceeded"},
		{"S7 stopped", status.Summary{Counts: status.Counts{ToApply: 1, TimeOut: 1}, Breach: "stopped"}, "Failed", "MaxFailuresBreached"},
		{"S7 ended with a tolerated failure", status.Summary{Counts: status.Counts{Succeeded: 1, TimeOut: 1}}, "Failed", "ClustersFailed"},
	} {
		var conditions []metav1.Condition
		if !status.SetConditions(&conditions, test.in, 7, noon) {
			t.Errorf("%s: nothing changed", test.why)
		}
		if len(conditions) != 3 {
			t.Fatalf("%s: %d conditions, want 3", test.why, len(conditions))
		}
		for _, c := range conditions {
			if (c.Status == metav1.ConditionTrue) != (c.Type == test.isTrue) {
				t.Errorf("%s: %s is %s", test.why, c.Type, c.Status)
			}
			if c.Reason != test.reason || c.Message != test.in.String() || c.ObservedGeneration != 7 || !c.LastTransitionTime.Time.Equal(noon) {
				t.Errorf("%s: %+v", test.why, c)
			}
		}
	}
}

// S7: lastTransitionTime moves only with the status, and a call that changes nothing says so.
func TestTransitionTimeMovesOnlyWithTheStatus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		foreign := metav1.Condition{Type: "PlacementVerified", Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)}
		conditions := []metav1.Condition{foreign}
		now := noon
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			now = now.Add(time.Second)
			before := append([]metav1.Condition(nil), conditions...)
			summary := status.Summary{Counts: anyCounts(t), Breach: rapid.SampledFrom([]string{"", "stopped: 1 failed"}).Draw(t, "breach")}
			generation := rapid.Int64Range(1, 2).Draw(t, "generation")
			changed := status.SetConditions(&conditions, summary, generation, now)
			if changed == cmp.Equal(before, conditions) {
				t.Fatalf("changed is %v, but before and after are\n%v\n%v", changed, before, conditions)
			}
			for _, c := range conditions {
				old := meta.FindStatusCondition(before, c.Type)
				moved := old == nil || !old.LastTransitionTime.Equal(&c.LastTransitionTime)
				if turned := old == nil || old.Status != c.Status; moved != turned {
					t.Fatalf("%s: status turned %v, transition time moved %v", c.Type, turned, moved)
				}
			}
			if status.SetConditions(&conditions, summary, generation, now.Add(time.Hour)) {
				t.Fatal("the same again changed something")
			}
			if got := meta.FindStatusCondition(conditions, foreign.Type); *got != foreign {
				t.Fatalf("a condition of another type became %v", got)
			}
		}
	})
}

// S7: time is an argument: the clock is not asked even for the zero time.
func TestConditionsAtTheZeroTime(t *testing.T) {
	var conditions []metav1.Condition
	status.SetConditions(&conditions, status.Summary{}, 1, time.Time{})
	for _, c := range conditions {
		if want := time.Unix(0, 0); !c.LastTransitionTime.Time.Equal(want) {
			t.Errorf("%s: lastTransitionTime is %v, want %v", c.Type, c.LastTransitionTime, want)
		}
	}
}

// S7: the version comes first, if it is known. Without it the message is the summary's.
func TestConditionsSayTheVersion(t *testing.T) {
	for _, c := range []struct {
		in   status.Summary
		says string
	}{
		{status.Summary{Counts: status.Counts{Succeeded: 1}}, "1 of 1 clusters done"},
		{status.Summary{Version: "3f2a", Counts: status.Counts{Succeeded: 1}}, "version 3f2a: 1 of 1 clusters done"},
		{status.Summary{Version: "3f2a", Incomplete: "missing"}, "version 3f2a: missing"},
		{status.Summary{Version: "3f2a", Counts: status.Counts{ToApply: 1}, Breach: strings.Repeat("x", 2000)}, "version 3f2a: 0 of 1 clusters done; xx"},
	} {
		var conditions []metav1.Condition
		status.SetConditions(&conditions, c.in, 1, time.Unix(1, 0))
		for _, is := range conditions {
			if !strings.HasPrefix(is.Message, c.says) || len(is.Message) > 1024 {
				t.Errorf("%s says %.99q, want %q", is.Type, is.Message, c.says)
			}
		}
	}
	var set workv1alpha1.ManifestWorkReplicaSetStatus
	status.SetReplicaSetStatus(&set, []status.PlacementProgress{{Name: "prod", Summary: status.Summary{Version: "3f2a", Counts: status.Counts{Succeeded: 1}}}}, 1, time.Unix(1, 0))
	const says = "1 of 1 clusters have the current version 3f2a"
	if applied := meta.FindStatusCondition(set.Conditions, workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied); applied.Message != says {
		t.Errorf("%s says %q, want %q", applied.Type, applied.Message, says)
	}
}

// S7: a message has at most 1 kB. The counts and what stops the rollout first are always said, and clauses that do not fit
// are counted.
func TestMessagesAreBounded(t *testing.T) {
	many := slices.Repeat([]string{""}, 300)
	for i := range many {
		many[i] = fmt.Sprintf("waiting for group %d", i)
	}
	long := strings.Repeat("é", 2000)
	for _, test := range []struct {
		why  string
		in   status.Summary
		ends string
	}{
		{"many clauses", status.Summary{Counts: status.Counts{ToApply: 9}, Waiting: many}, "; waiting for group 43; and 256 more"},
		{"one that is too long", status.Summary{Counts: status.Counts{ToApply: 9}, Breach: long}, "éé…"},
		{"a long one before others", status.Summary{Counts: status.Counts{ToApply: 9}, Breach: long, Waiting: many}, "éé…; and 300 more"},
		{"a long one behind others", status.Summary{Counts: status.Counts{ToApply: 9}, Waiting: []string{"one", "two", long}}, "done; one; two; and 1 more"},
		{"no room behind a first one that is too long", status.Summary{Incomplete: long, Breach: "stopped"}, "éé…; and 1 more"},
		{"a long one alone", status.Summary{Incomplete: long}, "éé…"},
	} {
		got := test.in.String()
		if !strings.HasSuffix(got, test.ends) || len(got) > 1024 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, %q, want …%q", test.why, len(got), got, test.ends)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1200)
		s := status.Summary{Counts: anyCounts(t), Breach: strings.Repeat("é", n.Draw(t, "breach"))}
		for range rapid.IntRange(0, 3).Draw(t, "clauses") {
			s.Waiting = append(s.Waiting, strings.Repeat("x", n.Draw(t, "clause")))
		}
		if got := s.String(); len(got) > 1024 || !utf8.ValidString(got) || !strings.HasPrefix(got, s.Counts.String()[:12]) {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}

func ExampleSetConditions() {
	summary := status.Summary{
		Counts:  status.Counts{ToApply: 303, Progressing: 5, Succeeded: 12, Blocked: 303},
		Waiting: []string{`waiting for group 1 "canary"`},
	}
	var conditions []metav1.Condition // of the object's status
	changed := status.SetConditions(&conditions, summary, 4, time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC))
	fmt.Println(changed)
	for _, c := range conditions {
		fmt.Println(c.Type, c.Status, c.Reason)
	}
	fmt.Println(conditions[0].Message)
	// Output:
	// true
	// Progressing True RolloutProgressing
	// Succeeded False RolloutProgressing
	// Failed False RolloutProgressing
	// 12 of 320 clusters done, 5 in flight; waiting for group 1 "canary"
}
