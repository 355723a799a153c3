// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/cohort-ocm/cohort/status"
)

// The generation of every work in these tests.
const generation = 7

// at returns a time that is n minutes after some day's start.
func at(n int) time.Time { return time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC) }

// condition returns a condition that observed a generation and last changed n minutes after the start.
func condition(conditionType string, value metav1.ConditionStatus, observed int64, n int) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: value, ObservedGeneration: observed, LastTransitionTime: metav1.NewTime(at(n)), Reason: "Test",
	}
}

func manifestWork(conditions ...metav1.Condition) *workv1.ManifestWork {
	return &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "work", Generation: generation},
		Status:     workv1.ManifestWorkStatus{Conditions: conditions},
	}
}

// S1: the status of a work follows from Applied, Progressing and Degraded, and the time comes from the condition that
// decided.
func TestFromManifestWork(t *testing.T) {
	const (
		yes     = metav1.ConditionTrue
		no      = metav1.ConditionFalse
		unknown = metav1.ConditionUnknown
		old     = generation - 1
	)
	applied := condition("Applied", yes, generation, 1)
	progressing := func(value metav1.ConditionStatus) metav1.Condition {
		return condition("Progressing", value, generation, 2)
	}
	degraded := func(value metav1.ConditionStatus) metav1.Condition {
		return condition("Degraded", value, generation, 3)
	}

	for _, test := range []struct {
		reason     string
		conditions []metav1.Condition
		want       status.RolloutStatus
		at         time.Time
		because    status.ReportReason
	}{
		{"S1 the agent has not seen the work", nil, status.ToApply, time.Time{}, ""},
		{"S1 Applied is missing, whatever else is there", []metav1.Condition{progressing(no)}, status.ToApply, time.Time{}, ""},
		{"S1 applying failed", []metav1.Condition{condition("Applied", no, generation, 1), progressing(no)}, status.ToApply, time.Time{}, status.ReportRefused},
		{"S1 Applied is Unknown", []metav1.Condition{condition("Applied", unknown, generation, 1), progressing(no)}, status.ToApply, time.Time{}, ""},
		{"S1 what was applied is the version before", []metav1.Condition{condition("Applied", yes, old, 1), progressing(no)}, status.ToApply, time.Time{}, ""},
		{"S1 Progressing is missing", []metav1.Condition{applied}, status.ToApply, time.Time{}, ""},
		{"S1 Progressing is about the version before", []metav1.Condition{applied, condition("Progressing", no, old, 2)}, status.ToApply, time.Time{}, ""},
		{"S1 Degraded is about the version before", []metav1.Condition{applied, progressing(no), condition("Degraded", no, old, 3)}, status.ToApply, time.Time{}, ""},

		{"S1 under way, no Degraded", []metav1.Condition{applied, progressing(yes)}, status.Progressing, at(2), ""},
		{"S1 under way, not degraded", []metav1.Condition{applied, progressing(yes), degraded(no)}, status.Progressing, at(2), ""},
		{"S1 under way, degraded unknown", []metav1.Condition{applied, progressing(yes), degraded(unknown)}, status.Progressing, at(2), ""},
		{"S1 under way and degraded", []metav1.Condition{applied, progressing(yes), degraded(yes)}, status.Failed, at(3), ""},
		{"S1 degraded before it was under way", []metav1.Condition{applied, condition("Progressing", yes, generation, 4), degraded(yes)}, status.Failed, at(4), ""},
		{"S1 done", []metav1.Condition{applied, progressing(no)}, status.Succeeded, at(2), ""},
		{"S1 done, not degraded", []metav1.Condition{applied, progressing(no), degraded(no)}, status.Succeeded, at(2), ""},
		{"S1 done decides over degraded", []metav1.Condition{applied, progressing(no), degraded(yes)}, status.Succeeded, at(2), ""},
		{"S1 unknown is not done", []metav1.Condition{applied, progressing(unknown)}, status.Progressing, at(2), ""},
		{"S1 unknown is not failed", []metav1.Condition{applied, progressing(unknown), degraded(yes)}, status.Progressing, at(2), ""},
		{"S1 a value the API does not have is not done", []metav1.Condition{applied, progressing("")}, status.Progressing, at(2), ""},
		{"S1 other conditions don't matter", []metav1.Condition{condition("Available", no, old, 9), applied, progressing(no)}, status.Succeeded, at(2), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			work := manifestWork(test.conditions...)
			before := work.DeepCopy()
			want := status.Report{Cluster: "cluster1", Status: test.want, LastTransitionTime: test.at, Applied: at(0), Reason: test.because}
			if diff := cmp.Diff(want, reportOfWork(t, status.WorkState{Work: work, Applied: at(0)})); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, work); diff != "" {
				t.Errorf("the work was changed:\n%s", diff)
			}
		})
	}
}

