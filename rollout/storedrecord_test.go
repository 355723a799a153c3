// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// R49: a cluster which was deselected while soaking and is selected again waits for its workload like any other: that is gone, so nothing soaks.
func TestBackAfterItsSuccessItWaitsAgain(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}}
	strategy.ProgressivePerGroup.MinSuccessTime = metav1.Duration{Duration: 10 * time.Minute}
	first := grouping.Key{Index: 0}
	groups, err := grouping.FromNames(map[grouping.Key][]string{first: {"a", "b"}, {Index: 1}: {"c"}})
	if err != nil {
		t.Fatal(err)
	}
	started := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{
		{Report: status.Report{Cluster: "a", Status: status.Succeeded, Applied: started, LastTransitionTime: started}, Group: first},
	}}
	reports := []status.Report{{Cluster: "b", Status: status.Succeeded, Applied: started, LastTransitionTime: started}}
	options := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored, AtOnce: true}, WaitBetweenGroups: metav1.Duration{Duration: time.Hour}}
	var p rollout.Planner
	p.SetGroups(groups)
	if err := p.SetStrategy(strategy, options); err != nil {
		t.Fatal(err)
	}
	if err := p.Report(reports...); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after time.Duration
		want  rollout.Disposition
	}{
		{9 * time.Minute, rollout.DispositionStarting},
		{10 * time.Minute, rollout.DispositionStarting},
	} {
		plan, err := rollout.Plan(strategy, groups, reports, started.Add(c.after), options)
		if err != nil {
			t.Fatal(err)
		}
		p.Next(started.Add(c.after)) // a step, not a new beginning
		for by, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(started.Add(c.after))} {
			if d, _, _ := r.Find("a"); d != c.want {
				t.Errorf("after %v, %s has a as %s, want %s", c.after, by, d, c.want)
			}
		}
	}
}

// R36: an entry may outlast the span of MaxStarts, because a wait between groups needs its success. Its start takes no place then.
func TestASuccessThatIsWaitedForTakesNoStart(t *testing.T) {
	first := grouping.Key{Index: 0}
	groups, err := grouping.FromNames(map[grouping.Key][]string{first: {"a", "b"}, {Index: 1}: {"c"}})
	if err != nil {
		t.Fatal(err)
	}
	started := now.Add(-20 * time.Minute)
	stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{
		{Report: status.Report{Cluster: "x", Status: status.Succeeded, Applied: started, LastTransitionTime: started}, Group: first},
	}}
	options := rollout.Options{
		StoredRecord:      &rollout.StoredRecord{Version: "v", Record: stored},
		MaxStarts:         &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Minute}},
		WaitBetweenGroups: metav1.Duration{Duration: time.Hour},
	}
	plan, err := rollout.Plan(perGroup(config("", "", 0)), groups, nil, now, options)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rollout.NewPlanner(perGroup(config("", "", 0)), groups, options)
	if err != nil {
		t.Fatal(err)
	}
	p.Next(started.Add(time.Minute - 1)) // a step within the span before
	for by, next := range map[string]rollout.Next{"a plan": plan.Next, "the planner": p.Next(now)} {
		if len(next.Start) != 1 || next.Start[0].Name != "a" || len(next.Record.Deselected) != 1 {
			t.Errorf("%s starts %v and records %v, want a to start and x recorded", by, next.Start, next.Record.Deselected)
		}
	}
}

// R49: the entry of a cluster that is ignored counts for nothing, also where the cluster is selected again.
func TestTheEntryOfAnIgnoredClusterCountsForNothing(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{{Report: status.Report{Cluster: "a", Status: status.TimeOut}}}}
	result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}, groups, nil, time.Time{},
		rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored}, Ignored: []string{"a"}})
	if err != nil {
		t.Fatal(err)
	}
	if d, _, _ := result.Find("a"); d != rollout.DispositionStarting || len(result.Record.Deselected) > 0 {
		t.Errorf("a is %s, and recorded is %v", d, result.Record.Deselected)
	}
}

