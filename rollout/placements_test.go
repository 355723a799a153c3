// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// apartOf takes placements apart that select these clusters. Incomplete ones lack the clusters of theirs that were not
// read.
func apartOf(t fataler, selected [][]string, incomplete []bool) []*grouping.Groups {
	t.Helper()
	placements := make([]grouping.PlacementGroups, len(selected))
	for i, names := range selected {
		placements[i] = grouping.PlacementGroups{Placement: string(rune('p' + i)), Groups: selecting(t, incomplete[i], names...)}
	}
	parts, err := grouping.Apart(placements...)
	if err != nil {
		t.Fatal(err)
	}
	return parts
}

// removedOf plans each part with the reports that of gives it, and says which clusters are removed.
func removedOf(t fataler, parts []*grouping.Groups, clusters []string, of func(part int, cluster string) bool) []string {
	t.Helper()
	var removed []string
	for i, groups := range parts {
		var reports []status.Report
		for _, cluster := range clusters {
			if of(i, cluster) {
				reports = append(reports, status.Report{Cluster: cluster, Status: status.Succeeded, LastTransitionTime: now})
			}
		}
		r, err := rollout.Plan(clusterv1alpha1.RolloutStrategy{Type: clusterv1alpha1.All}, groups, reports, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		removed = append(removed, r.Removed...)
	}
	return removed
}

// G15, R28: with reports divided as documented, nothing is removed while any part is incomplete. If all are complete, the
// clusters that are selected nowhere are removed, and no others. Planners that are told of each move say the same.
func TestReportsDividedAmongParts(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e"}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3).Draw(t, "placements")
		planners, owner := make([]*rollout.Planner, n), map[string]int{}
		for i := range planners {
			planners[i] = &rollout.Planner{}
		}
		for range 4 {
			selected, incomplete := make([][]string, n), make([]bool, n)
			var want []string
			for i := range selected {
				incomplete[i] = rapid.IntRange(0, 3).Draw(t, "incomplete") == 0
				selected[i] = slices.DeleteFunc(slices.Clone(all), func(string) bool { return rapid.Bool().Draw(t, "elsewhere") })
			}
			if !slices.Contains(incomplete, true) {
				want = slices.DeleteFunc(slices.Clone(all), func(cluster string) bool { return slices.Contains(slices.Concat(selected...), cluster) })
			}
			parts := apartOf(t, selected, incomplete)

			if got := removedOf(t, parts, all, func(part int, cluster string) bool { return partOf(cluster, parts) == part }); !slices.Equal(got, want) {
				t.Fatalf("of %v (incomplete: %v) Plan removes %v, want %v", selected, incomplete, got, want)
			}

			for i, planner := range planners {
				planner.SetGroups(parts[i])
			}
			for _, cluster := range all {
				part := partOf(cluster, parts)
				if before, known := owner[cluster]; known && before != part {
					planners[before].Forget(cluster)
				}
				owner[cluster] = part
				if err := planners[part].Report(status.Report{Cluster: cluster, Status: status.Succeeded, LastTransitionTime: now}); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, planner := range planners {
				got = append(got, planner.Next(now).Removed...)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("of %v (incomplete: %v) the planners remove %v, want %v", selected, incomplete, got, want)
			}
		}
	})
}

// R50: parts know each other, so all reports may go to each part. Nothing is removed that a part selects or may select, and one
// part removes those that no part selects.
func TestAllReportsToEachPart(t *testing.T) {
	all := []string{"a", "b", "c"}
	for _, test := range []struct {
		name       string
		selected   [][]string
		incomplete []bool
		want       []string
	}{
		{"each cluster has a part", [][]string{{"a", "c"}, {"b"}}, []bool{false, false}, nil},
		{"two parts select it", [][]string{{"a", "b", "c"}, {"a", "b"}}, []bool{false, false}, nil},
		{"no part selects it", [][]string{{"a"}, {"b"}}, []bool{false, false}, []string{"c"}},
		{"the later part is incomplete", [][]string{{"a"}, nil}, []bool{false, true}, nil},
		{"the first part is incomplete", [][]string{{}, {"b"}}, []bool{true, false}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := apartOf(t, test.selected, test.incomplete)
			if got := removedOf(t, parts, all, func(int, string) bool { return true }); !slices.Equal(got, test.want) {
				t.Errorf("removed %v, want %v", got, test.want)
			}
		})
	}
}

// partOf says which part selects a cluster, or else the last.
func partOf(cluster string, parts []*grouping.Groups) int {
	part := slices.IndexFunc(parts, func(groups *grouping.Groups) bool {
		_, selected := groups.Position(cluster)
		return selected
	})
	if part < 0 {
		return len(parts) - 1
	}
	return part
}

// R50: of a single placement taken apart, a cluster that is not selected and still counts belongs to no other part, also when its group is unknown.
func TestASinglePartIsLikeGroupsThatWereNotTakenApart(t *testing.T) {
	groups := selecting(t, false, "a", "b")
	parts := apartOf(t, [][]string{{"a", "b"}}, []bool{false})
	var said []string
	for _, g := range []*grouping.Groups{groups, parts[0]} {
		previous, err := rollout.Plan(progressive("1", config("", "10m", 0)), g, nil, now, rollout.Options{})
		if err != nil {
			t.Fatal(err)
		}
		reports := []status.Report{{Cluster: "stranger", Status: status.Progressing, LastTransitionTime: now}}
		r, err := rollout.Plan(progressive("1", config("", "10m", 0)), g, reports, now, rollout.Options{Previous: previous})
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, r.String())
	}
	const want = "removing the workload from stranger; 2 clusters blocked: the concurrency limit is reached (1 of 1 in flight): stranger (deselected) is progressing and times out at 2026-11-21T12:10:00Z; recheck after 10m0s"
	if said[0] != want || said[1] != want {
		t.Errorf("%q", said)
	}
}
