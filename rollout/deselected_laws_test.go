// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/rollout/rollback"
	"github.com/cohort-ocm/cohort/status"
)

// R46, R48: a version that cuts off all that get it comes to no more clusters than one at a time. Its time-out stops the rollout,
// and stays when the scheduler drops the cluster before or after it.
func TestAVersionThatCutsClustersOffStops(t *testing.T) {
	both(t, func(t *testing.T, atOnce, restarts bool) {
		for _, deadline := range []string{"10m", "3m", ""} {
			h := newCutting(20, progressive("1", config("", deadline, 0)), cutsOff, rollout.Options{})
			h.atOnce, h.restarts = atOnce, restarts
			r := h.play(t, 2*time.Hour)
			if len(h.got) != 1 || (r.Breach != nil) != (deadline != "") || r.Summary().Aggregate() == status.Succeeded {
				t.Errorf("deadline %q: %d have it; %v", deadline, len(h.got), r)
			}
			if len(r.Deselected) != 1 || r.Deselected[0].Name != "c00" || !strings.Contains(r.String(), "c00 (deselected)") {
				t.Errorf("deadline %q: left %v; %v", deadline, r.Deselected, r)
			}
		}
	})
}

// R37, R46: a user gives a cluster up by naming it. It counts no more at once, and the next one starts.
func TestIgnoringACluster(t *testing.T) {
	both(t, func(t *testing.T, atOnce, restarts bool) {
		h := newCutting(20, progressive("1", config("", "10m", 0)), cutsOff, rollout.Options{})
		h.atOnce, h.restarts = atOnce, restarts
		h.play(t, time.Hour)
		blocked := h.last.Explain("c05")
		if text := blocked.String(); !strings.Contains(text, "add c00 to the ignored clusters (no longer counted as in flight, failed or done)") {
			t.Errorf("the explanation names no way to give c00 up: %s", text)
		}
		h.options.Ignored = []string{"c00"}
		if r := h.step(t); r.Breach != nil || len(r.Deselected) != 0 || len(r.Start) != 1 || len(r.Record.Deselected) != 0 {
			t.Errorf("%v, left %v, record %v", r, r.Deselected, r.Record)
		}
	})
}

// R29: the way to give clusters up is named wherever one that is waited for left, also where it is not among the first three, and all
// of them are counted.
func TestAllDeselectedClustersCanBeIgnored(t *testing.T) {
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		options  rollout.Options
		is       status.RolloutStatus
		selected []string // of those that have the version
		want     string
	}{
		{"a breach, where five left", progressive("5", config("", "10m", 0)), rollout.Options{}, status.TimeOut, nil, "a, b, c and 2 more"},
		{"a breach, where one of the last left", progressive("5", config("", "10m", 0)), rollout.Options{}, status.TimeOut, []string{"a", "b", "c", "d"}, "e"},
		{"slots, where five left", progressive("5", config("", "", 0)), rollout.Options{}, status.Progressing, nil, "a, b, c and 2 more"},
		{"slots, where one of the last left", progressive("5", config("", "", 0)), rollout.Options{}, status.Progressing, []string{"a", "b", "c", "d"}, "e"},
		{"a ramp", progressive("9", config("", "", 0)), rollout.Options{Ramp: ptr(5)}, status.Progressing, []string{"a", "b", "c", "d"}, "e"},
		{"a share of concurrency", progressive("9", config("", "", 0)), rollout.Options{Shares: &rollout.Shares{Concurrency: 5}}, status.Progressing, nil, "a, b, c and 2 more"},
		{"a share of failures", progressive("9", config("9", "10m", 0)), rollout.Options{Shares: &rollout.Shares{Concurrency: 9, Failures: 1}}, status.TimeOut, nil, "a, b, c and 2 more"},
		{"a group", perGroup(config("", "", 0)), rollout.Options{}, status.Progressing, []string{"a", "b", "c", "d"}, "e"},
	} {
		reports, all := []status.Report{}, []string{"a", "b", "c", "d", "e"}
		for _, cluster := range all {
			reports = append(reports, status.Report{Cluster: cluster, Status: test.is, LastTransitionTime: now, Applied: now})
		}
		groups := func(selected []string) *grouping.Groups {
			g, err := grouping.FromNames(map[grouping.Key][]string{{}: selected, {Index: 1}: {"x"}})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		before, err := rollout.Plan(test.strategy, groups(all), reports, now, test.options)
		if err != nil {
			t.Fatal(err)
		}
		test.options.Previous = before
		r, err := rollout.Plan(test.strategy, groups(test.selected), reports, now, test.options)
		if err != nil {
			t.Fatal(err)
		}
		links := r.Explain("x")
		got := ""
		for _, remedy := range links[len(links)-1].Remedies {
			if remedy.Type == rollout.RemedyIgnore {
				got = remedy.Clusters
			}
		}
		if got != test.want {
			t.Errorf("%s: give up %q, want %q: %v", test.why, got, test.want, links)
		}
	}
}