// R48: while groups are incomplete, the record stays as it is.
func TestNothingIsRecordedWhileGroupsAreIncomplete(t *testing.T) {
	started := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	for _, atOnce := range []bool{false, true} {
		stored := status.Record{Version: "v", More: 1, Deselected: []status.DeselectedCluster{
			{Report: status.Report{Cluster: "a", Status: status.Skip, Applied: started}},
			{Report: status.Report{Cluster: "b", Status: status.Succeeded, Applied: started, LastTransitionTime: started}},
			{Report: status.Report{Cluster: "c", Status: status.ToApply, Applied: started}},
			{Report: status.Report{Cluster: "d", Status: status.TimeOut, Applied: started, LastTransitionTime: started}},
		}}
		reports := []status.Report{{Cluster: "e", Status: status.Failed}}
		result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}, nil, reports, started,
			rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored, AtOnce: atOnce}})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(result.Record, stored) {
			t.Errorf("recorded is %+v, want %+v", result.Record, stored)
		}
	}
}

// An entry without a cluster is an error, as a report without one is: it stands for no cluster, and must not be taken for the first
// cluster of the groups.
func TestRememberRefusesAnEntryWithoutACluster(t *testing.T) {
	for at := range 2 {
		record := status.Record{Version: "v", Deselected: []status.DeselectedCluster{
			{Report: status.Report{Cluster: "x", Status: status.TimeOut}},
			{Report: status.Report{Cluster: "y", Status: status.TimeOut}},
		}}
		record.Deselected[at].Cluster = ""
		want := fmt.Sprintf("storedRecord.record.left[%d].cluster: Required value: must be the name of a ManagedCluster", at)
		option := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: record}}
		if _, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, nil, nil, now, option); err == nil || err.Error() != want {
			t.Errorf("Plan says %v, want %s", err, want)
		}
		if _, err := rollout.NewPlanner(clusterv1alpha1.RolloutStrategy{}, nil, option); err == nil || err.Error() != want {
			t.Errorf("NewPlanner says %v, want %s", err, want)
		}
	}
}

// R49: a failed cluster that left and is back gets its workload again. That alone ends no breach: only an answer does.
func TestSilenceEndsNoFailure(t *testing.T) {
	strategy := progressive("2", config("0", "10m", 0))
	groups := selecting(t, false, "a", "b")
	written := now.Add(5 * time.Minute)
	stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{
		{Report: status.Report{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Minute), LastTransitionTime: now}},
	}}
	for _, c := range []struct {
		says   status.RolloutStatus
		reason status.ReportReason
		stands bool // whether the failure does
	}{
		{status.ToApply, "", true},
		{status.ToApply, status.ReportRefused, true}, // it is there, and no better
		{status.Failed, "", true},
		{status.Progressing, "", false},
		{status.Progressing, status.ReportUntracked, false},
		{status.Succeeded, "", false},
	} {
		report := status.Report{Cluster: "a", Status: c.says, Reason: c.reason, Applied: written}
		option := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored}}
		plan, err := rollout.Plan(strategy, groups, []status.Report{report}, written, option)
		if err != nil {
			t.Fatal(err)
		}
		p, err := rollout.NewPlanner(strategy, groups, option)
		if err != nil {
			t.Fatal(err)
		}
		p.Applied("a", written)
		if err := p.Report(report); err != nil {
			t.Fatal(err)
		}
		for by, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(written)} {
			if stands := r.Breach != nil && len(r.Start) == 0; stands != c.stands {
				t.Errorf("a is %s: %s says %v", c.says, by, r)
			}
		}
		if kept := len(plan.Record.Deselected) == 1; kept != (c.says == status.ToApply) {
			t.Errorf("a is %s: the record is %v", c.says, plan.Record)
		}
	}
}

// R27, R49: an entry stays as long as it is what is reported. What an agent refused, or what nothing tracks, is as what is silent or
// progressing.
func TestAReasonKeepsTheEntry(t *testing.T) {
	strategy, groups := progressive("2", config("0", "10m", 0)), selecting(t, false, "a", "b")
	for _, c := range []struct {
		is     status.RolloutStatus
		reason status.ReportReason
	}{{status.ToApply, ""}, {status.ToApply, status.ReportRefused}, {status.Progressing, ""}, {status.Progressing, status.ReportUntracked}} {
		report := status.Report{Cluster: "a", Status: c.is, Applied: now}
		stored := status.Record{Version: "v", Deselected: []status.DeselectedCluster{{Report: report}}}
		report.Reason = c.reason
		option := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", AtOnce: true, Record: stored}}
		plan, err := rollout.Plan(strategy, groups, []status.Report{report}, now, option)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(stored, plan.Record); diff != "" {
			t.Errorf("a is %s, %s: the record changes:\n%s", c.is, c.reason, diff)
		}
	}
}

