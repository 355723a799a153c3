// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"
	"testing"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// breachedIn is a breach of a group of before.
func breachedIn(group grouping.Key, of int, clusters ...string) status.Breached {
	return status.Breached{Group: group, Of: of, Clusters: clusters}
}

// recordsBreaches gives a record with breaches, and perhaps with an entry of y.
func recordsBreaches(entries []status.DeselectedCluster, breaches ...status.Breached) func(*world) {
	m := &rollout.StoredRecord{Version: "v2", Record: status.Record{Version: "v2", Deselected: entries, Breached: breaches}}
	return func(w *world) { w.storedRecord = m }
}

// remembersBreach gives a result before by current groups or of then, in one of which all of some clusters timed out.
func remembersBreach(group grouping.Key, lasting bool, clusters ...string) func(*world) {
	groups, err := grouping.FromNames(map[grouping.Key][]string{group: clusters})
	if err != nil {
		panic(err)
	}
	before := &formerly{groups: map[string]grouping.Key{}, exposes: len(clusters)}
	var reports []status.Report
	for _, name := range clusters {
		before.groups[name] = group
		reports = append(reports, status.Report{Cluster: name, Status: status.TimeOut})
	}
	if lasting {
		before.lasting = []status.Breached{breachedIn(group, len(clusters), clusters...)}
	} else { // so the cluster is in the group, and nothing else is known
		reports = nil
	}
	if before.result, err = rollout.Plan(perGroup(config("1", "", 0)), groups, reports, now, rollout.Options{}); err != nil {
		panic(err)
	}
	return func(w *world) { w.former = before }
}

// breachesBefore are choices of the breaches that the result before or the record had: of one group that is there, has moved or is gone,
// of all, of some that are others' or have no budget, and several.
var breachesBefore = []func(*world){
	recordsBreaches(nil, breachedIn(plainKeys[0], 2, "a", "b")),
	recordsBreaches(nil, breachedIn(plainKeys[1], 3, "c", "b", "a", "a", "gone")),
	recordsBreaches(nil, breachedIn(oldGroup, 9, "a", "b", "y")),
	recordsBreaches(nil, breachedIn(oldGroup, 1, "a")),
	recordsBreaches(nil, status.Breached{AllGroups: true, Of: 2, Clusters: []string{"a", "b", "c"}}),
	recordsBreaches(nil, breachedIn(plainKeys[1], 4, "b", "y"), breachedIn(plainKeys[0], 1, "a", "b"), breachedIn(plainKeys[2], 2, "b", "a")),
	recordsBreaches(nil, breachedIn(plainKeys[2], 1, "a", "b"), breachedIn(plainKeys[2], 4, "a", "b", "c")),
	recordsBreaches(entriesOf("y", plainKeys[0])[:1], breachedIn(plainKeys[0], 2, "b", "y")),
	recordsBreaches(entriesOf("a", oldGroup)[:1], breachedIn(plainKeys[1], 2, "b", "a")),
	remembersBreach(plainKeys[0], true, "a", "b"),
	remembersBreach(oldGroup, true, "a", "b", "c"),
	remembersBreach(plainKeys[1], true, "b", "y"),
	remembersBreach(plainKeys[1], false, "a", "b", "c"),
	func(w *world) {
		recordsBreaches(nil, breachedIn(plainKeys[1], 2, "a", "c"))(w)
		remembersBreach(plainKeys[1], true, "a", "b")(w)
	},
	func(w *world) { w.storedRecord = &rollout.StoredRecord{Version: "v2"} },
	func(w *world) { // about another version
		w.storedRecord = &rollout.StoredRecord{Version: "v3", Record: status.Record{Version: "v2", Breached: []status.Breached{breachedIn(plainKeys[0], 2, "a", "b")}}}
	},
}

// R10 on every fleet of up to three clusters whose result before, or record, had a breach.
func TestBreachesLastAsTheRulesSayOnEveryFleetOfUpToThreeClusters(t *testing.T) {
	small := slices.Concat(fleets(cuts(1), plainKeys, 0), fleets(cuts(2), plainKeys, 0))
	three := fleets(cuts(3), plainKeys, 0)
	strategies := slices.Concat(optionStrategies, []clusterv1alpha1.RolloutStrategy{
		progressive("1", config("34%", "", 0), "canary"), perGroup(config("50%", "10m", 0)), perGroup(config("1", "", 0), "canary"), perGroup(config("", "", 0)),
		perGroup(config("34%", "", 5*time.Minute), "1"),
	})
	kinds := append([]kind{versionKinds[0], versionKinds[14], nineKinds[4]}, fewKinds...)
	for _, s := range []space{
		{name: "with options", fleets: small, kinds: kinds, strategies: strategies, extras: combined(breachesBefore, deselectedLimits), short: 2000, whole: 200_000},
		{name: "with deselected clusters", fleets: small, kinds: fewKinds, strategies: strategies, extras: combined(breachesBefore, deselectedKinds[:20]), short: 1500, whole: 200_000},
		{name: "being deleted, or of parts", fleets: small, kinds: fewKinds, strategies: strategies, extras: combined(breachesBefore, fewDeselected, goingChoices, append(partChoices, asIs)), short: 1000, whole: 200_000},
		{name: "of three", fleets: three, kinds: fewKinds, strategies: strategies, extras: combined(breachesBefore, deselectedLimits), short: 2500, whole: 200_000},
	} {
		s.each(t, agrees)
	}
}
