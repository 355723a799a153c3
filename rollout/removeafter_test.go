// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// selecting gives groups of these clusters; incomplete ones where the placement says that one more is selected.
func selecting(t fataler, incomplete bool, names ...string) *grouping.Groups {
	t.Helper()
	d := decision(0, "", names...)
	p := &clusterv1beta1.Placement{}
	p.Name, p.Namespace = d.Labels[clusterv1beta1.PlacementLabel], d.Namespace
	p.Status.NumberOfSelectedClusters = int32(len(names))
	p.Status.DecisionGroups = []clusterv1beta1.DecisionGroupStatus{{ClustersCount: int32(len(names)), Decisions: []string{d.Name}}}
	if incomplete {
		p.Status.NumberOfSelectedClusters++
	}
	g, err := grouping.Read(p, []*clusterv1beta1.PlacementDecision{d})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// R32: over any sequence of selections, looks and starts of the controller, a cluster is removed at the first look at
// which it has been gone for the time of grace without a break, and in Leaving until then. The planner says the same.
func TestRemoveAfterKeepsClustersForAWhile(t *testing.T) {
	const grace = time.Minute
	all := []string{"a", "b", "c"}
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}
	rapid.Check(t, func(t *rapid.T) {
		now := atTen
		var last *rollout.Result
		var planner *rollout.Planner
		gone := map[string]time.Time{}
		var reports []status.Report
		for _, c := range all {
			reports = append(reports, status.Report{Cluster: c, Status: status.Succeeded, LastTransitionTime: atTen})
		}
		restart := func() {
			last, gone = nil, map[string]time.Time{}
			var err error
			if planner, err = rollout.NewPlanner(strategy, nil, rollout.Options{RemoveAfter: metav1.Duration{Duration: grace}}); err != nil {
				t.Fatal(err)
			}
			if err := planner.Report(reports...); err != nil {
				t.Fatal(err)
			}
		}
		restart()
		for range 30 {
			now = now.Add(rapid.SampledFrom([]time.Duration{0, time.Second, grace / 2, grace, grace - 1, -time.Second}).Draw(t, "time"))
			if rapid.IntRange(0, 9).Draw(t, "restart") == 0 {
				restart()
			}
			selected := slices.DeleteFunc(slices.Clone(all), func(string) bool { return rapid.IntRange(0, 2).Draw(t, "gone") == 0 })
			incomplete := rapid.IntRange(0, 5).Draw(t, "incomplete") == 0
			groups := selecting(t, incomplete, selected...)

			var removed, leaving []string
			for _, c := range all {
				if slices.Contains(selected, c) || incomplete {
					delete(gone, c)
					continue
				}
				if since, known := gone[c]; !known || now.Before(since) {
					gone[c] = now
				}
				if now.Sub(gone[c]) >= grace {
					removed = append(removed, c)
				} else {
					leaving = append(leaving, c)
				}
			}

			r, err := rollout.Plan(strategy, groups, reports, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: grace}, Previous: last})
			if err != nil {
				t.Fatal(err)
			}
			last = r
			planner.SetGroups(groups)
			var n rollout.Next
			if rapid.Bool().Draw(t, "whole") {
				n = planner.Result(now).Next
			} else {
				n = planner.Next(now)
			}
			for by, got := range map[string]rollout.Next{"Plan": r.Next, "Planner": n} {
				if !slices.Equal(got.Removed, removed) || !slices.Equal(got.PendingRemoval, leaving) {
					t.Fatalf("%s: %v of %v selected (incomplete: %v): removed %v, leaving %v, want %v and %v", by, selected, all, incomplete,
						got.Removed, got.PendingRemoval, removed, leaving)
				}
				if len(leaving) > 0 && (got.RecheckAfter <= 0 || got.RecheckAfter > grace) {
					t.Fatalf("%s: leaving %v and come back after %v", by, leaving, got.RecheckAfter)
				}
			}
		}
	})
}

