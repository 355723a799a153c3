// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
)

// newRollback finds the clusters that have the failed version and those that rolled back already. It makes the reports
// with which the version before is rolled out to these alone (R43).
func newRollback(groups *grouping.Groups, abort *Abort, options *options) (*rollback, []status.Report) {
	has := findRollbackClusters(groups, abort.Failed)
	rollback := &rollback{stopAtBreach: abort.StopAtBreach, clusters: has}
	reports := make([]status.Report, 0, max(len(abort.Before), len(abort.Failed), groups.NumClusters()))
	deselected := deselectedWith(groups, abort)
	rollback.deselected = deselected
	list := func(report status.Report) {
		if report.Status == status.Skip && report.Applied.IsZero() && options.standsIn(report.Cluster) {
			report.Status = status.ToApply // what the record says counts
		}
		reports = append(reports, report)
	}
	// A cluster gets as many reports as the list has that has more of them, so that several are noticed wherever they are.
	selected, unselected := make([]listings, len(has)), make(map[string]listings)
	for _, report := range abort.Before {
		position, is := groups.Position(report.Cluster)
		if !is {
			unselected[report.Cluster] = listings{before: unselected[report.Cluster].before + 1}
			list(deselected.report(report, rolledBack(&report, abort.Time)))
			continue
		}
		selected[position].before++
		switch {
		case has.at(position):
			list(rollsBack(&report))
		case rolledBack(&report, abort.Time):
			list(report)
		default:
			list(skipReport(report.Cluster))
		}
	}
	for _, report := range abort.Failed {
		position, is := groups.Position(report.Cluster)
		if !is {
			listed := unselected[report.Cluster]
			if listed.another() {
				list(deselected.report(report, false))
			}
			unselected[report.Cluster] = listed
			continue
		}
		switch more := selected[position].another(); {
		case more && has.at(position):
			list(rollsBack(&report))
		case more:
			list(skipReport(report.Cluster))
		}
	}
	for position := range selected {
		if selected[position] == (listings{}) && !options.standsIn(groups.Cluster(position)) {
			list(skipReport(groups.Cluster(position)))
			rollback.absent++
		}
	}
	return rollback, reports
}

// standsIn says whether an entry of the record stands in for the report of a cluster that has none (R49).
func (compiled *options) standsIn(cluster string) bool {
	entry, known := compiled.entries()[cluster]
	if !known || compiled.ignores(cluster) {
		return false
	}
	if entry.Kind.IsFailure() {
		return entry.Attempt >= compiled.attempt
	}
	return entry.Kind != fleet.KindOnceStarted && entry.Kind != fleet.KindOnceSucceeded && entry.Kind != fleet.KindSucceeded
}

// deselectedWith says when clusters began to roll back that are not selected and have the failed version: at the abort, or when they
// got it if that was later.
func deselectedWith(groups *grouping.Groups, abort *Abort) deselectedInRollback {
	since := make(deselectedInRollback)
	for i := range abort.Failed {
		report := &abort.Failed[i]
		if _, selected := groups.Position(report.Cluster); selected || !hasVersion(report) {
			continue
		}
		since[report.Cluster] = latest(since[report.Cluster], abort.Time.Round(0), report.Applied.Round(0))
	}
	return since
}

// report gives what is reported of a cluster that is not selected (R43). Its object is to be deleted; until then it is in flight
// if it has the failed version, as reported if it rolled back, and otherwise left out.
func (deselected deselectedInRollback) report(report status.Report, wentBack bool) status.Report {
	since, has := deselected[report.Cluster]
	switch {
	case has:
		return status.Report{Cluster: report.Cluster, Status: status.Progressing, Applied: since, Deleting: report.Deleting}
	case wentBack:
		return report
	default:
		out := skipReport(report.Cluster)
		out.Deleting = report.Deleting
		return out
	}
}

// listings says how often a cluster is in each of the two lists.
type listings struct{ before, failed int32 }

// another counts a report about the failed version, and says whether there are now more of these than of the others.
func (list *listings) another() bool {
	list.failed++
	return list.failed > list.before
}

// rollsBack gives what is reported of a cluster that has the failed version, from a report about either version.
func rollsBack(report *status.Report) status.Report {
	return status.Report{Cluster: report.Cluster, Status: status.ToApply, Deleting: report.Deleting}
}

// skipReport gives the report of a cluster that never had the failed version.
func skipReport(cluster string) status.Report {
	return status.Report{Cluster: cluster, Status: status.Skip}
}

// rolledBack says whether a cluster has got the version before since the abort, from a report about that version (R43).
func rolledBack(report *status.Report, aborted time.Time) bool {
	return !report.Applied.IsZero() && !isBefore(report.Applied.Round(0), aborted.Round(0))
}

// findRollbackClusters finds the holders. Where several reports say that a cluster has the failed version, it merges them.
func findRollbackClusters(groups *grouping.Groups, failed []status.Report) rollbackClusters {
	has := make(rollbackClusters, groups.NumClusters())
	for i := range failed {
		report := &failed[i]
		position, selected := groups.Position(report.Cluster)
		if !selected || !hasVersion(report) {
			continue
		}
		cluster := &has[position]
		if applied := report.Applied.Round(0); applied.After(cluster.applied) {
			cluster.applied = applied
		}
		if cluster.report != nil {
			merged := status.Merge(*cluster.report, *report)
			report = &merged
		}
		cluster.report = report
	}
	return has
}

// hasVersion says whether a cluster has the version that a report is about. A skipped cluster counts as not having it
// (R43).
func hasVersion(report *status.Report) bool {
	return report.Status != status.Skip && (report.Status != status.ToApply || !report.Applied.IsZero())
}
