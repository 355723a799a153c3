// SPDX-License-Identifier: Apache-2.0

package passes_test

import (
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/status"
)

// The rule that a breach lasts (R10), for a policy in two passes with budgets in counts.

// naiveBreach is a group in which too many clusters failed, and those clusters.
type naiveBreach struct {
	group    grouping.Key
	clusters []string
}

// naiveBudget is how many clusters of a group may fail.
func (l naiveLimits) naiveBudget(group grouping.Key) int {
	if l.mandatory != "" && group.Name == l.mandatory {
		return 0
	}
	return l.maxFailures
}

// fails says whether a cluster failed.
func (f naiveFleet) fails(cluster string) bool {
	s, _ := f.of(cluster)
	return s == status.Failed || s == status.TimeOut
}

// naiveLasting adds those of some breaches that last to others, except where another one has all their clusters and no larger budget.
func (l naiveLimits) naiveLasting(f naiveFleet, all []naiveBreach, told ...naiveBreach) []naiveBreach {
	if l.maxFailures == 0 || l.typ == clusterv1alpha1.All {
		return nil
	}
	for _, b := range told {
		b.clusters = slices.DeleteFunc(slices.Clone(b.clusters), func(c string) bool { return !f.fails(c) })
		covers := func(a, b naiveBreach) bool {
			return l.naiveBudget(a.group) <= l.naiveBudget(b.group) && !slices.ContainsFunc(b.clusters, func(c string) bool { return !slices.Contains(a.clusters, c) })
		}
		if len(b.clusters) <= l.naiveBudget(b.group) || slices.ContainsFunc(all, func(a naiveBreach) bool { return covers(a, b) }) {
			continue
		}
		all = append(slices.DeleteFunc(slices.Clone(all), func(a naiveBreach) bool { return covers(b, a) }), b)
	}
	return all
}

// naiveBreaches are the breaches of the groups of now that last: of single groups, as a count of all clusters is the same however they are cut.
func (l naiveLimits) naiveBreaches(f naiveFleet, bindings int) (all []naiveBreach) {
	groups := slices.Clone(f.groups)
	slices.SortStableFunc(groups, func(a, b naiveGroup) int { // mandatory ones first
		return l.naiveBudget(a.key(bindings)) - l.naiveBudget(b.key(bindings))
	})
	for _, g := range groups {
		alone := l.typ == clusterv1alpha1.ProgressivePerGroup || l.naiveBudget(g.key(bindings)) == 0
		if alone && g.index >= 0 {
			failed := slices.DeleteFunc(slices.Sorted(slices.Values(g.clusters)), func(c string) bool { return !f.fails(c) })
			all = append(all, naiveBreach{g.key(bindings), failed})
		}
	}
	return all
}

// naiveTold are the breaches that the result before and the record had.
func (w *world) naiveTold() []naiveBreach {
	told := slices.Clone(w.formerBreaches)
	if w.record.Version == w.versionName() {
		for _, b := range w.record.Breached {
			told = append(told, naiveBreach{b.Group, b.Clusters})
		}
	}
	return told
}

// checkLasting compares the recorded breaches with the rules, and keeps those of the result. Partially observed groups
// change none of them.
func (w *world) checkLasting(recorded []status.Breached, two bool, fleet naiveFleet) {
	w.t.Helper()
	isHalf := len(w.lost) > 0 && !w.policy.Spec.Disabled
	var lasting []naiveBreach
	if two {
		lasting = fleet.lasting
		if !isHalf {
			lasting = w.limits.naiveLasting(fleet, lasting, w.limits.naiveBreaches(fleet, len(w.bindings))...)
		}
	}
	var want []naiveBreach
	switch {
	case w.policy.Spec.Disabled, isHalf && w.record.Version == w.versionName(): // O14, O16
		for _, b := range w.record.Breached {
			want = append(want, naiveBreach{b.Group, b.Clusters})
		}
	case !isHalf:
		want = lasting
	}
	same := func(b status.Breached, n naiveBreach) bool {
		return b.Group == n.group && slices.Equal(b.Clusters, n.clusters)
	}
	if !slices.EqualFunc(recorded, want, same) {
		w.t.Fatalf("R48: the breaches on record are %v, want %v\nstored %+v\nreplicas %s", recorded, want, w.record, w.dump())
	}
	if isHalf && w.former != nil && !w.formerHalf {
		return
	}
	w.formerBreaches = lasting
}
