// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/cache"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/examples/controllers/kit"
)

// Groups are read once for several callers, and again when an object changed. Unreadable groups are an error each time.
func TestAllGroups(t *testing.T) {
	store := func(indexers cache.Indexers) cache.Indexer {
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	}
	placements, decisions := store(nil), store(kit.DecisionIndexers)
	add := func(store cache.Indexer, o metav1.Object, name string) {
		o.SetNamespace("apps")
		o.SetName(name)
		if err := store.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	add(placements, &clusterv1beta1.Placement{}, "web")
	decision := func(index string) *clusterv1beta1.PlacementDecision {
		return &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{
			clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: index}}}
	}
	add(decisions, decision("0"), "web-decision-1")

	before, now := kit.AllGroups{}, kit.AllGroups{}
	read := func() any {
		t.Helper()
		groups, err := before.Read(now, placements, decisions, "apps", "web")
		if groups == nil || err != nil {
			t.Fatalf("%v, %v", groups, err)
		}
		return groups
	}
	first := read()
	if read() != first {
		t.Error("they were read twice")
	}
	before, now = now, kit.AllGroups{}
	if read() != first {
		t.Error("nothing changed, and they were read again")
	}
	add(decisions, decision("0"), "web-decision-1")
	before, now = now, kit.AllGroups{}
	if read() == first {
		t.Error("an object changed, and they were not read again")
	}
	negative := &clusterv1beta1.Placement{}
	negative.Spec.DecisionStrategy.GroupStrategy.ClustersPerDecisionGroup = intstr.FromInt32(-1)
	add(placements, negative, "web")
	for range 3 {
		before, now = now, kit.AllGroups{}
		if groups, err := before.Read(now, placements, decisions, "apps", "web"); groups != nil || err == nil {
			t.Errorf("%v, %v", groups, err)
		}
	}
}

// A mistyped placementRef names a Placement that does not exist. Nothing starts, and the groups say which one is missing.
func TestGroupsOfNoPlacement(t *testing.T) {
	placements := cache.NewIndexer(cache.MetaNamespaceKeyFunc, nil)
	decisions := cache.NewIndexer(cache.MetaNamespaceKeyFunc, kit.DecisionIndexers)
	groups, err := kit.AllGroups{}.Read(kit.AllGroups{}, placements, decisions, "apps", "wbe")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := groups.Incomplete(), "there is no Placement apps/wbe"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
