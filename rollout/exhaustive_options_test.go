// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	"pgregory.net/rapid"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// TestPlanAgreesWithTheRulesOnRandomFleets is the oracle on fleets of up to 60 clusters with all that the
// strategies and the options have.
func TestPlanAgreesWithTheRulesOnRandomFleets(t *testing.T) {
	for round := range exhaustive.Of(2, 60) {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			t.Parallel()
			exhaustive.Check(t, round, func(t *rapid.T) {
				w := drawn(t).world(5 << (round % 4) * 3 / 2) // 7, 15, 30, 60
				var j judge
				if fault := j.fault(w, w.read(t)); fault != "" {
					t.Fatalf("%v\n%s", w, fault)
				}
			})
		})
	}
}

// optionStrategies are those on which options have something to say.
var optionStrategies = []clusterv1alpha1.RolloutStrategy{
	all("10m"),
	progressive("", config("1", "10m", 5*time.Minute)),
	progressive("1", config("2", "", 0), "canary"),
	progressive("2", config("50%", "10m", 0), "1"),
	perGroup(config("1", "10m", 5*time.Minute)),
	perGroup(config("2", "", 0), "1"),
	perGroup(config("100%", "10m", 0), "canary", "ghost"),
}

// ignoredStrategies have blocks of another type than the chosen one (R18).
var ignoredStrategies = func() []clusterv1alpha1.RolloutStrategy {
	empty, full := progressive("", config("", "", 0)), progressive("1", config("soon", "soon", 0), "canary")
	groups := perGroup(config("1", "10m", 0), "1")
	blocks := all("10m")
	blocks.Progressive = full.Progressive
	both := perGroup(config("1", "10m", 0))
	both.All, both.Progressive = &clusterv1alpha1.RolloutAll{RolloutConfig: config("3", "", 0)}, full.Progressive
	nothing := all("")
	nothing.Progressive = empty.Progressive
	other := progressive("1", config("", "", 0))
	other.ProgressivePerGroup = groups.ProgressivePerGroup
	untyped := groups
	untyped.Type = ""
	return []clusterv1alpha1.RolloutStrategy{blocks, both, nothing, other, untyped}
}()

func ptr[T any](v T) *T { return &v }

// combined are all ways to take one of each.
func combined(choices ...[]func(*world)) (all []func(*world)) {
	all = []func(*world){func(*world) {}}
	for _, choice := range choices {
		var longer []func(*world)
		for _, before := range all {
			for _, then := range choice {
				longer = append(longer, func(w *world) { before(w); then(w) })
			}
		}
		all = longer
	}
	return all
}

func asIs(*world) {}

// gated closes gates before the groups in their order; the zero Gate is none.
func gated(gates ...rollout.Gate) func(*world) {
	return func(w *world) {
		w.gates = nil
		for i, gate := range gates {
			if i < len(w.groups) && gate != (rollout.Gate{}) {
				w.gates = append(w.gates, closedGate{w.groups[i], gate})
			}
		}
	}
}

func gatesAt(gates ...closedGate) func(*world) { return func(w *world) { w.gates = gates } }

func descending(a, b string) int { return cmp.Compare(b, a) }

