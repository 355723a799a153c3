// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	sdkv1alpha1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1alpha1"
	sdkv1beta1 "github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
)

type statuses = []sdkv1alpha1.ClusterRolloutStatus

func ago(d time.Duration) *metav1.Time { return &metav1.Time{Time: time.Now().Add(-d)} }

func oneAtATime() clusterv1alpha1.RolloutStrategy {
	return clusterv1alpha1.RolloutStrategy{
		Type:        clusterv1alpha1.Progressive,
		Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)},
	}
}

func plan(t *testing.T, tracker *sdkv1beta1.PlacementDecisionClustersTracker, strategy clusterv1alpha1.RolloutStrategy, given statuses) sdkv1alpha1.RolloutResult {
	t.Helper()
	handler, err := sdkv1alpha1.NewRolloutHandler[any](tracker, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, result, err := handler.GetRolloutCluster(strategy, given)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func names(list statuses) (all []string) {
	for _, s := range list {
		all = append(all, s.ClusterName)
	}
	return all
}

func TestGetRolloutCluster(t *testing.T) {
	abc := sdkv1beta1.NewPlacementDecisionClustersTracker(nil, nil, sets.New("a", "b", "c"))
	tests := []struct {
		why                       string
		given                     statuses
		rollout, timeOut, removed []string
		breach                    bool
	}{
		{"what is in flight takes the only slot", statuses{{ClusterName: "b", Status: sdkv1alpha1.Progressing}}, []string{"b"}, nil, nil, false},
		{"a status that is none of the constants is in flight", statuses{{ClusterName: "b", Status: 17}}, []string{"b"}, nil, nil, false},
		{"so is a negative one", statuses{{ClusterName: "b", Status: -1}}, []string{"b"}, nil, nil, false},
		{"a cluster that was skipped takes none", statuses{{ClusterName: "a", Status: sdkv1alpha1.Skip}}, []string{"b"}, nil, nil, false},
		{"a failed cluster stops the rollout", statuses{{ClusterName: "c", Status: sdkv1alpha1.Failed}}, []string{"c"}, nil, nil, true},
		{"a waiting cluster with a status comes before those without", statuses{{ClusterName: "c", Status: sdkv1alpha1.ToApply}}, []string{"c"}, nil, nil, false},
		{"what is not selected is removed, as it was given", statuses{{ClusterName: "x", Status: sdkv1alpha1.TimeOut}}, []string{"a"}, nil, []string{"x"}, false},
		{
			"of several statuses the worst counts, once",
			statuses{{ClusterName: "a", Status: sdkv1alpha1.Succeeded}, {ClusterName: "a", Status: sdkv1alpha1.Progressing, LastTransitionTime: ago(time.Hour)}},
			[]string{"a"}, nil, nil, false,
		},
	}
	for _, test := range tests {
		r := plan(t, abc, oneAtATime(), test.given)
		if got := names(r.ClustersToRollout); !cmp.Equal(got, test.rollout) {
			t.Errorf("%s: ClustersToRollout are %v, want %v", test.why, got, test.rollout)
		}
		if got := names(r.ClustersTimeOut); !cmp.Equal(got, test.timeOut) {
			t.Errorf("%s: ClustersTimeOut are %v, want %v", test.why, got, test.timeOut)
		}
		if got := names(r.ClustersRemoved); !cmp.Equal(got, test.removed) {
			t.Errorf("%s: ClustersRemoved are %v, want %v", test.why, got, test.removed)
		}
		if r.MaxFailureBreach != test.breach {
			t.Errorf("%s: MaxFailureBreach is %v", test.why, r.MaxFailureBreach)
		}
	}
}

func TestAStrategyWithoutATypeIsAll(t *testing.T) {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(nil, nil, sets.New("a", "b"))
	handler, err := sdkv1alpha1.NewRolloutHandler[any](tracker, nil)
	if err != nil {
		t.Fatal(err)
	}
	strategy, result, err := handler.GetRolloutCluster(clusterv1alpha1.RolloutStrategy{}, nil)
	if err != nil || strategy.Type != clusterv1alpha1.All || strategy.All == nil || len(result.ClustersToRollout) != 2 {
		t.Errorf("got %+v, %+v, %v, want all of both clusters", strategy, result, err)
	}
}

func TestErrors(t *testing.T) {
	if _, err := sdkv1alpha1.NewRolloutHandler[any](nil, nil); err == nil {
		t.Error("a handler without a tracker was made")
	}
	negative := sdkv1beta1.NewPlacementDecisionClustersTrackerWithGroups(nil, nil, sdkv1beta1.ClusterGroupsMap{{GroupIndex: -1}: sets.New("a")})
	handler, err := sdkv1alpha1.NewRolloutHandler[any](negative, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := handler.GetRolloutCluster(oneAtATime(), nil); err == nil {
		t.Error("groups with a negative index were planned")
	}
}

type lister []*clusterv1beta1.PlacementDecision

// List implements PlacementDecisionGetter.
func (l lister) List(labels.Selector, string) ([]*clusterv1beta1.PlacementDecision, error) {
	return l, nil
}

// A scheduler has written one of two PlacementDecisions. Nothing may start, and no cluster may be removed.
func TestNothingStartsWhileDecisionsAreIncomplete(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "apps"}}
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Name: "web-decision-1", Namespace: "apps", Labels: map[string]string{
		clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: "0",
	}}}
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "a"}}
	given := statuses{{ClusterName: "b", Status: sdkv1alpha1.Succeeded, LastTransitionTime: ago(time.Hour)}}

	for _, test := range []struct {
		why              string
		selected         int32
		rollout, removed []string
	}{
		{"a Placement without a status is not compared", 0, []string{"a"}, []string{"b"}},
		{"the status speaks of the one cluster", 1, []string{"a"}, []string{"b"}},
		{"the status speaks of two clusters", 2, nil, nil},
	} {
		placement.Status.NumberOfSelectedClusters = test.selected
		tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister{decision}, nil)
		if err := tracker.Refresh(); err != nil {
			t.Fatal(err)
		}
		r := plan(t, tracker, oneAtATime(), given)
		if got := names(r.ClustersToRollout); !cmp.Equal(got, test.rollout) {
			t.Errorf("%s: ClustersToRollout are %v, want %v", test.why, got, test.rollout)
		}
		if got := names(r.ClustersRemoved); !cmp.Equal(got, test.removed) {
			t.Errorf("%s: ClustersRemoved are %v, want %v", test.why, got, test.removed)
		}
	}
}
