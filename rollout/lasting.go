// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"encoding/json"
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
	"github.com/cohort-ocm/cohort/status"
)

// mostLasting is how many breaches last at a time.
const mostLasting = 16

// lasting is a breach that stands however the groups are changed (R10).
//
// For example, maxFailures is 1, and a and b of group 1 {a b c} failed. Then the scheduler cuts 0 {z a} and 1 {b c}: each group has a
// failure that it tolerates. The breach of group 1 goes on to be a, b, until one of them recovers.
type lasting struct {
	status.Breached
	positions []fleet.Position // of its clusters, in order
	budget    int
	mandatory bool
}

// newLasting gives a breach with room for as many clusters as failed in it.
func newLasting(b status.Breached, failed *fleet.Tally) lasting {
	return lasting{Breached: b, positions: make([]fleet.Position, 0, failed.InBudget())}
}

// told gives the breaches that may last: those that the result before had and those that the record has.
func (s *schedule) told(previous *previousResult) (all []status.Breached) {
	if previous != nil {
		all = previous.lasting
	}
	if m := s.options.record; m != nil && len(m.Record.Breached) > 0 {
		all = slices.Concat(all, m.Record.Breached)
	}
	return all
}

// lasting gives the breaches that last: those of before that stand, and those of now that a new cut could end.
func (s *schedule) lasting(v view, o *observed) (all []lasting) {
	if s.rules.typ == clusterv1alpha1.All || s.options.rollback.isTolerant() || s.rules.maxFailures.IsZero() {
		return nil
	}
	for i := range o.before {
		b := lasting{Breached: o.before[i], positions: s.stillFailed(v, o.before[i].Clusters)}
		all = s.keep(all, b)
	}
	if s.missing == "" {
		for _, b := range s.breachedNow(v, o) {
			all = s.keep(all, b)
		}
	}
	return all
}

// stillFailed gives the positions of those of some clusters that are failures in a budget, in order.
func (s *schedule) stillFailed(v view, clusters []string) []fleet.Position {
	positions := make([]fleet.Position, 0, len(clusters))
	for _, cluster := range clusters {
		if position, member := s.Position(cluster); member && fleet.FailureStates.Has(v.State(position)) && s.InBudget(position) {
			positions = append(positions, position)
		}
	}
	slices.Sort(positions)
	return slices.Compact(positions)
}

// breachedNow gives the breaches by the current groups, in order. It takes time in proportion to the failures where there is one.
func (s *schedule) breachedNow(v view, o *observed) (all []lasting) {
	isInAll := s.isBreachedInAll(o) && s.rules.maxFailures.IsPercent()
	if o.breached == s.Graph.Len() && !isInAll {
		return nil
	}
	of := make(map[stages.Stage]int) // their indexes by stage, None for all stages
	for stage := o.breached; stage < s.Graph.Len(); stage++ {
		if s.IsBreached(stage, &o.Stages[stage]) && s.keyOf(stage) != fleet.UnknownGroup() {
			of[stage] = len(all)
			all = append(all, newLasting(status.Breached{Group: s.keyOf(stage), Of: s.selectedIn(stage)}, &o.Stages[stage]))
		}
	}
	if isInAll {
		of[stages.None] = len(all)
		all = append(all, newLasting(status.Breached{AllGroups: true, Of: s.numCounted() - len(s.Deselected)}, &o.All))
	}
	for position, _, ok := v.In(fleet.FailureStates, 0); ok; position, _, ok = v.In(fleet.FailureStates, position+1) {
		if !s.InBudget(position) {
			continue
		}
		for _, stage := range [...]stages.Stage{s.StageOf(position), stages.None} {
			if i, is := of[stage]; is {
				all[i].positions = append(all[i].positions, position)
			}
		}
	}
	return all
}

// selectedIn counts the clusters of a stage that count and are selected there.
func (s *schedule) selectedIn(stage stages.Stage) (n int) {
	for _, group := range s.Graph.Groups(stage) {
		n += s.SizeOf(group) - s.IgnoredIn(group) - s.DeselectedIn(group) - s.MovedIn(group)
	}
	return n
}

// keep adds a breach if it stands and no other one stands as long, and leaves out those that do not stand longer than this one.
func (s *schedule) keep(all []lasting, b lasting) []lasting {
	b.mandatory = !b.AllGroups && s.options.rollback == nil && s.Layout.Mandatory.Has(b.Group)
	if !b.mandatory {
		b.budget = s.rules.maxFailures.Within(b.Of, len(b.positions))
	}
	if len(b.positions) <= b.budget || slices.ContainsFunc(all, func(other lasting) bool { return other.outlasts(&b) }) {
		return all
	}
	all = slices.DeleteFunc(all, func(other lasting) bool { return b.outlasts(&other) })
	if len(all) == mostLasting {
		return all
	}
	b.Clusters = make([]string, len(b.positions))
	for i, position := range b.positions {
		b.Clusters[i] = s.Cluster(position)
	}
	return append(all, b)
}

// outlasts says whether a breach stands as long as another one does.
func (b *lasting) outlasts(other *lasting) bool {
	return b.budget <= other.budget && !slices.ContainsFunc(other.positions, func(position fleet.Position) bool { return !b.has(position) })
}

// has says whether the cluster at a position is one of the breach.
func (b *lasting) has(position fleet.Position) bool {
	_, is := slices.BinarySearch(b.positions, position)
	return is
}

// breach gives what is reported of a breach that lasts.
func (b *lasting) breach(s *schedule, v view) *Breach {
	reported := &Breach{
		Group: b.Group, AllGroups: b.AllGroups, Mandatory: b.mandatory, Lasting: true, Failures: len(b.positions), MaxFailures: b.budget,
		Clusters: slices.Clone(b.Clusters[:min(maxNamed, len(b.Clusters))]),
	}
	for i, position := range b.positions {
		if i < maxNamed && s.IsDeselected(position) {
			reported.Deselected = append(reported.Deselected, b.Clusters[i])
		}
		reported.Lost += one(v.IsLost(position))
	}
	return reported
}

// fitBreached gives the breaches as a record has them: with as many names as an eighth of its room takes. It also gives the bytes that
// they take in JSON.
func (s *schedule) fitBreached(all []lasting) (kept []status.Breached, bytes int) {
	room := s.roomOfRecord() / 8
	for i := range all {
		b := all[i].Breached
		b.Clusters = nil
		text, _ := json.Marshal(&b)
		bytes += len(text)
		for _, name := range all[i].Clusters {
			text, _ := json.Marshal(name)
			if bytes+len(text) > room {
				break
			}
			b.Clusters, bytes = append(b.Clusters, name), bytes+len(text)+len(",")
		}
		if len(b.Clusters) > all[i].budget {
			kept = append(kept, b)
		}
	}
	return kept, bytes
}