// R32: what an option says of an earlier planner counts once. A cluster that was selected since, whose time of grace was taken
// away, or that was found without a report, starts over; one that has another strategy or version does not.
func TestPlannerForgetsSinceWhenAClusterIsGone(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}
	report := status.Report{Cluster: "x", Status: status.Succeeded, LastTransitionTime: atTen}
	without, with := selecting(t, false, "a"), selecting(t, false, "a", "x")
	previous, err := rollout.Plan(strategy, without, []status.Report{report}, atTen, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	planner := func() *rollout.Planner {
		p, err := rollout.NewPlanner(strategy, without, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: previous})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Report(report); err != nil {
			t.Fatal(err)
		}
		return p
	}
	set := func(p *rollout.Planner, opts rollout.Options) {
		if err := p.SetStrategy(strategy, opts); err != nil {
			t.Fatal(err)
		}
	}
	later := atTen.Add(2 * time.Minute)

	if n := planner().Next(later); !slices.Equal(n.Removed, []string{"x"}) {
		t.Errorf("gone since the result before: removed %v, leaving %v", n.Removed, n.PendingRemoval)
	}

	p := planner()
	p.SetGroups(with)
	p.Next(atTen.Add(time.Second))
	p.SetGroups(without)
	if n := p.Next(later); !slices.Equal(n.PendingRemoval, []string{"x"}) {
		t.Errorf("selected meanwhile: removed %v, leaving %v", n.Removed, n.PendingRemoval)
	}

	p = planner()
	p.Next(atTen.Add(time.Second))
	set(p, rollout.Options{})
	p.Next(atTen.Add(2 * time.Second))
	set(p, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}})
	if n := p.Next(later); !slices.Equal(n.PendingRemoval, []string{"x"}) {
		t.Errorf("without a time of grace meanwhile: removed %v, leaving %v", n.Removed, n.PendingRemoval)
	}

	p = planner()
	p.Next(atTen.Add(time.Second))
	set(p, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}})
	if n := p.Next(later); !slices.Equal(n.Removed, []string{"x"}) {
		t.Errorf("another strategy meanwhile: removed %v, leaving %v", n.Removed, n.PendingRemoval)
	}

	for _, looked := range []bool{false, true} { // between Forget and Report
		p = planner()
		p.Next(atTen.Add(time.Second))
		p.Forget("x")
		if looked {
			p.Next(atTen.Add(2 * time.Second))
		}
		if err := p.Report(status.Report{Cluster: "x", Status: status.ToApply}); err != nil {
			t.Fatal(err)
		}
		if n := p.Next(later); slices.Equal(n.Removed, []string{"x"}) == looked {
			t.Errorf("another version, looked in between %v: removed %v, leaving %v", looked, n.Removed, n.PendingRemoval)
		}
	}
}

// R32 with R30: a bound on removals counts those that are due.
func TestRemoveAfterWithABoundOnRemovals(t *testing.T) {
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded}, {Cluster: "b", Status: status.Succeeded}}
	plan := func(now time.Time, previous *rollout.Result) *rollout.Result {
		r, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, selecting(t, false), reports, now,
			rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: previous, MaxRemoved: ptr(intstr.FromInt32(1))})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := plan(atTen, nil)
	if len(first.Warnings) != 0 || len(first.PendingRemoval) != 2 || first.RecheckAfter != time.Minute {
		t.Errorf("at first: %v, warnings %v", first, first.Warnings)
	}
	second := plan(atTen.Add(time.Minute), first)
	if len(second.Removed) != 0 || len(second.Warnings) != 1 || second.Warnings[0].Clusters != 2 {
		t.Errorf("when they are due: %v, warnings %v", second, second.Warnings)
	}
}

// R30, R43: in the rollback, too, only clusters with a report are counted as reported.
func TestABoundOnRemovalsInARollback(t *testing.T) {
	var reports []status.Report
	for _, cluster := range []string{"a", "x", "y"} {
		reports = append(reports, status.Report{Cluster: cluster, Status: status.Succeeded})
	}
	groups := newFleet(t).group("", "a", "b", "c", "d", "e", "f").read()
	for most, want := range map[string]int{"33%": 0, "34%": 2} {
		r, err := rollout.Revert(clusterv1alpha1.RolloutStrategy{}, groups, rollout.Abort{Time: atTen, Failed: reports}, atTen, rollout.Options{MaxRemoved: ptr(intstr.FromString(most))})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Removed) != want {
			t.Errorf("%s of three with a report: removed %v, want %d; %v", most, r.Removed, want, r.Warnings)
		}
	}
}

