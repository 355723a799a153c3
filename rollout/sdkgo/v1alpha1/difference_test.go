// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// grouped is a tracker of groups 0, 1 and so on, given as "a b" "c d".
func grouped(clusters ...string) *sdkv1beta1.PlacementDecisionClustersTracker {
	groups := sdkv1beta1.ClusterGroupsMap{}
	for i, names := range clusters {
		groups[sdkv1beta1.GroupKey{GroupIndex: int32(i)}] = sets.New(strings.Fields(names)...)
	}
	return sdkv1beta1.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, groups)
}

// at makes statuses from "a b"; all changed at the same time.
func at(s sdkv1alpha1.RolloutStatus, since time.Duration, clusters string) (all statuses) {
	for _, cluster := range strings.Fields(clusters) {
		all = append(all, sdkv1alpha1.ClusterRolloutStatus{ClusterName: cluster, Status: s, LastTransitionTime: ago(since)})
	}
	return all
}

func progressive(maxConcurrency, maxFailures int32, deadline string, mandatory ...clusterv1alpha1.MandatoryDecisionGroup) clusterv1alpha1.RolloutStrategy {
	p := &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(maxConcurrency)}
	p.MaxFailures, p.ProgressDeadline = intstr.FromInt32(maxFailures), deadline
	p.MandatoryDecisionGroups.MandatoryDecisionGroups = mandatory
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: p}
}

func perGroup(maxFailures int32) clusterv1alpha1.RolloutStrategy {
	p := &clusterv1alpha1.RolloutProgressivePerGroup{}
	p.MaxFailures = intstr.FromInt32(maxFailures)
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: p}
}

// The differences of doc.go on a live hub. internal/compare runs the same cases with sdk-go.
func TestDifferences(t *testing.T) {
	const failed, succeeded, progressing = sdkv1alpha1.Failed, sdkv1alpha1.Succeeded, sdkv1alpha1.Progressing
	join := func(lists ...statuses) (all statuses) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	for _, test := range []struct {
		why      string
		tracker  *sdkv1beta1.PlacementDecisionClustersTracker
		strategy clusterv1alpha1.RolloutStrategy
		given    statuses
		start    string
		breach   bool
	}{
		{"maxConcurrency counts what is in flight, whatever its name", grouped("a b c"), progressive(2, 0, ""),
			join(at(sdkv1alpha1.ToApply, time.Minute, "a"), at(progressing, time.Minute, "b c")), "", false},
		{"an imported cluster waits until a failed one recovers", grouped("a b imported"), progressive(0, 0, ""),
			join(at(succeeded, time.Hour, "a"), at(failed, time.Hour, "b")), "", true},
		{"which it does", grouped("a b imported"), progressive(0, 0, ""), at(succeeded, time.Hour, "a b"), "imported", false},
		{"a breach in a later group", grouped("a imported", "b"), perGroup(0),
			join(at(succeeded, time.Hour, "a"), at(failed, time.Hour, "b")), "", true},
		{"behind mandatory groups clusters roll: one is done, the next starts", grouped("m", "a b c"),
			progressive(2, 0, "", clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 0}),
			join(at(succeeded, time.Hour, "m a"), at(progressing, time.Minute, "b")), "c", false},
		{"without a deadline a year is not too long", grouped("a b"), progressive(1, 2, ""), at(progressing, 365*24*time.Hour, "a"), "", false},
		{"nor for a failed cluster", grouped("a b"), progressive(1, 2, "None"), at(failed, 365*24*time.Hour, "a"), "", false},
		{"with a deadline it is", grouped("a b"), progressive(1, 2, "1h"), at(progressing, 2*time.Hour, "a"), "b", false},
		{"a deadline of 0 times out at once", grouped("a b"), progressive(1, 2, "0s"), at(progressing, 0, "a"), "b", false},
		{"also what has no time", grouped("a b"), progressive(1, 2, "0m"), statuses{{ClusterName: "a", Status: failed}}, "b", false},
		{"and waits for what is not done without one", grouped("a b"), progressive(1, 2, "10s"), statuses{{ClusterName: "a", Status: failed}}, "", false},
		{"the next group waits for all of the one before", grouped("a b", "c"), perGroup(1),
			join(at(sdkv1alpha1.TimeOut, time.Hour, "a"), at(progressing, time.Minute, "b")), "", false},
		{"a budget above the number of clusters tolerates all", grouped("a b"), perGroup(5), at(sdkv1alpha1.TimeOut, time.Hour, "a"), "b", false},
		{"a cluster with three statuses is one failure", grouped("a b"), progressive(0, 1, ""), at(sdkv1alpha1.TimeOut, time.Hour, "a a a"), "b", false},
	} {
		r := plan(t, test.tracker, test.strategy, test.given)
		var start []string
		for _, s := range r.ClustersToRollout {
			if s.Status == sdkv1alpha1.ToApply {
				start = append(start, s.ClusterName)
			}
		}
		if got := strings.Join(start, " "); got != test.start || r.MaxFailureBreach != test.breach {
			t.Errorf("%s: starts %q, breach %v; want %q, %v", test.why, got, r.MaxFailureBreach, test.start, test.breach)
		}
	}
}