// R43, R48: a cluster that is omitted for a moment with the failed version, and is past its deadline then, did not fail with the version
// before. Back again, it rolls back.
func TestOmittedForAMomentAClusterStillRollsBack(t *testing.T) {
	strategy := progressive("1", config("0", "10m", 0))
	abort := rollout.Abort{
		Time:   now.Add(-time.Hour),
		Failed: []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-2 * time.Hour)}},
		Before: []status.Report{{Cluster: "a", Status: status.ToApply}},
	}
	var record status.Record
	var last *rollout.Result
	for i, groups := range []*grouping.Groups{selecting(t, false, "a", "b"), selecting(t, false, "b"), selecting(t, false, "a", "b")} {
		r, err := rollout.Revert(strategy, groups, abort, now.Add(time.Duration(i)*time.Second),
			rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "before", Record: record, AtOnce: true}, RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
		if err != nil {
			t.Fatal(err)
		}
		if d, _, _ := r.Find("a"); i != 1 && d != rollout.DispositionStarting {
			t.Errorf("call %d has a as %s, want it to go back: %v, record %v", i, d, r, r.Record)
		}
		last, record = r, r.Record
	}
}

// R1, R49: two entries of a cluster count as one, by the one that blocks most. An index below 0 is of no group that is known.
func TestARecordEditedByHandHoldsBackMost(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	failed := status.DeselectedCluster{Report: status.Report{Cluster: "a", Status: status.TimeOut}, Group: grouping.Key{Index: -7}}
	flies := status.DeselectedCluster{Report: status.Report{Cluster: "a", Status: status.Progressing}, Group: grouping.Key{Index: -7}}
	for _, entries := range [][]status.DeselectedCluster{{failed, flies}, {flies, failed}} {
		result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive}, groups, nil, time.Time{},
			rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", Deselected: entries}}})
		if err != nil {
			t.Fatal(err)
		}
		if result.Breach == nil || len(result.Deselected) != 1 || result.Deselected[0].Group != (grouping.Key{Index: -1}) {
			t.Errorf("%v, left %v; want a breach by a, of an unknown group", result, result.Deselected)
		}
	}
}

// R36, R49: the failure of an attempt before the wanted one tells of its start all the same, so MaxStarts counts it.
func TestAFailureOfAnEarlierAttemptTellsOfItsStart(t *testing.T) {
	failed := status.Report{Cluster: "a", Status: status.TimeOut, Applied: now.Add(-10 * time.Minute), LastTransitionTime: now.Add(-time.Minute)}
	options := rollout.Options{
		StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", Deselected: []status.DeselectedCluster{{Report: failed}}}},
		Attempt:      1,
		MaxStarts:    &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}},
	}
	for _, c := range []struct {
		at     time.Duration
		starts int
	}{{0, 0}, {50*time.Minute - 1, 0}, {50 * time.Minute, 1}} {
		r, err := rollout.Plan(progressive("1", config("", "10m", 0)), selecting(t, false, "x"), nil, now.Add(c.at), options)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Start) != c.starts {
			t.Errorf("after %v: %v, want %d to start", c.at, r, c.starts)
		}
	}
}

// R7, R43: in the rollback, too, nothing is asked for where the object of a deselected cluster is being deleted already.
func TestInARollbackATerminatingClusterIsNotRemovedAgain(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		abort := rollout.Abort{
			Time: now,
			Failed: []status.Report{
				{Cluster: "had", Status: status.Failed, Applied: now.Add(-time.Hour), Deleting: deleting},
				{Cluster: "never", Status: status.ToApply, Deleting: deleting},
			},
			Before: []status.Report{
				{Cluster: "had", Status: status.ToApply, Deleting: deleting},
				{Cluster: "never", Status: status.Succeeded, Applied: now.Add(-2 * time.Hour), Deleting: deleting},
			},
		}
		r, err := rollout.Revert(all("10m"), selecting(t, false, "x"), abort, now.Add(time.Minute), rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 2, true: 0}[deleting]; len(r.Removed) != want {
			t.Errorf("deleting %v: removed %v, want %d", deleting, r.Removed, want)
		}
	}
}

