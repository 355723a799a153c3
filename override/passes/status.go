package passes

import (
	"cmp"
	"slices"

	"github.com/cohort-ocm/cohort/status"
)

// Summary says how the rollout stands: counts, in total and per group, and what holds it back. It takes time linear in
// the groups.
func (p *Propagation) Summary() status.Summary { return p.plan().Summary() }

// SetStatus sets the root policy's status from its bindings, its clusters and the rollout, as they are once all writes
// of the Propagation are done. It says whether it changed anything. It takes time linear in the clusters.
//
// The status has clusters that are not bound only while their replicas stay: because the groups are incomplete, or an
// option keeps them.
func (p *Propagation) SetStatus(st *status.PolicyStatus) bool {
	clusters := make([]status.PolicyClusterStatus, 0, len(p.Clusters)+len(p.kept))
	for _, list := range [][]Cluster{p.Clusters, p.kept} {
		for _, c := range list {
			clusters = append(clusters, status.PolicyClusterStatus{
				ClusterName: c.Name, ComplianceState: c.Compliance, RolloutStatus: c.RolloutStatus,
			})
		}
	}
	slices.SortFunc(clusters, func(a, b status.PolicyClusterStatus) int { return cmp.Compare(a.ClusterName, b.ClusterName) })
	return status.SetPolicyStatus(st, p.resolution.Placements(), clusters, p.Summary())
}