// R46: a failure that is tolerated keeps its slot where there is no deadline, whatever happens to the cluster and its object.
func TestAToleratedFailureKeepsItsSlot(t *testing.T) {
	both(t, func(t *testing.T, atOnce, restarts bool) {
		fails := func(string, time.Duration) (status.RolloutStatus, bool) { return status.Failed, true }
		h := newCutting(20, progressive("1", config("3", "", 0)), fails, rollout.Options{})
		h.atOnce, h.restarts = atOnce, restarts
		exposure, err := exposure.Of(h.strategy, selecting(t, false, h.fleet...), exposure.Span{}, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h.play(t, time.Hour); len(h.got) > exposure.Exposed {
			t.Errorf("%d have it, want at most %d", len(h.got), exposure.Exposed)
		}
	})
}

// R36, R46: starts of deselected clusters count within the span, from their objects or from the record.
func TestStartsOfClustersThatLeftCount(t *testing.T) {
	both(t, func(t *testing.T, atOnce, restarts bool) {
		leaves := func(_ string, since time.Duration) (status.RolloutStatus, bool) {
			return status.Succeeded, since >= time.Minute
		}
		h := newCutting(20, progressive("5", config("", "10m", 0)), leaves, rollout.Options{MaxStarts: &rollout.StartLimit{Count: 1, Per: metav1.Duration{Duration: time.Hour}}})
		h.atOnce, h.restarts, h.dropped = atOnce, restarts, time.Minute
		if h.play(t, 3*time.Hour); h.starts != 3 {
			t.Errorf("%d starts within three hours, want 3", h.starts)
		}
	})
}

// R46: where some clusters in flight are missing in every second call, no more are in flight than may be.
func TestClustersThatAreMissingInEverySecondCall(t *testing.T) {
	strategy := progressive("5", config("", "", 0))
	var last *rollout.Result
	works := map[string]bool{}
	for call := range 40 {
		var selected []string
		var reports []status.Report
		for i := range 40 {
			name := fmt.Sprintf("c%02d", i)
			if works[name] {
				reports = append(reports, status.Report{Cluster: name, Status: status.Progressing, Applied: now})
			}
			if !works[name] || call%2 == 0 {
				selected = append(selected, name)
			}
		}
		r, err := rollout.Plan(strategy, selecting(t, false, selected...), reports, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Start {
			works[c.Name] = true
		}
		if last = r; len(works) != 5 {
			t.Fatalf("call %d: %d are in flight, want 5: %v", call, len(works), r)
		}
	}
}

// R46, S8: while a failing cluster is missing for one call, nothing is complete or known good, and the rollout can be aborted.
func TestNothingIsKnownGoodWhileAFailingClusterIsMissing(t *testing.T) {
	strategy := progressive("1", config("1", "10m", 0))
	var last *rollout.Result
	reports := []status.Report{
		{Cluster: "a", Status: status.Succeeded, LastTransitionTime: now.Add(-time.Hour)},
		{Cluster: "b", Status: status.TimeOut, LastTransitionTime: now},
		{Cluster: "c", Status: status.TimeOut, LastTransitionTime: now},
	}
	for call, selected := range [][]string{{"a", "b", "c"}, {"a"}, {"a", "b", "c"}} {
		r, err := rollout.Plan(strategy, selecting(t, false, selected...), reports, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
		if err != nil {
			t.Fatal(err)
		}
		last = r
		s := r.Summary()
		revisions := rollback.Revisions{CurrentRevision: "v1", UpdateRevision: "v2"}
		revisions.Complete(s)
		if s.Aggregate() != status.Failed || revisions.CurrentRevision != "v1" || call == 1 && s.Deselected != 2 {
			t.Errorf("call %d: %v, %v, current %s", call, s.Aggregate(), s.Counts, revisions.CurrentRevision)
		}
		entry := addonv1beta1.InstallProgression{ConfigReferences: []addonv1beta1.InstallConfigReference{{DesiredConfig: &addonv1beta1.ConfigSpecHash{SpecHash: "v2"}}}}
		if status.SetInstallProgression(&entry, s, 1, now); entry.ConfigReferences[0].LastKnownGoodConfig != nil {
			t.Errorf("call %d: the add-on's configuration is known good", call)
		}
		if aborted := revisions.Abort(now); !aborted {
			t.Errorf("call %d: Abort refuses", call)
		}
	}
}

// R47: a cluster that left a mandatory group counts there, also where the groups were partially observed in the result before, and
// showed it elsewhere. After a restart partially observed groups are all that is known, and so its group is unknown.
func TestPartiallyObservedDecisionsDoNotTellWhereAClusterWas(t *testing.T) {
	read := func(selected int32, decisions ...*clusterv1beta1.PlacementDecision) *grouping.Groups {
		placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "fleet"}}
		placement.Status.NumberOfSelectedClusters = selected
		groups, err := grouping.Read(placement, decisions)
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(9)},
		MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{
			MandatoryDecisionGroups: []clusterv1alpha1.MandatoryDecisionGroup{{GroupName: "canary"}}},
	}}
	reports := []status.Report{{Cluster: "a", Status: status.TimeOut, LastTransitionTime: noon(), Applied: noon()}}
	all := []*grouping.Groups{
		read(3, decision(0, "canary", "a"), decision(1, "", "b", "c")),
		read(3, decision(1, "", "a", "b")), // partially observed: a seems to have moved
		read(2, decision(1, "", "b", "c")),
	}
	canary, unknown := grouping.Key{Name: "canary"}, grouping.Key{Index: -1}
	for restarts, want := range map[bool]grouping.Key{false: canary, true: unknown} {
		planner, err := rollout.NewPlanner(strategy, nil, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := planner.Report(reports...); err != nil {
			t.Fatal(err)
		}
		seen := all
		if restarts {
			seen = all[1:]
		}
		var last *rollout.Result
		for _, groups := range seen {
			if last, err = rollout.Plan(strategy, groups, reports, noon(), rollout.Options{Previous: last}); err != nil {
				t.Fatal(err)
			}
			planner.SetGroups(groups)
			if got := planner.Result(noon()).String(); got != last.String() {
				t.Errorf("the planner says %s, want %s", got, last)
			}
		}
		if last.Breach == nil || last.Breach.Group != want || len(last.Start) > 0 {
			t.Errorf("restarts %v: %v, want it stopped by a in %v", restarts, last, want)
		}
	}
}