// R37, R48: a cluster whose ManagedCluster is deleted is ignored, and with it what the record has of it. A cluster of the same
// name that joins later is a new one: it gets the workload in its turn.
func TestAfterItsManagedClusterWasDeletedAClusterJoinsAnew(t *testing.T) {
	o := owned{strategy: progressive("1", config("", "10m", 0)), groups: selecting(t, false, "x")}
	failed := []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Hour), LastTransitionTime: now.Add(-time.Hour)}}
	if o.plan(t, failed, now); len(o.record.Deselected) != 1 {
		t.Fatalf("the record is %v, want the failure of a", o.record)
	}
	if r := o.plan(t, nil, now.Add(time.Minute)); r.Breach == nil {
		t.Errorf("a's work is gone: %v, want it stopped", r)
	}
	o.options.Ignored = []string{"a"} // there is no ManagedCluster a
	if r := o.plan(t, nil, now.Add(2*time.Minute)); r.Breach != nil || len(r.Start) != 1 || len(o.record.Deselected) != 0 {
		t.Errorf("given up: %v, record %v", r, o.record)
	}
	o.options.Ignored, o.groups = nil, selecting(t, false, "a", "x")
	done := []status.Report{{Cluster: "x", Status: status.Succeeded, Applied: now.Add(2 * time.Minute), LastTransitionTime: now.Add(3 * time.Minute)}}
	if r := o.plan(t, done, now.Add(4*time.Minute)); len(r.Start) != 1 || r.Start[0].Name != "a" {
		t.Errorf("back: %v, want a to start", r)
	}
}

// R46: an ignored cluster is in neither Deselected nor the record, so these alone don't tell for which ManagedClusters to ask. While its object
// outlasts its ManagedCluster, it stays ignored as long as it is named.
func TestAnIgnoredClusterIsListedWhileItsObjectExists(t *testing.T) {
	hangs := []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Hour), LastTransitionTime: now.Add(-time.Hour), Deleting: true}}
	for asksOn, want := range map[bool]string{true: "stopped, given up, given up, given up", false: "stopped, given up, stopped, given up"} {
		o := owned{strategy: progressive("1", config("", "10m", 0)), groups: selecting(t, false, "x")}
		var gone, got []string
		for i := range 4 {
			ask := make(map[string]bool)
			for _, left := range o.record.Deselected {
				ask[left.Cluster] = true
			}
			for _, cluster := range gone {
				ask[cluster] = asksOn
			}
			gone = nil
			if ask["a"] { // there is no ManagedCluster a
				gone = []string{"a"}
			}
			o.options.Ignored = gone
			switch r := o.plan(t, hangs, now.Add(time.Duration(i)*time.Minute)); {
			case r.Breach != nil && len(r.Deselected) == 1 && len(o.record.Deselected) == 1:
				got = append(got, "stopped")
			case r.Breach == nil && len(r.Deselected)+len(o.record.Deselected) == 0 && len(r.Start) == 1:
				got = append(got, "given up")
			}
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("asked on is %v: %s, want %s", asksOn, got, want)
		}
	}
}

