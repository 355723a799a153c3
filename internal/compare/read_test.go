// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	sdkv1beta1 "open-cluster-management.io/sdk-go/pkg/apis/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/grouping"
)

// Both sides read the same groups, added clusters and removed clusters from PlacementDecisions with the
// indexes 0, 1, 2 and so on.
func TestSameGroupsFromPlacementDecisions(t *testing.T) {
	for seed := range uint64(2_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		before, after := consecutive(randomGroups(r)), consecutive(randomGroups(r))
		tracker := newTracker(nil)
		previous := new(grouping.Groups)
		for _, groups := range [][]group{before, after} {
			decisions := stored(groups)
			read, err := grouping.Read(selection{}.placement(t, decisions), decisions)
			if err != nil {
				t.Fatal(err)
			}
			if missing := read.Incomplete(); missing != "" {
				t.Fatalf("seed %d: incomplete: %s", seed, missing)
			}
			var added, removed []string
			tracker, added, removed = follow(t, tracker, decisions)
			if ours, theirs := ourGroups(read), theirGroups(tracker); ours != theirs {
				t.Fatalf("seed %d: cohort has %s, sdk-go has %s", seed, ours, theirs)
			}
			changes := read.Changes(previous)
			if !slices.Equal(changes.Added, added) || !slices.Equal(changes.Removed, removed) {
				t.Fatalf("seed %d: cohort added %q and removed %q, sdk-go %q and %q", seed, changes.Added, changes.Removed, added, removed)
			}
			previous = read
		}
	}
}

// consecutive numbers the groups anew.
func consecutive(groups []group) []group {
	for i := range groups {
		groups[i].key.Index = int32(i)
	}
	return groups
}

// follow gives a tracker that knew what the given one knows and has then read decisions, with what it says
// has changed.
func follow(tb testing.TB, tracker *sdkv1beta1.PlacementDecisionClustersTracker, decisions lister) (next *sdkv1beta1.PlacementDecisionClustersTracker, added, removed []string) {
	tb.Helper()
	next = sdkv1beta1.NewPlacementDecisionClustersTrackerWithGroups(&clusterv1beta1.Placement{}, decisions, tracker.ExistingClusterGroupsBesides())
	a, r, err := next.GetClusterChanges()
	if err != nil {
		tb.Fatal(err)
	}
	return next, slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(r))
}

func ourGroups(groups *grouping.Groups) string {
	var all []string
	for i := range groups.Len() {
		var names []string
		for d := range groups.Clusters(i) {
			names = append(names, d.ClusterName)
		}
		slices.Sort(names)
		all = append(all, fmt.Sprintf("%d%s(%s)", groups.Key(i).Index, groups.Key(i).Name, strings.Join(names, " ")))
	}
	return strings.Join(all, " ")
}

func theirGroups(tracker *sdkv1beta1.PlacementDecisionClustersTracker) string {
	groups := tracker.ExistingClusterGroupsBesides()
	var all []string
	for _, key := range groups.GetOrderedGroupKeys() {
		names := slices.Sorted(maps.Keys(groups[key]))
		all = append(all, fmt.Sprintf("%d%s(%s)", key.GroupIndex, key.GroupName, strings.Join(names, " ")))
	}
	return strings.Join(all, " ")
}

// PlacementDecisions that both sides read differently, with what each makes of them. Where a cluster is in
// two groups or an index has two names, what the reference says depends on the order of a Go map.
func TestDifferencesFromPlacementDecisions(t *testing.T) {
	for _, tt := range []struct {
		why    string
		index  []string
		groups []group
		ours   string
		theirs []string
	}{
		{
			why:    "G10: indexes may have gaps",
			index:  []string{"0", "2", "3"},
			groups: []group{{clusters: []string{"a"}}, {clusters: []string{"b"}}, {clusters: []string{"c"}}},
			ours:   "0(a) 2(b) 3(c)",
			theirs: []string{"0(a) 2(b)"},
		}, {
			why:    "G10: while labels are rewritten an index may have two names",
			index:  []string{"0", "0"},
			groups: []group{{grouping.Key{Name: "x"}, []string{"a"}}, {grouping.Key{Name: "y"}, []string{"b"}}},
			ours:   "0x(a) 0y(b)",
			theirs: []string{"0x(a)", "0y(b)"},
		}, {
			why:    "G11: while an update is under way a cluster may stand in two groups",
			index:  []string{"0", "1"},
			groups: []group{{clusters: []string{"a", "b"}}, {clusters: []string{"b", "c"}}},
			ours:   "0(a b) 1(c)",
			theirs: []string{"0(a b) 1(b c)"},
		}, {
			why:    "G11: a decision without a cluster is a slot that is not scheduled yet",
			index:  []string{"0"},
			groups: []group{{clusters: []string{"a", ""}}},
			ours:   "0(a)",
			theirs: []string{"0( a)"},
		}, {
			why:    "G10: an index is never negative",
			index:  []string{"-1"},
			groups: []group{{clusters: []string{"a"}}},
			ours:   "0(a), incomplete",
			theirs: []string{""},
		}, {
			why:    "G10: an index is an int32, and 2^32 is not 0",
			index:  []string{"4294967296"},
			groups: []group{{clusters: []string{"a"}}},
			ours:   "0(a), incomplete",
			theirs: []string{"0(a)"},
		}, {
			why:    "G10: without the label an object is of group 0",
			index:  []string{"none"},
			groups: []group{{clusters: []string{"a"}}},
			ours:   "0(a)",
			theirs: []string{"error"},
		}, {
			why:    "G10: an empty label is no index",
			index:  []string{""},
			groups: []group{{clusters: []string{"a"}}},
			ours:   "0(a), incomplete",
			theirs: []string{"error"},
		},
	} {
		t.Run(tt.why, func(t *testing.T) {
			decisions := stored(tt.groups)
			for i, index := range tt.index {
				decisions[i].Labels[clusterv1beta1.DecisionGroupIndexLabel] = index
				if index == "none" {
					delete(decisions[i].Labels, clusterv1beta1.DecisionGroupIndexLabel)
				}
			}
			ours, theirs := "error", "error"
			if groups, err := grouping.Read(nil, decisions); err == nil {
				if ours = ourGroups(groups); groups.Incomplete() != "" {
					ours += ", incomplete"
				}
			}
			tracker := newTracker(decisions)
			if err := tracker.Refresh(); err == nil {
				theirs = theirGroups(tracker)
			}
			if ours != tt.ours {
				t.Errorf("cohort reads %q, want %q", ours, tt.ours)
			}
			if !slices.Contains(tt.theirs, theirs) {
				t.Errorf("sdk-go reads %q, want one of %q", theirs, tt.theirs)
			}
		})
	}
}
