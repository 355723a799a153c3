// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// wide is a report of many waves and groups, each with something in all columns.
func wide(waves, groups, limit int) Report {
	r := Report{Rows: limit}
	for i := range waves {
		r.Waves = append(r.Waves, Wave{After: (time.Duration(i) * time.Minute).String(), Started: []string{"a"}, InFlight: i,
			Counts: status.Counts{Soaking: 1, TimeOut: 1, Failed: i}})
	}
	for i := range groups {
		name := ""
		if i == 3 {
			name = "named"
		}
		r.Groups = append(r.Groups, Group{Key: grouping.Key{Index: int32(i), Name: name}, Clusters: 2, Decisions: []Decision{{Name: fmt.Sprintf("p-decision-%d", i), Clusters: []string{"a", "b"}}}})
	}
	if waves > 0 {
		r.End.After = r.Waves[waves/2].After
	}
	return r
}

// However many waves there are, rows lose none of what started, keep the time, and show the end by itself.
func TestRowsKeepWhatTheyMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		waves, limit := rapid.IntRange(1, 700).Draw(t, "waves"), rapid.IntRange(12, 80).Draw(t, "limit")
		r := wide(waves, 0, limit)
		all := waveRows(r.Waves, r.End.After, r.rows(DefaultRows))
		if len(all) > limit {
			t.Fatalf("%d rows, want at most %d", len(all), limit)
		}
		if waves <= limit && len(all) != waves {
			t.Fatalf("%d rows of %d waves, which fit", len(all), waves)
		}
		started, next, ended := 0, 0, false
		for _, row := range all {
			started += row.started
			if row.first.After != r.Waves[next].After {
				t.Fatalf("a row begins at %s, want %s", row.first.After, r.Waves[next].After)
			}
			next += row.waves
			if row.last.After != r.Waves[next-1].After {
				t.Fatalf("a row ends at %s, want %s", row.last.After, r.Waves[next-1].After)
			}
			ended = ended || row.waves == 1 && row.first.After == r.End.After
		}
		if started != waves || next != waves || !ended {
			t.Fatalf("%d started, %d waves, the end stands by itself: %v", started, next, ended)
		}
	})
}

func TestGroupRowsKeepWhatTheyMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		groups, limit := rapid.IntRange(1, 700).Draw(t, "groups"), rapid.IntRange(12, 80).Draw(t, "limit")
		r := wide(0, groups, limit)
		all := groupRows(r.Groups, r.rows(DefaultRows))
		clusters, next, named := 0, 0, groups <= 3
		for _, row := range all {
			if int(row.first.Index) != next || int(row.last.Index) != next+row.groups-1 {
				t.Fatalf("a row of %d groups is %s, want it to begin with %d", row.groups, row.index(), next)
			}
			next += row.groups
			clusters += row.clusters
			named = named || row.name() == "named"
		}
		if len(all) > limit || next != groups || clusters != 2*groups || !named {
			t.Fatalf("%d rows, %d groups, %d clusters, the named one by itself: %v", len(all), next, clusters, named)
		}
	})
}

func TestTablesHaveNoMoreRowsThanAskedFor(t *testing.T) {
	for _, test := range []struct{ limit, want int }{{0, DefaultRows}, {20, 20}, {AllRows, 5000}} {
		r := wide(5000, 2500, test.limit)
		var waves, groups bytes.Buffer
		r.waveTable(&waves)
		r.groupTable(&groups)
		const head, legend = 2, 1
		if got := strings.Count(waves.String(), "\n") - head - legend; got > test.want || got < test.want/2 {
			t.Errorf("rows %d: %d lines of waves, want at most %d", test.limit, got, test.want)
		}
		if got := strings.Count(groups.String(), "\n") - head - 1; got > test.want || got < min(test.want, 2500)/2 {
			t.Errorf("rows %d: %d lines of groups, want at most %d", test.limit, got, test.want)
		}
		for line := range strings.Lines(waves.String() + groups.String()) {
			if n := utf8.RuneCountInString(line); n > 180 {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

func TestColumnsAreThoseWithSomethingInThem(t *testing.T) {
	r := wide(3, 0, 0)
	var all, few bytes.Buffer
	r.waveTable(&all)
	for i := range r.Waves {
		r.Waves[i].Counts = status.Counts{}
	}
	r.waveTable(&few)
	for _, title := range []string{"SOAKING", "TIMED OUT"} {
		if !strings.Contains(all.String(), title) || strings.Contains(few.String(), title) {
			t.Errorf("%s:\n%s\n%s", title, all.String(), few.String())
		}
	}
}
