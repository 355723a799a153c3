// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

// R39: a later attempt at a version begins when it is stamped. An earlier one, the same again, and a stamp without one
// change nothing; another version starts over.
func TestAttemptsAreStamped(t *testing.T) {
	object := &metav1.ObjectMeta{}
	for _, step := range []struct {
		version   string
		attempt   int
		now, want int
		has       int
	}{
		{"v1", -1, 1, 1, 0},
		{"v1", 0, 2, 1, 0},
		{"v1", 2, 3, 3, 2},
		{"v1", 2, 4, 3, 2},
		{"v1", 1, 5, 3, 2},
		{"v1", -1, 6, 3, 2}, // in flight: it stays in the attempt that it is in
		{"v2", -1, 7, 7, 0},
		{"v3", 3, 8, 8, 3}, // a cluster that starts with the version
		{"v4", 1, 9, 9, 1},
		{"v4", -5, 10, 9, 1},
	} {
		status.StampOf(object).NoteOn(object, step.version, step.attempt, at(step.now))
		if got := status.StampOf(object); got.Version != step.version || !got.Applied.Equal(at(step.want)) || got.Attempt != step.has {
			t.Errorf("%+v: it is %+v", step, got)
		}
	}
}

// R39: a time to come gives way, and the attempt stays. What was stamped before there were attempts is the first, and so
// is what someone wrote by hand.
func TestAttemptsOfOddStamps(t *testing.T) {
	object := &metav1.ObjectMeta{}
	status.StampOf(object).NoteOn(object, "v1", 2, at(60))
	status.StampOf(object).NoteOn(object, "v1", 1, at(3))
	if got := status.StampOf(object); !got.Applied.Equal(at(3)) || got.Attempt != 2 {
		t.Errorf("attempt %d since %v, want 2 since %v", got.Attempt, got.Applied, at(3))
	}
	for _, text := range []string{"", "second", "-1", "1.5", "99999999999999999999"} {
		object.Annotations["cohort.open-cluster-management.io/attempt"] = text
		if got := status.StampOf(object).Attempt; got != 0 {
			t.Errorf("%q is attempt %d", text, got)
		}
	}
	before := maps.Clone(object.Annotations)
	shared := object.Annotations
	status.StampOf(object).NoteOn(object, "v1", 1, at(9))
	if attempt := status.StampOf(object).Attempt; attempt != 1 || !maps.Equal(shared, before) {
		t.Errorf("attempt %d; a map that an informer's cache may share is %v", attempt, shared)
	}
	status.StampOf(object).NoteOn(object, "v2", 0, at(10))
	if len(object.Annotations) != 2 {
		t.Errorf("the first attempt at a version is noted: %v", object.Annotations)
	}
}

// R39: whatever is stamped in whatever order, the time moves exactly where the version changes or the attempt rises.
func TestAnAttemptBeginsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := &metav1.ObjectMeta{}
		for i := range rapid.IntRange(1, 9).Draw(t, "steps") {
			before := status.StampOf(object)
			next, n := rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"), rapid.IntRange(0, 3).Draw(t, "attempt")
			status.StampOf(object).NoteOn(object, next, n, at(i))
			after := status.StampOf(object)
			if begins := next != before.Version || n > before.Attempt; begins != !after.Applied.Equal(before.Applied) {
				t.Fatalf("attempt %d at %s: %+v, then %+v", n, next, before, after)
			}
		}
	})
}

// S1, R39: the attempt is the one of the version that the work has; without the wanted version there is none.
func TestAWorksAttempt(t *testing.T) {
	work := manifestWork()
	status.StampOf(work).NoteOn(work, "v1", 1, at(2))
	work.Status.Conditions = []metav1.Condition{
		condition("Applied", metav1.ConditionTrue, generation, 3), condition("Progressing", metav1.ConditionTrue, generation, 4),
		condition("Degraded", metav1.ConditionTrue, generation, 4),
	}
	for _, c := range []struct {
		state status.WorkState
		want  status.Report
	}{
		{status.WorkState{Version: "v1"}, status.Report{Status: status.Failed, LastTransitionTime: at(4), Applied: at(2), Attempt: 1}},
		{status.WorkState{}, status.Report{Status: status.Failed, LastTransitionTime: at(4), Applied: at(2), Attempt: 1}},
		{status.WorkState{Version: "v2"}, status.Report{Status: status.ToApply}},
		{status.WorkState{Version: "v1", Has: "v1"}, status.Report{Status: status.Failed, LastTransitionTime: at(4), Applied: at(2), Attempt: 1}},
		// The stamp is about another version than the one that the caller knows of.
		{status.WorkState{Version: "v2", Has: "v2", Applied: at(1)}, status.Report{Status: status.Failed, LastTransitionTime: at(4), Applied: at(1)}},
		// The failure is from before the attempt: the conditions have not moved.
		{status.WorkState{Version: "v1", Applied: at(5)}, status.Report{Status: status.Progressing, LastTransitionTime: at(4), Applied: at(5), Attempt: 1}},
		// A condition's time has whole seconds, and a failure is tried again in the second in which it is seen.
		{status.WorkState{Version: "v1", Applied: at(4).Add(time.Second / 2)}, status.Report{Status: status.Progressing, LastTransitionTime: at(4), Applied: at(4).Add(time.Second / 2), Attempt: 1}},
	} {
		c.state.Work, c.want.Cluster = work, "cluster1"
		if got := reportOfWork(t, c.state); got != c.want {
			t.Errorf("%q %q: %+v, want %+v", c.state.Version, c.state.Has, got, c.want)
		}
	}
}

// S2, R39: an add-on's failure from before the attempt is none of it.
func TestAnAddOnsAttempt(t *testing.T) {
	addon := addOn("Failed", reference("a", "x", "1", ""))
	status.StampOf(addon).NoteOn(addon, "another", 1, at(1))
	for _, minute := range []int{1, 60} {
		state := status.AddOnState{AddOn: addon, Desired: addon.Status.ConfigReferences, Applied: at(minute)}
		got, ok := status.FromManagedClusterAddOn(state)
		want := status.Failed
		if !got.LastTransitionTime.After(at(minute)) {
			want = status.Progressing
		}
		if !ok || got.Attempt != 1 || got.Status != want {
			t.Errorf("applied at %d: %+v, want %s", minute, got, want)
		}
	}
}

func ExampleStamp_NoteOn() {
	object := &metav1.ObjectMeta{Name: "nginx"}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	status.StampOf(object).NoteOn(object, "7d4b", 0, noon)

	status.StampOf(object).NoteOn(object, "7d4b", 1, noon.Add(time.Hour)) // it failed, and is tried again
	stamp := status.StampOf(object)
	fmt.Println(stamp.Version, stamp.Attempt, stamp.Applied)
	// Output:
	// 7d4b 1 2026-11-21 13:00:00 +0000 UTC
}
