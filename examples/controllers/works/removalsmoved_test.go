// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"

	"github.com/cohort-ocm/cohort/status"
)

// R62: a cluster that failed moves to another placementRef, which has its failure in its record, too. When the set is deleted the
// cluster goes once, in the turn that it has in its new placement, also after a restart; no placement waits for it twice.
func TestAMovedClusterIsRemovedOnce(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		h := inOrder(t, 1)
		h.placeBy(1, "prod", "a", "b")
		h.placeBy(1, "test", "c", "d")
		h.rolledOut(ref("prod", groupByGroup), ref("test", groupByGroup))
		h.answer(status.Failed, "b")
		h.reconcile()
		h.placeBy(1, "prod", "a")
		h.placeBy(1, "test", "b", "c", "d")
		for range 3 {
			h.reconcile()
		}
		if !slices.Contains(h.left(), "b") {
			t.Fatalf("the records have %v, and must have b", h.left())
		}
		if restarts {
			h.restart()
		}
		h.deleted()
		for _, step := range []struct{ deleted, gone string }{{"delete a, delete d", "a"}, {"", "d"}, {"delete c", "c"}, {"delete b", "b"}} {
			h.wrote(step.deleted)
			h.letGo(step.gone)
		}
		h.wrote("")
		if !h.isGone() {
			t.Error("the set is still there")
		}
	}
}
