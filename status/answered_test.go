// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"maps"
	"reflect"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/status"
)

// says sets the conditions of a work as an agent does at the time now: times move with the values only.
func says(work *workv1.ManifestWork, s status.RolloutStatus, now time.Time) {
	value := func(is bool) metav1.ConditionStatus {
		if is {
			return metav1.ConditionTrue
		}
		return metav1.ConditionFalse
	}
	for _, c := range []metav1.Condition{
		{Type: workv1.WorkApplied, Status: metav1.ConditionTrue}, {Type: workv1.WorkProgressing, Status: value(s != status.Succeeded)},
		{Type: workv1.WorkDegraded, Status: value(s == status.Failed)},
	} {
		c.ObservedGeneration = work.Generation
		setAt(&work.Status.Conditions, c, now.Truncate(time.Second))
	}
}

// S1, R39: the clock of the agent is ahead by more than it takes to try again. One failure uses up one attempt, however
// often it is tried again, and a new failure counts.
func TestAnAgentWithAClockAheadFailsOnceAnAttempt(t *testing.T) {
	for _, ahead := range []time.Duration{0, 2 * time.Second, time.Hour} {
		work := manifestWork()
		now := at(60)
		status.StampOf(work).NoteOn(work, "v1", 0, now)
		says(work, status.Failed, now.Add(time.Second+ahead))
		for attempt := 1; attempt <= 3; attempt++ {
			now = now.Add(2 * time.Second)
			state := status.WorkState{Work: work, Version: "v1"}
			if got := reportOfWork(t, state); got.Status != status.Failed || got.Attempt != attempt-1 {
				t.Fatalf("%v ahead: before attempt %d: %+v", ahead, attempt, got)
			}
			status.StampOf(work).NoteOn(work, "v1", attempt, now)
			work.Generation++
			says(work, status.Failed, now.Add(time.Second/5+ahead)) // has not looked at the workload yet
			got := reportOfWork(t, state)
			if got.Status != status.Progressing || !got.Applied.Equal(now) || got.LastTransitionTime.After(now) {
				t.Fatalf("%v ahead: attempt %d failed before it was made: %+v", ahead, attempt, got)
			}
			now = now.Add(time.Minute)
			says(work, status.Progressing, now.Add(ahead))
			now = now.Add(time.Minute)
			says(work, status.Failed, now.Add(ahead))
		}
	}
}

// S1: the last transition is known also where the agent has not answered the write before.
func TestAFailureIsKnownThroughWritesWithoutAnswer(t *testing.T) {
	const ahead = time.Hour
	work := manifestWork()
	status.StampOf(work).NoteOn(work, "v1", 0, at(1))
	says(work, status.Failed, at(2).Add(ahead))
	for i, version := range []string{"v2", "v3"} {
		status.StampOf(work).NoteOn(work, version, 1, at(3+i))
		work.Generation++
	}
	says(work, status.Failed, at(6).Add(ahead))
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v3"}); got.Status != status.Progressing {
		t.Errorf("%+v", got)
	}
	says(work, status.Progressing, at(7).Add(ahead))
	says(work, status.Failed, at(8).Add(ahead))
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v3"}); got.Status != status.Failed {
		t.Errorf("then %+v", got)
	}
}

// S2, R39: the same for an add-on.
func TestAnAddOnsFailureByAClockAheadIsTriedAgain(t *testing.T) {
	references := reference("addontemplates", "v2", "t", "")
	addon := addOn("Failed", references)
	addon.Status.Conditions[1].LastTransitionTime = metav1.NewTime(at(9))
	status.StampOf(addon).NoteOn(addon, "v2", 1, at(5))
	state := status.AddOnState{AddOn: addon, Desired: addon.Status.ConfigReferences}
	if got, _ := status.FromManagedClusterAddOn(state); got.Status != status.Progressing {
		t.Errorf("the failure from before counts: %+v", got)
	}
	addon.Status.Conditions[1].LastTransitionTime = metav1.NewTime(at(10))
	if got, _ := status.FromManagedClusterAddOn(state); got.Status != status.Failed {
		t.Errorf("the failure in the attempt does not count: %+v", got)
	}
}

// S1, R5: a success soaks from its first answer, which is noted once for a version and an attempt.
func TestAnAnswerIsNotedOnce(t *testing.T) {
	work := manifestWork()
	at45 := at(60 + 45)
	status.StampOf(work).NoteOn(work, "v1", 0, at(1))
	says(work, status.Succeeded, at(5))
	status.StampOf(work).NoteOn(work, "v2", 0, at(60))
	work.Generation++
	read := func(now time.Time) status.Report {
		return reportOfWork(t, status.WorkState{Work: work, Version: "v2", Now: now})
	}
	write := func(version string, attempt int, now time.Time) {
		status.StampOf(work).NoteOn(work, version, attempt, now)
	}
	if got := read(at(90)); got.Status != status.ToApply || !got.Answered.IsZero() {
		t.Errorf("before it answers: %+v", got)
	}
	says(work, status.Succeeded, at45)
	if got := read(time.Time{}); !got.Answered.IsZero() || got.Status != status.Succeeded {
		t.Errorf("for a caller that notes nothing: %+v", got)
	}
	for _, now := range []time.Time{at45, at45.Add(time.Minute)} { // as long as nothing is noted
		if got := read(now); !got.Answered.Equal(now) || !got.Applied.Equal(at(60)) || !got.LastTransitionTime.Equal(at(5)) {
			t.Errorf("read at %v: %+v", now, got)
		}
	}
	write("v2", 0, at45)
	noted := maps.Clone(work.Annotations)
	write("v2", 0, at45.Add(time.Hour))
	for _, now := range []time.Time{{}, at45.Add(time.Hour)} {
		if got := read(now); !got.Answered.Equal(at45) || !maps.Equal(noted, work.Annotations) {
			t.Errorf("read at %v after it was noted: %+v, %v", now, got, work.Annotations)
		}
	}
	write("v2", 0, at(90)) // a clock that is set back
	if got := read(at(91)); !got.Answered.Equal(at(90)) {
		t.Errorf("noted for a time to come: %+v", got)
	}
	write("v2", 1, at(130))
	if got := read(at(131)); !got.Answered.Equal(at(131)) {
		t.Errorf("another attempt: %+v", got)
	}
	write("v3", 1, at(140))
	if stamp := status.StampOf(work); !stamp.Answered.IsZero() {
		t.Errorf("another version: %+v", stamp)
	}
}

