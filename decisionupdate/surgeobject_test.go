// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// D15, D8, G13: two full objects of a named group exchange a cluster, and the writer stops after each number of requests. While the object
// of the surge is there it looks like one of its group, and a reader with the Placement finds the groups incomplete. The next
// update deletes it.
func TestObjectsOfASurgeAsReadersSeeThem(t *testing.T) {
	yes := true
	owners := []metav1.OwnerReference{{APIVersion: clusterv1beta1.GroupVersion.String(), Kind: "Placement", Name: "web", UID: "p1", Controller: &yes}}
	labels := map[string]string{clusterv1beta1.PlacementLabel: "web", clusterv1beta1.DecisionGroupIndexLabel: "1", clusterv1beta1.DecisionGroupNameLabel: "eu"}
	exchanged := numbers(1, 200)
	exchanged[0], exchanged[199] = exchanged[199], exchanged[0]
	stored, desired := divided(100, numbers(1, 200)), divided(100, exchanged)
	for _, pd := range slices.Concat(stored, desired) {
		pd.Labels, pd.OwnerReferences = maps.Clone(labels), owners
	}
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: stored[0].Namespace, Name: "web", UID: "p1"}}
	var err error
	if placement.Status, err = grouping.Status(stored); err != nil { // and so is that of the desired ones
		t.Fatal(err)
	}
	rng, seen := rand.New(rand.NewPCG(5313, 15)), 0
	for stop := range 8 {
		s := newServer(stored...)
		update := mustDiff(t, s.list(), desired, rolling)
		made := s.run(update, stop, rng.IntN)
		there := slices.DeleteFunc(s.list(), func(o *pd) bool { return o.Name == stored[0].Name || o.Name == stored[1].Name })
		groups, err := grouping.Read(placement, s.list())
		if err != nil {
			t.Fatal(err)
		}
		if missing := groups.Incomplete() != ""; missing != (len(there) > 0) {
			t.Errorf("G13: after %d requests %d objects of a surge are there, and what is missing is %q", made, len(there), groups.Incomplete())
		}
		for _, extra := range there {
			seen++
			if !maps.Equal(extra.Labels, labels) || !cmp.Equal(extra.OwnerReferences, owners) || extra.Annotations["cohort.open-cluster-management.io/surge"] == "" {
				t.Errorf("D15: after %d requests: labels %v, owners %v, annotations %v", made, extra.Labels, extra.OwnerReferences, extra.Annotations)
			}
		}
		s.run(mustDiff(t, s.list(), desired, rolling), allRequests, rng.IntN)
		wantStored(t, s, desired)
	}
	if seen < 3 {
		t.Errorf("D15: an object of a surge was there after %d numbers of requests, so this proves little", seen)
	}
}