// R47, R50: after a restart partially observed groups tell at least which part a cluster was in. It holds up no other part, also
// none that was never complete.
func TestPartiallyObservedDecisionsTellWhichPartAClusterWasIn(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}}
	reports := []status.Report{{Cluster: "a", Status: status.TimeOut, LastTransitionTime: noon(), Applied: noon()}}
	var last [2]*rollout.Result
	for _, step := range [][2]*grouping.Groups{
		{selecting(t, true, "a", "x"), nil},
		{selecting(t, false, "x"), selecting(t, false, "b")},
	} {
		parts, err := grouping.Apart(grouping.PlacementGroups{Placement: "p", Groups: step[0]}, grouping.PlacementGroups{Placement: "q", Groups: step[1]})
		if err != nil {
			t.Fatal(err)
		}
		for i, groups := range parts {
			if last[i], err = rollout.Plan(strategy, groups, reports, noon(), rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last[i]}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if b := last[0].Breach; b == nil || b.Group.Index >= 0 || len(last[0].Start) > 0 {
		t.Errorf("its part: %v", last[0])
	}
	if last[1].Breach != nil || len(last[1].Start) != 1 {
		t.Errorf("the other part: %v", last[1])
	}
}

// R6: a selected cluster that succeeded waits again while its object is being deleted, after its soak. Its start still counts (R36).
// On a rollback it is settled.
func TestASuccessThatIsBeingDeletedWaitsAgain(t *testing.T) {
	canary := progressive("1", config("", "", 10*time.Minute), "canary")
	groups, err := grouping.FromNames(map[grouping.Key][]string{{Index: 0, Name: "canary"}: {"a", "b"}, {Index: 1}: {"c"}})
	if err != nil {
		t.Fatal(err)
	}
	since := now.Add(-time.Hour)
	done := func(cluster string, deleting bool) status.Report {
		return status.Report{Cluster: cluster, Status: status.Succeeded, Applied: since, LastTransitionTime: since, Deleting: deleting}
	}
	oneAnHour := &rollout.StartLimit{Count: 2, Per: metav1.Duration{Duration: 2 * time.Hour}}
	for _, c := range []struct {
		what    string
		at      time.Duration // after the success
		reports []status.Report
		options rollout.Options
		want    string
	}{
		{"nothing is deleted", time.Hour, []status.Report{done("a", false), done("b", false)}, rollout.Options{}, "starting c"},
		{"a is", time.Hour, []status.Report{done("a", true), done("b", false)}, rollout.Options{}, "starting a"},
		{"one of two objects of a is", time.Hour, []status.Report{done("a", true), done("a", false), done("b", false)}, rollout.Options{}, "starting c"},
		{"a soaks", 10*time.Minute - 1, []status.Report{done("a", true), done("b", false)}, rollout.Options{}, ""},
		{"a has soaked", 10 * time.Minute, []status.Report{done("a", true), done("b", false)}, rollout.Options{}, "starting a"},
		{"two starts in two hours are enough", time.Hour, []status.Report{done("a", true), done("b", false)}, rollout.Options{MaxStarts: oneAnHour}, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			plan, err := rollout.Plan(canary, groups, c.reports, since.Add(c.at), c.options)
			if err != nil {
				t.Fatal(err)
			}
			p, err := rollout.NewPlanner(canary, groups, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Report(c.reports...); err != nil {
				t.Fatal(err)
			}
			p.Next(since) // a step, not a new beginning
			for by, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(since.Add(c.at))} {
				got := ""
				if len(r.Start) > 0 {
					got = "starting " + r.Start[0].Name
				}
				if got != c.want || len(r.Start) > 1 {
					t.Errorf("%s: %v, want %q", by, r, c.want)
				}
			}
		})
	}
	back, err := rollout.Revert(canary, groups, rollout.Abort{Time: since.Add(-time.Hour), Failed: []status.Report{{Cluster: "a", Status: status.ToApply, Deleting: true}}, Before: []status.Report{done("a", true)}}, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Summary().Aggregate() != status.Succeeded {
		t.Errorf("in a rollback: %v, want all settled", back)
	}
}

// R29: what a plan, the planner and a rollback say of a cluster that starts once its object is gone, which is being deleted.
func TestALateStartIsNotReportedAsStartingNow(t *testing.T) {
	strategy, groups := progressive("1", config("", "10m", 0)), selecting(t, false, "a", "b")
	const want = "starting a; 1 more cluster blocked: the concurrency limit is reached (1 of 1 in flight or starting): a starts once its old object is gone (it is being deleted)"
	going := []status.Report{{Cluster: "a", Status: status.ToApply, Deleting: true}}
	plan, err := rollout.Plan(strategy, groups, going, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rollout.NewPlanner(strategy, groups, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(going...); err != nil {
		t.Fatal(err)
	}
	failed := []status.Report{{Cluster: "a", Status: status.Failed, Applied: now.Add(-time.Hour), Deleting: true}, {Cluster: "b", Status: status.Progressing, Applied: now.Add(-time.Hour)}}
	before := []status.Report{{Cluster: "a", Status: status.ToApply, Deleting: true}, {Cluster: "b", Status: status.ToApply}}
	back, err := rollout.Revert(strategy, groups, rollout.Abort{Time: now, Failed: failed, Before: before}, now, rollout.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for by, r := range map[string]*rollout.Result{"a plan": plan, "the planner": p.Result(now), "a rollback": back} {
		if got := r.String(); got != want {
			t.Errorf("%s: %s, want %s", by, got, want)
		}
	}
}
