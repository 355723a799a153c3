// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"encoding/json"
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O20: the entries are those that OCM's propagator writes.
func TestPlacements(t *testing.T) {
	selects := func(clusters ...string) *grouping.Groups {
		groups, err := grouping.FromNames(map[grouping.Key][]string{{}: clusters})
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	rule := policyv1.PlacementRef{APIGroup: "apps.open-cluster-management.io", Kind: "PlacementRule", Name: "r"}
	plain := override.Binding{Name: "b", PlacementRef: placement("p"), Direct: true, Groups: selects("a", "b")}
	through := override.Binding{Name: "c", PlacementRef: placement("p"), PolicySets: []string{"s"},
		Excluded: []string{"z", "b", "z"}, Groups: selects("a", "b")}
	both := through // and directly: the set excludes no cluster
	both.Direct, both.Excluded, both.Exclusions = true, nil, map[string][]string{"s": {"b", "z"}}
	sub := func(clusters ...string) override.Binding {
		return override.Binding{Name: "d", PlacementRef: placement("q"), Direct: true, SubFilter: true, Enforce: true, Groups: selects(clusters...)}
	}
	const excluded = `,"exclusions":[{"clusterName":"b"},{"clusterName":"z"}]}`
	const entry, throughSet = `{"placementBinding":"b","placement":"p"}`, `{"placementBinding":"c","placement":"p","policySet":"s"`
	for _, test := range []struct {
		why      string
		disabled bool
		bindings []override.Binding
		want     string
	}{
		{"the exclusions are all of the set's", false, []override.Binding{plain, through}, entry + "," + throughSet + excluded},
		{"also where the binding selects the cluster in another way", false, []override.Binding{both}, `{"placementBinding":"c","placement":"p"},` + throughSet + excluded},
		{"a sub filter that touches a bound cluster", false, []override.Binding{plain, sub("b", "x")}, entry + `,{"placementBinding":"d","placement":"q"}`},
		{"a sub filter that touches none", false, []override.Binding{plain, sub("x")}, entry},
		{"a sub filter of which nothing is known", false, []override.Binding{plain, {Name: "d", PlacementRef: placement("q"), Direct: true, SubFilter: true}}, entry + `,{"placementBinding":"d"}`},
		{"a PlacementRule that does not exist", false, []override.Binding{{Name: "b", PlacementRef: rule, Direct: true}}, `{"placementBinding":"b"}`},
		{"a PlacementRule", false, []override.Binding{{Name: "b", PlacementRef: rule, Direct: true, Groups: selects("a")}}, `{"placementBinding":"b","placementRule":"r"}`},
		{"a reference of another kind", false, []override.Binding{{Name: "b", PlacementRef: policyv1.PlacementRef{Kind: "Fleet"}, Direct: true}}, ""},
		{"a disabled policy", true, []override.Binding{through, plain, sub("b")}, entry + "," + throughSet + excluded},
	} {
		p := policy("", "")
		p.Spec.Disabled = test.disabled
		r, err := override.Resolve(p, test.bindings)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r.Placements())
		if err != nil || string(got) != "["+test.want+"]" {
			t.Errorf("%s: got %s, %v, want [%s]", test.why, got, err, test.want)
		}
	}
}
