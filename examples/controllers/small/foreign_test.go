package main

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// W17: an owner of another kind has a work under the name that the set's would get. It is not touched, the cluster gets
// another work, and an event tells it. A later set with the name of the set takes over its works.
func TestForeignWorksAreLeftAlone(t *testing.T) {
	key := types.NamespacedName{Namespace: "apps", Name: "web"}
	set := &replicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "web", Generation: 1}}
	set.Spec.PlacementRefs = []workv1alpha1.LocalPlacementReference{{Name: "all", RolloutStrategy: clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}}}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all"}}
	placement.Status.NumberOfSelectedClusters = 1
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Name: "all-decision-1",
		Labels: map[string]string{clusterv1beta1.PlacementLabel: "all", clusterv1beta1.DecisionGroupIndexLabel: "0"}}}
	decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "a"}}
	there := &work{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: writes.NameOf[*work](writes.Owner{Kind: setKind, Object: set})}}
	writes.Owner{Kind: schema.GroupKind{Group: "fleet.example.com", Kind: "FleetConfig"}, Object: &metav1.ObjectMeta{Namespace: "apps", Name: "web", UID: "f"}}.NoteOn(there)
	hub := fake.NewClientBuilder().WithScheme(newScheme()).WithStatusSubresource(&replicaSet{}).WithObjects(set, there, placement, decision).Build()

	recorder := events.NewFakeRecorder(1000)
	newProcess := func() *controller {
		return &controller{client: hub, live: hub, events: recorder,
			last: map[types.NamespacedName]*rollout.Result{}, pace: map[types.NamespacedName]writes.Pace{}}
	}
	look := func(c *controller) {
		for range 4 {
			if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
		}
	}
	works := func() (own []*work) {
		var all workv1.ManifestWorkList
		if err := hub.List(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, w := range pointers(all.Items) {
			if w.Name != there.Name {
				own = append(own, w)
			} else if w.ResourceVersion != there.ResourceVersion {
				t.Errorf("the other owner's work was written: %v", w)
			}
		}
		return own
	}
	if err := hub.Get(t.Context(), client.ObjectKeyFromObject(there), there); err != nil {
		t.Fatal(err)
	}
	look(newProcess())
	first := works()
	if len(first) != 1 {
		t.Fatalf("%d works of the set", len(first))
	}
	told := false
	for len(recorder.Events) > 0 {
		told = strings.Contains(<-recorder.Events, "a: "+there.Name+" belongs to FleetConfig.fleet.example.com/apps/web/f, and is left alone") || told
	}
	if !told {
		t.Error("no event tells it")
	}

	later := set.DeepCopy()
	later.UID, later.ResourceVersion, later.Generation = "later", "", 1
	later.Spec.ManifestWorkTemplate.DeleteOption = &workv1.DeleteOption{PropagationPolicy: workv1.DeletePropagationPolicyTypeOrphan}
	if err := hub.Delete(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	if err := hub.Create(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	look(newProcess())
	second := works()
	if len(second) != 1 || second[0].Name != first[0].Name || second[0].Spec.DeleteOption == nil || !strings.HasSuffix(second[0].Annotations["cohort.open-cluster-management.io/owner"], "/apps/web/later") {
		t.Errorf("works %v", second)
	}
}
