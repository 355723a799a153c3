// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"cmp"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// rollback has what a rollout needs to roll back; nil for one that rolls forward (R43 to R45).
//
// For example, a has the failed version since 12:00, b has it since 11:00 and failed with it, c rolled back, and d has no
// workload. Then ranks is 2, 1, 0, 0, and absent is 1.
type rollback struct {
	stopAtBreach bool
	clusters     rollbackClusters
	ranks        []int32 // the turn of each position with the failed version, from 1; 0 for the others
	absent       int     // the selected clusters without any report
	deselected   deselectedInRollback
}

// in gives the same for groups with more clusters than those before.
func (back *rollback) in(groups, before *grouping.Groups) *rollback {
	if back == nil {
		return nil
	}
	moved := *back
	moved.clusters = make(rollbackClusters, groups.NumClusters())
	for position := range back.clusters {
		at, _ := groups.Position(before.Cluster(position))
		moved.clusters[at] = back.clusters[position]
	}
	return &moved
}

// isDeselected says of a cluster whether it left with the failed version. Nothing that is known of it is about the version before
// (R43).
func (back *rollback) isDeselected(cluster string) bool {
	if back == nil {
		return false
	}
	_, is := back.deselected[cluster]
	return is
}

// isTolerant says whether any number of clusters may fail (R45).
func (back *rollback) isTolerant() bool { return back != nil && !back.stopAtBreach }

// unreported counts the clusters that are left out and have no report.
func (back *rollback) unreported() int {
	if back == nil {
		return 0
	}
	return back.absent
}

// compare orders positions by their turn; 0 where neither has the failed version, as with clusters that are tried again
// (R44).
func (back *rollback) compare(one, other fleet.Position) int {
	if back == nil {
		return 0
	}
	turn := func(position fleet.Position) uint32 { return uint32(back.ranks[position] - 1) } // the others come last
	return cmp.Compare(turn(one), turn(other))
}

// deselectedInRollback says when clusters that left with the failed version began to roll back.
type deselectedInRollback map[string]time.Time

// rollbackClusters are the clusters that have the failed version, by position.
type rollbackClusters []rollbackCluster

// rollbackCluster is a cluster that has the failed version; the report is nil if it has not.
type rollbackCluster struct {
	report  *status.Report // the one that counts (R1)
	applied time.Time      // the latest of several; zero if unknown
}

func (clusters rollbackClusters) at(position int) bool { return clusters[position].report != nil }

// rank gives each holder its turn (R44).
func (back *rollback) rank(phases *fleet.Phases, order func(a, b string) int, now time.Time) {
	if back == nil {
		return
	}
	has := back.clusters
	turns := make([]int32, 0, len(has))
	failed := make([]bool, len(has))
	for position := range has {
		if has.at(position) {
			report := fleet.ReportOf(has[position].report)
			failed[position] = fleet.FailureStates.Has(phases.At(report.Kind, report.Since, now))
			turns = append(turns, int32(position))
		}
	}
	slices.SortFunc(turns, func(p, q int32) int {
		a, b := &has[p], &has[q]
		if failed[p] != failed[q] {
			return one(failed[q]) - one(failed[p])
		}
		if order != nil {
			if compared := order(a.report.Cluster, b.report.Cluster); compared != 0 {
				return compared
			}
		}
		return cmp.Or(compareLatest(a.applied, b.applied), cmp.Compare(p, q))
	})
	back.ranks = make([]int32, len(has))
	for i, position := range turns {
		back.ranks[position] = int32(i + 1)
	}
}

// compareLatest puts an unknown time first, then the latest.
func compareLatest(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return one(b.IsZero()) - one(a.IsZero())
	}
	return b.Compare(a)
}
