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
func newLasting(breached status.Breached, failed *fleet.Tally) lasting {
	return lasting{Breached: breached, positions: make([]fleet.Position, 0, failed.InBudget())}
}

// told gives the breaches that may last: those that the result before had and those that the record has.
func (s *schedule) told(previous *previousResult) (all []status.Breached) {
	if previous != nil {
		all = previous.lasting
	}
	if index := s.options.record; index != nil && len(index.Record.Breached) > 0 {
		all = slices.Concat(all, index.Record.Breached)
	}
	return all
}

// lasting gives the breaches that last: those of before that stand, and those of now that a new cut could end.
func (s *schedule) lasting(view view, observed *observed) (all []lasting) {
	if s.rules.typ == clusterv1alpha1.All || s.options.rollback.isTolerant() || s.rules.maxFailures.IsZero() {
		return nil
	}
	for i := range observed.before {
		breach := lasting{Breached: observed.before[i], positions: s.stillFailed(view, observed.before[i].Clusters)}
		all = s.keep(all, breach)
	}
	if s.missing == "" {
		for _, breach := range s.breachedNow(view, observed) {
			all = s.keep(all, breach)
		}
	}
	return all
}

// stillFailed gives the positions of those of some clusters that are failures in a budget, in order.
func (s *schedule) stillFailed(view view, clusters []string) []fleet.Position {
	positions := make([]fleet.Position, 0, len(clusters))
	for _, cluster := range clusters {
		if position, member := s.Position(cluster); member && fleet.FailureStates.Has(view.State(position)) && s.InBudget(position) {
			positions = append(positions, position)
		}
	}
	slices.Sort(positions)
	return slices.Compact(positions)
}

// breachedNow gives the breaches by the current groups, in order. It takes time in proportion to the failures where there is one.
func (s *schedule) breachedNow(view view, observed *observed) (all []lasting) {
	isInAll := s.isBreachedInAll(observed) && s.rules.maxFailures.IsPercent()
	if observed.breached == s.Graph.Len() && !isInAll {
		return nil
	}
	of := make(map[stages.Stage]int) // their indexes by stage, None for all stages
	for stage := observed.breached; stage < s.Graph.Len(); stage++ {
		if s.IsBreached(stage, &observed.Stages[stage]) && s.keyOf(stage) != fleet.UnknownGroup() {
			of[stage] = len(all)
			all = append(all, newLasting(status.Breached{Group: s.keyOf(stage), Of: s.selectedIn(stage)}, &observed.Stages[stage]))
		}
	}
	if isInAll {
		of[stages.None] = len(all)
		all = append(all, newLasting(status.Breached{AllGroups: true, Of: s.numCounted() - len(s.Deselected)}, &observed.All))
	}
	for position, _, ok := view.In(fleet.FailureStates, 0); ok; position, _, ok = view.In(fleet.FailureStates, position+1) {
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
func (s *schedule) keep(all []lasting, breach lasting) []lasting {
	breach.mandatory = !breach.AllGroups && s.options.rollback == nil && s.Layout.Mandatory.Has(breach.Group)
	if !breach.mandatory {
		breach.budget = s.rules.maxFailures.Within(breach.Of, len(breach.positions))
	}
	if len(breach.positions) <= breach.budget || slices.ContainsFunc(all, func(other lasting) bool { return other.outlasts(&breach) }) {
		return all
	}
	all = slices.DeleteFunc(all, func(other lasting) bool { return breach.outlasts(&other) })
	if len(all) == mostLasting {
		return all
	}
	breach.Clusters = make([]string, len(breach.positions))
	for i, position := range breach.positions {
		breach.Clusters[i] = s.Cluster(position)
	}
	return append(all, breach)
}

// outlasts says whether a breach stands as long as another one does.
func (l *lasting) outlasts(other *lasting) bool {
	return l.budget <= other.budget && !slices.ContainsFunc(other.positions, func(position fleet.Position) bool { return !l.has(position) })
}

// has says whether the cluster at a position is one of the breach.
func (l *lasting) has(position fleet.Position) bool {
	_, is := slices.BinarySearch(l.positions, position)
	return is
}

// breach gives what is reported of a breach that lasts.
func (l *lasting) breach(schedule *schedule, view view) *Breach {
	reported := &Breach{
		Group: l.Group, AllGroups: l.AllGroups, Mandatory: l.mandatory, Lasting: true, Failures: len(l.positions), MaxFailures: l.budget,
		Clusters: slices.Clone(l.Clusters[:min(maxNamed, len(l.Clusters))]),
	}
	for i, position := range l.positions {
		if i < maxNamed && schedule.IsDeselected(position) {
			reported.Deselected = append(reported.Deselected, l.Clusters[i])
		}
		reported.Lost += one(view.IsLost(position))
	}
	return reported
}

// fitBreached gives the breaches as a record has them: with as many names as an eighth of its room takes. It also gives the bytes that
// they take in JSON.
func (s *schedule) fitBreached(all []lasting) (kept []status.Breached, bytes int) {
	room := s.roomOfRecord() / 8
	for i := range all {
		breached := all[i].Breached
		breached.Clusters = nil
		text, _ := json.Marshal(&breached)
		bytes += len(text)
		for _, name := range all[i].Clusters {
			text, _ := json.Marshal(name)
			if bytes+len(text) > room {
				break
			}
			breached.Clusters, bytes = append(breached.Clusters, name), bytes+len(text)+len(",")
		}
		if len(breached.Clusters) > all[i].budget {
			kept = append(kept, breached)
		}
	}
	return kept, bytes
}
