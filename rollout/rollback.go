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
func (b *rollback) in(groups, before *grouping.Groups) *rollback {
	if b == nil {
		return nil
	}
	moved := *b
	moved.clusters = make(rollbackClusters, groups.NumClusters())
	for position := range b.clusters {
		at, _ := groups.Position(before.Cluster(position))
		moved.clusters[at] = b.clusters[position]
	}
	return &moved
}

// isDeselected says of a cluster whether it left with the failed version. Nothing that is known of it is about the version before
// (R43).
func (b *rollback) isDeselected(cluster string) bool {
	if b == nil {
		return false
	}
	_, is := b.deselected[cluster]
	return is
}

// isTolerant says whether any number of clusters may fail (R45).
func (b *rollback) isTolerant() bool { return b != nil && !b.stopAtBreach }

// unreported counts the clusters that are left out and have no report.
func (b *rollback) unreported() int {
	if b == nil {
		return 0
	}
	return b.absent
}

// compare orders positions by their turn; 0 where neither has the failed version, as with clusters that are tried again
// (R44).
func (b *rollback) compare(p, q fleet.Position) int {
	if b == nil {
		return 0
	}
	turn := func(position fleet.Position) uint32 { return uint32(b.ranks[position] - 1) } // the others come last
	return cmp.Compare(turn(p), turn(q))
}

