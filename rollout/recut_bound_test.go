// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/exposure"
	"github.com/cohort-ocm/cohort/status"
)

// R66: a percentage is of the current groups, also while a cluster that moved counts in the group before.
func TestAClusterThatMovedRaisesNoPercentage(t *testing.T) {
	key := func(i int32) grouping.Key { return grouping.Key{Index: i} }
	half := intstr.FromString("50%")
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		options  rollout.Options
		cuts     []map[grouping.Key][]string
	}{
		{"a share of a group", perGroup(config("", "", 0)), rollout.Options{MaxConcurrencyPerGroup: half},
			[]map[grouping.Key][]string{{key(0): {"a", "b"}}, {key(0): {"b", "c"}, key(1): {"a"}}}},
		{"a share of a mandatory group", progressive("1", config("", "", 0), "0"), rollout.Options{MaxConcurrencyPerGroup: half},
			[]map[grouping.Key][]string{{key(0): {"a", "b"}}, {key(0): {"b", "c"}, key(1): {"a"}}}},
		// In the third cut group 2 is gone, so a counts in the pool, in group 2 that exists again (R52, R47).
		{"a share of the pool", progressive("34%", config("", "", 0), "1"), rollout.Options{},
			[]map[grouping.Key][]string{{key(0): {"a", "x"}}, {key(0): {"x"}, key(1): {"m"}, key(2): {"a"}}, {key(0): {"x", "y"}, key(1): {"a"}}}},
		// Steps are 11 minutes: what started a step before has timed out.
		{"a share of a group that may fail", perGroup(config("10%", "10m", 0)), rollout.Options{MaxConcurrencyPerGroup: intstr.FromInt32(1)},
			[]map[grouping.Key][]string{{key(0): strings.Split("abcdefghij", "")}, {key(0): strings.Split("bcdefghijk", ""), key(1): {"a"}}, {key(0): strings.Split("bcdefghijk", ""), key(1): {"a"}}}},
	} {
		t.Run(test.why, func(t *testing.T) {
			var last *rollout.Result
			most, at := 0, now
			var reports []status.Report
			for _, cut := range test.cuts {
				groups, err := grouping.FromNames(cut)
				if err != nil {
					t.Fatal(err)
				}
				e, err := exposure.Of(test.strategy, groups, exposure.Span{}, at, test.options)
				if err != nil {
					t.Fatal(err)
				}
				most = max(most, e.Exposed)
				options := test.options
				options.Previous = last
				if last, err = rollout.Plan(test.strategy, groups, reports, at, options); err != nil {
					t.Fatal(err)
				}
				for _, c := range last.Start {
					reports = append(reports, status.Report{Cluster: c.Name, Status: status.Progressing, Applied: at, LastTransitionTime: at})
				}
				t.Logf("%v: %v (of %d, exposed %d)", groups, last, e.Exposed, len(reports))
				if len(reports) > most {
					t.Errorf("%d are exposed, where the groups expose %d: %v", len(reports), most, last)
				}
				at = at.Add(11 * time.Minute)
			}
		})
	}
}

