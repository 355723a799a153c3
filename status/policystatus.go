package status

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/status/policyv1"
)

// PolicyStatus is the status of a Policy, root or replicated, with the JSON names of the real object and the design
// document's rolloutStatus.
type PolicyStatus struct {
	// ComplianceState of a root policy is what policyv1.Aggregate gives for its clusters.
	ComplianceState policyv1.ComplianceState `json:"compliant,omitempty"`
	// RolloutStatus of a root policy is the aggregate: Progressing, Succeeded or Failed.
	RolloutStatus RolloutStatus `json:"rolloutStatus,omitempty"`
	// Placement has an entry for each binding of a root policy.
	Placement []PolicyPlacement `json:"placement,omitempty"`
	// Status has the clusters that a root policy is bound to, by name.
	Status []PolicyClusterStatus `json:"status,omitempty"`
	// Details has what the templates of a replicated policy say.
	Details []PolicyDetails `json:"details,omitempty"`
}

// PolicyPlacement is one binding in the status of a root policy. It binds clusters, or only overrides the action.
type PolicyPlacement struct {
	PlacementBinding string `json:"placementBinding,omitempty"`
	// Placement or PlacementRule is the name of what the binding refers to.
	Placement     string `json:"placement,omitempty"`
	PlacementRule string `json:"placementRule,omitempty"`
	// PolicySet is the set through which the binding reaches the policy; it is empty where the binding names the policy
	// itself.
	PolicySet string `json:"policySet,omitempty"`
	// Decisions are the clusters that the binding selects. Leaving them out saves room in the object.
	Decisions []PolicyDecision `json:"decisions,omitempty"`
	// Exclusions are the selected clusters that the set excludes for the policy, by name.
	Exclusions []PolicyDecision `json:"exclusions,omitempty"`
}

// PolicyDecision is a cluster that a binding selects, or that a set excludes. An exclusion has no namespace.
type PolicyDecision struct {
	ClusterName      string `json:"clusterName,omitempty"`
	ClusterNamespace string `json:"clusterNamespace,omitempty"`
}

// PolicyClusterStatus is one cluster in the status of a root policy.
type PolicyClusterStatus struct {
	// ComplianceState is the replicated policy's, empty where the cluster has not reported.
	ComplianceState policyv1.ComplianceState `json:"compliant,omitempty"`
	RolloutStatus   RolloutStatus            `json:"rolloutStatus,omitempty"`
	ClusterName     string                   `json:"clustername,omitempty"`
	// ClusterNamespace is where the replicated policy is; the cluster's name where it is left empty.
	ClusterNamespace string `json:"clusternamespace,omitempty"`
	// RemainingBindings are the bindings that bind the cluster although a set excludes it, by name.
	RemainingBindings []PolicyRemainingBinding `json:"remainingBindings,omitempty"`
}

// PolicyRemainingBinding is a binding that binds a cluster although a set excludes it.
type PolicyRemainingBinding struct {
	PlacementBinding string `json:"placementBinding,omitempty"`
}

// PolicyDetails is one template in the status of a replicated policy.
type PolicyDetails struct {
	// TemplateMeta has the name of the object that the template describes.
	TemplateMeta    metav1.ObjectMeta        `json:"templateMeta,omitzero"`
	ComplianceState policyv1.ComplianceState `json:"compliant,omitempty"`
	// History has what the template said, the newest first.
	History []PolicyHistory `json:"history,omitempty"`
}

// PolicyHistory is one message of a template.
type PolicyHistory struct {
	LastTimestamp metav1.Time `json:"lastTimestamp,omitzero"`
	Message       string      `json:"message,omitempty"`
	EventName     string      `json:"eventName,omitempty"`
}

// SetPolicyStatus sets the status of a root policy from its bindings, its clusters and the summary of the rollout, and says
// whether it changed anything. Placements and clusters may be in any order; the status has them sorted by name. Details stay
// as they are. The arguments are not changed. The status shares the slices inside placements and clusters with the arguments, and
// no other slice. It takes time linear in the clusters if they are sorted by name.
func SetPolicyStatus(st *PolicyStatus, placements []PolicyPlacement, clusters []PolicyClusterStatus, s Summary) bool {
	next := PolicyStatus{
		RolloutStatus: s.Aggregate(),
		Placement:     sorted(placements, comparePlacements),
		Status: sorted(clusters, func(a, b PolicyClusterStatus) int {
			return cmp.Compare(a.ClusterName, b.ClusterName)
		}),
		Details: st.Details,
	}
	states := make([]policyv1.ComplianceState, len(next.Status))
	for i := range next.Status {
		c := &next.Status[i]
		c.ClusterNamespace = cmp.Or(c.ClusterNamespace, c.ClusterName)
		states[i] = c.ComplianceState
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

func comparePlacements(a, b PolicyPlacement) int {
	return cmp.Or(
		cmp.Compare(a.PlacementBinding, b.PlacementBinding),
		cmp.Compare(a.PolicySet, b.PolicySet),
		cmp.Compare(a.Placement, b.Placement),
		cmp.Compare(a.PlacementRule, b.PlacementRule),
	)
}

func samePlacement(a, b PolicyPlacement) bool {
	return comparePlacements(a, b) == 0 && slices.Equal(a.Decisions, b.Decisions) && slices.Equal(a.Exclusions, b.Exclusions)
}

func samePolicyCluster(a, b PolicyClusterStatus) bool {
	return a.ClusterName == b.ClusterName && a.ComplianceState == b.ComplianceState && a.RolloutStatus == b.RolloutStatus &&
		a.ClusterNamespace == b.ClusterNamespace && slices.Equal(a.RemainingBindings, b.RemainingBindings)
}
