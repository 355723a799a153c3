// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
)

// WeaknessType is the kind of a [Weakness], in the form of a condition's reason.
type WeaknessType string

const (
	// WeaknessAllAtOnce says that all clusters may start at once.
	WeaknessAllAtOnce WeaknessType = "AllAtOnce"
	// WeaknessBudgetOutOfReach says that no number of failures can exceed maxFailures, so failures never stop the rollout.
	WeaknessBudgetOutOfReach WeaknessType = "BudgetOutOfReach"
)

// Weakness says that a strategy protects nothing.
type Weakness struct {
	Type WeaknessType `json:"type"`
	// Clusters is how many clusters it is about.
	Clusters int `json:"clusters"`
	// Unless AllGroups, Group is the first group with a budget out of reach, and Groups is the number of such groups
	// (WeaknessBudgetOutOfReach).
	Group     *grouping.Key `json:"group,omitempty"`
	Groups    int           `json:"groups,omitempty"`
	AllGroups bool          `json:"allGroups,omitempty"`
	// MaxFailures is the budget of that group, or of all. MaxConcurrency is set where the budget is out of reach because
	// no more clusters than that can fail: without a progressDeadline they keep their slots (WeaknessBudgetOutOfReach).
	MaxFailures    int `json:"maxFailures,omitempty"`
	MaxConcurrency int `json:"maxConcurrency,omitempty"`
}

// String is a sentence without its full stop.
func (w Weakness) String() string {
	switch w.Type {
	case WeaknessAllAtOnce:
		return fmt.Sprintf("all %d clusters start at once: a bad version reaches each of them", w.Clusters)
	case WeaknessBudgetOutOfReach:
		return w.budget()
	default:
		return string(w.Type)
	}
}

// weaknesses says where the strategy protects nothing (R40): where all clusters start at once, and where no number of
// failures exceeds a budget. Groups with the same weakness share one element.
func (p *prospect) weaknesses() (all []Weakness) {
	n := p.numCounted()
	var passed, stuck Weakness // budgets that all clusters fit in, and those that all slots fit in
	for i := range p.Stages {
		stage := &p.Stages[i]
		if p.counted(i) == n && n > 1 && p.startsAtOnce(i) {
			all = append(all, Weakness{Type: WeaknessAllAtOnce, Clusters: n})
		}
		if !p.isOutOfReach(i) {
			continue
		}
		weakness := Weakness{
			Type: WeaknessBudgetOutOfReach, Clusters: p.budgeted(i), MaxFailures: p.budget(i),
			AllGroups: p.Type == clusterv1alpha1.Progressive,
		}
		if !weakness.AllGroups {
			weakness.Group = &stage.Groups[0]
		}
		if p.mostExposed(i) == p.counted(i) {
			passed = weakness.and(passed)
		} else {
			weakness.MaxConcurrency = stage.MaxConcurrency
			stuck = weakness.and(stuck)
		}
	}
	for _, weakness := range []Weakness{passed, stuck} {
		if weakness.Groups > 0 {
			all = append(all, weakness)
		}
	}
	return all
}

// startsAtOnce says whether all clusters of a stage start together.
func (p *prospect) startsAtOnce(stage int) bool {
	n, starts := p.counted(stage), p.options.MaxStarts
	return p.slots(stage) == n && (p.ramp == 0 || p.ramp >= n) && (starts == nil || starts.Count >= n)
}

// and gives the first of the two, counting one more group.
func (w Weakness) and(first Weakness) Weakness {
	if first.Groups > 0 {
		w = first
	}
	w.Groups++
	return w
}

// budget gives the sentence of WeaknessBudgetOutOfReach. The numbers are those of one group.
func (w Weakness) budget() string {
	switch {
	case w.MaxConcurrency > 0 && w.Groups > 1:
		return fmt.Sprintf("maxFailures is never exceeded%s: in %v, for example, %s", w.where(), w.Group, w.stuck())
	case w.MaxConcurrency > 0:
		return fmt.Sprintf("maxFailures %d is never exceeded%s: %s", w.MaxFailures, w.where(), w.stuck())
	case w.AllGroups:
		return fmt.Sprintf("maxFailures %d is never exceeded: more than %[1]d would have to fail, and there are only %s", w.MaxFailures, clusters(w.Clusters))
	case w.Groups > 1:
		return fmt.Sprintf("maxFailures is never exceeded%s: none of these has more clusters than may fail (%v has %s, and %d may fail)", w.where(), w.Group, clusters(w.Clusters), w.MaxFailures)
	default:
		return fmt.Sprintf("maxFailures %d is never exceeded%s: more than %[1]d would have to fail, and that group has only %[3]s", w.MaxFailures, w.where(), clusters(w.Clusters))
	}
}

// where names the first group, and counts the others.
func (w Weakness) where() string {
	switch {
	case w.AllGroups:
		return ""
	case w.Groups > 2:
		return fmt.Sprintf(" in %v and in %d more groups", w.Group, w.Groups-1)
	case w.Groups == 2:
		return fmt.Sprintf(" in %v and in 1 more group", w.Group)
	default:
		return fmt.Sprintf(" in %v", w.Group)
	}
}

// stuck says why no failure exceeds the budget where failed clusters keep their slots.
func (w Weakness) stuck() string {
	return fmt.Sprintf("no cluster starts any more once %d failed, because at most %s can be in flight, and without a progressDeadline failed clusters stay in flight: set a progressDeadline", w.MaxConcurrency, clusters(w.MaxConcurrency))
}
