// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status"
)

// R27: what Stamp wrote is read again, to the nanosecond, and other annotations stay.
func TestStampIsReadAgain(t *testing.T) {
	given := map[string]string{"mine": "x"}
	object := &metav1.ObjectMeta{Annotations: given}
	now := time.Date(2026, time.November, 21, 12, 0, 0, 123456789, time.FixedZone("CET", 3600))
	status.StampOf(object).NoteOn(object, "v1", 0, now)
	if got := status.StampOf(object); got.Version != "v1" || !got.Applied.Equal(now) {
		t.Errorf("%q since %v, want v1 since %v", got.Version, got.Applied, now)
	}
	if object.Annotations["mine"] != "x" {
		t.Errorf("the annotations are %v", object.Annotations)
	}
	if !maps.Equal(given, map[string]string{"mine": "x"}) {
		t.Errorf("a map that an informer's cache may share became %v", given)
	}
}

// R27: writing the same version again ends no soak later; another version starts over, also one that was there before.
func TestStampKeepsTheTimeOfAVersion(t *testing.T) {
	object := &metav1.ObjectMeta{}
	for _, step := range []struct {
		version string
		now     int
		want    int
	}{{"v1", 1, 1}, {"v1", 2, 1}, {"v2", 3, 3}, {"v1", 4, 4}, {"", 5, 5}, {"", 6, 5}} {
		status.StampOf(object).NoteOn(object, step.version, 0, at(step.now))
		if got := status.StampOf(object); got.Version != step.version || !got.Applied.Equal(at(step.want)) {
			t.Errorf("%q stamped at %d is %q since %v, want since %v", step.version, step.now, got.Version, got.Applied, at(step.want))
		}
	}
}

// R27: a clock that was ahead keeps a cluster in flight only until the next write.
func TestStampGivesUpATimeToCome(t *testing.T) {
	object := &metav1.ObjectMeta{}
	for _, step := range []struct{ now, want int }{{60 * 24 * 365, 60 * 24 * 365}, {3, 3}, {4, 3}} {
		status.StampOf(object).NoteOn(object, "v1", 0, at(step.now))
		if applied := status.StampOf(object).Applied; !applied.Equal(at(step.want)) {
			t.Errorf("stamped at %v it is since %v, want since %v", at(step.now), applied, at(step.want))
		}
	}
}

// R27: no stamp, and one that someone edited, has no time; the next Stamp mends it.
func TestStampOfAnObjectWithoutOne(t *testing.T) {
	for _, applied := range []string{"", "noon"} {
		object := &metav1.ObjectMeta{Annotations: map[string]string{
			"cohort.open-cluster-management.io/version": "v1", "cohort.open-cluster-management.io/applied": applied,
		}}
		if got := status.StampOf(object); got.Version != "v1" || !got.Applied.IsZero() {
			t.Errorf("%q: %q since %v", applied, got.Version, got.Applied)
		}
		status.StampOf(object).NoteOn(object, "v1", 0, at(1))
		if since := status.StampOf(object).Applied; !since.Equal(at(1)) {
			t.Errorf("%q: mended to %v", applied, since)
		}
	}
	if got := status.StampOf(&metav1.ObjectMeta{}); got != (status.Stamp{}) {
		t.Errorf("nothing is %+v", got)
	}
}

func ExampleStamp() {
	object := &metav1.ObjectMeta{Name: "nginx"}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	status.StampOf(object).NoteOn(object, "7d4b", 0, noon)
	fmt.Println(object.Annotations["cohort.open-cluster-management.io/version"])
	fmt.Println(object.Annotations["cohort.open-cluster-management.io/applied"])
	// Output:
	// 7d4b
	// 2026-11-21T12:00:00Z
}

// S1, S2: an object has no version before it exists: a copy for another cluster, or a backup, brings the stamp of before.
func TestAStampIsNotOlderThanItsObject(t *testing.T) {
	work, addon := manifestWork(), addOn("")
	for _, object := range []metav1.Object{work, addon} {
		status.StampOf(object).NoteOn(object, "v1", 0, at(1))
		object.SetCreationTimestamp(metav1.NewTime(at(60)))
	}
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v1"}); got.Status != status.ToApply || !got.Applied.Equal(at(60)) {
		t.Errorf("the work's report is %+v", got)
	}
	if got, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon}); !got.Applied.Equal(at(60)) {
		t.Errorf("the add-on's report is %+v", got)
	}
	addon.Annotations = nil
	if got, _ := status.FromManagedClusterAddOn(status.AddOnState{AddOn: addon}); !got.Applied.IsZero() {
		t.Errorf("without a stamp, the add-on's report is %+v", got)
	}
}

// S1: the controller that stamped a work may write its labels every minute. A silent agent still has to answer since the
// stamp, and only an edit of the spec by someone else puts that off.
func TestLabelsDoNotPutOffASilentAgentsDeadline(t *testing.T) {
	work := manifestWork()
	status.StampOf(work).NoteOn(work, "v1", 0, at(1))
	const mine = `{"f:metadata":{"f:annotations":{"f:cohort.open-cluster-management.io/applied":{}},"f:labels":{"f:checked":{}}},"f:spec":{}}`
	entry(work, "controller", "", mine, 50)
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v1"}).Applied; !got.Equal(at(1)) {
		t.Errorf("after its own labels the agent has to answer since %v", got)
	}
	entry(work, "editor", "", `{"f:spec":{}}`, 30)
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v1"}).Applied; !got.Equal(at(30)) {
		t.Errorf("after an edit the agent has to answer since %v", got)
	}
}

// S1: works that another controller wrote have no stamp. Told what they have, a rollout takes them as they are: done
// where they are done, since their newest spec.
func TestWorksOfAnotherControllerAreTakenAsTheyAre(t *testing.T) {
	work := manifestWork(condition("Applied", metav1.ConditionTrue, generation, 3), condition("Progressing", metav1.ConditionFalse, generation, 4))
	entry(work, "work-manager", "", `{"f:spec":{}}`, 2)
	waits := status.Report{Cluster: "cluster1", Status: status.ToApply}
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v1"}); got != waits {
		t.Errorf("nothing says what it has: %+v", got)
	}
	done := status.Report{Cluster: "cluster1", Status: status.Succeeded, LastTransitionTime: at(4), Applied: at(2)}
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v1", Has: "v1"}); got != done {
		t.Errorf("it has the wanted version: %+v", got)
	}
	if got := reportOfWork(t, status.WorkState{Work: work, Version: "v2", Has: "v1"}); got != waits {
		t.Errorf("it has another version: %+v", got)
	}
}
