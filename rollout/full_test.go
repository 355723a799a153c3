// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// manyReports makes reports of n clusters whose names begin alike.
func manyReports(prefix string, n int, s status.RolloutStatus, since time.Time) (reports []status.Report) {
	for i := range n {
		reports = append(reports, status.Report{Cluster: fmt.Sprintf("%s%03d", prefix, i), Status: s, Applied: since, LastTransitionTime: since})
	}
	return reports
}

// owned is an owner with a record, whose controller stores it before it does anything else.
type owned struct {
	strategy clusterv1alpha1.RolloutStrategy
	groups   *grouping.Groups
	options  rollout.Options
	record   status.Record
	last     *rollout.Result
}

// plan makes one call, of a plan and of a planner.
func (o *owned) plan(t *testing.T, reports []status.Report, at time.Time) *rollout.Result {
	t.Helper()
	o.options.Previous, o.options.StoredRecord = o.last, &rollout.StoredRecord{Version: "v", Record: o.record}
	r, err := rollout.Plan(o.strategy, o.groups, reports, at, o.options)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rollout.NewPlanner(o.strategy, o.groups, o.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(reports...); err != nil {
		t.Fatal(err)
	}
	if want, err := json.Marshal(r.Next); err != nil {
		t.Fatal(err)
	} else if got, err := json.Marshal(p.Next(at)); err != nil || string(got) != string(want) {
		t.Errorf("the planner says %.200s, %v; want %.200s", got, err, want)
	}
	o.last = r
	owner := &metav1.ObjectMeta{}
	if _, err := (status.Records{"": r.Record}).Note(owner); err != nil {
		t.Fatal(err)
	}
	stored, err := status.RecordsOf(owner)
	if err != nil {
		t.Fatal(err)
	}
	o.record = stored[""]
	return r
}

// R49: the sentence speaks of one cluster as of one.
func TestARecordWithoutRoomForOneClusterSaysSo(t *testing.T) {
	for failures, want := range map[int]string{1: "the record of deselected clusters in the rollout's object is full: 1 deselected cluster cannot be added; no cluster starts until the record is deleted, or another version or attempt is rolled out", 2: "the record of deselected clusters in the rollout's object is full: 2 deselected clusters cannot be added; no cluster starts until the record is deleted, or another version or attempt is rolled out"} {
		if got := (rollout.BlockReason{Type: rollout.BlockRecordFull, Failures: failures}).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// R36, R49: 300 clusters that succeeded leave within the span of their starts. The record has no room for 44 of them, so nothing
// starts, until the span is over. No operator has to do anything.
func TestARecordThatIsFullOfStartsEmptiesItself(t *testing.T) {
	o := owned{strategy: progressive("50%", config("", "10m", 0)), groups: selecting(t, false, "x", "y")}
	o.options.MaxStarts = &rollout.StartLimit{Count: 1000, Per: metav1.Duration{Duration: time.Hour}}
	reports := manyReports("c", 300, status.Succeeded, now)
	r := o.plan(t, reports, now.Add(time.Minute))
	if len(r.Record.Deselected) != 256 || r.Record.More != 44 || len(r.Removed) != 0 || len(r.PendingRemoval) != 300 {
		t.Errorf("%d entries, %d more, %d removed; want 256, 44 and none while the number grows", len(r.Record.Deselected), r.Record.More, len(r.Removed))
	}
	r = o.plan(t, reports, now.Add(2*time.Minute))
	const want = "the record of deselected clusters in the rollout's object is full: 44 deselected clusters cannot be added, and count until 2026-11-21T13:00:00Z"
	if explained := r.Explain("x"); len(r.Removed) != 300 || r.BlockCounts()[0].Reason.String() != want || explained[0].Remedies[0].String() != "wait until 2026-11-21T13:00:00Z" {
		t.Errorf("%d removed, blocked: %v, explained: %v; want %s", len(r.Removed), r.BlockCounts(), explained, want)
	}
	if r.RecheckAfter != 58*time.Minute {
		t.Errorf("come back after %v, want 58m", r.RecheckAfter)
	}
	if r = o.plan(t, nil, now.Add(time.Hour-1)); len(r.Start) != 0 {
		t.Errorf("within the span %v", r)
	}
	if r = o.plan(t, nil, now.Add(time.Hour)); len(r.Start) != 1 || r.Record.More != 0 || len(r.Record.Deselected) != 0 || !r.Record.Until.IsZero() {
		t.Errorf("after the span %v, record %v", r, r.Record)
	}
}

// R49: starts that leave later than those for which there was no room count until their own span is over. Nothing is removed
// before that is stored, though the number is the same.
func TestAFullRecordWaitsForTheLastStart(t *testing.T) {
	o := owned{strategy: progressive("50%", config("", "10m", 0)), groups: selecting(t, false, "x", "y")}
	o.options.MaxStarts = &rollout.StartLimit{Count: 1000, Per: metav1.Duration{Duration: time.Hour}}
	reports := manyReports("c", 300, status.Succeeded, now)
	o.plan(t, reports, now)
	late := append(reports[:299:299], status.Report{Cluster: "late", Status: status.Succeeded, Applied: now.Add(time.Minute)})
	r := o.plan(t, late, now.Add(2*time.Minute))
	if want := now.Add(time.Hour + time.Minute); !r.Record.Until.Equal(want) || r.Record.More != 44 || len(r.Removed) != 0 {
		t.Errorf("%d more count until %v, %d removed; want 44 until %v, and none removed", r.Record.More, r.Record.Until, len(r.Removed), want)
	}
	if r = o.plan(t, late, now.Add(3*time.Minute)); len(r.Removed) != 300 {
		t.Errorf("%d removed once that is stored, want 300", len(r.Removed))
	}
}

// R34, R49: a success for which there is no room counts until the wait after it is over, if that is later than the span of its start; one
// that was skipped counts until then for its start alone.
func TestAFullRecordWaitsForTheLastSuccess(t *testing.T) {
	for _, tt := range []struct {
		status status.RolloutStatus
		wait   time.Duration
		until  time.Duration
	}{
		{status.Succeeded, 2 * time.Hour, 2 * time.Hour},
		{status.Succeeded, time.Minute, time.Hour},
		{status.Skip, 2 * time.Hour, 0},
	} {
		o := owned{strategy: perGroup(config("", "10m", 0)), groups: selecting(t, false, "x", "y")}
		o.options.MaxStarts = &rollout.StartLimit{Count: 1000, Per: metav1.Duration{Duration: time.Hour}}
		o.options.WaitBetweenGroups = metav1.Duration{Duration: tt.wait}
		want := time.Time{}
		if tt.until > 0 {
			want = now.Add(tt.until)
		}
		if r := o.plan(t, manyReports("c", 300, tt.status, now), now); !r.Record.Until.Equal(want) {
			t.Errorf("%s, a wait of %v: %d more until %v, want %v", tt.status, tt.wait, r.Record.More, r.Record.Until, want)
		}
	}
}

// R49, R50: a record takes its part of the room to the last byte, with a comma behind each entry.
func TestARecordIsFilledToTheLastByte(t *testing.T) {
	const parts, size = 4, 320
	selected := make([][]string, parts)
	groups := apartOf(t, append(selected[1:], []string{"x"}), make([]bool, parts))[parts-1]
	record := func(n, name int) status.Record {
		r := status.Record{Version: "v"}
		for i := range n {
			cluster := fmt.Sprintf("%0*d", name, i)
			r.Deselected = append(r.Deselected, status.DeselectedCluster{Report: status.Report{Cluster: cluster, Status: status.TimeOut, Applied: now, LastTransitionTime: now}, Group: groups.Key(0)})
		}
		return r
	}
	stored := func(left status.Record) status.Record {
		r, err := rollout.Plan(progressive("1", config("", "10m", 0)), groups, nil, now, rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: left}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Record
	}
	text, err := json.Marshal(stored(record(1, 100)).Deselected[0])
	if err != nil {
		t.Fatal(err)
	}
	name := 100 + size - 1 - len(text)
	for n, want := range map[int]int{160: 0, 161: 1} {
		if r := stored(record(n, name)); len(r.Deselected) != n-want || r.More != want {
			t.Errorf("of %d entries of %d bytes, %d are kept and %d more", n, size-1, len(r.Deselected), r.More)
		}
	}
}

// R49: where there is no room for all, failures are kept first, whatever the names. Where failures have no room, nothing ends that
// but a later attempt or a user who removes the record, and the sentences say so.
func TestAFullRecordKeepsFailuresFirst(t *testing.T) {
	o := owned{strategy: progressive("50%", config("100%", "10m", 0)), groups: selecting(t, false, "x", "y")}
	o.options.MaxStarts = &rollout.StartLimit{Count: 1000, Per: metav1.Duration{Duration: time.Hour}}
	reports := append(manyReports("a", 200, status.Succeeded, now), manyReports("z", 100, status.TimeOut, now)...)
	r := o.plan(t, reports, now)
	failures := 0
	for i := range r.Record.Deselected {
		if r.Record.Deselected[i].Status == status.TimeOut {
			failures++
		}
	}
	if failures != 100 || len(r.Record.Deselected) != 256 || r.Record.More != 44 || !r.Record.Until.Equal(now.Add(time.Hour)) {
		t.Errorf("%d failures of %d entries, %d more until %v; want 100 of 256 and 44 for an hour", failures, len(r.Record.Deselected), r.Record.More, r.Record.Until)
	}
	o.record = status.Record{}
	o.options.FailedBefore = nil
	reports = manyReports("z", 300, status.TimeOut, now)
	for _, report := range reports {
		o.options.FailedBefore = append(o.options.FailedBefore, report.Cluster) // so that no budget stops the rollout
	}
	o.plan(t, reports, now)
	r = o.plan(t, reports, now.Add(24*time.Hour))
	explained := r.Explain("x").String()
	if r.Record.More != 44 || !r.Record.Until.IsZero() || !strings.Contains(explained, "(1) retry the failed clusters: raise the rollout's attempt number to 1; (2) delete the record of deselected clusters in the rollout's object (the clusters in that record then no longer count as in flight, failed or done)") {
		t.Errorf("%d more until %v; explained: %s", r.Record.More, r.Record.Until, explained)
	}
	if o.options.Attempt = 1; o.plan(t, nil, now.Add(24*time.Hour)).Record.More != 0 {
		t.Error("a later attempt does not end it")
	}
}

// R49, R50: full records of many placements fit the annotations of one object, also with the longest names.
func TestManyFullRecordsFitOneObject(t *testing.T) {
	for _, parts := range []int{1, 2, 5, 8, 30} {
		for _, long := range []bool{false, true} {
			name := func(s string, most int) string {
				if long {
					s += strings.Repeat("x", most-len(s))
				}
				return s
			}
			var placements []grouping.PlacementGroups
			for i := range parts {
				key := grouping.Key{Name: name("production", 63)}
				groups, err := grouping.FromNames(map[grouping.Key][]string{key: {fmt.Sprintf("someone-%d", i)}})
				if err != nil {
					t.Fatal(err)
				}
				placements = append(placements, grouping.PlacementGroups{Placement: name(fmt.Sprintf("placement-%d", i), 253), Groups: groups})
			}
			owner, records := &metav1.ObjectMeta{}, status.Records{}
			apart, err := grouping.Apart(placements...)
			if err != nil {
				t.Fatal(err)
			}
			for i, groups := range apart {
				left := status.Record{Version: "v"}
				for k := range 300 {
					cluster := name(fmt.Sprintf("cluster-%d-%03d", i, k), 63)
					report := status.Report{Cluster: cluster, Status: status.TimeOut, Applied: now.Add(123456789), LastTransitionTime: now.Add(time.Minute + 987654321)}
					left.Deselected = append(left.Deselected, status.DeselectedCluster{Report: report, Group: groups.Key(0)})
				}
				r, err := rollout.Plan(progressive("1", config("", "10m", 0)), groups, nil, now.Add(time.Hour), rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: left}})
				if err != nil {
					t.Fatal(err)
				}
				if n := len(r.Record.Deselected); n+r.Record.More != 300 || n > 256 || n < 256/parts {
					t.Errorf("%d parts, long %v: %d entries and %d more", parts, long, n, r.Record.More)
				}
				records[placements[i].Placement] = r.Record
			}
			if len(records) != parts {
				t.Fatalf("%d records of %d parts", len(records), parts)
			}
			if _, err := records.Note(owner); err != nil {
				t.Errorf("%d parts, long %v: %v", parts, long, err)
			}
		}
	}
}
