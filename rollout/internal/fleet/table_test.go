// SPDX-License-Identifier: Apache-2.0

package fleet_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// drawRoster draws up to three groups, one after the other, of up to four clusters each, with ignored, frozen and failed ones.
func drawRoster(t *rapid.T) (*fleet.Roster, []string) {
	names, groups := []string(nil), make(map[grouping.Key][]string)
	for group := range rapid.IntRange(1, 3).Draw(t, "groups") {
		for range rapid.IntRange(1, 4).Draw(t, "clusters") {
			name := fmt.Sprintf("%c%d", 'a'+rapid.IntRange(0, 9).Draw(t, "letter"), len(names))
			names = append(names, name)
			groups[grouping.Key{Index: int32(group)}] = append(groups[grouping.Key{Index: int32(group)}], name)
		}
	}
	slices.Sort(names)
	read, err := grouping.FromNames(groups)
	if err != nil {
		t.Fatal(err)
	}
	some := func(label string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(string) bool { return rapid.IntRange(0, 3).Draw(t, label) > 0 })
	}
	deadline := 10 * time.Minute
	r := &fleet.Roster{Members: fleet.Members{Groups: read}, Layout: stages.Layout{Single: true}, Span: 5 * time.Minute, Wait: 3 * time.Minute}
	r.Exceptions = fleet.NewExceptions(r.Members, some("ignored"), some("failed before"))
	var freezes []fleet.Freeze
	for _, name := range some("frozen") {
		freezes = append(freezes, fleet.Freeze{Cluster: name, Until: now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "until")) * time.Minute), Blocks: rapid.Bool().Draw(t, "blocks")})
	}
	r.Freezes = fleet.NewFreezes(r.Members, freezes, nil)
	r.Graph = stages.New(r.Members.Groups, r.Layout)
	r.Budgets = make([]int, r.Graph.Len())
	r.Phases = fleet.Phases{MinSuccess: time.Minute, Deadline: &deadline, DatesSuccess: true, Attempt: rapid.IntRange(0, 1).Draw(t, "attempt")}
	r.Timeless = fleet.KindsOf(fleet.KindSkipped)
	return r, names
}

func drawReport(t *rapid.T, cluster string) status.Report {
	all := []status.RolloutStatus{status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip}
	r := status.Report{Cluster: cluster, Status: rapid.SampledFrom(all).Draw(t, "status"), Attempt: rapid.IntRange(0, 1).Draw(t, "in attempt")}
	if rapid.Bool().Draw(t, "dated") {
		r.LastTransitionTime = now.Add(-time.Duration(rapid.IntRange(0, 12).Draw(t, "ago")) * time.Minute)
	}
	if rapid.Bool().Draw(t, "applied") {
		r.Applied = now.Add(-time.Duration(rapid.IntRange(0, 15).Draw(t, "applied ago")) * time.Minute)
	}
	return r
}

// An index that was told one report after the other, while time passed, finds what a scan of a table finds that is read at once.
func TestAnIndexFindsWhatAScanFinds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		roster, names := drawRoster(t)
		index := fleet.NewIndex(roster, fleet.NewReports(len(names)), nil, now.Add(-time.Hour))
		last := make(map[string]status.Report)
		for range rapid.IntRange(0, 12).Draw(t, "reports") {
			report := drawReport(t, rapid.SampledFrom(names).Draw(t, "cluster"))
			last[report.Cluster] = report
			position, _ := roster.Position(report.Cluster)
			index.Report(position, fleet.ReportOf(&report))
			if rapid.Bool().Draw(t, "asks") { // an answer is remembered
				index.LastSuccess(roster.StageOf(position))
			}
			if rapid.Bool().Draw(t, "time passes") {
				index.Advance(index.Now.Add(time.Duration(rapid.IntRange(0, 5).Draw(t, "minutes")) * time.Minute))
			}
		}
		at := now.Add(time.Duration(rapid.IntRange(0, 15).Draw(t, "later")) * time.Minute)
		if index.Advance(at); rapid.Bool().Draw(t, "anew") {
			index = index.At(at)
		}
		var reports []status.Report
		for _, report := range last {
			reports = append(reports, report)
		}
		table, _, named := roster.Read(reports, nil, at)
		recheck := table.Sum()
		scan := &fleet.Scan{Table: &table}
		if !named || recheck != index.Recheck() {
			t.Fatalf("recheck after %v, the index says %v", recheck, index.Recheck())
		}
		for position, is := range table.All() {
			if index.State(position) != is || index.Attempt(position) != table.Attempt(position) || index.IsUnknown(position) != table.IsUnknown(position) {
				t.Fatalf("%s is %d, the index says %d", roster.Cluster(position), is, index.State(position))
			}
		}
		if active, breached := roster.Firsts(&table.Totals); !sameFirsts(index, active, breached) || fmt.Sprint(table.Totals) != fmt.Sprint(index.Totals) {
			t.Fatalf("totals %v, the index says %v", table.Totals, index.Totals)
		}
		want, unknown := table.Starts()
		got, also := index.Starts()
		slices.SortFunc(want, time.Time.Compare)
		slices.SortFunc(got, time.Time.Compare)
		if n, undated, _ := index.NumStarts(); unknown != also || n != len(want)+unknown || undated != unknown || !slices.EqualFunc(want, got, time.Time.Equal) {
			t.Fatalf("started %v and %d, the index says %v and %d of %d", want, unknown, got, also, n)
		}
		for stage := range roster.Graph.Len() {
			if a, b := scan.LastSuccess(stage), index.LastSuccess(stage); !a.Equal(b) {
				t.Fatalf("stage %d: last success %v, the index says %v", stage, a, b)
			}
			for _, waits := range []fleet.State{fleet.ToApply, fleet.Unreported} {
				if a, b := turnsOf(scan, stage, waits), turnsOf(index, stage, waits); !slices.Equal(a, b) {
					t.Fatalf("stage %d: in turn %v, the index says %v", stage, a, b)
				}
			}
		}
	})
}

func sameFirsts(index *fleet.Index, active, breached stages.Stage) bool {
	a, b := index.Firsts()
	return a == active && b == breached
}

type turner interface {
	Turn(stage stages.Stage, is fleet.State, from int) (fleet.Position, int, bool)
}

func turnsOf(v turner, stage stages.Stage, waits fleet.State) (all []fleet.Position) {
	for position, place, ok := v.Turn(stage, waits, 0); ok; position, place, ok = v.Turn(stage, waits, place+1) {
		all = append(all, position)
	}
	return all
}
