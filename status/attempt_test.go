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
// change nothing; another version begins anew.
func TestAttemptsAreStamped(t *testing.T) {
	object := &metav1.ObjectMeta{}
	for _, step := range []struct {
		version   string
		attempt   int // -1: by Stamp
		now, want int
		has       int
	}{
		{"v1", -1, 1, 1, 0},
		{"v1", 0, 2, 1, 0},
		{"v1", 2, 3, 3, 2},
		{"v1", 2, 4, 3, 2},
		{"v1", 1, 5, 3, 2},
		{"v1", -1, 6, 3, 2}, // in flight: it is still in the attempt that it is in
		{"v2", -1, 7, 7, 0},
		{"v3", 3, 8, 8, 3}, // a cluster that starts with the version
		{"v4", 1, 9, 9, 1},
		{"v4", -5, 10, 9, 1},
	} {
		if step.attempt == -1 {
			status.Stamp(object, step.version, at(step.now))
		} else {
			status.StampAttempt(object, step.version, step.attempt, at(step.now))
		}
		if version, attempt, applied := status.StampOf(object); version != step.version || !applied.Equal(at(step.want)) || attempt != step.has {
			t.Errorf("%+v: it is attempt %d at %q since %v", step, attempt, version, applied)
		}
	}
}

// R39: a time to come gives way, and the attempt stays. What was stamped before there were attempts is the first, and so
// is what someone wrote by hand.
func TestAttemptsOfOddStamps(t *testing.T) {
	object := &metav1.ObjectMeta{}
	status.StampAttempt(object, "v1", 2, at(60))
	status.StampAttempt(object, "v1", 1, at(3))
	if _, attempt, applied := status.StampOf(object); !applied.Equal(at(3)) || attempt != 2 {
		t.Errorf("attempt %d since %v, want 2 since %v", attempt, applied, at(3))
	}
	for _, text := range []string{"", "second", "-1", "1.5", "99999999999999999999"} {
		object.Annotations["cohort.open-cluster-management.io/attempt"] = text
		if _, got, _ := status.StampOf(object); got != 0 {
			t.Errorf("%q is attempt %d", text, got)
		}
	}
	before := maps.Clone(object.Annotations)
	shared := object.Annotations
	status.StampAttempt(object, "v1", 1, at(9))
	if _, attempt, _ := status.StampOf(object); attempt != 1 || !maps.Equal(shared, before) {
		t.Errorf("attempt %d; a map that an informer's cache may share is %v", attempt, shared)
	}
	status.Stamp(object, "v2", at(10))
	if len(object.Annotations) != 2 {
		t.Errorf("the first attempt at a version is noted: %v", object.Annotations)
	}
	if _, got, _ := status.StampOf(&metav1.ObjectMeta{}); got != 0 {
		t.Errorf("nothing is attempt %d", got)
	}
}

// R39: whatever is stamped in whatever order, the time moves exactly where the version changes or the attempt rises.
func TestAnAttemptBeginsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := &metav1.ObjectMeta{}
		for i := range rapid.IntRange(1, 9).Draw(t, "steps") {
			version, attempt, before := status.StampOf(object)
			next, n := rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version"), rapid.IntRange(0, 3).Draw(t, "attempt")
			status.StampAttempt(object, next, n, at(i))
			_, _, after := status.StampOf(object)
			if begins := next != version || n > attempt; begins != !after.Equal(before) {
				t.Fatalf("attempt %d at %s after attempt %d at %s: since %v, then %v", n, next, attempt, version, before, after)
			}
		}
	})
}

// S1, R39: the attempt is the one of the version that the work has; without the wanted version there is none.
func TestAWorksAttempt(t *testing.T) {
	work := manifestWork(condition("Applied", metav1.ConditionTrue, generation, 3), condition("Progressing", metav1.ConditionTrue, generation, 4),
		condition("Degraded", metav1.ConditionTrue, generation, 4))
	status.StampAttempt(work, "v1", 1, at(2))
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
	status.StampAttempt(addon, "another", 1, at(1))
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

func ExampleStampAttempt() {
	object := &metav1.ObjectMeta{Name: "nginx"}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	status.Stamp(object, "7d4b", noon)

	status.StampAttempt(object, "7d4b", 1, noon.Add(time.Hour)) // it failed, and is tried again
	fmt.Println(status.StampOf(object))
	// Output:
	// 7d4b 1 2026-11-21 13:00:00 +0000 UTC
}
