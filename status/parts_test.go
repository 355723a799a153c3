// SPDX-License-Identifier: Apache-2.0

package status_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// recorded has clusters with a status, in group 3 of their placement.
func recorded(of status.RolloutStatus, clusters ...string) (all []status.DeselectedCluster) {
	for _, cluster := range clusters {
		all = append(all, status.DeselectedCluster{Report: status.Report{Cluster: cluster, Status: of}, Group: grouping.Key{Index: 3}})
	}
	return all
}

// partsNamed are placements without clusters.
func partsNamed(names ...string) (parts []grouping.PlacementGroups) {
	for _, name := range names {
		parts = append(parts, grouping.PlacementGroups{Placement: name})
	}
	return parts
}

// S13: the records of former placements of this version and attempt are part of the last one's.
func TestRecordsOfFormerPlacements(t *testing.T) {
	left := func(clusters ...string) []status.DeselectedCluster { return recorded(status.TimeOut, clusters...) }
	breached := []status.Breached{{AllGroups: true, Of: 3, Clusters: []string{"a"}}}
	for name, test := range map[string]struct{ former, last, want status.Record }{
		"only the former":         {former: status.Record{Version: "v1", Deselected: left("a")}, want: status.Record{Version: "v1", Deselected: left("a")}},
		"of another version":      {former: status.Record{Version: "old", Deselected: left("a")}},
		"the last of another one": {status.Record{Version: "v1", Deselected: left("a")}, status.Record{Version: "old", Deselected: left("b")}, status.Record{Version: "v1", Deselected: left("a")}},
		"of an attempt before":    {status.Record{Version: "v1", Deselected: left("a")}, status.Record{Version: "v1", Attempt: 1, Deselected: left("b")}, status.Record{Version: "v1", Attempt: 1, Deselected: left("b")}},
		"of a later attempt":      {status.Record{Version: "v1", Attempt: 1, Deselected: left("a")}, status.Record{Version: "v1", Deselected: left("b")}, status.Record{Version: "v1", Attempt: 1, Deselected: left("a")}},
		"both":                    {status.Record{Version: "v1", Deselected: left("a", "c"), Exposed: 2, More: 1, Breached: breached}, status.Record{Version: "v1", Deselected: left("b", "c"), Exposed: 1}, status.Record{Version: "v1", Deselected: left("a", "b", "c"), Exposed: 3, More: 1, Breached: breached}},
		"a failure that started":  {status.Record{Version: "v1", Deselected: left("a")}, status.Record{Version: "v1", Deselected: recorded(status.Skip, "a")}, status.Record{Version: "v1", Deselected: left("a")}},
		"a start that failed":     {status.Record{Version: "v1", Deselected: recorded(status.Skip, "a")}, status.Record{Version: "v1", Deselected: left("a")}, status.Record{Version: "v1", Deselected: left("a")}},
	} {
		t.Run(name, func(t *testing.T) {
			got := status.Records{"former": test.former, "edge": test.last}.Of("v1", partsNamed("fleet", "edge")...)
			want := status.Records{"fleet": {}, "edge": test.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error("the records differ (-want +got):", diff)
			}
		})
	}
}

// S13: without placements there are no records.
func TestRecordsOfNoPlacement(t *testing.T) {
	if got := (status.Records{"former": {Version: "v1", Deselected: recorded(status.TimeOut, "a")}}).Of("v1"); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// S13: a failure of a cluster that another placement selects now counts there, too, in the group of the cluster. Neither
// argument is changed.
func TestRecordsOfMovedClusters(t *testing.T) {
	in := func(group int32, of status.RolloutStatus, cluster string) status.DeselectedCluster {
		return status.DeselectedCluster{Report: status.Report{Cluster: cluster, Status: of}, Group: grouping.Key{Index: group}}
	}
	record := func(left ...status.DeselectedCluster) status.Record {
		return status.Record{Version: "v1", Deselected: left}
	}
	groups := func(names map[grouping.Key][]string) *grouping.Groups {
		groups, err := grouping.FromNames(names)
		if err != nil {
			t.Fatal(err)
		}
		return groups
	}
	parts := []grouping.PlacementGroups{
		{Placement: "fleet", Groups: groups(map[grouping.Key][]string{{Index: 0}: {"x"}, {Index: 1}: {"a"}})},
		{Placement: "edge", Groups: groups(map[grouping.Key][]string{{Index: 0}: {"b"}})},
	}
	for name, test := range map[string]struct{ stored, want status.Records }{
		"to an earlier placement": {
			status.Records{"edge": record(in(3, status.Failed, "a"))},
			status.Records{"fleet": record(in(1, status.Failed, "a")), "edge": record(in(3, status.Failed, "a"))},
		},
		"to a later placement": {
			status.Records{"fleet": record(in(3, status.TimeOut, "b"))},
			status.Records{"fleet": record(in(3, status.TimeOut, "b")), "edge": record(in(0, status.TimeOut, "b"))},
		},
		"from a former placement": {
			status.Records{"former": record(in(3, status.TimeOut, "a"))},
			status.Records{"fleet": record(in(1, status.TimeOut, "a")), "edge": record(in(3, status.TimeOut, "a"))},
		},
		"back to its placement": { // it has failed there anyway
			status.Records{"fleet": record(in(3, status.TimeOut, "a"))},
			status.Records{"fleet": record(in(3, status.TimeOut, "a")), "edge": {}},
		},
		"known in both": { // once in each
			status.Records{"fleet": record(in(1, status.TimeOut, "a")), "edge": record(in(3, status.Failed, "a"))},
			status.Records{"fleet": record(in(1, status.TimeOut, "a")), "edge": record(in(3, status.Failed, "a"))},
		},
		"it had started in the new one": {
			status.Records{"fleet": record(in(2, status.Skip, "a"), in(0, status.Skip, "z")), "edge": record(in(3, status.Failed, "a"))},
			status.Records{"fleet": record(in(1, status.Failed, "a"), in(0, status.Skip, "z")), "edge": record(in(3, status.Failed, "a"))},
		},
		"not a failure": {
			status.Records{"edge": record(in(3, status.Skip, "a"), in(3, status.Succeeded, "x"))},
			status.Records{"fleet": {}, "edge": record(in(3, status.Skip, "a"), in(3, status.Succeeded, "x"))},
		},
		"of another version": {
			status.Records{"edge": {Version: "old", Deselected: recorded(status.Failed, "a")}},
			status.Records{"fleet": {}, "edge": {Version: "old", Deselected: recorded(status.Failed, "a")}},
		},
		"selected by none": {
			status.Records{"edge": record(in(3, status.Failed, "q"))},
			status.Records{"fleet": {}, "edge": record(in(3, status.Failed, "q"))},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := maps.Clone(test.stored)
			for placement, record := range before {
				before[placement] = *record.DeepCopy()
			}
			if diff := cmp.Diff(test.want, test.stored.Of("v1", parts...)); diff != "" {
				t.Error("the records differ (-want +got):", diff)
			}
			if diff := cmp.Diff(before, test.stored); diff != "" {
				t.Error("the stored records have changed:", diff)
			}
		})
	}
}
