// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O25: a placement that is missing selects no cluster, and one that was not looked up is incomplete.
func TestMissingPlacements(t *testing.T) {
	placement := policyv1.PlacementRef{APIGroup: "cluster.open-cluster-management.io", Kind: "Placement", Name: "p"}
	some, err := grouping.FromNames(map[grouping.Key][]string{{}: {"a"}})
	if err != nil {
		t.Fatal(err)
	}
	root := &policyv1.Policy{Spec: policyv1.PolicySpec{RemediationAction: policyv1.Enforce}}
	root.Namespace, root.Name = "ns", "p"
	bound := override.Binding{Name: "bound", PlacementRef: placement, Groups: some}
	for _, test := range []struct {
		why        string
		bindings   []override.Binding
		clusters   string
		incomplete bool
		named      int // entries with the name of a placement
	}{
		{"not looked up", []override.Binding{bound, {Name: "gone", PlacementRef: placement}}, "a", true, 1},
		{"missing", []override.Binding{bound, {Name: "gone", PlacementRef: placement, Missing: true}}, "a", false, 1},
		{"missing alone", []override.Binding{{Name: "gone", PlacementRef: placement, Missing: true}}, "", false, 0},
		{"a missing one that enforces", []override.Binding{bound, {Name: "gone", PlacementRef: placement, Missing: true, Enforce: true, SubFilter: true}}, "a", false, 1},
	} {
		r, err := override.Resolve(root, test.bindings)
		if err != nil {
			t.Fatal(err)
		}
		var clusters []string
		for c := range r.Clusters() {
			clusters = append(clusters, c.Name)
		}
		named := 0
		for _, p := range r.Placements() {
			if p.Placement != "" {
				named++
			}
		}
		if strings.Join(clusters, " ") != test.clusters || (r.Incomplete() != "") != test.incomplete || (r.Groups().Incomplete() != "") != test.incomplete || named != test.named {
			t.Errorf("%s: %v, incomplete %q, %+v", test.why, clusters, r.Incomplete(), r.Placements())
		}
		if test.bindings[len(test.bindings)-1].Groups != nil {
			t.Errorf("%s: the argument was changed", test.why)
		}
	}
	if _, err := override.Resolve(root, []override.Binding{{Name: "b", PlacementRef: placement, Groups: some, Missing: true}}); err == nil || !strings.Contains(err.Error(), "bindings[b].groups") {
		t.Errorf("groups of a missing placement: %v", err)
	}
}