// R48: a cluster is removed once the stored record has an entry that counts for as much as the one that is wanted.
func TestARemovedClusterIsRecordedForAllThatItShows(t *testing.T) {
	const failure, flight, success, start = status.TimeOut, status.Progressing, status.Succeeded, status.Skip
	hour := metav1.Duration{Duration: time.Hour}
	for _, c := range []struct {
		tells   status.RolloutStatus // the object
		atOnce  bool
		removes []status.RolloutStatus // with these entries
	}{
		{failure, true, []status.RolloutStatus{failure}},
		{flight, true, []status.RolloutStatus{failure, flight}},
		{success, true, []status.RolloutStatus{failure, flight, success}},
		{failure, false, []status.RolloutStatus{failure}},
		{flight, false, []status.RolloutStatus{failure, flight, success, start}}, // an agent has to let go: only the start is recorded
		{success, false, []status.RolloutStatus{failure, success}},
	} {
		reports := []status.Report{{Cluster: "a", Status: c.tells, Applied: now.Add(-time.Minute)}}
		for _, is := range []status.RolloutStatus{failure, flight, success, start, ""} {
			stored := status.Record{Version: "v"}
			if is != "" {
				stored.Deselected = []status.DeselectedCluster{{Report: status.Report{Cluster: "a", Status: is, Applied: now.Add(-time.Minute)}}}
			}
			options := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: stored, AtOnce: c.atOnce}, WaitBetweenGroups: hour, MaxStarts: &rollout.StartLimit{Count: 9, Per: hour}}
			strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}}
			r, err := rollout.Plan(strategy, selecting(t, false, "x"), reports, now, options)
			if err != nil {
				t.Fatal(err)
			}
			if removed := len(r.Removed) == 1; removed != slices.Contains(c.removes, is) {
				t.Errorf("%s, at once is %v, recorded as %q: removed is %v; the record wanted is %v", c.tells, c.atOnce, is, removed, r.Record.Deselected)
			}
		}
	}
}

// R29, R49: a failure that only the record tells of holds its slot, and no report of it comes any more: it is not among those whose answer
// frees one.
func TestNoAgentAnswersForAClusterThatOnlyTheRecordHas(t *testing.T) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	lost := status.DeselectedCluster{Report: status.Report{Cluster: "z", Status: status.Failed, Applied: now, LastTransitionTime: now}}
	reports := []status.Report{{Cluster: "a", Status: status.Progressing, Applied: now, LastTransitionTime: now}}
	opts := rollout.Options{StoredRecord: &rollout.StoredRecord{Version: "v", Record: status.Record{Version: "v", Deselected: []status.DeselectedCluster{lost}}}}
	r, err := rollout.Plan(progressive("2", config("100%", "1h", 0)), groups, reports, now.Add(time.Minute), opts)
	if err != nil {
		t.Fatal(err)
	}
	links := r.Explain("b")
	var answers []rollout.Remedy
	for _, remedy := range links[0].Remedies {
		if remedy.Type == rollout.RemedyAnswer {
			answers = append(answers, remedy)
		}
	}
	if want := (rollout.Remedy{Type: rollout.RemedyAnswer, Count: 1, Of: 1, Clusters: "a"}); len(answers) != 1 || answers[0] != want {
		t.Errorf("answers of %+v end the wait, want %+v\n%v", answers, want, links)
	}
}

