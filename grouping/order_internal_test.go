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

// G4, G10: names that share a prefix, that differ before and after the eighth byte, in the length alone or in
// zeros; in few sorted runs, which are merged, and in many, which are not.
func TestPropertyOrderIsAStableSort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"", "cluster-"}).Draw(t, "prefix")
		name := rapid.OneOf(
			rapid.Just(prefix),
			rapid.Map(rapid.StringMatching(`[ab\x00\xff]{0,3}`), func(s string) string { return prefix + s }),
			rapid.Map(rapid.StringMatching(`[ab]{0,2}`), func(s string) string { return prefix + "12345678" + s }),
			rapid.Map(rapid.IntRange(0, 99), func(i int) string { return fmt.Sprintf("%s%04d", prefix, i) }),
		)
		var names []string
		for range rapid.IntRange(0, 5).Draw(t, "runs") {
			n := rapid.SampledFrom([]int{1, 2, 40}).Draw(t, "length")
			run := rapid.SliceOfN(name, n, n).Draw(t, "run")
			if rapid.IntRange(0, 3).Draw(t, "sorted") > 0 {
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
		if diff := cmp.Diff(orderNaively(names), order(names)); diff != "" {
			t.Fatalf("order of %q (-want +got):\n%s", names, diff)
		}
	})
}
