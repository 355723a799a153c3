// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
)

// inARow are n names that come one after the other, by their number or against it.
func inARow(n int, backwards bool) map[string][]string {
	after := make(map[string][]string, n)
	for i := range n - 1 {
		name, before := fmt.Sprintf("n%06d", i+1), fmt.Sprintf("n%06d", i)
		if backwards {
			name, before = before, name
		}
		after[name] = []string{before}
	}
	return after
}

// ghostsBetween are n groups, n groups that come after them, and between them names without a group, each between all.
func ghostsBetween(tb testing.TB, n, ghosts int) (*grouping.Groups, map[string][]string) {
	tb.Helper()
	names, after := make(map[grouping.Key][]string), make(map[string][]string)
	var firsts, between []string
	for i := range n {
		firsts = append(firsts, fmt.Sprintf("first-%05d", i))
		names[grouping.Key{Index: int32(i), Name: firsts[i]}] = []string{fmt.Sprintf("a%05d", i)}
	}
	for i := range ghosts {
		between = append(between, fmt.Sprintf("ghost-%05d", i))
		after[between[i]] = firsts
	}
	for i := range n {
		last := fmt.Sprintf("last-%05d", i)
		names[grouping.Key{Index: int32(n + i), Name: last}] = []string{fmt.Sprintf("b%05d", i)}
		after[last] = between
	}
	groups, err := grouping.FromNames(names)
	if err != nil {
		tb.Fatal(err)
	}
	return groups, after
}

// BenchmarkGroupOrder checks names in a row for cycles. The time per name must hardly grow, in either direction.
func BenchmarkGroupOrder(b *testing.B) {
	for _, backwards := range []bool{false, true} {
		for _, n := range []int{10_000, 40_000, 160_000} {
			after := inARow(n, backwards)
			b.Run(fmt.Sprintf("backwards=%v/n=%d", backwards, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					rollout.Options{GroupOrder: after}.Validate(nil)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/name")
			})
		}
	}
}

// BenchmarkPlanBehindGhosts has names without a group between groups: a single one, as many as groups, or as many in a row. The
// time per pair that GroupOrder was given must hardly grow.
func BenchmarkPlanBehindGhosts(b *testing.B) {
	plan := func(b *testing.B, groups *grouping.Groups, after map[string][]string) {
		pairs := 0
		for _, before := range after {
			pairs += len(before)
		}
		order := rollout.Options{GroupOrder: after}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := rollout.Plan(perGroup(config("", "", 0)), groups, nil, now, order); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(pairs), "ns/pair")
	}
	for _, n := range []int{150, 600, 2_400} {
		b.Run(fmt.Sprintf("one/n=%d", n), func(b *testing.B) {
			groups, after := ghostsBetween(b, n, 1)
			plan(b, groups, after)
		})
	}
	for _, n := range []int{150, 300, 600, 1_200} {
		b.Run(fmt.Sprintf("many/n=%d", n), func(b *testing.B) {
			groups, after := ghostsBetween(b, n, n)
			plan(b, groups, after)
		})
	}
	for _, n := range []int{10_000, 40_000, 160_000} {
		b.Run(fmt.Sprintf("row/n=%d", n), func(b *testing.B) {
			groups, err := grouping.FromNames(map[grouping.Key][]string{{Name: "n000000"}: {"a"}, {Index: 1, Name: fmt.Sprintf("n%06d", n-1)}: {"b"}})
			if err != nil {
				b.Fatal(err)
			}
			plan(b, groups, inARow(n, true))
		})
	}
}

// R33: names without a group between n groups and n others take a plan memory for the groups and names, not for n times n pairs.
func TestNamesWithoutGroupsTakeLittleMemoryBetweenManyGroups(t *testing.T) {
	bytes := func(n, ghosts int) uint64 {
		groups, after := ghostsBetween(t, n, ghosts)
		order, fewest := rollout.Options{GroupOrder: after}, ^uint64(0)
		for range 3 { // others may allocate meanwhile
			p, err := rollout.NewPlanner(perGroup(config("", "", 0)), nil, order) // which has read all pairs of the order
			if err != nil {
				t.Fatal(err)
			}
			var before, since runtime.MemStats
			runtime.ReadMemStats(&before)
			p.SetGroups(groups)
			r := p.Result(now)
			runtime.ReadMemStats(&since)
			if len(r.Start) != n || len(r.Schedule.After[n]) != n {
				t.Fatal(r)
			}
			fewest = min(fewest, since.TotalAlloc-before.TotalAlloc)
		}
		return fewest
	}
	if few, many := bytes(125, 1), bytes(1_000, 1); many > 10*few {
		t.Errorf("one name: %d bytes for 125 groups and %d for 1,000, want at most ten times as many", few, many)
	}
	if few, many := bytes(50, 50), bytes(400, 400); many > 10*few {
		t.Errorf("%d bytes for 50 names between 50 groups and %d for 400, want at most ten times as many", few, many)
	}
}

// R33: many names in a row are no cycle, in whichever direction they are found, unless the first comes after the last.
func TestGroupOrderOfManyNamesInARow(t *testing.T) {
	const n = 40_000
	for _, backwards := range []bool{false, true} {
		after := inARow(n, backwards)
		if _, err := rollout.NewPlanner(perGroup(config("", "", 0)), nil, rollout.Options{GroupOrder: after}); err != nil {
			t.Fatal(err)
		}
		first, last := "n000000", fmt.Sprintf("n%06d", n-1)
		if backwards {
			first, last = last, first
		}
		after[first] = []string{last}
		if _, err := rollout.NewPlanner(perGroup(config("", "", 0)), nil, rollout.Options{GroupOrder: after}); err == nil {
			t.Error("a cycle of all names passes")
		}
	}
}
