// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// orderNaively is what order is for.
func orderNaively(names []string) []int32 {
	places := make([]int32, len(names))
	for i := range places {
		places[i] = int32(i)
	}
	slices.SortStableFunc(places, func(a, b int32) int { return strings.Compare(names[a], names[b]) })
	return places
}

// G4, G10: names that share a prefix, that differ before, in and after the eight bytes behind it, in the
// length alone or in zeros; few and many, sorted and not.
func TestPropertyOrderIsAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "cluster-"}).Draw(t, "prefix")
		add := func(text string) func(string) string { return func(s string) string { return prefix + text + s } }
		name := rapid.SampledFrom([]*rapid.Generator[string]{
			rapid.Just(prefix + "always-the-same"),
			rapid.Map(rapid.StringMatching(`[ab\x00\xff]{0,3}`), add("")),
			rapid.Map(rapid.StringMatching(`[ab\x00]{0,2}`), add("12345678")),
			rapid.Map(rapid.StringMatching(`[xy]{8}[ab]{7,9}[ab\x00]{0,2}`), add("")),
			rapid.Map(rapid.IntRange(0, 999), func(i int) string { return fmt.Sprintf("%s%04d", prefix, i) }),
			rapid.Map(rapid.IntRange(0, 999), func(i int) string { return fmt.Sprintf("%s%d-in-the-%d-suburbs-%d", prefix, i%3, i%2, i) }),
		}).Draw(t, "kind")
		var names []string
		for range rapid.IntRange(0, 4).Draw(t, "runs") {
			n := rapid.SampledFrom([]int{1, 2, 40, 150}).Draw(t, "length")
			run := rapid.SliceOfN(name, n, n).Draw(t, "run")
			if rapid.Bool().Draw(t, "sorted") {
				slices.Sort(run)
			}
			names = append(names, run...)
		}
		before := slices.Clone(names)
		if diff := cmp.Diff(orderNaively(names), order(names)); diff != "" {
			t.Fatalf("order of %q (-want +got):\n%s", names, diff)
		}
		if diff := cmp.Diff(before, names); diff != "" {
			t.Fatalf("names changed:\n%s", diff)
		}
	})
}

// G4, G10.
func FuzzOrder(f *testing.F) {
	f.Add("b a c a")
	f.Add("a aa aaa aaaa aaaaaaaaa aaaaaaaab aaaaaaaa")
	f.Add("x\x00 x x\x00\x00 x\xff")
	f.Add("1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9")
	f.Fuzz(func(t *testing.T, text string) {
		names := strings.Split(text, " ")
		if len(names) > 1 {
			names = slices.Repeat(names, 40) // enough of them to be sorted by their bytes
		}
		if diff := cmp.Diff(orderNaively(names), order(names)); diff != "" {
			t.Fatalf("order of %q (-want +got):\n%s", names, diff)
		}
	})
}
