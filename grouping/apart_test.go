// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

// G15.
func TestApart(t *testing.T) {
	web := grouping.PlacementGroups{Placement: "web", Groups: mustRead(t, decision("d-1", "0", "canary", "d b"), decision("d-2", "1", "", "a"))}
	db := grouping.PlacementGroups{Placement: "db", Groups: mustRead(t, decision("d-1", "0", "canary", "b"), decision("d-2", "2", "", "e c a"))}
	none := grouping.PlacementGroups{Placement: "none"}
	for _, test := range []struct {
		name  string
		parts []grouping.PlacementGroups
		want  string // the groups and what is missing, a placement a line
	}{
		{"nothing", nil, ""},
		{"one placement keeps all", []grouping.PlacementGroups{web}, `0 "canary":d b | 1:a`},
		{"a cluster that several select belongs to the first; a group that loses all stays",
			[]grouping.PlacementGroups{web, db}, "0 \"canary\":d b | 1:a\n0 \"canary\": | 2:e c"},
		{"the order given counts", []grouping.PlacementGroups{db, web}, "0 \"canary\":b | 2:e c a\n0 \"canary\":d | 1:"},
		{"a part behind an incomplete one is incomplete, and a part before it is not",
			[]grouping.PlacementGroups{web, none, db},
			"0 \"canary\":d b | 1:a\n? placement none: no PlacementDecision is found\n0 \"canary\": | 2:e c? placement none: no PlacementDecision is found"},
		{"each incomplete one is named", []grouping.PlacementGroups{none, {Placement: "zero", Groups: &grouping.Groups{}}},
			"? placement none: no PlacementDecision is found\n? placement none: no PlacementDecision is found; placement zero: no PlacementDecision is found"},
	} {
		t.Run(test.name, func(t *testing.T) {
			apart, err := grouping.Apart(test.parts...)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, g := range apart {
				line := show(g)
				if missing := g.Incomplete(); missing != "" {
					line += "? " + missing
				}
				lines = append(lines, line)
			}
			if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, err := grouping.Apart(web, web); err == nil || got != nil {
		t.Errorf("a placement that comes twice: %v, %v", got, err)
	} else if _, ok := err.(interface{ Unwrap() []error }); !ok {
		if _, ok := err.(*field.Error); !ok {
			t.Errorf("%T", err)
		}
	}
}

// G15, R26: apart and joined they are the same, group by group.
func TestApartIsWhatJoinJoins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []grouping.PlacementGroups
		for _, placement := range []string{"web", "db", "edge"}[:rapid.IntRange(0, 3).Draw(t, "placements")] {
			byGroup := map[grouping.Key][]string{}
			for _, cluster := range []string{"a", "b", "c", "d", "e"} {
				if n := rapid.IntRange(0, 3).Draw(t, "group"); n > 0 {
					key := grouping.Key{Index: int32(n), Name: fmt.Sprint("g", n)}
					byGroup[key] = append(byGroup[key], cluster)
				}
			}
			groups, err := grouping.FromNames(byGroup)
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, grouping.PlacementGroups{Placement: placement, Groups: groups})
		}
		apart, err := grouping.Apart(parts...)
		if err != nil {
			t.Fatal(err)
		}
		again := slices.Clone(parts)
		for i := range again {
			again[i].Groups = apart[i]
			if all, at := apart[i].Parts(); at != i || len(all) != len(parts) {
				t.Fatalf("%d of %d parts is the %d. of %d", i, len(parts), at, len(all))
			}
		}
		if all, at := (*grouping.Groups)(nil).Parts(); all != nil || at != 0 {
			t.Fatalf("no groups are the %d. part of %v", at, all)
		}
		if diff := cmp.Diff(show(mustJoin(t, parts...)), show(mustJoin(t, again...))); diff != "" {
			t.Error(diff)
		}
	})
}

func ExampleApart() {
	web, err := grouping.FromNames(map[grouping.Key][]string{{Name: "eu"}: {"oslo", "rome"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	edge, err := grouping.FromNames(map[grouping.Key][]string{{Name: "all"}: {"lima", "rome"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	apart, err := grouping.Apart(
		grouping.PlacementGroups{Placement: "web", Groups: web},
		grouping.PlacementGroups{Placement: "edge", Groups: edge},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, groups := range apart {
		fmt.Println(groups)
	}
	// Output:
	// group 0 "eu": 2
	// group 0 "all": 1
}
