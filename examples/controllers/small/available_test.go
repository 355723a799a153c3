package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/events"
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

// A work without conditionRules is Available. With the annotation of its set, and only with the value true, it has
// succeeded, and the next cluster starts.
func TestAvailableCountsByTheAnnotation(t *testing.T) {
	for _, test := range []struct {
		value  string
		starts bool
	}{{"true", true}, {"false", false}, {"yes", false}, {"", false}} {
		t.Run(test.value, func(t *testing.T) {
			key := types.NamespacedName{Namespace: "apps", Name: "web"}
			set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1,
				Annotations: map[string]string{availableSucceeds: test.value}}}
			set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{
				Type: clusterv1alpha1.Progressive, Progressive: &clusterv1alpha1.RolloutProgressive{MaxConcurrency: intstr.FromInt32(1)}}}}
			placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
			placement.Status.NumberOfSelectedClusters = 2
			decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all-decision-1",
				Labels: map[string]string{clusterv1beta1.PlacementLabel: "all", clusterv1beta1.DecisionGroupIndexLabel: "0"}}}
			decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "a"}, {ClusterName: "b"}}

			first := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: writes.NameOf[*work](writes.Owner{Kind: setKind, Object: set}), Generation: 1,
				Labels: map[string]string{setLabel: "apps.web"}}}
			status.StampOf(first).NoteOn(first, writes.VersionOf(set.Spec.ManifestWorkTemplate), 0, metav1.Now().Time)
			for _, condition := range []string{workv1.WorkApplied, workv1.WorkAvailable} {
				first.Status.Conditions = append(first.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, ObservedGeneration: 1})
			}
			hub := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set, first, placement, decision).Build()
			c := &controller{client: hub, live: hub, events: events.NewFakeRecorder(100),
				last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
			if _, err := c.look(t.Context(), key); err != nil {
				t.Fatal(err)
			}
			err := hub.Get(t.Context(), client.ObjectKey{Namespace: "b", Name: first.Name}, &work{})
			if started := err == nil; started != test.starts {
				t.Errorf("b started is %v, want %v (%v): %v", started, test.starts, err, c.last[key])
			}
		})
	}
}
