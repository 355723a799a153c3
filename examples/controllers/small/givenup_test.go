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

// R46: a cluster that is ignored because its ManagedCluster was deleted stays ignored at each reconcile, even while its
// work hangs in deletion.
func TestAnIgnoredClusterStaysIgnored(t *testing.T) {
	key := types.NamespacedName{Namespace: "apps", Name: "web"}
	set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1}}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
		Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{
			MaxConcurrency: intstr.FromInt32(1), RolloutConfig: clusterv1alpha1.RolloutConfig{MaxFailures: intstr.FromInt32(0)}}}}}

	left := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "left", Name: writes.NameOf[*work](writes.Owner{Kind: setKind, Object: set}), Generation: 1,
		Labels: map[string]string{setLabel: "apps.web"}, Finalizers: []string{"agent"}, DeletionTimestamp: &metav1.Time{Time: time.Now()}}}
	for _, condition := range []string{workv1.WorkApplied, workv1.WorkProgressing, workv1.WorkDegraded} {
		left.Status.Conditions = append(left.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, ObservedGeneration: 1})
	}
	status.StampOf(left).NoteOn(left, writes.VersionOf(set.Spec.ManifestWorkTemplate), 0, time.Now().Add(-time.Minute))

	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
	placement.Status.NumberOfSelectedClusters = 1
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all-decision-1",
		Labels: map[string]string{clusterv1beta1.PlacementLabel: "all", clusterv1beta1.DecisionGroupIndexLabel: "0"}}}
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "next"}}
	hub := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set, left, placement, decision,
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "next"}}).Build()

	c := &controller{client: hub, live: hub, events: events.NewFakeRecorder(100),
		last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
	for look := range 4 {
		if _, err := c.look(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		if breach := c.last[key].Breach; breach != nil {
			t.Errorf("look %d: %v", look, breach)
		}
	}
	if err := hub.Get(t.Context(), client.ObjectKey{Namespace: "next", Name: left.Name}, &work{}); err != nil {
		t.Errorf("the next cluster has no work: %v", err)
	}
}
