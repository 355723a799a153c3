// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/status"
)

// lost has a, which failed by the placement from and lost its work. The set has the placements prod and edge.
func lost(t *testing.T, from string) *hub {
	h := newHub(t)
	h.place("prod")
	h.place("edge")
	h.place(from, "a")
	h.create(ref("prod", atATime(1)), ref("edge", atATime(1)))
	h.wrote("create a")
	h.answer(status.Failed, "a")
	h.wrote("")
	h.place(from)
	h.wrote("") // recorded
	h.wrote("")
	h.clock = h.clock.Add(grace)
	h.wrote("delete a")
	return h
}

// recorded are the clusters in the record of a placement.
func (h *hub) recorded(placement string) (clusters []string) {
	h.t.Helper()
	records, err := status.RecordsOf(h.set())
	h.must(err)
	for _, left := range records[placement].Deselected {
		clusters = append(clusters, left.Cluster)
	}
	return clusters
}

// S13: a failed cluster counts after the set has named another placement, and after a restart.
func TestARecordOutlivesThePlacement(t *testing.T) {
	h := lost(t, "edge")
	h.place("other", "b")
	h.change(func(spec *workv1alpha1.ManifestWorkReplicaSetSpec) { spec.PlacementRefs[1].Name = "other" })
	h.wrote("")
	h.restart()
	h.wrote("")
	if left := h.recorded("other"); !slices.Equal(left, []string{"a"}) {
		t.Errorf("the record of the new placement has %q, and must have a", left)
	}
}

// S13: a cluster fails in one placement, loses its work, and joins another one. It gets nothing, until it is tried again.
// Each of the two placements counts the failure once.
func TestAFailedClusterDoesNotStartInAnotherPlacement(t *testing.T) {
	for _, way := range []struct{ from, to string }{{"edge", "prod"}, {"prod", "edge"}} {
		t.Run("from "+way.from+" to "+way.to, func(t *testing.T) {
			h := lost(t, way.from)
			for range 2 {
				h.place(way.to, "a", "b")
				h.wrote("")
				h.wrote("")
				if left := h.recorded(way.to); !slices.Equal(left, []string{"a"}) {
					t.Errorf("the record of %s has %q, and must have a", way.to, left)
				}
				h.restart()
			}
			h.annotate("cohort.open-cluster-management.io/retry", "1 of "+h.version())
			h.wrote("create a")
			h.answer(status.Succeeded, "a")
			h.wrote("create b")
			if left := append(h.recorded("prod"), h.recorded("edge")...); len(left) > 0 {
				t.Errorf("the records have %q, and a succeeded", left)
			}
		})
	}
}