// reportOfWork is the report of a work that is there.
func reportOfWork(t testing.TB, w status.WorkState) status.Report {
	t.Helper()
	report, ok := status.FromManifestWork(w)
	if !ok {
		t.Fatal("there is a work, but no report")
	}
	return report
}

// S1: no work, and one that is being deleted, is nothing to report.
func TestFromManifestWorkWithoutAWork(t *testing.T) {
	if report, ok := status.FromManifestWork(status.WorkState{Version: "v1", Has: "v1", Applied: at(1)}); ok || report != (status.Report{}) {
		t.Errorf("reported as %+v", report)
	}
}

// S1: a work that is being deleted is reported as before, and so. The deletion raises the generation by one, and the agent of a
// cluster that was cut off never sees it.
func TestFromManifestWorkThatIsBeingDeleted(t *testing.T) {
	conditions := []metav1.Condition{condition("Applied", metav1.ConditionTrue, generation, 1), condition("Progressing", metav1.ConditionFalse, generation, 1)}
	state := status.WorkState{Work: manifestWork(conditions...), Version: "v1", Has: "v1", Applied: at(1)}
	want, _ := status.FromManifestWork(state)
	want.Deleting = true
	state.Work.DeletionTimestamp = &metav1.Time{Time: at(2)}
	for _, raised := range []int64{0, 1} {
		state.Work.Generation = generation + raised
		if report, ok := status.FromManifestWork(state); !ok || report != want {
			t.Errorf("generation raised by %d: reported as %+v, %v, want %+v", raised, report, ok, want)
		}
	}
}

// A controller lists the works of its workload and turns each into a report for the rollout. The version is a hash
// of the template; it was stamped on the work when the work was written.
func ExampleFromManifestWork() {
	work := &workv1.ManifestWork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "nginx", Generation: 2},
		Status: workv1.ManifestWorkStatus{Conditions: []metav1.Condition{
			{Type: workv1.WorkApplied, Status: metav1.ConditionTrue, ObservedGeneration: 2},
			{Type: workv1.WorkProgressing, Status: metav1.ConditionTrue, ObservedGeneration: 2},
			{Type: workv1.WorkDegraded, Status: metav1.ConditionTrue, ObservedGeneration: 2},
		}},
	}
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	status.StampOf(work).NoteOn(work, "7d4b", 0, noon)
	report, _ := status.FromManifestWork(status.WorkState{Work: work, Version: "7d4b"})
	fmt.Println(report.Cluster, report.Status)

	// The template changes. The cluster waits for its turn.
	report, _ = status.FromManifestWork(status.WorkState{Work: work, Version: "91ac"})
	fmt.Println(report.Status, report.Applied.IsZero())

	// Its turn comes. The work is stamped and written; the agent has not seen it yet.
	status.StampOf(work).NoteOn(work, "91ac", 0, noon.Add(time.Hour))
	work.Generation++
	report, _ = status.FromManifestWork(status.WorkState{Work: work, Version: "91ac"})
	fmt.Println(report.Status, report.Applied.Format("15:04"))
	// Output:
	// cluster1 Failed
	// ToApply true
	// ToApply 13:00
}