// R66: where the controller starts over and finds the groups changed, no more start than the groups expose.
func TestNoMoreAreExposedWhereGroupsAreCutWhileTheControllerIsDown(t *testing.T) {
	key := func(i int32) grouping.Key { return grouping.Key{Index: i} }
	eu, us := grouping.Key{Name: "eu"}, grouping.Key{Index: 1, Name: "us"}
	type cut = map[grouping.Key][]string
	one := intstr.FromInt32(1)
	for _, test := range []struct {
		why      string
		strategy clusterv1alpha1.RolloutStrategy
		options  rollout.Options
		fail     status.RolloutStatus
		cuts     []cut
	}{
		{"groups side by side", perGroup(config("", "", 0)), rollout.Options{MaxConcurrencyPerGroup: one, GroupOrder: rollout.GroupOrder{}}, status.Progressing,
			[]cut{{eu: {"a", "b"}, us: {"c", "d"}}, {eu: {"a", "c"}, us: {"b", "d"}}}},
		{"failures that keep their slots", perGroup(config("2", "", 0)), rollout.Options{MaxConcurrencyPerGroup: one}, status.Failed,
			[]cut{{key(0): {"a"}, key(1): {"b"}}, {key(0): {"a"}, key(1): {"b"}}, {key(0): {"a", "b"}, key(1): {"c"}}}},
	} {
		for _, keeps := range []bool{false, true} {
			t.Run(fmt.Sprint(test.why, ", previous ", keeps), func(t *testing.T) {
				most, at := 0, now
				var last *rollout.Result
				var reports []status.Report
				for _, cut := range test.cuts {
					groups, err := grouping.FromNames(cut)
					if err != nil {
						t.Fatal(err)
					}
					e, err := exposure.Of(test.strategy, groups, exposure.Span{}, at, test.options)
					if err != nil {
						t.Fatal(err)
					}
					most = max(most, e.Exposed)
					options := test.options
					if keeps {
						options.Previous = last
					}
					r, err := rollout.Plan(test.strategy, groups, reports, at, options)
					last = r
					if err != nil {
						t.Fatal(err)
					}
					for _, c := range r.Start {
						reports = append(reports, status.Report{Cluster: c.Name, Status: test.fail, Applied: at, LastTransitionTime: at})
					}
					t.Logf("%v: %v (of %d, exposed %d)", groups, r, e.Exposed, len(reports))
					if len(reports) > most {
						t.Errorf("%d are exposed, where the groups expose %d: %v", len(reports), most, r)
					}
					at = at.Add(time.Minute)
				}
			})
		}
	}
}

// R66: groups side by side expose what they expose together, also where failures are tolerated and release their slots.
func TestGroupsSideBySideStartAsFarAsTheyExposeTogether(t *testing.T) {
	one, eu, us := intstr.FromInt32(1), grouping.Key{Name: "eu"}, grouping.Key{Index: 1, Name: "us"}
	strategy, options := perGroup(config("1", "10m", 0)), rollout.Options{MaxConcurrencyPerGroup: one, GroupOrder: rollout.GroupOrder{}}
	groups, err := grouping.FromNames(map[grouping.Key][]string{eu: {"a", "b", "c"}, us: {"d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := exposure.Of(strategy, groups, exposure.Span{}, now, options)
	if err != nil {
		t.Fatal(err)
	}
	var reports []status.Report
	for _, crowded := range []string{"a", "b", "c"} { // a new cut put a third beside the two that eu exposes
		reports = append(reports, status.Report{Cluster: crowded, Status: status.Progressing, Applied: now, LastTransitionTime: now})
	}
	r, err := rollout.Plan(strategy, groups, reports, now, options)
	if err != nil {
		t.Fatal(err)
	}
	if e.Exposed != 4 || len(r.Start) != 1 || r.Start[0].Name != "d" {
		t.Errorf("got %v, want that d starts, where the groups expose %d", r, e.Exposed)
	}
}

// R66: with Ramp, no more are exposed than exposure.Of says, where a cluster leaves and another joins.
func TestARampHoldsWhereAClusterLeavesAndAnotherJoins(t *testing.T) {
	one := 1
	strategy, options := progressive("", config("", "", 0)), rollout.Options{Ramp: &one}
	report := func(cluster string, is status.RolloutStatus) status.Report {
		return status.Report{Cluster: cluster, Status: is, Applied: now, LastTransitionTime: now}
	}
	most := 0
	plan := func(clusters []string, reports ...status.Report) *rollout.Result {
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusters})
		if err != nil {
			t.Fatal(err)
		}
		e, err := exposure.Of(strategy, groups, exposure.Span{}, now, options)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, e.Exposed)
		r, err := rollout.Plan(strategy, groups, reports, now, options)
		if err != nil {
			t.Fatal(err)
		}
		options.Previous = r
		return r
	}
	good, flight := status.Succeeded, status.Progressing
	plan([]string{"a", "b", "c"}, report("a", good), report("b", good)) // c starts
	r := plan([]string{"a", "b", "d"}, report("a", good), report("b", good), report("c", flight))
	if n := len(r.Deselected) + len(r.InFlight) + len(r.Start); n > most {
		t.Errorf("%d are exposed, where the groups expose %d: %v", n, most, r)
	}
}

