// SPDX-License-Identifier: Apache-2.0

package policyv1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PolicyStatus is the status of a Policy, root or replicated, with the JSON names of the real object and the design
// document's rolloutStatus.
type PolicyStatus struct {
	// ComplianceState of a root policy is what [Aggregate] gives for its clusters.
	ComplianceState ComplianceState `json:"compliant,omitempty"`
	// RolloutStatus of a root policy is the aggregate: Progressing, Succeeded or Failed. Of a replicated one it is any
	// RolloutStatus of package status.
	RolloutStatus string `json:"rolloutStatus,omitempty"`
	// Placement has an entry for each binding of a root policy.
	Placement []PolicyPlacement `json:"placement,omitempty"`
	// Status has the clusters that a root policy is bound to, by name.
	Status []PolicyClusterStatus `json:"status,omitempty"`
	// Details has the reports of a replicated policy's templates.
	Details []PolicyDetails `json:"details,omitempty"`
}

// PolicyPlacement is one binding in the status of a root policy. It binds clusters, or only overrides the action.
type PolicyPlacement struct {
	PlacementBinding string `json:"placementBinding,omitempty"`
	// Placement or PlacementRule is the name of the binding's placementRef.
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
	ComplianceState ComplianceState `json:"compliant,omitempty"`
	RolloutStatus   string          `json:"rolloutStatus,omitempty"`
	ClusterName     string          `json:"clustername,omitempty"`
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
	TemplateMeta    metav1.ObjectMeta `json:"templateMeta,omitzero"`
	ComplianceState ComplianceState   `json:"compliant,omitempty"`
	// History has the messages of the template, the newest first.
	History []PolicyHistory `json:"history,omitempty"`
}

// PolicyHistory is one message of a template.
type PolicyHistory struct {
	LastTimestamp metav1.Time `json:"lastTimestamp,omitzero"`
	Message       string      `json:"message,omitempty"`
	EventName     string      `json:"eventName,omitempty"`
}
