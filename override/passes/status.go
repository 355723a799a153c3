// SPDX-License-Identifier: Apache-2.0

package passes

import (
	"cmp"
	"slices"

	"github.com/cohort-ocm/cohort/internal/remaining"
	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Summary gives the state of the rollout: counts, in total and per group, and what blocks it. It takes time linear in the groups.
func (p *Propagation) Summary() status.Summary { return p.plan().Summary() }

// SetStatus sets the root policy's status from its bindings, its clusters and the rollout, as they are once all writes
// of the Propagation are done. It says whether it changed anything. It takes time linear in the clusters.
//
// The status has deselected clusters while their replicas stay, and while they count by the record. The latter have no
// compliance, since they report no more.
func (p *Propagation) SetStatus(st *policyv1.PolicyStatus) bool {
	placements := p.resolution.Placements()
	others := remaining.Bindings(p.resolution, placements)
	clusters := make([]policyv1.PolicyClusterStatus, 0, len(p.Clusters)+len(p.kept))
	for _, list := range [][]Cluster{p.Clusters, p.kept} {
		for _, cluster := range list {
			clusters = append(clusters, policyv1.PolicyClusterStatus{
				ClusterName: cluster.Name, ComplianceState: cluster.Compliance, RolloutStatus: string(cluster.RolloutStatus),
				RemainingBindings: others[cluster.Name],
			})
		}
	}
	slices.SortFunc(clusters, func(a, b policyv1.PolicyClusterStatus) int { return cmp.Compare(a.ClusterName, b.ClusterName) })
	return SetPolicyStatus(st, placements, clusters, p.Summary())
}
