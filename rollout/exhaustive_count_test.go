// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
)

// tried gives the clusters' reports the attempts that their names have, and wants the n-th (R39).
func tried(n int, attempts map[string]int) func(*world) {
	return func(w *world) {
		w.attempt = n
		for i := range w.reports {
			w.reports[i].Attempt = attempts[w.reports[i].Cluster]
		}
	}
}

// attemptChoices are choices of the wanted attempt and of the attempts that were made.
var attemptChoices = []func(*world){
	tried(0, map[string]int{"b": 1}),
	tried(1, nil),
	tried(1, map[string]int{"a": 1}),
	tried(1, map[string]int{"b": 1, "c": 2}),
	tried(2, map[string]int{"a": 1, "b": 2}),
	func(w *world) { // the attempts of one cluster differ
		w.attempt = 1
		for i := range w.reports {
			w.reports[i].Attempt = i % 2
		}
	},
}

// of gives a function that is true for these clusters; nil for none.
func of(names ...string) func(string) bool {
	return func(cluster string) bool { return slices.Contains(names, cluster) }
}

// ignoredChoices are the ignored clusters (R37), and baselineChoices those that failed before (R38).
var (
	ignoredChoices = []func(*world){
		asIs,
		func(w *world) { w.ignored = of("a") },
		func(w *world) { w.ignored = of("b") },
		func(w *world) { w.ignored = of("a", "c") },
		func(w *world) { w.ignored = of("a", "b", "c") },
		func(w *world) { w.ignored = of() },
	}
	baselineChoices = []func(*world){
		asIs,
		func(w *world) { w.before = of("a") },
		func(w *world) { w.before = of("b", "c") },
	}
)

// countWorlds are the fleets of up to three clusters with the options that say what counts. Left out is what no rule reads
// together: an ignored cluster with a gate and a pause at once, or with a group's limit and a caller's order at once; and what
// is removed with reports that differ in their times alone.
func countWorlds() []space {
	sparse := slices.Concat(fleets(everywhere(1), plainKeys, 4), fleets(everywhere(2), plainKeys, 4))
	small := slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	three := fleets(ascending(cuts(3)), plainKeys, 0)
	return []space{
		{name: "attempts", fleets: small, kinds: allKinds, strategies: optionStrategies, extras: attemptChoices, short: 1500},
		{name: "attempts of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(attemptChoices, failedChoices), short: 1200},
		{name: "ignored", fleets: slices.Concat(small, sparse), kinds: nineKinds, strategies: optionStrategies, extras: slices.Concat(combined(ignoredChoices, gateChoices), combined(ignoredChoices, pauseChoices[1:])), short: 1500},
		{name: "ignored of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: slices.Concat(combined(ignoredChoices, perGroupChoice), combined(ignoredChoices, orderChoices[1:])), short: 1500},
		{name: "ignored behind gates", fleets: three, kinds: fewKinds, strategies: optionStrategies, extras: combined(ignoredChoices, gateChoices), short: 1200},
		{name: "ignored in an order", fleets: three, kinds: fewKinds, strategies: optionStrategies[4:], extras: combined(ignoredChoices, orderedChoices, gateChoices[:4]), short: 1200},
		{name: "ignored, waits and a pace", fleets: three, kinds: fewKinds, strategies: optionStrategies, extras: combined(ignoredChoices, waitChoices, rampChoices[:2], startsChoices[:2]), short: 1200},
		{name: "ignored, failed and tried again", fleets: three, kinds: fewKinds, strategies: optionStrategies, extras: combined(attemptChoices[1:4], ignoredChoices[:3], baselineChoices), short: 1200},
		{name: "failed before", fleets: small, kinds: nineKinds, strategies: manyStrategies, extras: combined(baselineChoices, ignoredChoices[:3]), short: 700},
		{name: "failed before, of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(baselineChoices, ignoredChoices[:3]), short: 800},
		{name: "removals of the ignored", fleets: small, kinds: slices.Concat(nineKinds, mergedKinds), strategies: optionStrategies, extras: combined(ignoredChoices, removedChoices), short: 1200},
	}
}

// TestWhatCountsAgreesWithTheRulesOnEveryFleetOfUpToThreeClusters is every fleet of up to three clusters with the options
// that say which clusters and which failures count (R37 to R39).
func TestWhatCountsAgreesWithTheRulesOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	for _, s := range countWorlds() {
		s.each(t, agrees)
	}
}
