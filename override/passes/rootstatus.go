// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"cmp"
	"slices"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// SetPolicyStatus sets the status of a root policy from its bindings, its clusters and the summary of the rollout, and says
// whether it changed anything. Placements and clusters may be in any order; the status has them sorted by name. Details stay
// as they are. The arguments are not changed. The status shares the slices inside placements and clusters with the arguments, and
// no other slice. It takes time linear in the clusters if they are sorted by name.
func SetPolicyStatus(st *policyv1.PolicyStatus, placements []policyv1.PolicyPlacement, clusters []policyv1.PolicyClusterStatus, summary status.Summary) bool {
	next := policyv1.PolicyStatus{
		RolloutStatus: string(summary.Aggregate()),
		Placement:     sorted(placements, comparePlacements),
		Status: sorted(clusters, func(a, b policyv1.PolicyClusterStatus) int {
			return cmp.Compare(a.ClusterName, b.ClusterName)
		}),
		Details: st.Details,
	}
	states := make([]policyv1.ComplianceState, len(next.Status))
	for i := range next.Status {
		status := &next.Status[i]
		status.ClusterNamespace = cmp.Or(status.ClusterNamespace, status.ClusterName)
		states[i] = status.ComplianceState
	}
	next.ComplianceState = policyv1.Aggregate(states...)

	changed := st.ComplianceState != next.ComplianceState || st.RolloutStatus != next.RolloutStatus ||
		!slices.EqualFunc(st.Status, next.Status, samePolicyCluster) || !slices.EqualFunc(st.Placement, next.Placement, samePlacement)
	*st = next
	return changed
}

// sorted gives a sorted copy; nil if there is nothing.
func sorted[E any](list []E, compare func(a, b E) int) []E {
	if len(list) == 0 {
		return nil
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	return list
}

func comparePlacements(a, b policyv1.PolicyPlacement) int {
	return cmp.Or(
		cmp.Compare(a.PlacementBinding, b.PlacementBinding),
		cmp.Compare(a.PolicySet, b.PolicySet),
		cmp.Compare(a.Placement, b.Placement),
		cmp.Compare(a.PlacementRule, b.PlacementRule),
	)
}

func samePlacement(a, b policyv1.PolicyPlacement) bool {
	return comparePlacements(a, b) == 0 && slices.Equal(a.Decisions, b.Decisions) && slices.Equal(a.Exclusions, b.Exclusions)
}

func samePolicyCluster(a, b policyv1.PolicyClusterStatus) bool {
	return a.ClusterName == b.ClusterName && a.ComplianceState == b.ComplianceState && a.RolloutStatus == b.RolloutStatus &&
		a.ClusterNamespace == b.ClusterNamespace && slices.Equal(a.RemainingBindings, b.RemainingBindings)
}