// R32, R46: a cluster that is missing for a moment keeps its workload, and counts as if it were there. Whether it comes back
// changes nothing for the others.
func TestAClusterPendingRemovalCountsForEachLimit(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}
	with, without := selecting(t, false, "a", "b"), selecting(t, false, "b")
	for _, stands := range []status.RolloutStatus{status.Progressing, status.Failed} { // it has a slot, or breaches a budget
		reports := []status.Report{{Cluster: "a", Status: stands, Applied: atTen}}
		var last *rollout.Result
		for _, step := range []struct {
			groups  *grouping.Groups
			leaving int
		}{{with, 0}, {without, 1}, {with, 0}} {
			r, err := rollout.Plan(strategy, step.groups, reports, atTen, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
			if err != nil {
				t.Fatal(err)
			}
			if breach := stands == status.Failed; len(r.Start) > 0 || len(r.PendingRemoval) != step.leaving || len(r.Removed) > 0 || (r.Breach != nil) != breach {
				t.Errorf("%s, of %v: %v; leaving %v", stands, step.groups, r, r.PendingRemoval)
			}
			last = r
		}
	}
}

// R46, R47: a group that waits for a missing cluster alone is not complete, whether anyone knows that it was this group's or not.
func TestAClusterPendingRemovalBlocksItsGroup(t *testing.T) {
	strategy := clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup}
	reports := []status.Report{{Cluster: "a", Status: status.Progressing, Applied: atTen}}
	plan := func(first []string, previous *rollout.Result) *rollout.Result {
		groups := newFleet(t).group("", first...).group("", "b", "c").read()
		r, err := rollout.Plan(strategy, groups, reports, atTen, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: previous})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	there := plan([]string{"a"}, nil)
	for _, test := range []struct {
		previous *rollout.Result
		want     string
	}{
		{there, "waiting for group 0: 0 of 1 done"},
		{nil, "waiting for deselected clusters whose group is unknown, of which none may fail: 0 of 1 done"},
	} {
		r := plan(nil, test.previous)
		if _, reason, _ := r.Find("b"); len(r.Start) > 0 || !strings.HasPrefix(reason.String(), test.want) {
			t.Errorf("%v, want it to block b: %s", r, test.want)
		}
	}
}

func TestRemoveAfterRefusesANegativeTime(t *testing.T) {
	_, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, selecting(t, false, "a"), nil, atTen, rollout.Options{RemoveAfter: metav1.Duration{Duration: -time.Second}})
	if want := `removeAfter: Invalid value: "-1s": must not be negative`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A controller keeps its last result, and gives it to the next plan. A cluster that vanished from the decisions for a
// moment is leaving, and nothing happens to its workload.
func ExampleOptions_removeAfter() {
	groups := func(names ...string) *grouping.Groups {
		g, err := grouping.FromNames(map[grouping.Key][]string{{}: names})
		if err != nil {
			panic(err)
		}
		return g
	}
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	reports := []status.Report{{Cluster: "a", Status: status.Succeeded}, {Cluster: "b", Status: status.Succeeded}}
	var last *rollout.Result
	for _, selected := range [][]string{{"a"}, {"a", "b"}, {"a"}, {"a"}} {
		result, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{}, groups(selected...), reports, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Minute}, Previous: last})
		if err != nil {
			panic(err)
		}
		fmt.Println(selected, result)
		last, now = result, now.Add(time.Minute)
	}
	// Output:
	// [a] removing the workload later from b; recheck after 1m0s
	// [a b] nothing to start or to remove
	// [a] removing the workload later from b; recheck after 1m0s
	// [a] removing the workload from b
}

// R32: a Planner that is told of a grace later asks the option when clusters went, whatever it answered before.
func TestRemoveAfterIsSetLater(t *testing.T) {
	strategy, groups := all(""), newFleet(t).group("", "a").read()
	report := status.Report{Cluster: "z", Status: status.Succeeded, LastTransitionTime: now}
	previous, err := rollout.Plan(strategy, groups, []status.Report{report}, now, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := rollout.NewPlanner(strategy, groups, rollout.Options{}) // no grace is no fault
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Report(report); err != nil {
		t.Fatal(err)
	}
	later := now.Add(20 * time.Minute)
	p.Next(later)
	if err := p.SetStrategy(strategy, rollout.Options{RemoveAfter: metav1.Duration{Duration: time.Hour}, Previous: previous}); err != nil {
		t.Fatal(err)
	}
	if next := p.Next(later); next.RecheckAfter != 40*time.Minute || len(next.PendingRemoval) != 1 {
		t.Errorf("%v, want z to leave in 40m", next)
	}
}