// S1: an answer is noted whatever it says. So a success that came while the controller was down soaks from its transition.
func TestAnyAnswerIsNoted(t *testing.T) {
	work := manifestWork()
	status.StampOf(work).NoteOn(work, "v1", 0, at(1))
	says(work, status.Failed, at(2))
	status.StampOf(work).NoteOn(work, "v1", 0, at(3))
	says(work, status.Succeeded, at(4))
	got := reportOfWork(t, status.WorkState{Work: work, Version: "v1", Now: at(300)})
	if !got.Answered.Equal(at(3)) || !got.LastTransitionTime.Equal(at(4)) {
		t.Errorf("%+v", got)
	}
	before := work.Annotations
	status.StampOf(work).NoteOn(work, "v1", 0, at(301))
	if reflect.ValueOf(before).Pointer() != reflect.ValueOf(work.Annotations).Pointer() {
		t.Error("the annotations are replaced although nothing changed")
	}
}

// S2: an add-on answers when it has succeeded. What its condition says before may be the controller's own.
func TestAnAddOnsAnswerIsItsSuccess(t *testing.T) {
	addon := addOn("Progressing", reference("a", "x", "2", "1"))
	status.StampOf(addon).NoteOn(addon, "v2", 0, at(1))
	for _, last := range []string{"1", "2"} {
		addon.Status.ConfigReferences[0] = reference("a", "x", "2", last)
		state := status.AddOnState{AddOn: addon, Desired: addon.Status.ConfigReferences, Now: at(46)}
		status.StampOf(addon).NoteOn(addon, "v2", 0, at(46))
		got, _ := status.FromManagedClusterAddOn(state)
		if answers := last == "2"; answers != got.Answered.Equal(at(46)) || answers != !status.StampOf(addon).Answered.IsZero() {
			t.Errorf("last applied %s: %+v, %+v", last, got, status.StampOf(addon))
		}
	}
}

// S1: whatever stands in an object, an answer that a report has for the first time is noted by the next stamp, and from
// then on stays. Otherwise a soak would never end.
func TestAnAnswerThatIsReadCanBeNoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		minute := rapid.IntRange(0, 9)
		work := manifestWork()
		work.CreationTimestamp = metav1.NewTime(at(minute.Draw(t, "created")))
		for _, kind := range []string{"applied", "answered", "transition", "attempt", "version"} {
			text := rapid.SampledFrom([]string{"", "noon", "1", "v1", at(minute.Draw(t, kind)).Format(time.RFC3339)}).Draw(t, kind)
			if text != "" {
				metav1.SetMetaDataAnnotation(&work.ObjectMeta, "cohort.open-cluster-management.io/"+kind, text)
			}
		}
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			is := rapid.SampledFrom([]status.RolloutStatus{status.Succeeded, status.Failed, status.Progressing})
			says(work, is.Draw(t, "status"), at(minute.Draw(t, "says")))
			work.Generation += int64(rapid.IntRange(0, 1).Draw(t, "edits"))
		}
		now := at(5 + minute.Draw(t, "now"))
		state := status.WorkState{Work: work, Version: work.Annotations["cohort.open-cluster-management.io/version"], Now: now}
		before, _ := status.FromManifestWork(state)
		stamp := status.StampOf(work).NoteOn(work, state.Version, before.Attempt, now)
		if again := status.StampOf(work); again.Applied != stamp.Applied || again.Answered != stamp.Answered || again.Transition != stamp.Transition {
			t.Fatalf("noted %+v, read %+v", stamp, again)
		}
		state.Now = now.Add(time.Hour)
		after, _ := status.FromManifestWork(state)
		if !before.Answered.IsZero() && !after.Answered.Equal(before.Answered) || after.Answered.Equal(state.Now) {
			t.Fatalf("before %+v\nafter %+v\nstamp %+v", before, after, stamp)
		}
	})
}

// S4: a function of one's own gets the same from the stamp.
func ExampleStamp_Report() {
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	object := &metav1.ObjectMeta{Namespace: "cluster1", Name: "database"}
	status.StampOf(object).NoteOn(object, "16.2", 0, noon)

	// It failed, by a clock that is 2 seconds ahead, and is tried again at once.
	failed := status.Report{Cluster: "cluster1", Status: status.Failed, LastTransitionTime: noon.Add(3 * time.Second)}
	stamp := status.StampOf(object)
	stamp.Seen = failed
	stamp.NoteOn(object, "16.2", 1, noon.Add(2*time.Second))

	fmt.Println(status.StampOf(object).Report(failed, time.Time{}).Status)
	failed.LastTransitionTime = noon.Add(time.Minute)
	fmt.Println(status.StampOf(object).Report(failed, time.Time{}).Status)
	// Output:
	// Progressing
	// Failed
}
