// SPDX-License-Identifier: Apache-2.0

package decisionupdate_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/decisionupdate"
	"github.com/cohort-ocm/cohort/grouping"
)

// D13, D14: a scheduler that reads, divides, keeps names and updates, as the documentation of both packages says, gets
// past objects that are being deleted, objects of an earlier placement that the garbage collector deletes, objects without
// labels or owners, objects with a placement label that was edited or removed by hand, and objects of others that have the names of its own.
func TestSteadyNamesGetPastOddObjects(t *testing.T) {
	placement := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "u"}}
	clusters := []*clusterv1.ManagedCluster{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}}
	groups, err := grouping.Divide(placement, clusters, grouping.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		why    string
		change func(*clusterv1beta1.PlacementDecision)
		want   string
	}{
		{"being deleted", func(d *clusterv1beta1.PlacementDecision) { d.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} },
			"step 1: create PlacementDecision web-decision-2 (labels, status): add a, b\n"},
		{"of an earlier placement", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences[0].UID = "before" },
			"step 1: create PlacementDecision web-decision-2 (labels, status): add a, b\nstep 2: delete PlacementDecision web-decision-1: remove a, b\n"},
		{"without labels", func(d *clusterv1beta1.PlacementDecision) { d.Labels = nil },
			"step 1: update PlacementDecision web-decision-1 (labels)\n"},
		{"without an owner", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences = nil },
			"step 1: update PlacementDecision web-decision-1 (labels)\n"},
		{"of an earlier placement and without labels", func(d *clusterv1beta1.PlacementDecision) { d.Labels, d.OwnerReferences[0].UID = nil, "before" },
			"step 1: create PlacementDecision web-decision-2 (labels, status): add a, b\n"},
		{"of another placement", func(d *clusterv1beta1.PlacementDecision) {
			d.Labels[clusterv1beta1.PlacementLabel], d.OwnerReferences = "db", nil
		}, "step 1: create PlacementDecision web-decision-2 (labels, status): add a, b\n"},
		{"controlled by another placement", func(d *clusterv1beta1.PlacementDecision) { d.OwnerReferences[0].Name = "db" },
			"step 1: create PlacementDecision web-decision-2 (labels, status): add a, b\n"},
		{"without the placement's label", func(d *clusterv1beta1.PlacementDecision) { delete(d.Labels, clusterv1beta1.PlacementLabel) },
			"step 1: update PlacementDecision web-decision-1 (labels)\n"},
		{"labelled with another placement", func(d *clusterv1beta1.PlacementDecision) { d.Labels[clusterv1beta1.PlacementLabel] = "db" },
			"step 1: update PlacementDecision web-decision-1 (labels)\n"},
	} {
		stored, err := groups.Decisions(placement)
		if err != nil {
			t.Fatal(err)
		}
		test.change(stored[0])
		previous, err := grouping.Read(placement, stored)
		if err != nil {
			t.Fatalf("%s: %v", test.why, err)
		}
		divided, err := grouping.Divide(placement, clusters, grouping.Options{Previous: previous})
		if err != nil {
			t.Fatalf("%s: %v", test.why, err)
		}
		desired, err := divided.Decisions(placement, stored...)
		if err != nil {
			t.Fatalf("%s: %v", test.why, err)
		}
		update, err := decisionupdate.Diff(stored, desired, decisionupdate.UpdateStrategy{Type: decisionupdate.UpdateStrategyTypeRollingUpdate})
		if err != nil || update.String() != test.want {
			t.Errorf("%s: error %v, update\n%s\nwant\n%s", test.why, err, update, test.want)
		}
	}
}
