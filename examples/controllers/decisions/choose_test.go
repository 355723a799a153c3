// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (h *hub) cluster(name string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// chosen reconciles, and fails unless the decisions and the condition's reason are these.
func (h *hub) chosen(decisions, reason string) {
	h.t.Helper()
	h.catchUp()
	if _, _, err := h.look(); err != nil {
		h.t.Fatal(err)
	}
	if got := h.decisions(); got != decisions {
		h.t.Errorf("decisions %q, want %q", got, decisions)
	}
	condition := meta.FindStatusCondition(h.placement().Status.Conditions, clusterv1beta1.PlacementConditionSatisfied)
	if condition == nil || condition.Reason != reason || (reason == "AllDecisionsScheduled") != (condition.Status == metav1.ConditionTrue) {
		h.t.Errorf("condition %+v, want %s", condition, reason)
	}
}

func TestChoosesOfTheSetsThatAreBound(t *testing.T) {
	h := newHub(t)
	h.bind("east")
	h.put(&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "west"}}) // not bound
	h.join("all", []string{"a"})
	h.join("east", []string{"b"})
	h.join("west", []string{"c"})
	h.place(func(*clusterv1beta1.PlacementSpec) {})
	h.chosen("1: a b", "AllDecisionsScheduled")
	h.place(func(spec *clusterv1beta1.PlacementSpec) { spec.ClusterSets = []string{"east", "west"} })
	h.chosen("1: b", "AllDecisionsScheduled")
	h.place(func(spec *clusterv1beta1.PlacementSpec) { spec.ClusterSets = []string{"west"} })
	h.chosen("1:", "NoManagedClusterSetBindings")
}

// A set with a selector, such as the global one, shares clusters with other sets. Each cluster counts once.
func TestChoosesOfSetsWithASelector(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b"})
	h.bind("global")
	var global clusterv1beta2.ManagedClusterSet
	h.must(h.server.Get(t.Context(), client.ObjectKey{Name: "global"}, &global))
	global.Spec.ClusterSelector = clusterv1beta2.ManagedClusterSelector{SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{}}
	h.must(h.server.Update(t.Context(), &global))
	h.join("other", []string{"c"})
	h.place(func(*clusterv1beta1.PlacementSpec) {})
	h.chosen("1: a b c", "AllDecisionsScheduled")
}

func TestChoosesByPredicates(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a"}, "region=eu")
	h.join("all", []string{"b", "c"}, "region=us")
	cluster := h.cluster("d")
	cluster.Labels = map[string]string{clusterv1beta2.ClusterSetLabel: "all"}
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "platform", Value: "edge"}}
	h.put(cluster)
	ask := func(labels map[string]string, claims ...metav1.LabelSelectorRequirement) clusterv1beta1.ClusterPredicate {
		return clusterv1beta1.ClusterPredicate{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			LabelSelector: metav1.LabelSelector{MatchLabels: labels}, ClaimSelector: clusterv1beta1.ClusterClaimSelector{MatchExpressions: claims},
		}}
	}
	edge := metav1.LabelSelectorRequirement{Key: "platform", Operator: metav1.LabelSelectorOpIn, Values: []string{"edge"}}
	h.place(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates = []clusterv1beta1.ClusterPredicate{ask(map[string]string{"region": "eu"}), ask(nil, edge)}
	})
	h.chosen("1: a d", "AllDecisionsScheduled")
	h.place(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates = []clusterv1beta1.ClusterPredicate{ask(map[string]string{"region": "eu"}, edge)}
	})
	h.chosen("1:", "NoManagedClusterMatched")
}

func TestTaintsKeepClustersOut(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"a", "b", "c", "d"})
	h.place(func(*clusterv1beta1.PlacementSpec) {})
	h.chosen("1: a b c d", "AllDecisionsScheduled")
	h.taint("a", clusterv1.TaintEffectNoSelect)
	h.taint("b", clusterv1.TaintEffectNoSelectIfNew) // b is already selected
	h.taint("c", clusterv1.TaintEffectPreferNoSelect)
	h.join("all", []string{"e"})
	h.taint("e", clusterv1.TaintEffectNoSelectIfNew)
	h.chosen("1: b c d", "AllDecisionsScheduled")
	h.place(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Tolerations = []clusterv1beta1.Toleration{{Key: "maintenance", Operator: clusterv1beta1.TolerationOpExists}}
	})
	h.chosen("1: a b c d e", "AllDecisionsScheduled")
}

// Clusters that are already selected come first, so that a new cluster with an early name replaces none.
func TestChoosesAsManyAsAreWanted(t *testing.T) {
	h := newHub(t)
	h.join("all", []string{"b", "c"})
	three := int32(3)
	h.place(func(spec *clusterv1beta1.PlacementSpec) { spec.NumberOfClusters = &three })
	h.chosen("1: b c", "NotAllDecisionsScheduled")
	h.join("all", []string{"d"})
	h.chosen("1: b c d", "AllDecisionsScheduled")
	h.join("all", []string{"a"})
	h.chosen("1: b c d", "AllDecisionsScheduled")
}

func TestRefusesWhatThisSchedulerHasNot(t *testing.T) {
	h := newHub(t)
	h.place(func(spec *clusterv1beta1.PlacementSpec) {
		spec.Predicates = []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
			CelSelector: clusterv1beta1.ClusterCelSelector{CelExpressions: []string{"true"}}}}}
	})
	h.catchUp()
	if _, _, err := h.look(); err == nil {
		t.Error("no error")
	}
}

// A cluster that is being deleted is not selected. Neither are clusters whose set or binding is being deleted.
func TestWhatIsBeingDeletedIsNotChosen(t *testing.T) {
	h := newHub(t)
	h.bind("east", "west")
	h.join("all", []string{"a", "b"})
	h.join("east", []string{"c"})
	h.join("west", []string{"d"})
	h.place(func(*clusterv1beta1.PlacementSpec) {})
	h.chosen("1: a b c d", "AllDecisionsScheduled")
	for _, object := range []client.Object{
		&clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: "east"}},
		&clusterv1beta2.ManagedClusterSetBinding{ObjectMeta: metav1.ObjectMeta{Namespace: thePlacement.Namespace, Name: "west"}},
	} {
		h.must(h.server.Get(t.Context(), client.ObjectKeyFromObject(object), object))
		object.SetFinalizers([]string{"example.com/waits"})
		h.must(h.server.Update(t.Context(), object))
		h.must(h.server.Delete(t.Context(), object))
	}
	h.chosen("1: a", "AllDecisionsScheduled")
}
