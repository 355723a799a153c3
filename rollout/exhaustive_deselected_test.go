// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// oldGroup is a group that is not there any more.
var oldGroup = grouping.Key{Index: 8, Name: "old"}

// leaves reports a cluster that is not selected.
func leaves(cluster string, k kind, attempt int, deleting ...bool) func(*world) {
	return func(w *world) {
		for i, o := range k.reports {
			r := o.report(cluster)
			r.Attempt, r.Deleting = attempt, i < len(deleting) && deleting[i]
			w.reports = append(w.reports, r)
		}
	}
}

// deselectedKinds are the kinds of report of a cluster y that is not selected.
var deselectedKinds = func() (choices []func(*world)) {
	for _, k := range slices.Concat(nineKinds, versionKinds[:8], rareKinds, mergedKinds[:2]) {
		choices = append(choices, leaves("y", k, 0))
	}
	for _, k := range []kind{nineKinds[1], nineKinds[2], nineKinds[5], nineKinds[6], nineKinds[7], versionKinds[0]} {
		choices = append(choices, leaves("y", k, 0, true), leaves("y", k, 1, true))
	}
	p := nineKinds[2].reports[0]
	one := kind{"p+p", []observed{p, p}}
	return append(choices, leaves("y", one, 0, true), leaves("y", one, 0, true, true), leaves("y", mergedKinds[0], 0, false, true))
}()

// fewDeselected are those without which leaving is not worth a look.
var fewDeselected = []func(*world){
	asIs,
	leaves("y", nineKinds[2], 0),       // progressing
	leaves("y", nineKinds[3], 0, true), // past its deadline
	leaves("y", nineKinds[4], 0),       // soaks
	leaves("y", nineKinds[5], 0),       // soaked
	leaves("y", nineKinds[6], 0, true), // failed
	leaves("y", versionKinds[2], 0),    // has not answered
}

// former are choices of the group that y had in the result before.
var former = []func(*world){
	asIs, formerlyIn("y", plainKeys[0]), formerlyIn("y", oldGroup), formerlyIn("y", plainKeys[1]), formerlyHalf("y", plainKeys[0], 2),
	formerlyBeside("y", plainKeys[0], all(""), 0),
	formerlyBeside("y", plainKeys[0], perGroup(config("", "", 0)), 2),
}

// formerlyIn gives a result before that had the cluster alone in a group, which exposed it.
func formerlyIn(cluster string, group grouping.Key) func(*world) {
	return formerlyBeside(cluster, group, perGroup(config("", "", 0)), 0)
}

// formerlyBeside gives a result before that had the cluster in a group beside some others.
func formerlyBeside(cluster string, group grouping.Key, strategy clusterv1alpha1.RolloutStrategy, others int) func(*world) {
	names, exposes := []string{cluster, "u", "v"}[:1+others], 1+others
	if strategy.Type == clusterv1alpha1.All {
		exposes = 0
	}
	groups, err := grouping.FromNames(map[grouping.Key][]string{group: names})
	if err != nil {
		panic(err)
	}
	result, err := rollout.Plan(strategy, groups, nil, now, rollout.Options{})
	if err != nil {
		panic(err)
	}
	in := map[string]grouping.Key{}
	for _, name := range names {
		in[name] = group
	}
	before := &formerly{result: result, groups: in, exposes: exposes}
	return func(w *world) { w.former = before }
}

// formerlyHalf gives a result before of groups that were incomplete: they do not tell in which one the cluster was (R47), and what they
// expose counts for nothing (R66).
func formerlyHalf(cluster string, group grouping.Key, others int) func(*world) {
	names := []string{cluster, "u", "v"}[:1+others]
	groups, err := grouping.FromNames(map[grouping.Key][]string{group: names})
	if err != nil {
		panic(err)
	}
	result, err := rollout.Plan(perGroup(config("", "", 0)), groups.Lacking("decisions"), nil, now, rollout.Options{})
	if err != nil {
		panic(err)
	}
	in := map[string]grouping.Key{}
	for _, name := range names {
		in[name] = unknown
	}
	return func(w *world) { w.former = &formerly{result: result, groups: in, exposes: len(names), half: true} }
}

// movedChoices are where selected clusters were in the result before.
var movedChoices = []func(*world){
	formerlyIn("a", plainKeys[0]), formerlyIn("a", plainKeys[1]), formerlyIn("a", plainKeys[2]), formerlyIn("b", plainKeys[0]),
	formerlyIn("b", plainKeys[1]), formerlyIn("a", oldGroup), formerlyIn("b", oldGroup),
	formerlyBeside("a", plainKeys[0], perGroup(config("", "", 0)), 2), formerlyHalf("a", plainKeys[0], 2),
}