// R66: with Ramp, clusters that soaked in later groups do not let an earlier group start more than exposure.Of says.
func TestARampHoldsWhereLaterGroupsAreDone(t *testing.T) {
	one := 1
	strategy, options := perGroup(config("", "", 0)), rollout.Options{Ramp: &one}
	groups, err := grouping.FromNames(map[grouping.Key][]string{{}: {"x", "y"}, {Index: 1}: {"a"}, {Index: 2}: {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := exposure.Of(strategy, groups, exposure.Span{}, now, options)
	if err != nil {
		t.Fatal(err)
	}
	r, err := rollout.Plan(strategy, groups, []status.Report{
		{Cluster: "a", Status: status.Succeeded, Applied: now, LastTransitionTime: now}, {Cluster: "b", Status: status.Succeeded, Applied: now, LastTransitionTime: now},
	}, now, options)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Start) != 1 || e.Exposed != 1 {
		t.Errorf("got %v of %v, want that one starts, where the groups expose %d", r, groups, e.Exposed)
	}
}

// R66, R38: a cluster of the baseline that moved does not raise what the group before exposes.
func TestTheBaselineHoldsWhereAClusterOfItMoved(t *testing.T) {
	type cut = map[grouping.Key][]string
	canary, rest := grouping.Key{Name: "canary"}, grouping.Key{Index: 1}
	strategy := progressive("1", config("", "10m", 0), "canary")
	options := rollout.Options{FailedBefore: []string{"a"}, MaxConcurrencyPerGroup: intstr.FromInt32(1)}
	reports := []status.Report{{Cluster: "a", Status: status.TimeOut, Applied: now, LastTransitionTime: now}}
	most := 0
	for _, c := range []cut{{canary: {"a"}}, {canary: {"b", "c"}, rest: {"a"}}} {
		groups, err := grouping.FromNames(c)
		if err != nil {
			t.Fatal(err)
		}
		e, err := exposure.Of(strategy, groups, exposure.Span{}, now, options)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, e.Exposed)
		r, err := rollout.Plan(strategy, groups, reports, now, options)
		if err != nil {
			t.Fatal(err)
		}
		options.Previous = r
		if n := len(reports) + len(r.Start); n > most {
			t.Errorf("%d are exposed, where the groups expose %d: %v: %v", n, most, groups, r)
		}
	}
}

// R66, R28: what groups would expose that were still being written counts for nothing, as nothing started by them.
func TestGroupsThatWereIncompleteRaiseNoBound(t *testing.T) {
	type cut = map[grouping.Key][]string
	canary, rest := grouping.Key{Name: "canary"}, grouping.Key{Index: 1}
	strategy := progressive("1", config("1", "10m", 0), "canary")
	var options rollout.Options
	plan := func(c cut, missing string, reports ...status.Report) *rollout.Result {
		groups, err := grouping.FromNames(c)
		if err != nil {
			t.Fatal(err)
		}
		if missing == "" {
			if e, err := exposure.Of(strategy, groups, exposure.Span{}, now, rollout.Options{}); err != nil || e.Exposed != 1 {
				t.Fatalf("%v expose %d, %v, want 1", groups, e.Exposed, err)
			}
		} else {
			groups = groups.Lacking(missing)
		}
		r, err := rollout.Plan(strategy, groups, reports, now, options)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := plan(cut{rest: {"a"}}, ""); len(r.Start) != 1 {
		t.Fatalf("got %v, want that a starts", r)
	}
	// Then a times out and leaves, and the controller starts over with its record while the decisions are written.
	failed := status.Report{Cluster: "a", Status: status.TimeOut, Applied: now, LastTransitionTime: now}
	record := status.Record{Version: "v2", Exposed: 1, Deselected: []status.DeselectedCluster{{Report: failed, Group: rest}}}
	options.StoredRecord = &rollout.StoredRecord{Version: "v2", Record: record}
	options.Previous = plan(cut{canary: {"b"}, rest: {"c", "d", "e"}}, "decisions", failed)
	if r := plan(cut{canary: {"b"}, rest: {"c"}}, "", failed); len(r.Start) > 0 {
		t.Errorf("got %v, want that b waits: a is exposed, and no groups expose more than one", r)
	}
}
