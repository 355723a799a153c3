// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"
)

// groupsOf are a Placement and its decisions, one for each group; the first group is called canary.
func groupsOf(size int, groups ...[]string) *hub {
	p := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	p.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt(size)
	h := &hub{objects: map[string]metav1.Object{"p": p}}
	for i, group := range groups {
		d := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("p-", i), Labels: map[string]string{
			clusterv1beta1.PlacementLabel: "p", clusterv1beta1.DecisionGroupIndexLabel: fmt.Sprint(i), clusterv1beta1.DecisionGroupNameLabel: []string{"canary", ""}[min(i, 1)],
		}}}
		for _, c := range group {
			d.Status.Decisions = append(d.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: c})
			p.Status.NumberOfSelectedClusters++
		}
		h.objects[d.Name] = d
	}
	return h
}

// ask asks sdk-go's helper which clusters get the workload, and which lose it.
func (h *hub) ask(t *testing.T, s clusterv1alpha1.RolloutStrategy, statuses ...sdkv1alpha1.ClusterRolloutStatus) (starts, removes []string) {
	t.Helper()
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(h.objects["p"].(*clusterv1beta1.Placement), h, nil)
	if err := tracker.Refresh(); err != nil {
		t.Fatal(err)
	}
	handler, err := sdkv1alpha1.NewRolloutHandler(tracker, func(string, int) (s sdkv1alpha1.ClusterRolloutStatus, err error) { return s, nil })
	if err != nil {
		t.Fatal(err)
	}
	_, r, err := handler.GetRolloutCluster(s, statuses)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.ClustersToRollout {
		if !slices.ContainsFunc(statuses, func(s sdkv1alpha1.ClusterRolloutStatus) bool { return s.ClusterName == c.ClusterName }) {
			starts = append(starts, c.ClusterName)
		}
	}
	for _, c := range r.ClustersRemoved {
		removes = append(removes, c.ClusterName)
	}
	return starts, removes
}

// is reports a cluster that has a status since an hour.
func is(cluster string, status sdkv1alpha1.RolloutStatus) sdkv1alpha1.ClusterRolloutStatus {
	r := sdkv1alpha1.ClusterRolloutStatus{ClusterName: cluster, Status: status}
	if status != sdkv1alpha1.ToApply {
		r.LastTransitionTime = &metav1.Time{Time: time.Now().Add(-time.Hour)}
	}
	return r
}

func oneAtATime(deadline string, mandatory ...clusterv1alpha1.MandatoryDecisionGroup) clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
		RolloutConfig:  clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromString("100%"), ProgressDeadline: deadline},
		MaxConcurrency: intstr.FromInt32(1), MandatoryDecisionGroups: clusterv1alpha1.MandatoryDecisionGroups{MandatoryDecisionGroups: mandatory},
	}}
}

// TestFindings has the smallest case of each finding of FINDINGS.md that sdk-go's helper alone shows: what it answers, and what the API's sentences ask for.
// A case fails once a version of sdk-go answers as asked, since the page is wrong then.
func TestFindings(t *testing.T) {
	for _, test := range []struct {
		name              string
		hub               *hub
		strategy          clusterv1alpha1.RolloutStrategy
		statuses          []sdkv1alpha1.ClusterRolloutStatus
		starts, removes   []string // what it says
		asked, mayRemoved []string // what it should say
	}{
		{
			name: "the size of groups is never read", hub: groupsOf(2, []string{"c1", "c2"}, []string{"c3", "c4"}),
			strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{}},
			starts:   []string{"c1", "c2", "c3", "c4"}, asked: []string{"c1", "c2"},
		},
		{
			name: "a silent agent never times out", hub: groupsOf(0, []string{"c1", "c2"}), strategy: oneAtATime("10m"),
			statuses: []sdkv1alpha1.ClusterRolloutStatus{is("c1", sdkv1alpha1.ToApply)}, // its work is an hour old
			starts:   nil, asked: []string{"c2"},
		},
		{
			name: "a time-out holds the rest behind mandatory groups", hub: groupsOf(0, []string{"c1"}, []string{"c2", "c3"}),
			strategy: oneAtATime("10m", clusterv1alpha1.MandatoryDecisionGroup{GroupName: "canary"}),
			statuses: []sdkv1alpha1.ClusterRolloutStatus{is("c1", sdkv1alpha1.Succeeded), is("c2", sdkv1alpha1.Progressing)},
			starts:   nil, asked: []string{"c3"},
		},
		{
			name: "a breach in a later group is not seen", hub: groupsOf(0, []string{"c1", "c2"}, []string{"c3"}),
			strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.ProgressivePerGroup, ProgressivePerGroup: &clusterv1alpha1.RolloutProgressivePerGroup{}},
			statuses: []sdkv1alpha1.ClusterRolloutStatus{is("c2", sdkv1alpha1.Succeeded), is("c3", sdkv1alpha1.Failed)},
			starts:   []string{"c1"}, asked: nil, // it joined
		},
		{
			name: "a cluster on its way from one decision to another loses its workload", hub: onItsWay(), strategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All},
			statuses: []sdkv1alpha1.ClusterRolloutStatus{is("c1", sdkv1alpha1.Succeeded), is("c2", sdkv1alpha1.Succeeded)},
			removes:  []string{"c2"}, mayRemoved: nil,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			starts, removes := test.hub.ask(t, test.strategy, test.statuses...)
			if !slices.Equal(starts, test.starts) || !slices.Equal(removes, test.removes) {
				t.Errorf("it starts %v and removes %v, and the page says %v and %v", starts, removes, test.starts, test.removes)
			}
			if slices.Equal(starts, test.asked) && slices.Equal(removes, test.mayRemoved) {
				t.Error("it is what is asked for")
			}
		})
	}
}

// onItsWay are decisions of two clusters between two writes: c2 is out of its first decision and not yet in the second, which Placement and status count.
func onItsWay() *hub {
	h := groupsOf(1, []string{"c1"}, []string{"c2"})
	h.objects["p-1"].(*clusterv1beta1.PlacementDecision).Status.Decisions = nil
	return h
}