func TestNonsenseIsAnError(t *testing.T) {
	for _, limit := range []string{"NaN%", "Inf%", "-5%", "1e3%", "200%", "33.3%", "3"} {
		strategy := progressive(0, 0, "")
		strategy.Progressive.MaxFailures = intstr.FromString(limit)
		wantError(t, strategy, "progressive.maxFailures")
	}
	none := progressive(0, 0, "")
	none.Progressive.MaxConcurrency = intstr.FromString("0%")
	wantError(t, none, "progressive.maxConcurrency")
	wantError(t, progressive(-1, 0, ""), "progressive.maxConcurrency")
	wantError(t, progressive(0, -1, ""), "progressive.maxFailures")
	wantError(t, progressive(0, 0, "0"), "progressive.progressDeadline")
	negative := progressive(0, 0, "")
	negative.Progressive.MinSuccessTime = metav1.Duration{Duration: -time.Second}
	wantError(t, negative, "progressive.minSuccessTime")
	wantError(t, clusterv1alpha1.RolloutStrategy{Type: "Sometimes"}, "type")
	wantError(t, oneAtATime(), "reports[0].cluster", sdkv1alpha1.ClusterRolloutStatus{})
}

func wantError(t *testing.T, strategy clusterv1alpha1.RolloutStrategy, field string, given ...sdkv1alpha1.ClusterRolloutStatus) {
	t.Helper()
	handler, err := sdkv1alpha1.NewRolloutHandler[any](grouped("a b"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := handler.GetRolloutCluster(strategy, given); err == nil || !strings.Contains(err.Error(), field+":") {
		t.Errorf("got %v, want an error of %s", err, field)
	}
}

// The one status of several that decides is listed, with its own times.
func TestTheStatusThatDecidesIsListed(t *testing.T) {
	for _, given := range []statuses{
		append(at(sdkv1alpha1.Progressing, time.Hour, "a"), at(sdkv1alpha1.Progressing, time.Minute, "a")...),
		append(at(sdkv1alpha1.Progressing, time.Minute, "a"), at(sdkv1alpha1.Succeeded, time.Second, "a")...),
		append(at(sdkv1alpha1.Succeeded, time.Second, "a"), at(17, time.Minute, "a")...),
	} {
		var want sdkv1alpha1.ClusterRolloutStatus
		for _, s := range given {
			if time.Since(s.LastTransitionTime.Time).Round(time.Second) == time.Minute {
				want = s
			}
		}
		want.RecheckTime = &metav1.Time{Time: want.LastTransitionTime.Add(2 * time.Hour)}
		r := plan(t, grouped("a"), progressive(1, 0, "2h"), given)
		if diff := cmp.Diff(statuses{want}, r.ClustersToRollout); diff != "" {
			t.Errorf("of %v (-want +got):\n%s", given, diff)
		}
		if r.RecheckAfter == nil || *r.RecheckAfter <= time.Hour || *r.RecheckAfter > 119*time.Minute {
			t.Errorf("RecheckAfter is %v, want a little less than 119m", r.RecheckAfter)
		}
	}
}

// If the transition time is unknown, the deadline neither passes nor sets a recheck.
func TestATransitionAtAnUnknownTime(t *testing.T) {
	if r := plan(t, grouped("a b"), progressive(1, 0, "1h"), statuses{{ClusterName: "a", Status: sdkv1alpha1.Progressing}}); r.RecheckAfter != nil {
		t.Errorf("RecheckAfter is %v, want none", *r.RecheckAfter)
	}
}

// A strategy without maxConcurrency takes the size of the Placement's groups.
func TestThePlacementGivesTheConcurrency(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps", UID: "1"}}
	placement.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(2)
	placement.Status.NumberOfSelectedClusters = 3
	decision := func(name string, clusters ...string) *clusterv1beta1.PlacementDecision {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "apps", Labels: map[string]string{
			clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: name[len(name)-1:],
		}}}
		for _, cluster := range clusters {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
		}
		return d
	}
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister{decision("d-0", "a", "b"), decision("d-1", "c")}, nil)
	if err := tracker.Refresh(); err != nil {
		t.Fatal(err)
	}
	if got := names(plan(t, tracker, progressive(0, 0, ""), nil).ClustersToRollout); !cmp.Equal(got, []string{"a", "b"}) {
		t.Errorf("starts %v, want two of three", got)
	}
}

// The statuses and the strategy are not changed, and the caller owns the result.
func TestInputsAreNotChanged(t *testing.T) {
	strategy := progressive(1, 1, "0s", clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 7})
	given := append(at(sdkv1alpha1.Progressing, time.Hour, "c"), at(sdkv1alpha1.ToApply, time.Hour, "a")...)
	before, statusesBefore := *strategy.DeepCopy(), append(statuses{}, given...)
	handler, err := sdkv1alpha1.NewRolloutHandler[any](grouped("a b c"), nil)
	if err != nil {
		t.Fatal(err)
	}
	effective, _, err := handler.GetRolloutCluster(strategy, given)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&before, effective); diff != "" {
		t.Errorf("the strategy that took effect (-want +got):\n%s", diff)
	}
	effective.Progressive.MandatoryDecisionGroups.MandatoryDecisionGroups[0].GroupIndex = 8
	if diff := cmp.Diff(before, strategy); diff != "" {
		t.Errorf("the strategy changed:\n%s", diff)
	}
	if diff := cmp.Diff(statusesBefore, given); diff != "" {
		t.Errorf("the statuses changed:\n%s", diff)
	}
}
