// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
)

// querySpaces are small fleets with all gates, freezes and allowlists, and what else decides which clusters start.
func querySpaces(extras ...[]func(*world)) []space {
	small := slices.Concat(fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	three := fleets(ascending(cuts(3)), plainKeys, 0)
	return []space{
		{name: "up to two", fleets: small, kinds: nineKinds, strategies: optionStrategies, extras: combined(extras...), short: 400, long: 4000, whole: 100_000},
		{name: "three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(extras...), short: 400, long: 4000, whole: 100_000},
	}
}

// keepsTheRules tests something on such fleets and on random ones, whose options are drawn all at once.
func keepsTheRules(t *testing.T, spaces []space, fault func(t fataler, w world, groups *grouping.Groups, pick picker) string) {
	for _, s := range spaces {
		s.each(t, func(t *testing.T) func(w world, groups *grouping.Groups) bool {
			n := 0
			return func(w world, groups *grouping.Groups) bool {
				n++
				w.missing = groups.Incomplete()
				what := fault(t, w, groups, func(most int) int { return n / 7 % most })
				if what != "" {
					t.Errorf("%s\n%v", what, w)
				}
				return what == ""
			}
		})
	}
	t.Run("random", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(t *rapid.T) {
			pick := drawn(t)
			w := pick.world(exhaustive.Of(8, 30))
			groups := w.read(t)
			w.missing = groups.Incomplete()
			if what := fault(t, w, groups, pick); what != "" {
				t.Fatalf("%s\n%v", what, w)
			}
		})
	})
}

// rolledBack has a version be taken back from the clusters of a world.
func rolledBack(w world, pick picker) world {
	w.reports, w.back = nil, &taken{aborted: aborted, stopAtBreach: pick(2) == 0}
	for i, m := range w.members {
		rollbackKinds[(i+pick(len(rollbackKinds)))%len(rollbackKinds)].set(&w, m.name)
	}
	return w
}

var severalFrozen = slices.Concat([]func(*world){asIs}, frozenChoices)

// R61 against the oracle: what an approval starts, and what else blocks these.
func TestWouldStartAgreesWithTheRules(t *testing.T) {
	spaces := querySpaces(gateChoices, severalFrozen, []func(*world){asIs, pauseChoices[1], ignoredOfThreeChoices[0], sharesChoices[1], rampChoices[1], orderedChoices[2]})
	keepsTheRules(t, spaces, func(t fataler, w world, groups *grouping.Groups, pick picker) string {
		if pick(3) == 0 {
			w = rolledBack(w, pick)
		}
		keys := append(slices.Clone(w.groups), grouping.Key{Name: "canary"}, grouping.Key{Index: 1})
		for _, g := range w.gates {
			keys = append(keys, g.group)
		}
		result := try(t, w, groups).result
		for _, key := range keys {
			want, wantHold := r61(w, key)
			got, reason := result.WouldStart(key)
			if reason.Detail, reason.Many = "", false; !slices.Equal(got, want) || reason != wantHold {
				return fmt.Sprintf("opening %v would start %v or say %+v, and the rules say %v or %+v", key, got, reason, want, wantHold)
			}
		}
		return ""
	})
}

// R62 against the oracle.
func TestRemovalsAgreeWithTheRules(t *testing.T) {
	gone := []func(*world){asIs, alsoLeft(nil), alsoLeft(&grouping.Key{Index: 1}), alsoLeft(&plainKeys[1]), alsoLeft(&grouping.Key{Index: 7})}
	leaving := []func(*world){asIs, deletingSome("a"), deletingSome("b", "x"), deletingSome("a", "c")}
	spaces := querySpaces(gone, leaving, append([]func(*world){asIs}, ignoredOfThreeChoices...), orderedChoices, append([]func(*world){asIs}, partChoices...))
	keepsTheRules(t, spaces, func(t fataler, w world, groups *grouping.Groups, pick picker) string {
		most := 1 + pick(3)
		want := r62(w, most)
		got, err := rollout.Removals(w.strategy, groups, w.reports, most, w.options())
		if err != nil {
			t.Fatal(err)
		}
		counts := func(name string) bool { return w.ignored == nil || !w.ignored(name) }
		// Where stages that go at once have more than may go, it is not said which is first. It counts that as many go.
		n := func(names []string) int {
			return len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !counts(n) }))
		}
		if all := r62(w, 1000); n(got) != n(want) || len(got) != len(want) || slices.ContainsFunc(got, func(name string) bool { return !slices.Contains(all, name) }) {
			return fmt.Sprintf("%v would go, at most %d at a time, and the rules say %v", got, most, want)
		}
		if !slices.IsSorted(got) {
			return fmt.Sprintf("%v are in no order", got)
		}
		return ""
	})
}

// R64 against the oracle, with numbers of before that have gaps, of clusters that are there and that are not.
func TestPositionsAgreeWithTheRules(t *testing.T) {
	keepsTheRules(t, querySpaces(severalFrozen, gateChoices[:3], append([]func(*world){asIs}, partChoices...)), func(t fataler, w world, groups *grouping.Groups, pick picker) string {
		if pick(3) == 0 {
			w = rolledBack(w, pick)
		}
		noted := map[string]rollout.Position{}
		in, starts := map[grouping.Key]int{}, try(t, w, groups).result
		for i, m := range w.members {
			_, _, is := starts.Find(m.name)
			if in[m.group]++; is && pick(3) > 0 && !slices.ContainsFunc(starts.Start, func(c rollout.Cluster) bool { return c.Name == m.name }) {
				noted[m.name] = rollout.Position{Index: 1 + i + pick(2)*len(w.members), InGroup: in[m.group] + pick(2)*len(w.members), Of: 99, OfGroup: 99}
			}
		}
		noted["gone"] = rollout.Position{Index: 3*len(w.members) + 1}
		var elsewhere []string
		if w.parts != nil {
			for i, name := range w.parts.others {
				noted[name] = rollout.Position{Index: 1 + i, InGroup: 1 + i, Of: 99, OfGroup: 99}
				if _, _, counts := starts.Find(name); !counts {
					elsewhere = append(elsewhere, name)
				}
			}
		}
		want, got := r64(starts.Start, w.members, noted, elsewhere), starts.Positions(noted)
		if !maps.Equal(got, want) {
			return fmt.Sprintf("%v start, noted are %v: numbers are %v, and the rules say %v", starts.Start, noted, got, want)
		}
		return ""
	})
}
