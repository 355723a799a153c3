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
	status.Stamp(object, "v1", now)
	if version, applied := status.StampOf(object); version != "v1" || !applied.Equal(now) {
		t.Errorf("%q since %v, want v1 since %v", version, applied, now)
	}
	if object.Annotations["mine"] != "x" {
		t.Errorf("the annotations are %v", object.Annotations)
	}
	if !maps.Equal(given, map[string]string{"mine": "x"}) {
		t.Errorf("a map that an informer's cache may share became %v", given)
	}
}

// R27: writing the same version again ends no soak later; another version begins anew, also one that was there before.
func TestStampKeepsTheTimeOfAVersion(t *testing.T) {
	object := &metav1.ObjectMeta{}
	for _, step := range []struct {
		version string
		now     int
		want    int
	}{{"v1", 1, 1}, {"v1", 2, 1}, {"v2", 3, 3}, {"v1", 4, 4}, {"", 5, 5}, {"", 6, 5}} {
		status.Stamp(object, step.version, at(step.now))
		if version, applied := status.StampOf(object); version != step.version || !applied.Equal(at(step.want)) {
			t.Errorf("%q stamped at %d is %q since %v, want since %v", step.version, step.now, version, applied, at(step.want))
		}
	}
}

// R27: no stamp, and one that someone edited, has no time; the next Stamp mends it.
func TestStampOfAnObjectWithoutOne(t *testing.T) {
	for _, applied := range []string{"", "noon"} {
		object := &metav1.ObjectMeta{Annotations: map[string]string{status.AnnotationVersion: "v1", status.AnnotationApplied: applied}}
		if version, since := status.StampOf(object); version != "v1" || !since.IsZero() {
			t.Errorf("%q: %q since %v", applied, version, since)
		}
		status.Stamp(object, "v1", at(1))
		if _, since := status.StampOf(object); !since.Equal(at(1)) {
			t.Errorf("%q: mended to %v", applied, since)
		}
	}
	if version, since := status.StampOf(&metav1.ObjectMeta{}); version != "" || !since.IsZero() {
		t.Errorf("nothing is %q since %v", version, since)
	}
}

func ExampleStamp() {
	object := &metav1.ObjectMeta{Name: "nginx"}
	status.Stamp(object, "7d4b", time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC))
	fmt.Println(object.Annotations["cohort.open-cluster-management.io/version"])
	fmt.Println(object.Annotations["cohort.open-cluster-management.io/applied"])
	fmt.Println(status.StampOf(object))
	// Output:
	// 7d4b
	// 2026-11-21T12:00:00Z
	// 7d4b 2026-11-21 12:00:00 +0000 UTC
}
