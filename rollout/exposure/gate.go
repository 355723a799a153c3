// SPDX-License-Identifier: Apache-2.0

package exposure

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/internal/limits"
	"github.com/cohort-ocm/cohort/rollout/internal/stages"
)

// closedGates gives for each group the closed gate before it that opens last, at the time now (R23).
func (p *prospect) closedGates(now time.Time) map[stages.Group]limits.Gate {
	all := make([]limits.GroupGate, len(p.options.Gates))
	for i, gate := range p.options.Gates {
		all[i] = limits.GroupGate{Group: gate.Group, Gate: limits.Gate(gate.Gate)}
	}
	return limits.NewGates(all).Closed(p.groups, now)
}

// isOneGroup says whether a stage has one group by its nature, so that a closed gate before it is a barrier.
func (p *prospect) isOneGroup(stage int) bool {
	return p.Type == clusterv1alpha1.ProgressivePerGroup || p.Stages[stage].Mandatory
}

// ignoredIn gives the number of ignored clusters of a group.
func (p *prospect) ignoredIn(group int) int {
	if p.ignored == nil {
		return 0
	}
	return p.ignored[group]
}