// recorded gives a record of one cluster about the wanted version.
func recorded(atOnce bool, e status.DeselectedCluster) func(*world) {
	m := &rollout.StoredRecord{Version: "v2", AtOnce: atOnce, Record: status.Record{Version: "v2", Deselected: []status.DeselectedCluster{e}}}
	if e.Attempt > 0 {
		m.Record.Attempt, m.Record.Exposed = e.Attempt, 2
	}
	return func(w *world) { w.storedRecord = m }
}

// entriesOf are the kinds of entry that R48 and R49 tell apart.
func entriesOf(cluster string, group grouping.Key) (entries []status.DeselectedCluster) {
	for _, e := range []struct {
		observed
		attempt int
	}{
		{observed{status.TimeOut, old, 0}, 0},
		{observed{status.TimeOut, 0, old}, 1},
		{observed{status.Failed, soon, old}, 0},
		{observed{status.Failed, 0, soon + 1}, 1},
		{observed{status.Failed, 0, 0}, 0},
		{observed{status.Progressing, young, 2 * young}, 0},
		{observed{status.Progressing, 0, old}, 1},
		{observed{status.ToApply, 0, young}, 0},
		{observed{status.Validating, young, old}, 0},
		{observed{status.Succeeded, soaks, old}, 0},
		{observed{status.Succeeded, soaks + 1, old}, 0},
		{observed{status.Skip, 0, young}, 0},
		{observed{status.Skip, 0, old}, 1},
	} {
		r := e.report(cluster)
		r.Attempt = e.attempt
		entries = append(entries, status.DeselectedCluster{Report: r, Group: group})
	}
	return entries
}

// records are choices of a record.
func records(entries ...status.DeselectedCluster) (choices []func(*world)) {
	for _, e := range entries {
		choices = append(choices, recorded(false, e), recorded(true, e))
	}
	return choices
}

// noRecords are choices without any entry that counts.
var noRecords = []func(*world){
	asIs,
	func(w *world) { w.storedRecord = &rollout.StoredRecord{Version: "v2"} },
	func(w *world) { w.storedRecord = &rollout.StoredRecord{Version: "v2", AtOnce: true} },
	func(w *world) {
		e := entriesOf("y", plainKeys[0])[0]
		w.storedRecord = &rollout.StoredRecord{Version: "v3", AtOnce: true, Record: status.Record{Version: "v2", More: 3, Deselected: []status.DeselectedCluster{e}}}
	},
	func(w *world) {
		w.storedRecord = &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2", More: 3}}
	},
	func(w *world) {
		w.storedRecord = &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2", More: 3, Until: now.Add(young)}}
	},
	func(w *world) {
		w.storedRecord = &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2", More: 3, Until: now}}
	},
	func(w *world) { w.storedRecord = &rollout.StoredRecord{Version: "v2"}; w.attempt = 1 },
	func(w *world) {
		w.storedRecord = &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2", More: 3}}
		w.attempt = 1
	},
}

// partChoices are other parts beside the groups.
var partChoices = func() (choices []func(*world)) {
	for _, p := range []*parts{{[]string{"y"}, true}, {[]string{"y"}, false}, {[]string{"x"}, true}, {[]string{"x"}, false}} {
		choices = append(choices, func(w *world) { w.parts = p })
	}
	return choices
}()

// goingChoices say whose objects are being deleted.
var goingChoices = []func(*world){asIs, going("a"), going("a", "b"), func(w *world) { // one of the objects
	if len(w.reports) > 0 {
		w.reports[0].Deleting = true
	}
}}

func going(clusters ...string) func(*world) {
	return func(w *world) {
		for i := range w.reports {
			if slices.Contains(clusters, w.reports[i].Cluster) {
				w.reports[i].Deleting = true
			}
		}
	}
}

// deselectedLimits are options that count deselected clusters.
var deselectedLimits = []func(*world){
	asIs,
	rampChoices[1], rampChoices[2], startsChoices[1], startsChoices[3], startsChoices[4], waitChoices[1], waitChoices[2], waitChoices[3],
	sharesChoices[1], sharesChoices[2], sharesChoices[5],
	failedChoices[1], perGroupChoice[2], orderedChoices[3],
	func(w *world) { w.ignored = of("y") },
	func(w *world) { w.ignored = of("a") },
	func(w *world) { w.before = of("y") },
	func(w *world) { w.attempt = 1 },
	func(w *world) { w.attempt = 2 },
	func(w *world) { w.incomplete = true },
	func(w *world) { w.paused = true },
	func(w *world) { w.size = ptr(intstr.FromString("50%")) },
	func(w *world) { w.gates = []closedGate{{plainKeys[1], rollout.Gate{Name: "window"}}} },
}

// removalLimits are options that delay or stop removals.
var removalLimits = []func(*world){
	asIs,
	func(w *world) { w.maxRemoved = ptr(intstr.FromInt32(0)) },
	func(w *world) { w.maxRemoved = ptr(intstr.FromString("50%")) },
	func(w *world) {
		before := formerly{groups: map[string]grouping.Key{}}
		if w.former != nil {
			before = *w.former
		}
		w.former, w.grace = &before, time.Minute
	},
}

