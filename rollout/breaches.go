// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// breach gives the breached budget, if any (R10, R11, R12). The budgets of the stages come first, in order, then the
// one over all clusters, which only Progressive has, and then what lasts.
func (s *schedule) breach(v view, o *observed, last []lasting) *Breach {
	t, breached := &o.Totals, o.breached
	if breached < s.Graph.Len() {
		b := &Breach{Group: s.keyOf(breached), Mandatory: s.Graph.IsMandatory(breached), Failures: t.Stages[breached].InBudget(), MaxFailures: s.Budgets[breached]}
		b.Clusters, b.Deselected = s.firstFailures(v, breached)
		b.Lost = s.lostIn(v, breached)
		return b
	}
	if s.isBreachedInAll(o) {
		b := &Breach{AllGroups: true, Failures: t.All.InBudget(), MaxFailures: s.maxFailures}
		b.Clusters, b.Deselected = s.firstFailures(v, -1)
		b.Lost = s.lostIn(v, -1)
		return b
	}
	if len(last) > 0 {
		return last[0].breach(s, v)
	}
	return nil
}

// isBreachedInAll says whether the failures of all clusters exceed their budget, which only Progressive has.
func (s *schedule) isBreachedInAll(o *observed) bool {
	return s.rules.typ == clusterv1alpha1.Progressive && o.All.InBudget() > s.maxFailures
}

// firstFailures names the first failed clusters of a stage, or of all stages where stage is negative, and those among them
// that left.
func (s *schedule) firstFailures(v view, stage stages.Stage) (names, deselected []string) {
	names = make([]string, 0, maxNamed)
	for position, _, ok := v.In(fleet.FailureStates, 0); ok; position, _, ok = v.In(fleet.FailureStates, position+1) {
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
func (s *schedule) lostIn(v view, stage stages.Stage) (n int) {
	for cluster := range s.Record {
		position, member := s.Position(cluster)
		if !member || !fleet.FailureStates.Has(v.State(position)) || !s.InBudget(position) || stage >= 0 && s.Graph.Of(s.GroupOf(position)) != stage {
			continue
		}
		n += one(v.IsLost(position))
	}
	return n
}
