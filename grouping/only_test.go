// SPDX-License-Identifier: Apache-2.0

package grouping_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
)

func mustFromNames(t rapid.TB, names map[grouping.Key][]string) *grouping.Groups {
	t.Helper()
	g, err := grouping.FromNames(names)
	if err != nil {
		t.Fatalf("FromNames: %v", err)
	}
	return g
}

// G14.
func TestFromNames(t *testing.T) {
	type names = map[grouping.Key][]string
	for _, test := range []struct {
		why   string
		names names
		want  string
	}{
		{"nothing", nil, ``},
		{"a set of clusters, in the order given", names{{}: {"b", "a"}}, `0:b a`},
		{"groups by index, then by name", names{{Index: 10}: {"d"}, {Index: 2, Name: "b"}: {"c"}, {Index: 2, Name: "a"}: {"b"}, {}: {"a"}},
			`0:a | 2 "a":b | 2 "b":c | 10:d`},
		{"a group without clusters", names{{Name: "canary"}: nil, {Index: 1}: {"a"}}, `0 "canary": | 1:a`},
	} {
		g := mustFromNames(t, test.names)
		if got := show(g); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
		if g.Incomplete() != "" || g.ClustersPerDecisionGroup() != 0 {
			t.Errorf("%s: says %q, %d clusters a group", test.why, g.Incomplete(), g.ClustersPerDecisionGroup())
		}
	}
}

// G14: every fault at once.
func TestFromNamesErrors(t *testing.T) {
	g, err := grouping.FromNames(map[grouping.Key][]string{
		{Index: -1}:              {"a", ""},
		{Index: 0, Name: "a b"}:  {"b", "a"},
		{Index: 1}:               {"c", "c", "c"},
		{Placement: "web"}:       nil,
		{Index: 2, Name: "fine"}: {"d"},
	})
	wantError(t, err,
		`names[an unknown group].index: Invalid value: -1: must not be negative`,
		`names[an unknown group][1]: Required value: must be the name of a cluster`,
		`names[group 0 of placement web].placement: Invalid value: "web": must be empty; Join sets it`,
		`names[group 0 "a b"].name: Invalid value: "a b": must be usable as the value of a label: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
		`clusters[a]: Duplicate value: "a"`,
		`clusters[c]: Duplicate value: "c"`)
	if g != nil {
		t.Errorf("groups beside the error: %v", g)
	}
	_, err = grouping.FromNames(map[grouping.Key][]string{{}: {"a"}, {Index: 1}: {"a"}})
	wantError(t, err, `clusters[a]: Duplicate value: "a"`)
}

// G14.
func TestOnly(t *testing.T) {
	placement := newPlacement(intstr.FromInt32(3))
	stored := decisions{decision("d-1", "0", "canary", "d b"), decision("d-2", "1", "", "c a"), decision("d-3", "2", "", "e")}
	stored[0].Status.Decisions[0].Score = 7
	stored[0].Status.Decisions[0].Reason = "closest"
	g, err := grouping.Read(placement, stored)
	if err != nil {
		t.Fatal(err)
	}
	in := func(names ...string) func(grouping.Key, string) bool {
		return func(_ grouping.Key, cluster string) bool { return slices.Contains(names, cluster) }
	}
	for _, test := range []struct {
		why  string
		got  *grouping.Groups
		want string
	}{
		{"some clusters", g.Only(in("a", "d")), `0 "canary":d | 1:a | 2:`},
		{"no cluster: groups stay", g.Only(in()), `0 "canary": | 1: | 2:`},
		{"all clusters", g.Only(in("a", "b", "c", "d", "e")), `0 "canary":d b | 1:c a | 2:e`},
		{"by group", g.Only(func(key grouping.Key, _ string) bool { return key.Name == "" }), `0 "canary": | 1:c a | 2:e`},
	} {
		if got := show(test.got); got != test.want {
			t.Errorf("%s: %s, want %s", test.why, got, test.want)
		}
		if test.got.Incomplete() != g.Incomplete() || test.got.ClustersPerDecisionGroup() != 3 {
			t.Errorf("%s: says %q, %d clusters a group", test.why, test.got.Incomplete(), test.got.ClustersPerDecisionGroup())
		}
	}
	key, d, ok := g.Only(in("d")).Find("d")
	if want := (clusterv1beta1.ClusterDecision{ClusterName: "d", Score: 7, Reason: "closest"}); !ok || d != want || key.Name != "canary" {
		t.Errorf("found %v %v %v, want %v", key, d, ok, want)
	}
	for _, none := range []*grouping.Groups{nil, {}} {
		if none.Only(in()).Len() != 0 {
			t.Error("groups out of nothing")
		}
	}
}

// G14: where all are kept, nothing is copied.
func TestOnlyOfAllIsTheSame(t *testing.T) {
	g := mustFromNames(t, map[grouping.Key][]string{{Name: "canary"}: {"a"}, {Index: 1}: {"b", "c"}})
	if g.Only(func(grouping.Key, string) bool { return true }) != g {
		t.Error("the groups were copied")
	}
}

// G14: iterating ends where the caller ends it.
func TestAllStops(t *testing.T) {
	g := mustFromNames(t, map[grouping.Key][]string{{}: {"a", "b"}, {Index: 1}: {"c"}})
	for stop := 1; stop <= 3; stop++ {
		seen := 0
		for range g.All() {
			if seen++; seen == stop {
				break
			}
		}
		if seen != stop {
			t.Errorf("saw %d, want %d", seen, stop)
		}
	}
	for range (*grouping.Groups)(nil).All() {
		t.Error("nil yields something")
	}
}

// G14: names there and back; restricting to what is kept is reading what is kept.
func TestPropertyRestrictingIsReadingWhatIsKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stored := drawStored(t)
		g := mustRead(t, stored...)
		names := map[grouping.Key][]string{}
		for i := range g.Len() {
			names[g.Key(i)] = nil
		}
		for key, d := range g.All() {
			names[key] = append(names[key], d.ClusterName)
		}
		if diff := cmp.Diff(show(g), show(mustFromNames(t, names))); diff != "" {
			t.Fatalf("from names (-read +made):\n%s", diff)
		}

		kept := rapid.IntRange(0, 1023).Draw(t, "clusters")
		keep := func(cluster string) bool {
			var id int
			if _, err := fmt.Sscanf(cluster, "c%d", &id); err != nil {
				t.Fatal(err)
			}
			return kept>>id&1 == 1
		}
		only := g.Only(func(key grouping.Key, cluster string) bool {
			if found, _, ok := g.Find(cluster); !ok || found != key {
				t.Fatalf("asked of %s in %v", cluster, key)
			}
			return keep(cluster)
		})

		var left decisions
		for _, d := range stored {
			d = d.DeepCopy()
			d.Status.Decisions = slices.DeleteFunc(d.Status.Decisions, func(c clusterv1beta1.ClusterDecision) bool {
				return c.ClusterName != "" && !keep(c.ClusterName)
			})
			left = append(left, d)
		}
		if want := mustRead(t, left...); !only.Equal(want) || differs(only.Changes(want)) {
			t.Fatalf("%s, want %s", show(only), show(want))
		}
	})
}
