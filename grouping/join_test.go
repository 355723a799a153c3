// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

func mustJoin(t rapid.TB, parts ...grouping.PlacementGroups) *grouping.Groups {
	t.Helper()
	g, err := grouping.Join(parts...)
	if err != nil {
		t.Fatalf("Join: %v", err)
	}
	return g
}

func TestJoin(t *testing.T) {
	web := grouping.PlacementGroups{Placement: "web", Groups: mustRead(t, decision("d-1", "0", "canary", "d b"), decision("d-2", "1", "", "a"))}
	db := grouping.PlacementGroups{Placement: "db", Groups: mustRead(t, decision("d-1", "0", "canary", "b"), decision("d-2", "2", "", "e c a"))}
	for _, test := range []struct {
		name  string // with the rule
		parts []grouping.PlacementGroups
		want  string
	}{
		{"R26 nothing", nil, ``},
		{"R26 one after the other; a cluster selected twice belongs to the first", []grouping.PlacementGroups{web, db},
			`0 "canary" of placement web:d b | 1 of placement web:a | 0 "canary" of placement db: | 2 of placement db:e c`},
		{"R26 the order given counts, not that of the names", []grouping.PlacementGroups{db, web},
			`0 "canary" of placement db:b | 2 of placement db:e c a | 0 "canary" of placement web:d | 1 of placement web:`},
		{"R26 one placement", []grouping.PlacementGroups{web}, `0 "canary" of placement web:d b | 1 of placement web:a`},
		{"R26 a placement without groups", []grouping.PlacementGroups{{Placement: "none"}, web, {Placement: "zero", Groups: &grouping.Groups{}}},
			`0 "canary" of placement web:d b | 1 of placement web:a`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := mustJoin(t, test.parts...)
			if diff := cmp.Diff(test.want, show(got)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}

	joined := mustJoin(t, web, db)
	if key, _, _ := joined.Find("c"); key != (grouping.Key{Index: 2, Placement: "db"}) {
		t.Errorf("c is in %v", key)
	}
	moves := mustJoin(t, db, web).Changes(joined).Moved
	if want := `[a: group 1 of placement web → group 2 of placement db b: group 0 "canary" of placement web → group 0 "canary" of placement db]`; fmt.Sprint(moves) != want {
		t.Errorf("moves are %v, want %s", moves, want)
	}
}

// R26: what can't be joined, and what can't be made of joined groups.
func TestJoinErrors(t *testing.T) {
	some := mustRead(t, decision("d-1", "0", "canary", "a"))
	joined := mustJoin(t, grouping.PlacementGroups{Placement: "web", Groups: some})
	const isJoined = `: Invalid value: "group 0 \"canary\" of placement web": must be groups of one placement, not joined ones`

	_, err := grouping.Join(grouping.PlacementGroups{Groups: some}, grouping.PlacementGroups{Placement: "web", Groups: joined}, grouping.PlacementGroups{Placement: "web"})
	wantError(t, err,
		"placements[0].placement: Required value: must be the name of the placement that the groups are of",
		"placements[web].groups"+isJoined,
		`placements[web]: Duplicate value: "web"`)

	placement := newPlacement(intstr.IntOrString{})
	_, err = joined.Decisions(placement)
	wantError(t, err, "groups"+isJoined)
	_, err = grouping.Divide(placement, nil, grouping.Options{Previous: joined})
	wantError(t, err, "previous"+isJoined)
}

// R26.
func TestPropertyJoiningGivesEachClusterToItsFirstPlacement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []grouping.PlacementGroups
		for i := range rapid.IntRange(0, 4).Draw(t, "placements") {
			placement, scores := drawPlacement(t)
			parts = append(parts, grouping.PlacementGroups{Placement: fmt.Sprintf("p%d", 9-i), Groups: mustDivide(t, placement, drawFleet(t, "clusters"), scores)})
		}
		// Group by group, cluster by cluster, what was not seen before.
		type row struct {
			key      grouping.Key
			clusters []clusterv1beta1.ClusterDecision
		}
		var want, got []row
		seen := map[string]bool{}
		for _, part := range parts {
			for i := range part.Groups.Len() {
				r := row{key: part.Groups.Key(i)}
				r.key.Placement = part.Placement
				for d := range part.Groups.Clusters(i) {
					if !seen[d.ClusterName] {
						r.clusters = append(r.clusters, d)
						seen[d.ClusterName] = true
					}
				}
				want = append(want, r)
			}
		}
		g := mustJoin(t, parts...)
		for i := range g.Len() {
			r := row{key: g.Key(i)}
			for d := range g.Clusters(i) {
				r.clusters = append(r.clusters, d)
				if key, found, ok := g.Find(d.ClusterName); !ok || key != r.key || found != d {
					t.Fatalf("Find(%s) = %v, %v, %v, want %v", d.ClusterName, key, found, ok, r.key)
				}
			}
			got = append(got, r)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
			t.Fatalf("groups (-want +got):\n%s", diff)
		}
		if g.NumClusters() != len(seen) {
			t.Fatalf("%d clusters, want %d", g.NumClusters(), len(seen))
		}
	})
}
