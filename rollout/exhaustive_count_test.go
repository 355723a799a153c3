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

// attemptChoices are those of the attempt that is wanted and of those that were made.
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

// countWorlds are the fleets of up to three clusters with the options that say what counts.
func countWorlds() []space {
	small := slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	three := fleets(ascending(cuts(3)), plainKeys, 0)
	return []space{
		{name: "attempts", fleets: small, kinds: allKinds, strategies: optionStrategies, extras: attemptChoices, short: 6000},
		{name: "attempts of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(attemptChoices, failedChoices), short: 4000},
	}
}

// TestWhatCountsAgreesWithTheRulesOnEveryFleetOfUpToThreeClusters is every fleet of up to three clusters with the options
// that say which clusters and which failures count (R37 to R39).
func TestWhatCountsAgreesWithTheRulesOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	for _, s := range countWorlds() {
		s.each(t, agrees)
	}
}