// newRollback finds the clusters that have the failed version and those that rolled back already. It makes the reports
// with which the version before is rolled out to these alone (R43).
func newRollback(groups *grouping.Groups, abort *Abort, o *options) (*rollback, []status.Report) {
	has := findRollbackClusters(groups, abort.Failed)
	b := &rollback{stopAtBreach: abort.StopAtBreach, clusters: has}
	reports := make([]status.Report, 0, max(len(abort.Before), len(abort.Failed), groups.NumClusters()))
	deselected := deselectedWith(groups, abort)
	b.deselected = deselected
	list := func(report status.Report) {
		if report.Status == status.Skip && report.Applied.IsZero() && o.standsIn(report.Cluster) {
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
			n := unselected[report.Cluster]
			if n.another() {
				list(deselected.report(report, false))
			}
			unselected[report.Cluster] = n
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
		if selected[position] == (listings{}) && !o.standsIn(groups.Cluster(position)) {
			list(skipReport(groups.Cluster(position)))
			b.absent++
		}
	}
	return b, reports
}

// standsIn says whether an entry of the record stands in for the report of a cluster that has none (R49).
func (c *options) standsIn(cluster string) bool {
	e, known := c.entries()[cluster]
	if !known || c.ignores(cluster) {
		return false
	}
	if e.Kind.IsFailure() {
		return e.Attempt >= c.attempt
	}
	return e.Kind != fleet.KindOnceStarted && e.Kind != fleet.KindOnceSucceeded && e.Kind != fleet.KindSucceeded
}

// deselectedWith says when clusters began to roll back that are not selected and have the failed version: at the abort, or when they
// got it if that was later.
func deselectedWith(groups *grouping.Groups, abort *Abort) deselectedInRollback {
	since := make(deselectedInRollback)
	for i := range abort.Failed {
		r := &abort.Failed[i]
		if _, selected := groups.Position(r.Cluster); selected || !hasVersion(r) {
			continue
		}
		since[r.Cluster] = latest(since[r.Cluster], abort.Time.Round(0), r.Applied.Round(0))
	}
	return since
}

// deselectedInRollback says when clusters that left with the failed version began to roll back.
type deselectedInRollback map[string]time.Time

// report gives what is reported of a cluster that is not selected (R43). Its object is to be deleted; until then it is in flight
// if it has the failed version, as reported if it rolled back, and otherwise left out.
func (g deselectedInRollback) report(r status.Report, wentBack bool) status.Report {
	since, has := g[r.Cluster]
	switch {
	case has:
		return status.Report{Cluster: r.Cluster, Status: status.Progressing, Applied: since, Deleting: r.Deleting}
	case wentBack:
		return r
	default:
		out := skipReport(r.Cluster)
		out.Deleting = r.Deleting
		return out
	}
}

func latest(times ...time.Time) (t time.Time) {
	for _, other := range times {
		if other.After(t) {
			t = other
		}
	}
	return t
}

// listings says how often a cluster is in each of the two lists.
type listings struct{ before, failed int32 }

// another counts a report about the failed version, and says whether there are now more of these than of the others.
func (n *listings) another() bool {
	n.failed++
	return n.failed > n.before
}

// rollsBack gives what is reported of a cluster that has the failed version, from a report about either version.
func rollsBack(r *status.Report) status.Report {
	return status.Report{Cluster: r.Cluster, Status: status.ToApply, Deleting: r.Deleting}
}

// skipReport gives the report of a cluster that never had the failed version.
func skipReport(cluster string) status.Report {
	return status.Report{Cluster: cluster, Status: status.Skip}
}

// rolledBack says whether a cluster has got the version before since the abort, from a report about that version (R43).
func rolledBack(r *status.Report, aborted time.Time) bool {
	return !r.Applied.IsZero() && !isBefore(r.Applied.Round(0), aborted.Round(0))
}

// rollbackClusters are the clusters that have the failed version, by position.
type rollbackClusters []rollbackCluster

// rollbackCluster is a cluster that has the failed version; the report is nil if it has not.
type rollbackCluster struct {
	report  *status.Report // the one that counts (R1)
	applied time.Time      // the latest of several; zero if unknown
}

func (has rollbackClusters) at(position int) bool { return has[position].report != nil }

// findRollbackClusters finds the holders. Where several reports say that a cluster has the failed version, it merges them.
func findRollbackClusters(groups *grouping.Groups, failed []status.Report) rollbackClusters {
	has := make(rollbackClusters, groups.NumClusters())
	for i := range failed {
		report := &failed[i]
		position, selected := groups.Position(report.Cluster)
		if !selected || !hasVersion(report) {
			continue
		}
		h := &has[position]
		if applied := report.Applied.Round(0); applied.After(h.applied) {
			h.applied = applied
		}
		if h.report != nil {
			merged := status.Merge(*h.report, *report)
			report = &merged
		}
		h.report = report
	}
	return has
}

// hasVersion says whether a cluster has the version that a report is about. A skipped cluster counts as not having it
// (R43).
func hasVersion(r *status.Report) bool {
	return r.Status != status.Skip && (r.Status != status.ToApply || !r.Applied.IsZero())
}

// rank gives each holder its turn (R44).
func (b *rollback) rank(s *schedule, now time.Time) {
	if b == nil {
		return
	}
	has := b.clusters
	turns := make([]int32, 0, len(has))
	failed := make([]bool, len(has))
	for position := range has {
		if has.at(position) {
			r := fleet.ReportOf(has[position].report)
			failed[position] = fleet.FailureStates.Has(s.Phases.At(r.Kind, r.Since, now))
			turns = append(turns, int32(position))
		}
	}
	slices.SortFunc(turns, func(p, q int32) int {
		a, b := &has[p], &has[q]
		if failed[p] != failed[q] {
			return one(failed[q]) - one(failed[p])
		}
		if order := s.options.order; order != nil {
			if c := order(a.report.Cluster, b.report.Cluster); c != 0 {
				return c
			}
		}
		return cmp.Or(compareLatest(a.applied, b.applied), cmp.Compare(p, q))
	})
	b.ranks = make([]int32, len(has))
	for i, position := range turns {
		b.ranks[position] = int32(i + 1)
	}
}

// compareLatest puts an unknown time first, then the latest.
func compareLatest(a, b time.Time) int {
	if a.IsZero() != b.IsZero() {
		return one(b.IsZero()) - one(a.IsZero())
	}
	return b.Compare(a)
}
