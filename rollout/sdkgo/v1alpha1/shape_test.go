// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

// fixedClock implements Clock.
type fixedClock time.Time

func (c fixedClock) Now() time.Time { return time.Time(c) }

func (c fixedClock) Since(t time.Time) time.Duration { return time.Time(c).Sub(t) }

// A clock has Since, as the clock of sdk-go has.
func TestTheClockSaysSince(t *testing.T) {
	if ago := sdkv1alpha1.RolloutClock.Since(sdkv1alpha1.RolloutClock.Now().Add(-time.Hour)); ago < time.Hour || ago > 2*time.Hour {
		t.Errorf("an hour ago is %v ago", ago)
	}
}

// atNoon sets the clock for one test, which must not run in parallel with others.
func atNoon(t *testing.T) time.Time {
	t.Helper()
	noon := time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)
	was := sdkv1alpha1.RolloutClock
	sdkv1alpha1.RolloutClock = fixedClock(noon)
	t.Cleanup(func() { sdkv1alpha1.RolloutClock = was })
	return noon
}

// Lists, times and order are the same as in sdk-go.
func TestTheShapeOfTheResult(t *testing.T) {
	noon := atNoon(t)
	minutes := func(n int) *metav1.Time { return &metav1.Time{Time: noon.Add(time.Duration(n) * time.Minute)} }
	key := sdkv1beta1.GroupKey{GroupName: "given", GroupIndex: 9}
	p := &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(5)}
	p.MaxFailures, p.ProgressDeadline, p.MinSuccessTime = intstr.FromInt32(1), "10m", metav1.Duration{Duration: 5 * time.Minute}
	r := plan(t, grouped("done late new progressing soaking undated waiting"), clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: p}, statuses{
		{ClusterName: "gone", GroupKey: key, Status: sdkv1alpha1.Succeeded},
		{ClusterName: "undated", Status: sdkv1alpha1.Progressing},
		{ClusterName: "soaking", Status: sdkv1alpha1.Succeeded, LastTransitionTime: minutes(-1)},
		{ClusterName: "progressing", GroupKey: key, Status: sdkv1alpha1.Progressing, LastTransitionTime: minutes(-1)},
		{ClusterName: "late", Status: sdkv1alpha1.Failed, LastTransitionTime: minutes(-30)},
		{ClusterName: "done", Status: sdkv1alpha1.Skip},
		{ClusterName: "waiting", GroupKey: key, LastTransitionTime: minutes(-7)},
	})
	after := 4 * time.Minute
	want := sdkv1alpha1.RolloutResult{
		ClustersToRollout: statuses{
			{ClusterName: "progressing", GroupKey: key, Status: sdkv1alpha1.Progressing, LastTransitionTime: minutes(-1), RecheckTime: minutes(9)},
			{ClusterName: "soaking", Status: sdkv1alpha1.Succeeded, LastTransitionTime: minutes(-1), RecheckTime: minutes(4)},
			{ClusterName: "undated", Status: sdkv1alpha1.Progressing, RecheckTime: minutes(10)},
			{ClusterName: "waiting", GroupKey: key, LastTransitionTime: minutes(-7)},
			{ClusterName: "new"},
		},
		ClustersTimeOut: statuses{{ClusterName: "late", Status: sdkv1alpha1.TimeOut, LastTransitionTime: minutes(-30), RecheckTime: minutes(-20)}},
		ClustersRemoved: statuses{{ClusterName: "gone", GroupKey: key, Status: sdkv1alpha1.Succeeded}},
		RecheckAfter:    &after,
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// If groups go one after the other, reported clusters are in the given order, and starting clusters by name and without a
// status.
func TestTheShapeWhereGroupsGoInTurn(t *testing.T) {
	atNoon(t)
	for _, strategy := range []clusterv1alpha1.RolloutStrategy{
		perGroup(0),
		progressive(0, 0, "", clusterv1alpha1.MandatoryDecisionGroup{GroupIndex: 0}),
	} {
		r := plan(t, grouped("a b y z", "c"), strategy, statuses{
			{ClusterName: "z", Status: sdkv1alpha1.Progressing},
			{ClusterName: "b", GroupKey: sdkv1beta1.GroupKey{GroupIndex: 9}},
			{ClusterName: "y", Status: sdkv1alpha1.Progressing},
		})
		want := statuses{
			{ClusterName: "z", Status: sdkv1alpha1.Progressing},
			{ClusterName: "y", Status: sdkv1alpha1.Progressing},
			{ClusterName: "a"},
			{ClusterName: "b"},
		}
		if diff := cmp.Diff(want, r.ClustersToRollout); diff != "" {
			t.Errorf("%s: ClustersToRollout (-want +got):\n%s", strategy.Type, diff)
		}
	}
}

// A deadline of 0 has passed at once, under each type.
func TestADeadlineOfZero(t *testing.T) {
	noon := atNoon(t)
	config := clusterv1alpha1.RolloutConfig{ProgressDeadline: "0h0m", MaxFailures: intstr.FromInt32(9)}
	for _, strategy := range []clusterv1alpha1.RolloutStrategy{
		{Type: clusterv1alpha1.All, All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}},
		{All: &clusterv1alpha1.RolloutAll{RolloutConfig: config}},
		{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{RolloutConfig: config}},
		{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{RolloutConfig: config}},
	} {
		ahead := &metav1.Time{Time: noon.Add(time.Minute)}
		given := statuses{
			{ClusterName: "a", Status: sdkv1alpha1.Progressing, LastTransitionTime: &metav1.Time{Time: noon}},
			{ClusterName: "b", Status: sdkv1alpha1.Failed},
			{ClusterName: "c", Status: sdkv1alpha1.Progressing, LastTransitionTime: ahead},
			{ClusterName: "d", Status: sdkv1alpha1.Succeeded},
		}
		r := plan(t, grouped("a b c d"), strategy, given)
		if got, late := names(r.ClustersToRollout), names(r.ClustersTimeOut); !cmp.Equal(got, []string{"c"}) || !cmp.Equal(late, []string{"a", "b"}) {
			t.Errorf("%s: in flight %v, timed out %v; want c, and a and b", strategy.Type, got, late)
		}
		if r.RecheckAfter == nil || *r.RecheckAfter != time.Minute {
			t.Errorf("%s: RecheckAfter is %v, want a minute", strategy.Type, r.RecheckAfter)
		}
		handler, err := sdkv1alpha1.NewRolloutHandler[any](grouped("a b c d"), nil)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := handler.Plan(strategy, given)
		if err != nil || whole.Schedule.ProgressDeadline == nil || *whole.Schedule.ProgressDeadline != 0 {
			t.Errorf("%s: the schedule is %+v, %v; want a deadline of 0", strategy.Type, whole.Schedule, err)
		}
	}
}
