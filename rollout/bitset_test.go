// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/internal/bitset"
)

// The tests of internal/bitset stand here, so that one binary less is linked.

func TestABitsetAnswersLikeASortedSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Up to a few words of the second level.
		n := rapid.SampledFrom([]int{1, 63, 64, 65, 4095, 4096, 4097, 20_000}).Draw(t, "n")
		set, model := bitset.New(n), map[int]bool{}
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			i := rapid.IntRange(0, n-1).Draw(t, "i")
			if rapid.Bool().Draw(t, "add") {
				set.Add(i)
				model[i] = true
			} else {
				set.Remove(i)
				delete(model, i)
			}
		}
		var want []int
		for i := range model {
			want = append(want, i)
		}
		slices.Sort(want)

		for _, i := range []int{0, n - 1, rapid.IntRange(0, n-1).Draw(t, "asked for")} {
			if got := set.Has(i); got != model[i] {
				t.Fatalf("has %d: %v, want %v", i, got, model[i])
			}
		}
		from := rapid.IntRange(0, n+100).Draw(t, "from")
		at, _ := slices.BinarySearch(want, from)
		if got := slices.Collect(set.From(from)); !slices.Equal(got, want[at:]) {
			t.Fatalf("members of at least %d are %v, want %v", from, got, want[at:])
		}
	})
}

// Between two members there may be words, and words of the second level, without any.
func TestABitsetFindsTheNextMemberHoweverFarItIs(t *testing.T) {
	members := []int{0, 63, 64, 128, 4095, 4096, 12_287, 12_288, 19_999}
	for i, from := range members {
		for _, to := range members[i:] {
			set := bitset.New(20_000)
			set.Add(from)
			set.Add(to)
			if got, want := slices.Collect(set.From(0)), slices.Compact([]int{from, to}); !slices.Equal(got, want) {
				t.Errorf("members are %v, want %v", got, want)
			}
		}
	}
}

func TestTheZeroBitsetIsEmpty(t *testing.T) {
	var s bitset.Set
	if i, ok := s.Next(0); ok {
		t.Errorf("the zero Set has member %d", i)
	}
}
