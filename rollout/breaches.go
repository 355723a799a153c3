// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// breach gives the breached budget, if any (R10, R11, R12). The budgets of the stages come first, in order, then the
// one over all clusters, which only Progressive has, and then what lasts.
func (s *schedule) breach(view view, observed *observed, last []lasting) *Breach {
	totals, breached := &observed.Totals, observed.breached
	if breached < s.Graph.Len() {
		breach := &Breach{Group: s.keyOf(breached), Mandatory: s.Graph.IsMandatory(breached), Failures: totals.Stages[breached].InBudget(), MaxFailures: s.Budgets[breached]}
		breach.Clusters, breach.Deselected = s.firstFailures(view, breached)
		breach.Lost = s.lostIn(view, breached)
		return breach
	}
	if s.isBreachedInAll(observed) {
		breach := &Breach{AllGroups: true, Failures: totals.All.InBudget(), MaxFailures: s.maxFailures}
		breach.Clusters, breach.Deselected = s.firstFailures(view, -1)
		breach.Lost = s.lostIn(view, -1)
		return breach
	}
	if len(last) > 0 {
		return last[0].breach(s, view)
	}
	return nil
}

// isBreachedInAll says whether the failures of all clusters exceed their budget, which only Progressive has.
func (s *schedule) isBreachedInAll(observed *observed) bool {
	return s.rules.typ == clusterv1alpha1.Progressive && observed.All.InBudget() > s.maxFailures
}

// firstFailures names the first failed clusters of a stage, or of all stages where stage is negative, and those among them
// that left.
func (s *schedule) firstFailures(view view, stage stages.Stage) (names, deselected []string) {
	names = make([]string, 0, maxNamed)
	for position, _, ok := view.In(fleet.FailureStates, 0); ok; position, _, ok = view.In(fleet.FailureStates, position+1) {
		if stage >= 0 && s.Graph.Of(s.GroupOf(position)) != stage || !s.InBudget(position) {
			continue
		}
		if s.IsDeselected(position) {
			deselected = append(deselected, s.Cluster(position))
		}
		if names = append(names, s.Cluster(position)); len(names) == maxNamed {
			break
		}
	}
	return names, deselected
}

// lostIn counts the failures of a stage, or of all stages where it is negative, of which only the record tells.
func (s *schedule) lostIn(view view, stage stages.Stage) (n int) {
	for cluster := range s.Record {
		position, member := s.Position(cluster)
		if !member || !fleet.FailureStates.Has(view.State(position)) || !s.InBudget(position) || stage >= 0 && s.Graph.Of(s.GroupOf(position)) != stage {
			continue
		}
		n += one(view.IsLost(position))
	}
	return n
}
