// SPDX-License-Identifier: Apache-2.0

package override_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/override"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// O6: reading bindings agrees with asking every subject of every binding, in worlds of policies and
// sets in two namespaces, and the order of the objects changes nothing.
func TestBindingsAgreesWithNaive(t *testing.T) {
	draw := func(t *rapid.T, from ...string) string { return rapid.SampledFrom(from).Draw(t, "pick") }
	rapid.Check(t, func(t *rapid.T) {
		var sets []*policyv1.PolicySet
		for i := range rapid.IntRange(0, 3).Draw(t, "sets") {
			set := policySet(fmt.Sprint("set", i), draw(t, "policy", "other"))
			set.Namespace = draw(t, "policies", "policies", "elsewhere")
			for range rapid.IntRange(0, 2).Draw(t, "exclusions") {
				set.Spec.Exclusions = append(set.Spec.Exclusions, policyv1.Exclusion{
					PolicyName:   draw(t, "policy", "other"),
					ClusterNames: rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C"}), 0, 3).Draw(t, "clusters"),
				})
			}
			sets = append(sets, set)
		}
		var bindings []*policyv1.PlacementBinding
		for i := range rapid.IntRange(0, 3).Draw(t, "bindings") {
			b := placementBinding(fmt.Sprint("b", i))
			b.Namespace = draw(t, "policies", "policies", "elsewhere")
			b.SubFilter = policyv1.SubFilter(draw(t, "", "restricted"))
			for range rapid.IntRange(0, 3).Draw(t, "subjects") {
				b.Subjects = append(b.Subjects, policyv1.Subject{
					APIGroup: draw(t, "policy.open-cluster-management.io", "policy.open-cluster-management.io", "other"),
					Kind:     draw(t, "Policy", "PolicySet", "PolicySet"),
					Name:     draw(t, "policy", "set0", "set1", "set2"),
				})
			}
			bindings = append(bindings, b)
		}

		got, err := override.Bindings(policy("", ""), bindings, sets)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(naiveBindings(bindings, sets), got, sameGroups); diff != "" {
			t.Fatalf("bindings (-want +got):\n%s", diff)
		}
		again, err := override.Bindings(policy("", ""), rapid.Permutation(bindings).Draw(t, "order"), rapid.Permutation(sets).Draw(t, "order"))
		if diff := cmp.Diff(got, again, sameGroups); diff != "" || err != nil {
			t.Fatalf("in another order: %v (-want +got):\n%s", err, diff)
		}
	})
}

// naiveBindings asks, for each of three clusters, whether any subject of a binding lets it through.
func naiveBindings(bindings []*policyv1.PlacementBinding, sets []*policyv1.PolicySet) []override.Binding {
	var own []override.Binding
	for _, b := range bindings {
		var through []string // a line for each subject of the policy's, of the clusters it excludes
		var names []string   // of the sets
		direct := false
		exclusions := map[string][]string{}
		for _, s := range b.Subjects {
			if b.Namespace != "policies" || s.APIGroup != "policy.open-cluster-management.io" {
				continue
			}
			if s.Kind == "Policy" && s.Name == "policy" {
				direct = true
				through = append(through, "")
			}
			for _, set := range sets {
				if s.Kind != "PolicySet" || s.Name != set.Name || set.Namespace != "policies" || !slices.Contains(set.Spec.Policies, "policy") {
					continue
				}
				excluded := ""
				for _, e := range set.Spec.Exclusions {
					if e.PolicyName == "policy" {
						excluded += strings.Join(e.ClusterNames, "")
					}
				}
				through = append(through, excluded)
				names = append(names, set.Name)
				if excluded != "" {
					exclusions[set.Name] = slices.Compact(slices.Sorted(slices.Values(strings.Split(excluded, ""))))
				}
			}
		}
		if len(through) == 0 {
			continue
		}
		want := override.Binding{Name: b.Name, PlacementRef: b.PlacementRef, SubFilter: b.SubFilter == "restricted", Direct: direct, PolicySets: slices.Compact(slices.Sorted(slices.Values(names)))}
		if len(exclusions) > 0 {
			want.Exclusions = exclusions
		}
		for _, cluster := range []string{"A", "B", "C"} {
			if !slices.ContainsFunc(through, func(excluded string) bool { return !strings.Contains(excluded, cluster) }) {
				want.Excluded = append(want.Excluded, cluster)
			}
		}
		own = append(own, want)
	}
	return own
}
