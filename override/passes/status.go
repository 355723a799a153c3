package passes

import (
	"cmp"
	"slices"

	"github.com/cohort-ocm/cohort/status"
	"github.com/cohort-ocm/cohort/status/policyv1"
)

// Summary says how the rollout stands: counts, in total and per group, and what holds it back. It takes time linear in
// the groups.
func (p *Propagation) Summary() status.Summary { return p.plan().Summary() }

// SetStatus sets the root policy's status from its bindings, its clusters and the rollout, as they are once all writes
// of the Propagation are done. It says whether it changed anything. It takes time linear in the clusters.
//
// The status has clusters that are not bound while their replicas stay, and while they count by the record. The latter have no
// compliance, since nothing more is heard of them.
func (p *Propagation) SetStatus(st *policyv1.PolicyStatus) bool {
	placements := p.resolution.Placements()
	remaining := p.remaining(placements)
	clusters := make([]policyv1.PolicyClusterStatus, 0, len(p.Clusters)+len(p.kept))
	for _, list := range [][]Cluster{p.Clusters, p.kept} {
		for _, c := range list {
			clusters = append(clusters, policyv1.PolicyClusterStatus{
				ClusterName: c.Name, ComplianceState: c.Compliance, RolloutStatus: string(c.RolloutStatus),
				RemainingBindings: remaining[c.Name],
			})
		}
	}
	slices.SortFunc(clusters, func(a, b policyv1.PolicyClusterStatus) int { return cmp.Compare(a.ClusterName, b.ClusterName) })
	return SetPolicyStatus(st, placements, clusters, p.Summary())
}

// remaining gives, for bound clusters that a set excludes, the other bindings that select them all the same (O20).
func (p *Propagation) remaining(placements []policyv1.PolicyPlacement) map[string][]policyv1.PolicyRemainingBinding {
	excluded := map[string][]string{} // by which bindings
	for _, placement := range placements {
		for _, cluster := range placement.Exclusions {
			excluded[cluster.ClusterName] = append(excluded[cluster.ClusterName], placement.PlacementBinding)
		}
	}
	if len(excluded) == 0 {
		return nil
	}
	remaining := map[string][]policyv1.PolicyRemainingBinding{}
	for bound := range p.resolution.Clusters() {
		by, isExcluded := excluded[bound.Name]
		if !isExcluded {
			continue
		}
		names := slices.Concat(bound.BoundBy, bound.DecidedBy, bound.IgnoredBy)
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			if !slices.Contains(by, name) {
				remaining[bound.Name] = append(remaining[bound.Name], policyv1.PolicyRemainingBinding{PlacementBinding: name})
			}
		}
	}
	return remaining
}