// The choices that an option leaves.
var (
	gateChoices = []func(*world){
		asIs,
		gated(rollout.Gate{Name: "approval"}),
		gated(rollout.Gate{Opens: now.Add(time.Minute)}, rollout.Gate{Opens: now}),
		gated(rollout.Gate{}, rollout.Gate{Name: "window", Opens: now.Add(time.Hour)}, rollout.Gate{Name: "approval"}),
		gatesAt(closedGate{grouping.Key{Index: 9, Name: "canary"}, rollout.Gate{}}), // R23: wherever its index has moved to
		gatesAt(closedGate{grouping.Key{Index: 7, Name: "prod"}, rollout.Gate{Opens: now.Add(time.Minute)}},
			closedGate{grouping.Key{Index: 2}, rollout.Gate{Name: "index", Opens: now.Add(2 * time.Minute)}}),
		gatesAt(closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "first"}}, closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "later", Opens: now.Add(1)}}),
		gatesAt(closedGate{grouping.Key{Name: "ghost"}, rollout.Gate{}}, closedGate{grouping.Key{Index: 8}, rollout.Gate{}}),
		gatesAt(closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "later", Opens: now.Add(2 * time.Minute)}}, closedGate{grouping.Key{Index: 1}, rollout.Gate{Opens: now.Add(time.Minute)}}),
		gatesAt(closedGate{grouping.Key{Index: 4, Name: "canary"}, rollout.Gate{Name: "approval"}}, closedGate{grouping.Key{Index: 3, Name: "canary"}, rollout.Gate{Opens: now}},
			closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "window", Opens: now.Add(time.Minute)}}),
		gatesAt(closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "b", Opens: now.Add(1)}}, closedGate{grouping.Key{Index: 1}, rollout.Gate{Name: "a", Opens: now.Add(1)}}), // of two that open at once, the first by name
	}
	pauseChoices   = []func(*world){asIs, func(w *world) { w.paused = true }}
	orderChoices   = []func(*world){asIs, func(w *world) { w.order = descending }}
	failedChoices  = []func(*world){asIs, func(w *world) { w.failedFrees = true }}
	sizeChoices    = []func(*world){asIs, sized("1"), sized("34%"), sized("9")}
	perGroupChoice = []func(*world){asIs, func(w *world) { w.perGroup = ptr(intstr.FromInt32(1)) }, func(w *world) { w.perGroup = ptr(intstr.FromString("50%")) }}
	wholeChoices   = []func(*world){asIs, func(w *world) { w.incomplete = true }}
	orderedChoices = []func(*world){
		asIs,
		orderedBy(map[string][]string{}),
		orderedBy(map[string][]string{"prod": {"canary"}}),
		orderedBy(map[string][]string{"canary": {"prod"}, "": {"canary"}}),
		orderedBy(map[string][]string{"prod": {"canary", ""}}),
		orderedBy(map[string][]string{"canary": {"ghost"}, "ghost": {"prod"}}), // R33: a name that no group has is passed over
	}
	rampChoices           = []func(*world){asIs, func(w *world) { w.ramp = 1 }, func(w *world) { w.ramp = 2 }}
	sharesChoices         = []func(*world){asIs, holding(0, 1), holding(1, 0), holding(1, 1), holding(2, 0), holding(2, 1), holding(4, 2)}
	waitChoices           = []func(*world){asIs, waitingFor(soaks + 1), waitingFor(soaks + 2), waitingFor(2 * old)}
	ignoredOfThreeChoices = []func(*world){func(w *world) { w.ignored = of("a") }, func(w *world) { w.ignored = of("b", "c") }}
	frozenChoices         = []func(*world){
		withFrozen(rollout.ClusterFreeze{Cluster: "a", Reason: "r"}),
		withFrozen(rollout.ClusterFreeze{Cluster: "a", Blocks: true}),
		withFrozen(rollout.ClusterFreeze{Cluster: "a", Until: now.Add(young), Blocks: true}, rollout.ClusterFreeze{Cluster: "b", Until: now}, rollout.ClusterFreeze{Cluster: "ghost"}),
		withFrozen(rollout.ClusterFreeze{Cluster: "b", Reason: "r", Until: now.Add(2 * young)}, rollout.ClusterFreeze{Cluster: "a", Reason: "r", Until: now.Add(2 * young)}),
		withFrozen(rollout.ClusterFreeze{Cluster: "a", Reason: "s", Until: now.Add(young)}, rollout.ClusterFreeze{Cluster: "a", Reason: "t", Until: now.Add(old), Blocks: true}, rollout.ClusterFreeze{Cluster: "a", Reason: "u", Until: now}),
		withFrozen(rollout.ClusterFreeze{Cluster: "c", Reason: "t"}, rollout.ClusterFreeze{Cluster: "c", Reason: "s"}, rollout.ClusterFreeze{Cluster: "c", Reason: "a", Until: now.Add(old)}),
		withFrozen(rollout.ClusterFreeze{Cluster: "a", Until: now.Add(young), Blocks: true}, rollout.ClusterFreeze{Cluster: "a", Until: now.Add(old)}), // blocks until the last ends
		func(w *world) { w.allowlist = []string{} },
		func(w *world) { w.allowlist = []string{"c", "a", "a", "ghost"} },
		func(w *world) {
			w.allowlist = []string{"b"}
			withFrozen(rollout.ClusterFreeze{Cluster: "a", Until: now.Add(young), Blocks: true})(w)
		},
	}
	paceChoices    = []func(*world){waitChoices[1], waitChoices[3], rampChoices[1], startsChoices[2]}
	startsChoices  = []func(*world){asIs, startsWithin(1, old), startsWithin(1, old+1), startsWithin(2, soaks+1), startsWithin(2, 2*old), startsWithin(3, soon)}
	removedChoices = []func(*world){asIs, removing(1, ""), removing(2, "1"), removing(2, "50%"), removing(3, "0"), removing(0, "0%")}
)

