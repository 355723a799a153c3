// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/bitset"
	"github.com/cohort-ocm/cohort/status"
)

// Reading is what a pass through the reports found beside where the members stand.
type Reading struct {
	Deselected map[string]grouping.Key // the clusters that were deselected and count, with their groups

	reports []status.Report
	others  unselectedReports
	several map[string]status.Report // the members with several reports, each with the merged one; nil if there are none
}

// Read makes a table of reports (R1 to R7, R27), without its totals. It gives false if a report has no cluster.
func (r *Roster) Read(reports []status.Report, previous *Previous, now time.Time) (table Table, reading Reading, named bool) {
	n := r.NumClusters()
	table = Table{Roster: r, Now: now, Reports: NewReports(n), states: make([]State, n)}
	reading, named = Reading{reports: reports}, true
	for i := range reports {
		report := &reports[i]
		position, member := r.Position(report.Cluster)
		if !member || r.IsDeselected(position) {
			reading.others.add(i, len(reports))
		}
		switch {
		case report.Cluster == "":
			named = false
		case !member:
		case table.kinds[position] != KindNone:
			if reading.several == nil {
				reading.several = make(map[string]status.Report)
			}
			reading.several[report.Cluster] = status.Report{}
		default:
			if kind := KindOf(report); table.isPlain(kind, report) && !r.IsDeselected(position) {
				table.kinds[position], table.states[position] = kind, kind.State()
			} else {
				table.observe(position, report)
			}
		}
	}
	if !named {
		return table, reading, false
	}
	if reading.others.n > 0 || len(r.Record) > 0 {
		reading.Deselected, table.Departed = r.FindDeselected(previous, r.seen(reports, &reading.others, now), now)
	}
	table.merge(&reading)
	table.recall()
	table.freeze()
	return table, reading, true
}

// isPlain says whether no more than the kind of a report counts, since time changes nothing of it.
func (t *Table) isPlain(kind Kind, report *status.Report) bool {
	return len(t.Record) == 0 && t.Timeless.Has(kind) && report.Attempt == 0 && !report.Deleting && report.Reason == ""
}

// observe takes in the report of a member.
func (t *Table) observe(position Position, report *status.Report) {
	t.Note(position, ReportOf(report))
	t.states[position] = t.StateAt(position, t.Of(position), t.Now)
	t.say(position, MessageOf(report))
	if !report.Deleting {
		delete(t.Deleting, position) // one of several reports may have said so
		return
	}
	if t.Deleting == nil {
		t.Deleting = make(map[Position]bool)
	}
	t.Deleting[position] = true
}

// merge takes in what all reports of each cluster say that has several (R1).
func (t *Table) merge(reading *Reading) {
	if len(reading.several) == 0 {
		return
	}
	for _, report := range reading.reports {
		if merged, several := reading.several[report.Cluster]; several {
			if merged.Cluster != "" {
				report = status.Merge(merged, report)
			}
			reading.several[report.Cluster] = report
		}
	}
	for cluster, report := range reading.several {
		position, _ := t.Position(cluster)
		t.observe(position, &report)
	}
}

// recall lets what the record says count where the reports say less (R49).
func (t *Table) recall() {
	for cluster, entry := range t.Record {
		position, member := t.Position(cluster)
		if !member {
			continue
		}
		seen := Observation{t.Of(position), t.Deleting[position], !t.IsDeselected(position)}
		counts, recorded := t.Decide(cluster, seen)
		if !recorded {
			if start, is := t.ComesBack(position, counts, entry, t.Now); is {
				t.Departed = append(t.Departed, start)
			}
			continue
		}
		t.Note(position, counts)
		t.states[position] = t.StateAt(position, counts, t.Now)
		t.record(position, &seen)
		delete(t.says, position)
	}
}

// freeze lets the freezes of clusters count that were never reported.
func (t *Table) freeze() {
	if !t.Freezes.Any() {
		return
	}
	for position, is := range t.states {
		if is.IsWaiting() {
			t.states[position] = t.Freezes.StateOf(Position(position), is, t.Now)
		}
	}
}

