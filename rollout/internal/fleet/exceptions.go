// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// Exceptions say which clusters and which failures do not count (R37, R38). The zero value is for a rollout in which all do.
type Exceptions struct {
	Ignored   []Position // in order
	Baseline  []Position // whose failures are left out of the budgets, in order
	isIgnored []bool     // of each position; nil where all are counted
	inBase    []bool     // of each position; nil where all failures are in the budgets
	inGroup   []int      // for each group how many of its clusters are ignored
	names     []string   // of all that are ignored, members or not, in order
}

// NewExceptions finds the clusters that are ignored and those that failed before, among the members. The names are in order.
func NewExceptions(members Members, ignored, failedBefore []string) (exceptions Exceptions) {
	n := members.NumClusters()
	if failedBefore != nil {
		exceptions.inBase, exceptions.Baseline = make([]bool, n), make([]Position, 0, len(failedBefore))
		members.each(failedBefore, func(position Position) {
			exceptions.inBase[position] = true
			exceptions.Baseline = append(exceptions.Baseline, position)
		})
	}
	if ignored == nil {
		return exceptions
	}
	exceptions.names = ignored
	exceptions.isIgnored, exceptions.inGroup, exceptions.Ignored = make([]bool, n), make([]int, members.Len()), make([]Position, 0, len(ignored))
	members.each(ignored, func(position Position) {
		exceptions.isIgnored[position] = true
		exceptions.inGroup[members.GroupOf(position)]++
		exceptions.Ignored = append(exceptions.Ignored, position)
	})
	return exceptions
}

// Ignores says whether the cluster at a position is ignored.
func (e *Exceptions) Ignores(position Position) bool { return at(e.isIgnored, position) }

// IgnoresName says of a cluster whether it is ignored, whether it is a member or not.
func (e *Exceptions) IgnoresName(cluster string) bool {
	_, is := slices.BinarySearch(e.names, cluster)
	return is
}

// IgnoredIn counts the clusters of a group that are ignored.
func (e *Exceptions) IgnoredIn(group stages.Group) int { return at(e.inGroup, group) }

// FailedBefore says whether the failures of the cluster at a position are left out of the budgets.
func (e *Exceptions) FailedBefore(position Position) bool { return at(e.inBase, position) }

// InBudget says whether the cluster at a position is in a budget once it failed.
func (e *Exceptions) InBudget(position Position) bool {
	return !e.Ignores(position) && !e.FailedBefore(position)
}

// SplitIgnored moves the ignored clusters from the tallies of the groups into tallies of their own, and notes in
// the others which failures are excused. The tallies of ignored clusters are nil where all clusters count.
func (e *Exceptions) SplitIgnored(members Members, groups []Tally, states []State) (ignored []Tally) {
	if len(e.Ignored) > 0 {
		ignored = make([]Tally, len(groups))
	}
	for _, position := range e.Ignored {
		group := members.GroupOf(position)
		groups[group].Add(states[position], -1)
		ignored[group].Add(states[position], 1)
	}
	for _, position := range e.Baseline {
		if !e.Ignores(position) && FailureStates.Has(states[position]) {
			groups[members.GroupOf(position)].Excuse(1)
		}
	}
	return ignored
}
