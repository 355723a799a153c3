package compare

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1alpha1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1alpha1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// work stands for the object of a workload on one cluster, such as a ManifestWork.
type work struct {
	cluster          string
	applied, healthy bool
	since            time.Time
}

// actions is what a reconcile would do through its client.
type actions struct {
	applied, deleted []string
	requeueAfter     time.Duration
}

// reconcileBefore is a controller's use of sdk-go. The README quotes it.
func reconcileBefore(placement *clusterv1beta1.Placement, lister sdkv1beta1.PlacementDecisionGetter, strategy clusterv1alpha1.RolloutStrategy, works []work) (do actions, err error) {
	tracker := sdkv1beta1.NewPlacementDecisionClustersTracker(placement, lister, nil)
	if err := tracker.Refresh(); err != nil {
		return do, err
	}
	statusOf := func(cluster string, w work) (sdkv1alpha1.ClusterRolloutStatus, error) {
		s := sdkv1alpha1.ClusterRolloutStatus{ClusterName: cluster, LastTransitionTime: &metav1.Time{Time: w.since}}
		switch {
		case !w.applied:
			s.Status = sdkv1alpha1.ToApply
		case w.healthy:
			s.Status = sdkv1alpha1.Succeeded
		default:
			s.Status = sdkv1alpha1.Progressing
		}
		return s, nil
	}
	handler, err := sdkv1alpha1.NewRolloutHandler(tracker, statusOf) // which it never calls
	if err != nil {
		return do, err
	}
	var statuses []sdkv1alpha1.ClusterRolloutStatus
	for _, w := range works {
		s, err := statusOf(w.cluster, w)
		if err != nil {
			return do, err
		}
		statuses = append(statuses, s)
	}
	_, result, err := handler.GetRolloutCluster(strategy, statuses)
	if err != nil {
		return do, err
	}
	for _, c := range result.ClustersToRollout {
		do.applied = append(do.applied, c.ClusterName)
	}
	for _, c := range result.ClustersRemoved {
		do.deleted = append(do.deleted, c.ClusterName)
	}
	if result.RecheckAfter != nil {
		do.requeueAfter = *result.RecheckAfter
	}
	return do, nil
}

// reconcileAfter is the same with Cohort. The README quotes it.
func reconcileAfter(decisions []*clusterv1beta1.PlacementDecision, strategy clusterv1alpha1.RolloutStrategy, works []work, now time.Time) (do actions, err error) {
	groups, err := grouping.Read(nil, decisions) // keep it until a PlacementDecision changes
	if err != nil {
		return do, err
	}
	reports := make([]status.Report, len(works))
	for i, w := range works {
		reports[i] = status.Report{Cluster: w.cluster, Status: status.Progressing, LastTransitionTime: w.since}
		switch {
		case !w.applied:
			reports[i].Status = status.ToApply
		case w.healthy:
			reports[i].Status = status.Succeeded
		}
	}
	result, err := rollout.Plan(strategy, groups, reports, now)
	if err != nil {
		return do, err
	}
	for _, c := range slices.Concat(result.InFlight, result.Start) {
		do.applied = append(do.applied, c.Name)
	}
	do.deleted = result.Removed
	do.requeueAfter = result.RecheckAfter
	return do, nil
}

// The two controllers of the migration guide do the same.
func TestMigratedControllerDoesTheSame(t *testing.T) {
	decisions := stored([]group{{clusters: []string{"a", "b", "c", "d"}}})
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p"}}
	strategy := progressive(configured(intstr.FromInt32(0)), intstr.FromInt32(2))
	works := []work{
		{cluster: "a", applied: true, healthy: true, since: now.Add(-time.Hour)},
		{cluster: "b", applied: true, since: now.Add(-time.Minute)},
		{cluster: "x", applied: true, since: now.Add(-time.Minute)},
	}
	before, err := reconcileBefore(placement, lister(decisions), strategy, works)
	if err != nil {
		t.Fatal(err)
	}
	after, err := reconcileAfter(decisions, strategy, works, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, do := range []actions{before, after} {
		if !slices.Equal(do.applied, []string{"b", "c"}) || !slices.Equal(do.deleted, []string{"x"}) || do.requeueAfter != 9*time.Minute {
			t.Errorf("does %+v", do)
		}
	}
}