// deselectedWorlds are the fleets of up to three clusters beside clusters that are not selected, and with clusters that moved. What a deselected cluster counts for
// is met by each option that reads it, in fleets of up to two. Left out is a record together with several reports of a cluster:
// R1 comes before R49. These are 400 million worlds: of each space 200,000 are drawn.
func deselectedWorlds() []space {
	small := slices.Concat(fleets(cuts(0), plainKeys, 0), fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	three := fleets(ascending(cuts(3)), plainKeys, 0)
	two := []func(*world){asIs, leaves("z", nineKinds[2], 0), leaves("z", nineKinds[7], 0, true), leaves("z", nineKinds[6], 0)}
	here, gone := entriesOf("y", plainKeys[0]), entriesOf("y", oldGroup)
	back := slices.Concat(entriesOf("a", plainKeys[0]), entriesOf("a", oldGroup)[:6])
	moving := slices.Concat(entriesOf("a", plainKeys[2])[:9], entriesOf("b", plainKeys[0])[:9], entriesOf("a", unknown)[:7])
	kinds := append([]kind{versionKinds[0], nineKinds[4]}, fewKinds...)
	strategies := slices.Concat(optionStrategies, []clusterv1alpha1.RolloutStrategy{
		progressive("50%", config("50%", "10m", 0)), progressive("1", config("1", "", 0)), perGroup(config("34%", "10m", 5*time.Minute)), {},
	})
	spaces := []space{
		{name: "left", fleets: small, kinds: kinds, strategies: strategies, extras: combined(deselectedKinds, former, deselectedLimits), short: 2000},
		{name: "left of three", fleets: three, kinds: fewKinds, strategies: strategies, extras: combined(fewDeselected, former, deselectedLimits), short: 1250},
		{name: "two left", fleets: small, kinds: kinds, strategies: strategies, extras: combined(two, deselectedKinds, former, removalLimits), short: 1000},
		{name: "being deleted", fleets: small, kinds: append(mergedKinds, kinds...), strategies: strategies, extras: combined(goingChoices, noRecords, deselectedLimits), short: 750},
		{name: "first records", fleets: small, kinds: kinds, strategies: strategies, extras: combined(deselectedKinds, noRecords, former, deselectedLimits, removalLimits), short: 1500},
		{name: "records", fleets: small, kinds: kinds, strategies: strategies, extras: combined(deselectedKinds, records(here...), deselectedLimits), short: 2500},
		{name: "records of groups that are gone", fleets: small, kinds: fewKinds, strategies: strategies, extras: combined(fewDeselected, records(gone...), deselectedLimits, former[:2], removalLimits), short: 1500},
		{name: "records of clusters that are back", fleets: small[1:], kinds: kinds, strategies: strategies, extras: combined(goingChoices, records(back...), deselectedLimits, fewDeselected[:4]), short: 2500},
		{name: "records of three", fleets: three, kinds: fewKinds, strategies: strategies, extras: combined(fewDeselected, records(slices.Concat(here, back)...), deselectedLimits), short: 1500},
		{name: "moved", fleets: small[1:], kinds: slices.Concat(nineKinds, versionKinds, mergedKinds[:2]), strategies: strategies, extras: combined(movedChoices, noRecords[:3], deselectedLimits), short: 2000},
		{name: "moved of three", fleets: three, kinds: append([]kind{versionKinds[0], nineKinds[4]}, fewKinds...), strategies: strategies, extras: combined(movedChoices, deselectedLimits), short: 2000},
		{name: "moved and deselected", fleets: small[1:], kinds: kinds, strategies: strategies, extras: combined(movedChoices, fewDeselected, goingChoices, noRecords[:3]), short: 1000},
		{name: "moved, with records", fleets: small[1:], kinds: kinds, strategies: strategies, extras: combined(movedChoices, records(moving...), deselectedLimits), short: 1500},
		{name: "parts", fleets: small, kinds: kinds, strategies: strategies, extras: combined(deselectedKinds, former, noRecords[:3], partChoices, deselectedLimits[:8]), short: 1000},
		{name: "records of parts", fleets: small, kinds: fewKinds, strategies: strategies, extras: combined(fewDeselected, records(slices.Concat(here, gone)...), partChoices, deselectedLimits, removalLimits), short: 1500},
	}
	for i := range spaces {
		spaces[i].whole = 200_000
	}
	return spaces
}

// R46 to R50 on every fleet of up to three clusters, beside deselected clusters.
func TestDeselectedClustersAgreeWithTheRulesOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	for _, s := range deselectedWorlds() {
		s.each(t, agrees)
	}
}
