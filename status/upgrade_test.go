// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// recordsOfEarlierProcess is what a process of commit 9677fd3d, before the words changed, wrote with its own code for records that
// have each field.
const recordsOfEarlierProcess = `{"eu":{"version":"v2","attempt":3,"left":[` +
	`{"cluster":"c0","status":"TimeOut","lastTransitionTime":"2026-11-28T10:02:00.000000002Z","applied":"2026-11-28T10:03:00.000000003Z",` +
	`"answered":"2026-11-28T10:04:00.000000004Z","attempt":3,"deleting":true,"reason":"Refused","message":"no such image",` +
	`"group":{"index":1,"name":"prod","placement":"eu"}},` +
	`{"cluster":"c1","status":"Progressing","applied":"2026-11-28T10:05:00.000000005Z","group":{"index":-1}},` +
	`{"cluster":"c2","status":"Succeeded","applied":"2026-11-28T10:06:00.000000006Z","group":{"index":0}}],` +
	`"exposed":5,"breached":[{"group":{"index":1,"name":"prod"},"of":9,"clusters":["c0","c8"]},{"allGroups":true,"of":20,"clusters":["c0"]}],` +
	`"more":7,"until":"2026-11-28T10:01:00.000000001Z"},"us":{"version":"v2","more":1}}`

// The same records as values: the times are minutes and nanoseconds after ten o'clock.
func recordsWithEachField() status.Records {
	tick := func(n int) time.Time { return time.Date(2026, 11, 28, 10, n, 0, n, time.UTC) }
	return status.Records{"us": {Version: "v2", More: 1}, "eu": {
		Version: "v2", Attempt: 3, Exposed: 5, More: 7, Until: tick(1),
		Deselected: []status.DeselectedCluster{
			{
				Report: status.Report{Cluster: "c0", Status: status.TimeOut, LastTransitionTime: tick(2), Applied: tick(3), Answered: tick(4), Attempt: 3,
					Deleting: true, Reason: status.ReportRefused, Message: "no such image"},
				Group: grouping.Key{Index: 1, Name: "prod", Placement: "eu"},
			},
			{Report: status.Report{Cluster: "c1", Status: status.Progressing, Applied: tick(5)}, Group: grouping.Key{Index: -1}},
			{Report: status.Report{Cluster: "c2", Status: status.Succeeded, Applied: tick(6)}},
		},
		Breached: []status.Breached{
			{Group: grouping.Key{Index: 1, Name: "prod"}, Of: 9, Clusters: []string{"c0", "c8"}},
			{AllGroups: true, Of: 20, Clusters: []string{"c0"}},
		},
	}}
}

// R48: each field of a record of the earlier process counts after an upgrade. What this process writes is, byte for byte, what the earlier
// process would write, so that one can take over again.
func TestRecordsOutlastAnUpgradeAndARollback(t *testing.T) {
	owner := &metav1.ObjectMeta{Annotations: map[string]string{annotationOfRecords: recordsOfEarlierProcess}}
	read, err := status.RecordsOf(owner)
	if diff := cmp.Diff(recordsWithEachField(), read); diff != "" || err != nil {
		t.Fatalf("after the upgrade: %v (-want +got)\n%s", err, diff)
	}
	if changed, err := read.Note(owner); changed || err != nil {
		t.Errorf("the upgrade writes the records again: %v\n%s", err, owner.Annotations[annotationOfRecords])
	}
	fresh := &metav1.ObjectMeta{}
	if _, err := recordsWithEachField().Note(fresh); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{annotationOfRecords: recordsOfEarlierProcess}, fresh.Annotations); diff != "" {
		t.Errorf("the earlier process reads other text (-want +got)\n%s", diff)
	}
}

// The stamp that the same process wrote on an object, with each annotation: the second attempt at v2, which the cluster answered.
var stampOfEarlierProcess = map[string]string{
	"cohort.open-cluster-management.io/answered":   "2026-11-28T10:10:00.00000001Z",
	"cohort.open-cluster-management.io/applied":    "2026-11-28T10:09:00.000000009Z",
	"cohort.open-cluster-management.io/attempt":    "2",
	"cohort.open-cluster-management.io/transition": "2026-11-28T10:08:00.000000008Z",
	"cohort.open-cluster-management.io/version":    "v2",
}

// S1: after an upgrade, a stamped object keeps version, attempt and times: it is neither started again nor given a new deadline. A
// process of either version writes the same annotations.
func TestStampsOutlastAnUpgradeAndARollback(t *testing.T) {
	tick := func(n int) time.Time { return time.Date(2026, 11, 28, 10, n, 0, n, time.UTC) }
	object := &metav1.ObjectMeta{Annotations: maps.Clone(stampOfEarlierProcess)}
	stamp := status.StampOf(object)
	want := status.Stamp{Version: "v2", Attempt: 2, Applied: tick(9), Answered: tick(10), Transition: tick(8)}
	if diff := cmp.Diff(want, stamp); diff != "" {
		t.Errorf("after the upgrade (-want +got)\n%s", diff)
	}
	stamp.Seen.Status = status.Succeeded
	stamp.NoteOn(object, "v2", 2, tick(20))
	if diff := cmp.Diff(stampOfEarlierProcess, object.Annotations); diff != "" {
		t.Errorf("written again (-want +got)\n%s", diff)
	}
	fresh := &metav1.ObjectMeta{}
	first := status.Stamp{Transition: tick(7), Seen: status.Report{Status: status.Failed, LastTransitionTime: tick(8)}}.NoteOn(fresh, "v2", 2, tick(9))
	first.Seen.Status = status.Succeeded
	first.NoteOn(fresh, "v2", 2, tick(10))
	if diff := cmp.Diff(stampOfEarlierProcess, fresh.Annotations); diff != "" {
		t.Errorf("the earlier process reads another stamp (-want +got)\n%s", diff)
	}
}