// R47: the group of a cluster whose start counts no longer is unknown, to a planner, too.
func TestThePlannerForgetsTheGroupOfAnOldStart(t *testing.T) {
	one, two := grouping.Key{Index: 0}, grouping.Key{Index: 1}
	groupsOf := func(names map[grouping.Key][]string) *grouping.Groups {
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	with, without := groupsOf(map[grouping.Key][]string{one: {"a"}, two: {"b", "z"}}), groupsOf(map[grouping.Key][]string{one: {"a"}, two: {"b"}})
	opts := rollout.Options{MaxStarts: &rollout.StartLimit{Count: 9, Per: metav1.Duration{Duration: time.Hour}}}
	var p rollout.Planner
	if err := p.SetStrategy(perGroup(config("", "", 0)), opts); err != nil {
		t.Fatal(err)
	}
	var previous *rollout.Result
	for i, step := range []struct {
		after  time.Duration
		groups *grouping.Groups
		z      status.RolloutStatus
		left   int
	}{
		{0, with, status.Succeeded, 0},
		{time.Minute, without, status.Succeeded, 0},
		{2 * time.Minute, without, status.Succeeded, 0},
		{2 * time.Hour, without, status.Succeeded, 0},
		{3 * time.Hour, without, status.Succeeded, 0},
		{4 * time.Hour, without, status.Progressing, 1},
	} {
		report := status.Report{Cluster: "z", Status: step.z, Applied: now, LastTransitionTime: now}
		at := now.Add(step.after)
		p.SetGroups(step.groups)
		if err := p.Report(report); err != nil {
			t.Fatal(err)
		}
		next := p.Next(at)
		opts.Previous = previous
		r, err := rollout.Plan(perGroup(config("", "", 0)), step.groups, []status.Report{report}, at, opts)
		if err != nil {
			t.Fatal(err)
		}
		previous = r
		if !reflect.DeepEqual(next.Deselected, r.Deselected) || len(r.Deselected) != step.left {
			t.Errorf("step %d: left are %+v, and by the planner %+v; want %d", i, r.Deselected, next.Deselected, step.left)
		}
	}
}

// R19, R48: a removal that the record blocks has its time: the next look is due when the record need not have the cluster any more,
// and a nanosecond before the cluster is kept. Where the record is full that is when it has room again.
func TestARemovalThatTheRecordHoldsBackHasItsTime(t *testing.T) {
	success := func(cluster string, ago time.Duration) status.Report {
		return status.Report{Cluster: cluster, Status: status.Succeeded, Applied: now.Add(-ago), LastTransitionTime: now.Add(-ago)}
	}
	wait := rollout.Options{WaitBetweenGroups: metav1.Duration{Duration: time.Hour}}
	span := rollout.Options{MaxStarts: &rollout.StartLimit{Count: 9999, Per: metav1.Duration{Duration: time.Hour}}}
	both := wait
	both.MaxStarts = &rollout.StartLimit{Count: 9999, Per: metav1.Duration{Duration: 2 * time.Hour}}
	var crowd []status.Report
	for i := range 257 { // one more than a record has room for; the first is wanted for the shortest time
		crowd = append(crowd, success(fmt.Sprintf("left%03d", i), 50*time.Minute-time.Duration(i)*time.Second))
	}
	for name, test := range map[string]struct {
		options rollout.Options
		reports []status.Report
		after   time.Duration
		goes    bool // what is kept goes then
	}{
		"until the wait between groups ends": {wait, []status.Report{success("left", 20*time.Minute)}, 40 * time.Minute, true},
		"until no start counts":              {span, []status.Report{success("left", 50*time.Minute)}, 10 * time.Minute, true},
		"then its start is to be recorded":   {both, []status.Report{success("left", 20*time.Minute)}, 40 * time.Minute, false},
		"until there is room":                {wait, crowd, 10 * time.Minute, true},
	} {
		t.Run(name, func(t *testing.T) {
			fleet := newFleet(t).group("", "a").group("", "b") // all that are selected are done
			reports := slices.Concat([]status.Report{success("a", 100*time.Hour), success("b", 100*time.Hour)}, test.reports)
			test.options.StoredRecord = &rollout.StoredRecord{Version: "2"}
			at := func(now time.Time) (*rollout.Result, *rollout.Result) {
				groups := fleet.read()
				r, err := rollout.Plan(perGroup(config("", "", 0)), groups, reports, now, test.options)
				if err != nil {
					t.Fatal(err)
				}
				p, err := rollout.NewPlanner(perGroup(config("", "", 0)), groups, test.options)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Report(reports...); err != nil {
					t.Fatal(err)
				}
				return r, p.Result(now)
			}
			for i := range 2 {
				before := func(after time.Duration) *rollout.Result {
					plan, planned := at(now.Add(after))
					return []*rollout.Result{plan, planned}[i]
				}
				r := before(0)
				if len(r.PendingRemoval) != len(test.reports) || len(r.Removed) > 0 || r.RecheckAfter != test.after {
					t.Fatalf("%d leave, %v are removed, recheck after %v, want %v", len(r.PendingRemoval), r.Removed, r.RecheckAfter, test.after)
				}
				if early := before(r.RecheckAfter - 1); len(early.Removed) > 0 {
					t.Errorf("%v are removed a nanosecond before", early.Removed)
				}
				if due := before(r.RecheckAfter); (len(due.Removed) > 0) != test.goes || cmp.Equal(due.Record, r.Record) {
					t.Errorf("after %v %v are removed, and the record is %v", r.RecheckAfter, due.Removed, due.Record)
				}
			}
		})
	}
}