// Sum makes the totals of a table, and gives the time until the next deadline, soak or freeze of a cluster ends. It is a separate pass,
// since that walks through memory in order, while the reports jump about.
func (t *Table) Sum() (recheck time.Duration) {
	tallies := make([]Tally, t.Graph.NumGroups())
	for i, is := range t.states {
		position := Position(i)
		tallies[t.GroupOf(position)].Add(is, 1)
		if (DatedStates | FrozenStates).Has(is) {
			recheck = Sooner(recheck, t.Left(position))
		}
	}
	t.Totals = t.sum(tallies, t.states)
	return recheck
}

// Sooner gives the smaller of two durations, where one that is not positive means never.
func Sooner(a, b time.Duration) time.Duration {
	switch {
	case a <= 0:
		return max(b, 0)
	case b <= 0:
		return a
	default:
		return min(a, b)
	}
}

// seen merges the reports of each cluster that is not selected and may count.
func (r *Roster) seen(reports []status.Report, others *unselectedReports, now time.Time) map[string]Observation {
	var merged map[string]status.Report
	for i := range reports {
		if others.n == 0 || !others.Has(i) {
			continue
		}
		if _, recorded := r.Record[reports[i].Cluster]; !recorded && !r.MayCount(ReportOf(&reports[i]), now) {
			continue
		}
		if merged == nil {
			merged = make(map[string]status.Report)
		}
		merged[reports[i].Cluster] = status.Report{}
	}
	if merged == nil {
		return nil
	}
	for i := range reports {
		if before, may := merged[reports[i].Cluster]; may && before.Cluster != "" {
			merged[reports[i].Cluster] = status.Merge(before, reports[i])
		} else if may {
			merged[reports[i].Cluster] = reports[i]
		}
	}
	all := make(map[string]Observation, len(merged))
	for cluster, report := range merged {
		all[cluster] = Observation{Report: ReportOf(&report), Deleting: report.Deleting}
	}
	return all
}

// Names stands for some clusters: how many, and the first by name.
type Names struct {
	N     int
	First string
}

// Add takes in a cluster.
func (names *Names) Add(cluster string) {
	if names.N++; names.N == 1 {
		names.First = cluster
	}
	names.First = min(names.First, cluster)
}

// Unselected collects the clusters that were reported and are not selected, in order, each once (R7), without those that another part
// removes (R50), and the ones among them that have an object which is not being deleted. It also gives the clusters with several reports.
func (r *Roster) Unselected(reading *Reading) (removed, there []string, merged Names) {
	for cluster := range reading.several {
		if position, _ := r.Position(cluster); !r.IsDeselected(position) {
			merged.Add(cluster)
		}
	}
	if reading.others.n == 0 {
		return nil, nil, merged
	}
	removed = make([]string, 0, reading.others.n)
	isDeleting := false
	for i := range reading.reports {
		if !reading.others.Has(i) {
			continue
		}
		if other, _ := Elsewhere(r.Groups, reading.reports[i].Cluster); !other {
			removed = append(removed, reading.reports[i].Cluster)
			isDeleting = isDeleting || reading.reports[i].Deleting
		}
	}
	slices.Sort(removed)
	for i := 1; i < len(removed); i++ {
		if removed[i] == removed[i-1] && (i == 1 || removed[i] != removed[i-2]) {
			merged.Add(removed[i])
		}
	}
	removed = slices.Compact(removed)
	if isDeleting {
		return removed, reading.notDeleting(removed), merged
	}
	return removed, removed, merged
}

// notDeleting gives those of the names, which are in order, that have an object which is not being deleted.
func (reading *Reading) notDeleting(names []string) []string {
	stays := make([]bool, len(names))
	for i := range reading.reports {
		if at, found := slices.BinarySearch(names, reading.reports[i].Cluster); found && reading.others.Has(i) && !reading.reports[i].Deleting {
			stays[at] = true
		}
	}
	there := make([]string, 0, len(names))
	for i, name := range names {
		if stays[i] {
			there = append(there, name)
		}
	}
	return there
}

// unselectedReports are the reports of clusters that are not selected, by their places in the list. They take memory once there is one.
type unselectedReports struct {
	bitset.Set
	n int
}

// add takes in the i-th report.
func (unselected *unselectedReports) add(i, reports int) {
	if unselected.n == 0 {
		unselected.Set = bitset.New(reports)
	}
	unselected.Add(i)
	unselected.n++
}
