// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// S1: a work without a stamp that that equals the template has the version, since it was written and no later; any other has not.
func TestAdopt(t *testing.T) {
	spec := func(manifest string) workv1.ManifestWorkSpec {
		return workv1.ManifestWorkSpec{Workload: workv1.ManifestsTemplate{Manifests: []workv1.Manifest{{RawExtension: runtime.RawExtension{Raw: []byte(manifest)}}}}}
	}
	written := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later := written.Add(time.Hour)
	old := metav1.NewTime(written.Add(-24 * time.Hour))
	template := spec(`{"kind":"ConfigMap","data":{"a":"b"}}`)
	for _, test := range []struct {
		why      string
		manifest string
		stamp    string
		changed  bool
		want     status.RolloutStatus
		applied  time.Time
	}{
		{"as it was created", `{"kind":"ConfigMap","data":{"a":"b"}}`, "", false, status.Succeeded, old.Time},
		{"as it was updated", `{"kind":"ConfigMap","data":{"a":"b"}}`, "", true, status.Succeeded, written},
		{"in another spelling", `{"data": {"a": "b"}, "kind": "ConfigMap"}`, "", true, status.Succeeded, written},
		{"another content", `{"kind":"ConfigMap","data":{"a":"c"}}`, "", true, status.ToApply, time.Time{}},
		{"a stamp of another version is believed, whatever the spec: a person may have edited it", `{"kind":"ConfigMap","data":{"a":"b"}}`, "v1", true, status.ToApply, time.Time{}},
		{"a stamp of this version, and a spec that was edited by hand", `{"kind":"ConfigMap","data":{"a":"c"}}`, "v2", true, status.Succeeded, later},
	} {
		work := &workv1.ManifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: "c", Name: "w", Generation: 1, CreationTimestamp: old, Annotations: map[string]string{"kept": "yes"}}, Spec: spec(test.manifest)}
		if test.changed {
			work.Generation = 2
			work.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "works", Operation: metav1.ManagedFieldsOperationUpdate, Time: &metav1.Time{Time: written}, FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:spec":{"f:workload":{}}}`)}}}
		}
		if test.stamp != "" {
			status.StampOf(work).NoteOn(work, test.stamp, 0, later)
		}
		for _, conditionType := range []string{workv1.WorkApplied, workv1.WorkProgressing} {
			c := metav1.Condition{Type: conditionType, Status: metav1.ConditionTrue, ObservedGeneration: work.Generation, LastTransitionTime: metav1.NewTime(later)}
			if conditionType == workv1.WorkProgressing {
				c.Status = metav1.ConditionFalse
			}
			work.Status.Conditions = append(work.Status.Conditions, c)
		}
		given := work.DeepCopy()
		adopted := status.Adopt(work, template, "v2")
		report, _ := status.FromManifestWork(status.WorkState{Work: adopted, Version: "v2"})
		if report.Status != test.want || !report.Applied.Equal(test.applied) {
			t.Errorf("%s: %s since %v, want %s since %v", test.why, report.Status, report.Applied, test.want, test.applied)
		}
		// The next write of the work, for another reason, begins nothing anew and keeps the annotations of others.
		if test.want == status.Succeeded {
			next := adopted.DeepCopy()
			stamp := status.StampOf(next).NoteOn(next, "v2", 0, later.Add(time.Hour))
			if !stamp.Applied.Equal(test.applied) || !stamp.Answered.Equal(later) && test.stamp == "" || next.Annotations["kept"] != "yes" {
				t.Errorf("%s: a write makes it %v, annotations %v", test.why, stamp.Applied, next.Annotations)
			}
		}
		if len(work.Annotations) != len(given.Annotations) {
			t.Errorf("%s: the work was changed", test.why)
		}
	}
	if status.Adopt(nil, template, "v2") != nil {
		t.Error("no work became one")
	}
}
