// SPDX-License-Identifier: Apache-2.0

package policyv1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Policy is a Policy of policy.open-cluster-management.io/v1.
type Policy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySpec `json:"spec"`
}

// PolicySpec says what a policy does and how it reaches its clusters.
type PolicySpec struct {
	// Disabled says that the policy is bound nowhere and that none of its templates is processed.
	Disabled bool `json:"disabled,omitempty"`
	// CopyPolicyMetadata says whether a replicated policy has all labels and annotations of this one. If it is false, it
	// has only those of the policy API. Nil means true.
	CopyPolicyMetadata *bool `json:"copyPolicyMetadata,omitempty"`
	// RemediationAction overrides the action of each template. Where it is empty, each template keeps its own.
	RemediationAction RemediationAction `json:"remediationAction,omitempty"`
	// RolloutStrategy says how the policy is enforced on one cluster after the other. An empty type is All.
	RolloutStrategy clusterv1alpha1.RolloutStrategy `json:"rolloutStrategy,omitzero"`
	// Dependencies apply to every template.
	Dependencies []PolicyDependency `json:"dependencies,omitempty"`
	// PolicyTemplates are the templates in their order.
	PolicyTemplates []PolicyTemplate `json:"policy-templates"`
	// HubTemplateOptions are for the hub templates in the policy.
	HubTemplateOptions *HubTemplateOptions `json:"hubTemplateOptions,omitempty"`
}

// HubTemplateOptions say how hub templates are resolved.
type HubTemplateOptions struct {
	// ServiceAccountName is the service account that looks objects up, in the policy's namespace.
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
}

// PolicyTemplate is an object to create on the managed cluster, and what it waits for.
type PolicyTemplate struct {
	// ObjectDefinition is the object, any JSON.
	ObjectDefinition runtime.RawExtension `json:"objectDefinition"`
	// ExtraDependencies apply to this template, in addition to the policy's Dependencies.
	ExtraDependencies []PolicyDependency `json:"extraDependencies,omitempty"`
	// IgnorePending says that the template counts as compliant for the policy while it is pending.
	IgnorePending bool `json:"ignorePending,omitempty"`
}

// PolicyDependency is an object and the compliance that it must have.
type PolicyDependency struct {
	metav1.TypeMeta `json:",inline"`
	Name            string `json:"name"`
	Namespace       string `json:"namespace,omitempty"`
	// Compliance is the one to wait for: Compliant, NonCompliant or Pending.
	Compliance ComplianceState `json:"compliance"`
}
