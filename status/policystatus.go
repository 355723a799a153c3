package status

import (
	"cmp"
	"slices"
)

// PolicyStatus is the part of a root Policy's status that a rollout sets, with the JSON names of the real
// object.
type PolicyStatus struct {
	// ComplianceState is NonCompliant if any cluster is, else Pending if any is, else Compliant if any is.
	// Clusters that have not reported don't count.
	ComplianceState string `json:"compliant,omitempty"`
	// RolloutStatus is the aggregate: Progressing, Succeeded or Failed (S6).
	RolloutStatus RolloutStatus `json:"rolloutStatus,omitempty"`
	// Status has the clusters that the policy is bound to, by name.
	Status []PolicyClusterStatus `json:"status,omitempty"`
}

// PolicyClusterStatus is one cluster in the status of a root Policy.
type PolicyClusterStatus struct {
	// ComplianceState is the replicated policy's: Compliant, NonCompliant, Pending, or empty where the
	// cluster has not reported.
	ComplianceState string        `json:"compliant,omitempty"`
	RolloutStatus   RolloutStatus `json:"rolloutStatus,omitempty"`
	ClusterName     string        `json:"clustername,omitempty"`
	// ClusterNamespace is where the replicated policy is; the cluster's name where it is left empty.
	ClusterNamespace string `json:"clusternamespace,omitempty"`
}

// SetPolicyStatus sets the status of a root policy to what its clusters, in any order, and the rollout come
// to and says whether it changed any (S8). It takes time linear in the clusters where they are in the
// order of their names. The status shares nothing with clusters, which are not changed.
func SetPolicyStatus(st *PolicyStatus, clusters []PolicyClusterStatus, s Summary) bool {
	next := PolicyStatus{RolloutStatus: s.Aggregate()}
	if len(clusters) > 0 {
		next.Status = slices.Clone(clusters)
	}
	for i := range next.Status {
		c := &next.Status[i]
		c.ClusterNamespace = cmp.Or(c.ClusterNamespace, c.ClusterName)
		if severity(c.ComplianceState) > severity(next.ComplianceState) {
			next.ComplianceState = c.ComplianceState
		}
	}
	slices.SortStableFunc(next.Status, func(a, b PolicyClusterStatus) int { return cmp.Compare(a.ClusterName, b.ClusterName) })

	changed := st.ComplianceState != next.ComplianceState || st.RolloutStatus != next.RolloutStatus || !slices.Equal(st.Status, next.Status)
	*st = next
	return changed
}

// severity orders the states of compliance: the greatest of those of the clusters is that of the root.
func severity(compliance string) int {
	return slices.Index([]string{"Compliant", "Pending", "NonCompliant"}, compliance)
}
