// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/event"
)

func TestWhichPlacementsAnEventConcerns(t *testing.T) {
	h := newHub(t)
	h.put(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "west"}})
	h.place(groupsOf(1))
	h.put(&clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "web"}})
	h.catchUp()
	in := func(set string) *clusterv1.ManagedCluster {
		return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{clusterv1beta2.ClusterSetLabel: set}}}
	}
	decision := func(placement string) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Namespace: "apps", Labels: map[string]string{clusterv1beta1.PlacementLabel: placement}}}
	}
	controlled := func(controller, name, label string) *clusterv1beta1.PlacementDecision {
		yes := true
		d := decision(label)
		d.Name = name
		d.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: controller, Controller: &yes}}
		return d
	}
	for name, event := range map[string]struct {
		concerns bool
		got      []types.NamespacedName
	}{
		"a cluster of a set that is bound":                     {true, h.caches.placementsOfCluster(in("all"))},
		"a cluster of a set that is not bound":                 {false, h.caches.placementsOfCluster(in("west"))},
		"a cluster of no set":                                  {false, h.caches.placementsOfCluster(&clusterv1.ManagedCluster{})},
		"a set that is bound":                                  {true, h.caches.placementsOfSet(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "all"}})},
		"a binding of its namespace":                           {true, h.caches.placementsOfBinding(&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "apps"}})},
		"a decision of its own":                                {true, placementOfDecision(decision("web"))},
		"a decision of its own without the label":              {true, placementOfDecision(controlled("web", "web-decision-1", ""))},
		"a decision of its own with another Placement's label": {true, placementOfDecision(controlled("web", "web-decision-1", "other"))},
		"a decision that another Placement controls":           {false, placementOfDecision(controlled("other", "web-decision-1", "web"))[1:]},
		"a decision without a placement":                       {false, placementOfDecision(&clusterv1beta1.PlacementDecision{})},
	} {
		want := []types.NamespacedName{}
		if event.concerns {
			want = append(want, thePlacement)
		}
		if !slices.Equal(event.got, want) {
			t.Errorf("%s concerns %v", name, event.got)
		}
	}
	if got := placementOfDecision(controlled("other", "other-decision-1", "web")); !slices.Equal(got, []types.NamespacedName{{Namespace: "apps", Name: "other"}}) {
		t.Errorf("a decision of another Placement with the label of this one concerns %v", got)
	}
}

// A cluster's conditions change all the time, and do not affect the selection.
func TestWhatOfAClusterMatters(t *testing.T) {
	for name, c := range map[string]struct {
		matters bool
		change  func(*clusterv1.ManagedCluster)
	}{
		"a condition": {false, func(c *clusterv1.ManagedCluster) { c.Status.Conditions = []metav1.Condition{{Type: "Available"}} }},
		"a label":     {true, func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"region": "eu"} }},
		"a taint":     {true, func(c *clusterv1.ManagedCluster) { c.Spec.Taints = []clusterv1.Taint{{Key: "x"}} }},
		"a claim": {true, func(c *clusterv1.ManagedCluster) {
			c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "x"}}
		}},
		"its deletion": {true, func(c *clusterv1.ManagedCluster) { c.DeletionTimestamp = &metav1.Time{Time: metav1.Now().Time} }},
	} {
		before := &clusterv1.ManagedCluster{}
		after := before.DeepCopy()
		c.change(after)
		if got := matters(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.matters {
			t.Errorf("%s matters: %v", name, got)
		}
	}
}