func sized(n string) func(*world) {
	return func(w *world) { w.size = ptr(intstr.Parse(n)) }
}

func orderedBy(after map[string][]string) func(*world) { return func(w *world) { w.ordered = after } }

func startsWithin(n int, per time.Duration) func(*world) {
	return func(w *world) { w.starts = &startLimit{n, per} }
}

func holding(start, fail int) func(*world) {
	return func(w *world) { w.shares = &rollout.Shares{Concurrency: start, Failures: fail} }
}

func withFrozen(freezes ...rollout.ClusterFreeze) func(*world) {
	return func(w *world) { w.freezes = freezes }
}

func waitingFor(d time.Duration) func(*world) { return func(w *world) { w.wait = d } }

// removing adds the reports of n clusters that are not selected, one of them twice, and a bound on removals.
func removing(n int, most string) func(*world) {
	return func(w *world) {
		for i := range n {
			w.reports = append(w.reports, status.Report{Cluster: string(rune('z' - i)), Status: status.Failed})
		}
		if n > 0 {
			w.reports = append(w.reports, status.Report{Cluster: "z", Status: status.Succeeded, LastTransitionTime: now})
		}
		if most != "" {
			w.maxRemoved = ptr(intstr.Parse(most))
		}
	}
}

// optionWorlds are the fleets of up to three clusters with the options. A choice meets another where a rule reads both. Left
// out are those that no rule does:
//   - a limit of a group with the size of the placement's groups: each belongs to another type of strategy (R14, R24);
//   - an order of groups or a wait between them with a strategy that has one stage (R33, R34);
//   - a caller's order with what closes or delays a whole stage: it only chooses among those that may start (R8);
//   - reports in which R1, R4 and R27 see no other state than in one of nineKinds, with three clusters: with up to two they
//     meet each option, and what an option reads is the state.
func optionWorlds() []space {
	small := slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	sparse := slices.Concat(fleets(everywhere(1), plainKeys, 4), fleets(everywhere(2), plainKeys, 4))
	three := fleets(ascending(cuts(3)), plainKeys, 0)
	four := fleets(ascending(cuts(4)), plainKeys, 0)
	grouped, perGroup := optionStrategies[2:], optionStrategies[4:]
	rare, slots := slices.Concat(nineKinds, rareKinds), combined(orderChoices, failedChoices)
	// What a start was, and when, is in the first two (R36); waits see no time, or one ahead (R34).
	started, timed := slices.Concat(nineKinds, versionKinds[:2]), slices.Concat(nineKinds, rareKinds[4:6])
	return []space{
		{name: "slots", fleets: slices.Concat(small, three), kinds: nineKinds, strategies: optionStrategies, extras: slices.Concat(combined(slots, perGroupChoice), combined(slots, sizeChoices[1:])), short: 2000},
		{name: "holds", fleets: slices.Concat(small, sparse), kinds: nineKinds, strategies: optionStrategies, extras: combined(gateChoices, pauseChoices, wholeChoices), short: 2000},
		{name: "gates", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: gateChoices, short: 1200},
		{name: "gates and slots", fleets: slices.Concat(sparse, three), kinds: fewKinds, strategies: optionStrategies, extras: combined(gateChoices, perGroupChoice, failedChoices), short: 1200},
		{name: "orders", fleets: slices.Concat(three, fleets(cuts(3), twoNames, 4)), kinds: nineKinds, strategies: perGroup, extras: orderedChoices, short: 1200},
		{name: "orders and gates", fleets: slices.Concat(sparse, four), kinds: fewKinds, strategies: perGroup, extras: combined(orderedChoices, gateChoices[:6]), short: 1000},
		{name: "orders and slots", fleets: four, kinds: fewKinds, strategies: optionStrategies[3:], extras: combined(orderedChoices, perGroupChoice), short: 1000},
		{name: "ramps", fleets: small, kinds: rare, strategies: optionStrategies, extras: combined(rampChoices, failedChoices, perGroupChoice[:2]), short: 500},
		{name: "ramps of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(rampChoices, failedChoices, perGroupChoice[:2]), short: 700},
		{name: "starts", fleets: small, kinds: slices.Concat(nineKinds, versionKinds, rareKinds), strategies: optionStrategies, extras: combined(startsChoices, orderChoices), short: 600},
		{name: "starts of three", fleets: three[:2], kinds: started, strategies: optionStrategies, extras: startsChoices, short: 800},
		{name: "ramps, starts and orders", fleets: four, kinds: fewKinds, strategies: perGroup, extras: combined(rampChoices, startsChoices[:4], orderedChoices[:3]), short: 1200},
		{name: "shares", fleets: small, kinds: rare, strategies: optionStrategies, extras: combined(sharesChoices, failedChoices, perGroupChoice[:2]), short: 500},
		{name: "shares of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(sharesChoices, failedChoices), short: 700},
		{name: "shares, gates and orders", fleets: four, kinds: fewKinds, strategies: perGroup, extras: combined(sharesChoices[1:4], orderedChoices[:3], gateChoices[:3]), short: 1000},
		{name: "shares, paces and ignored clusters", fleets: three, kinds: fewKinds, strategies: optionStrategies, extras: combined(sharesChoices[1:4], slices.Concat(ignoredOfThreeChoices, baselineChoices[1:]), []func(*world){asIs, paceChoices[0], rampChoices[1], startsChoices[2]}), short: 1000},
		{name: "frozen clusters", fleets: small, kinds: slices.Concat(nineKinds, versionKinds[:3], rareKinds[2:3], mergedKinds[3:4]), strategies: optionStrategies, extras: combined(frozenChoices, slices.Concat(gateChoices[:2], pauseChoices[1:], wholeChoices[1:], removedChoices[2:3], orderChoices[1:])), short: 1500},
		{name: "frozen clusters of three", fleets: three, kinds: nineKinds, strategies: optionStrategies, extras: combined(frozenChoices, slices.Concat(perGroupChoice[:2], ignoredOfThreeChoices, paceChoices, sharesChoices[3:4])), short: 1800},
		{name: "frozen clusters in a graph", fleets: four, kinds: fewKinds, strategies: perGroup, extras: combined(frozenChoices, orderedChoices[2:5], gateChoices[:2]), short: 1200},
		{name: "waits", fleets: small, kinds: rare, strategies: optionStrategies, extras: combined(waitChoices, gateChoices[:4]), short: 500},
		{name: "waits of three", fleets: three, kinds: timed, strategies: grouped, extras: combined(waitChoices, gateChoices[:4]), short: 1000},
		{name: "waits in a graph", fleets: slices.Concat(three, four), kinds: append([]kind{rareKinds[4], nineKinds[4]}, fewKinds[:3]...), strategies: perGroup, extras: combined(waitChoices, orderedChoices), short: 1200},
		{name: "paces and ignored clusters", fleets: slices.Concat(small[2:], three), kinds: append([]kind{rareKinds[4], nineKinds[4]}, fewKinds[:4]...), strategies: grouped, extras: combined(ignoredOfThreeChoices, paceChoices), short: 1200},
		{name: "removals", fleets: small, kinds: slices.Concat(nineKinds, mergedKinds), strategies: slices.Concat(optionStrategies, ignoredStrategies), extras: combined(removedChoices, wholeChoices), short: 1200},
	}
}

// TestOptionsAgreeWithTheRulesOnEveryFleetOfUpToThreeClusters is every fleet of up to three clusters under the
// combinations of options that have something to do with each other.
func TestOptionsAgreeWithTheRulesOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	for _, s := range optionWorlds() {
		s.each(t, agrees)
	}
}
