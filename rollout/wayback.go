package rollout

import (
	"cmp"
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// wayBack has what a rollout needs to go back; nil for one that goes on (R43 to R45).
//
// For example, a has the failed version since 12:00, b has it since 11:00 and failed with it, c went back, and d has no
// workload. Then ranks is 2, 1, 0, 0, and absent is 1.
type wayBack struct {
	stopAtBreach bool
	has          holders
	ranks        []int32 // the turn of each position with the failed version, from 1; 0 for the others
	absent       int     // the selected clusters without any report
	left         returning
}

// in gives the same for groups with more clusters than those before.
func (b *wayBack) in(groups, before *grouping.Groups) *wayBack {
	if b == nil {
		return nil
	}
	moved := *b
	moved.has = make(holders, groups.NumClusters())
	for position := range b.has {
		at, _ := groups.Position(before.Cluster(position))
		moved.has[at] = b.has[position]
	}
	return &moved
}

// isReturning says of a cluster whether it left with the failed version. Nothing that is known of it is about the version before
// (R43).
func (b *wayBack) isReturning(cluster string) bool {
	if b == nil {
		return false
	}
	_, is := b.left[cluster]
	return is
}

// isTolerant says whether any number of clusters may fail (R45).
func (b *wayBack) isTolerant() bool { return b != nil && !b.stopAtBreach }

// unreported counts the clusters that are left out and have no report.
func (b *wayBack) unreported() int {
	if b == nil {
		return 0
	}
	return b.absent
}

// compare orders positions by their turn; 0 where neither has the failed version, as with clusters that are tried again
// (R44).
func (b *wayBack) compare(p, q int32) int {
	if b == nil {
		return 0
	}
	turn := func(position int32) uint32 { return uint32(b.ranks[position] - 1) } // the others come last
	return cmp.Compare(turn(p), turn(q))
}

// turnRound gives the groups in the order of the way back (R44).
func (s *schedule) turnRound() []int32 {
	all := slices.Clone(s.order)
	if s.rules.typ == clusterv1alpha1.ProgressivePerGroup {
		slices.Reverse(all)
	} else {
		slices.Sort(all) // a pool, which has them by their index
	}
	return all
}

// newWayBack finds the clusters that have the failed version and those that went back already. It makes the reports
// with which the version before is rolled out to these alone (R43).
func newWayBack(groups *grouping.Groups, abort *Abort, o *options) (*wayBack, []status.Report) {
	has := findHolders(groups, abort.Failed)
	b := &wayBack{stopAtBreach: abort.StopAtBreach, has: has}
	reports := make([]status.Report, 0, max(len(abort.Before), len(abort.Failed), groups.NumClusters()))
	left := leftWith(groups, abort)
	b.left = left
	list := func(report status.Report) {
		if report.Status == status.Skip && report.Applied.IsZero() && o.standsIn(report.Cluster) {
			report.Status = status.ToApply // what the record says counts
		}
		reports = append(reports, report)
	}
	// A cluster gets as many reports as the list has that has more of them, so that several are noticed wherever they are.
	selected, gone := make([]listings, len(has)), make(map[string]listings)
	for _, report := range abort.Before {
		position, is := groups.Position(report.Cluster)
		if !is {
			gone[report.Cluster] = listings{before: gone[report.Cluster].before + 1}
			list(left.report(report, wentBack(&report, abort.Time)))
			continue
		}
		selected[position].before++
		switch {
		case has.at(position):
			list(goesBack(&report))
		case wentBack(&report, abort.Time):
			list(report)
		default:
			list(leftOut(report.Cluster))
		}
	}
	for _, report := range abort.Failed {
		position, is := groups.Position(report.Cluster)
		if !is {
			n := gone[report.Cluster]
			if n.another() {
				list(left.report(report, false))
			}
			gone[report.Cluster] = n
			continue
		}
		switch more := selected[position].another(); {
		case more && has.at(position):
			list(goesBack(&report))
		case more:
			list(leftOut(report.Cluster))
		}
	}
	for position := range selected {
		if selected[position] == (listings{}) && !o.standsIn(groups.Cluster(position)) {
			list(leftOut(groups.Cluster(position)))
			b.absent++
		}
	}
	return b, reports
}

// standsIn says whether an entry of the record stands in for the report of a cluster that has none (R49).
func (c *options) standsIn(cluster string) bool {
	e, known := c.memory.entry(cluster)
	if !known || c.isUncounted(cluster) {
		return false
	}
	if failureStates.has(e.kind) {
		return e.attempt >= c.attempt
	}
	return e.kind != onceStarted && e.kind != onceSucceeded && e.kind != succeeded
}

// leftWith says when clusters began to go back that are not selected and have the failed version: at the abort, or when they
// got it if that was later.
func leftWith(groups *grouping.Groups, abort *Abort) returning {
	since := make(returning)
	for i := range abort.Failed {
		r := &abort.Failed[i]
		if _, selected := groups.Position(r.Cluster); selected || !hasVersion(r) {
			continue
		}
		since[r.Cluster] = latest(since[r.Cluster], abort.Time.Round(0), r.Applied.Round(0))
	}
	return since
}

// returning says when clusters that left with the failed version began to go back.
type returning map[string]time.Time

// report gives what is reported of a cluster that is not selected (R43). Its object is to be deleted; until then it is in flight
// if it has the failed version, as reported if it went back, and otherwise left out.
func (g returning) report(r status.Report, wentBack bool) status.Report {
	since, has := g[r.Cluster]
	switch {
	case has:
		return status.Report{Cluster: r.Cluster, Status: status.Progressing, Applied: since, Deleting: r.Deleting}
	case wentBack:
		return r
	default:
		out := leftOut(r.Cluster)
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

// goesBack gives what is reported of a cluster that has the failed version, from a report about either version.
func goesBack(r *status.Report) status.Report {
	return status.Report{Cluster: r.Cluster, Status: status.ToApply, Deleting: r.Deleting}
}

// leftOut gives the report of a cluster that never had the failed version.
func leftOut(cluster string) status.Report {
	return status.Report{Cluster: cluster, Status: status.Skip}
}

// wentBack says whether a cluster has got the version before since the abort, from a report about that version (R43).
func wentBack(r *status.Report, aborted time.Time) bool {
	return !r.Applied.IsZero() && !isBefore(r.Applied.Round(0), aborted.Round(0))
}

// holders are the clusters that have the failed version, by position.
type holders []holder

// holder is a cluster that has the failed version; the report is nil if it has not.
type holder struct {
	report  *status.Report // the one that counts (R1)
	applied time.Time      // the latest of several; zero if nobody knows
}

func (has holders) at(position int) bool { return has[position].report != nil }

// findHolders finds the holders. Where several reports say that a cluster has the failed version, it merges them.
func findHolders(groups *grouping.Groups, failed []status.Report) holders {
	has := make(holders, groups.NumClusters())
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
func (b *wayBack) rank(s *schedule, now time.Time) {
	if b == nil {
		return
	}
	has := b.has
	turns := make([]int32, 0, len(has))
	failed := make([]bool, len(has))
	for position := range has {
		if has.at(position) {
			r := reportOf(has[position].report)
			failed[position] = failureStates.has(s.rules.at(r.kind, r.since, now))
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
