// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

// G16: further clusters join the groups of their keys; a group that is gone comes back before all others of its placement.
func TestWith(t *testing.T) {
	named := func(groups map[grouping.Key][]string) *grouping.Groups {
		g, err := grouping.FromNames(groups)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	eu, rest := grouping.Key{Index: 0, Name: "eu"}, grouping.Key{Index: 0}
	joined, err := grouping.Join(
		grouping.PlacementGroups{Placement: "web", Groups: named(map[grouping.Key][]string{rest: {"a"}})},
		grouping.PlacementGroups{Placement: "edge", Groups: named(map[grouping.Key][]string{rest: {"b"}, {Index: 1}: {"c"}})},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		why    string
		groups *grouping.Groups
		more   map[string]grouping.Key
		want   string
	}{
		{"no cluster is added", named(map[grouping.Key][]string{rest: {"a"}}), nil, "group 0: 1"},
		{"into a group that is there", named(map[grouping.Key][]string{rest: {"a"}}), map[string]grouping.Key{"x": rest, "b": rest}, "group 0: 3"},
		{"a cluster is there already", named(map[grouping.Key][]string{rest: {"a"}}), map[string]grouping.Key{"a": rest}, "group 0: 1"},
		{"a cluster moves, and its group stays", named(map[grouping.Key][]string{rest: {"a"}}), map[string]grouping.Key{"a": eu}, `group 0 "eu": 1, group 0: 0`},
		{"a group is gone, and another has its index", named(map[grouping.Key][]string{rest: {"a"}}), map[string]grouping.Key{"x": eu}, `group 0 "eu": 1, group 0: 1`},
		{"a later group is gone", named(map[grouping.Key][]string{rest: {"a"}}), map[string]grouping.Key{"x": {Index: 2}, "y": {Index: 1}}, "group 1: 1, group 2: 1, group 0: 1"},
		{"no groups", nil, map[string]grouping.Key{"x": eu}, `group 0 "eu": 1`},
		{"of a placement", joined, map[string]grouping.Key{"x": {Index: 3, Placement: "edge"}},
			"group 0 of placement web: 1, group 3 of placement edge: 1, group 0 of placement edge: 1, group 1 of placement edge: 1"},
		{"of a placement that is gone", joined, map[string]grouping.Key{"x": {Placement: "core"}},
			"group 0 of placement core: 1, group 0 of placement web: 1, group 0 of placement edge: 1, group 1 of placement edge: 1"},
	} {
		with := tt.groups.With(tt.more)
		if got := with.String(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
		if with.Incomplete() != tt.groups.Incomplete() {
			t.Errorf("%s: incomplete %q, want %q", tt.why, with.Incomplete(), tt.groups.Incomplete())
		}
	}
}

// G16: every cluster is in the groups once, in its given group or its former one.
func TestWithKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := []grouping.Key{{}, {Index: 0, Name: "eu"}, {Index: 1}, {Index: 2, Name: "us"}}
		draw := func(label string) map[string]grouping.Key {
			of := make(map[string]grouping.Key)
			for _, name := range rapid.SliceOfDistinct(rapid.StringMatching("[a-h]"), rapid.ID).Draw(t, label) {
				of[name] = rapid.SampledFrom(keys).Draw(t, name)
			}
			return of
		}
		selected, more := draw("selected"), draw("more")
		names := make(map[grouping.Key][]string)
		for _, name := range slices.Sorted(maps.Keys(selected)) {
			names[selected[name]] = append(names[selected[name]], name)
		}
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		want := maps.Clone(selected)
		maps.Copy(want, more)
		got := make(map[string]grouping.Key)
		for key, d := range groups.With(more).All() {
			if _, again := got[d.ClusterName]; again {
				t.Fatalf("%s is there twice", d.ClusterName)
			}
			got[d.ClusterName] = key
		}
		if !maps.Equal(got, want) {
			t.Errorf("%v with %v is %v", selected, more, got)
		}
	})
}
