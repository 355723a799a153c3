package main

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
	"github.com/cohort-ocm/cohort/status"
)

// R5, R46: a cluster reports and is deselected before its first answer is recorded. The answer is recorded nevertheless,
// even while the work hangs in deletion. Otherwise the soak would begin anew at each reconcile, and block all other
// clusters for ever.
func TestTheFirstAnswerOfADeselectedClusterIsRecorded(t *testing.T) {
	for name, deleted := range map[string]*metav1.Time{"its work is there": nil, "its work hangs in deletion": {Time: time.Now()}} {
		t.Run(name, func(t *testing.T) {
			key := types.NamespacedName{Namespace: "apps", Name: "web"}
			set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1}}
			set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1),
					RolloutConfig: clusterv1alpha1.RolloutConfig{MinSuccessTime: metav1.Duration{Duration: 20 * time.Millisecond}}}}}}

			left := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "left", Name: writes.NameOf[*work](writes.Owner{Kind: setKind, Object: set}), Generation: 1, DeletionTimestamp: deleted,
				Labels: map[string]string{setLabel: "apps.web"}, Finalizers: []string{"agent"}}}
			for condition, is := range map[string]metav1.ConditionStatus{workv1.WorkApplied: metav1.ConditionTrue, workv1.WorkProgressing: metav1.ConditionFalse} {
				left.Status.Conditions = append(left.Status.Conditions, metav1.Condition{Type: condition, Status: is, ObservedGeneration: 1})
			}
			status.StampOf(left).NoteOn(left, writes.VersionOf(set.Spec.ManifestWorkTemplate), 0, time.Now().Add(-time.Minute))

			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
			placement.Status.NumberOfSelectedClusters = 1
			decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all-decision-1",
				Labels: map[string]string{clusterv1beta1.PlacementLabel: "all", clusterv1beta1.DecisionGroupIndexLabel: "0"}}}
			decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "next"}}
			hub := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set, left, placement, decision,
				&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "next"}}, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "left"}}).Build()

			c := &controller{client: hub, live: hub, events: events.NewFakeRecorder(100), removeAfter: time.Hour,
				last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
			for range 4 {
				if _, err := c.look(t.Context(), key); err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Millisecond) // longer than the soak
			}
			if err := hub.Get(t.Context(), client.ObjectKey{Namespace: "next", Name: left.Name}, &work{}); err != nil {
				t.Errorf("the next cluster has no work: %v", err)
			}
		})
	}
}
