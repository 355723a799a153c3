// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"strings"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// Next says what a controller has to act upon now. It is a part of the [Result] of [Plan], and [Planner.Next] gives it
// alone.
type Next struct {
	// Start has the waiting clusters to give the workload to now. Clusters that are reported ToApply come before those
	// never reported; both are in the order of their names unless [Options].Order says otherwise.
	Start []Cluster `json:"start,omitempty"`
	// TimedOut has the clusters whose progress deadline has passed and that are not reported TimeOut, in the order of
	// their names.
	TimedOut []Cluster `json:"timedOut,omitempty"`
	// Removed has the names of the clusters to remove, in order: they were reported and are not selected, and their objects are
	// not being deleted yet. It is empty while the groups are incomplete, and where there are more than [Options].MaxRemoved
	// allows.
	Removed []string `json:"removed,omitempty"`
	// PendingRemoval has the names of the clusters whose removal is pending, in order: they were reported and are not selected, and
	// [Options].RemoveAfter gives them time, or the record does not have yet what [StoredRecord] asks for.
	PendingRemoval []string `json:"pendingRemoval,omitempty"`
	// Deselected has the clusters that are not selected any more and still count, in the order of their names: they have the version
	// and are in flight, or they failed. They take slots and are in budgets as if they were selected. To ignore one, name it in [Options].Ignored.
	Deselected []Cluster `json:"deselected,omitempty"`
	// Record is what the owner has to store, with [Options].StoredRecord. It is zero without it.
	Record status.Record `json:"record,omitzero"`

	// Breach is the budget that is breached, so that nothing starts; nil if none is.
	Breach *Breach `json:"breach,omitempty"`
	// Warnings say what has no effect and what is uncertain.
	Warnings []Warning `json:"warnings,omitempty"`
	// RecheckAfter is how long until something changes by time alone: a deadline or a soak ends, a gate opens, a wait ends,
	// [Options].MaxStarts allows another start, or the record delays a removal no longer. It is 0 if nothing will, and so fits RequeueAfter, which controller-runtime
	// ignores beside an error.
	RecheckAfter time.Duration `json:"recheckAfter,omitempty"`
	// Counts counts the clusters that count by their state, with the deselected ones ([Next].Deselected).
	Counts status.Counts `json:"counts"`
}

// String is what to do in a line: `starting c; timed out a; 1 of 3 clusters done, 1 not started; recheck after 9m0s`.
func (next Next) String() string {
	parts := next.actions(nil)
	if next.Breach != nil {
		parts = append(parts, next.Breach.String())
	}
	counts := next.Counts.String()
	if len(next.Start) > 0 {
		counts = "before that " + counts
	}
	parts = append(parts, counts)
	return strings.Join(next.appendRecheck(parts), "; ")
}
