// SPDX-License-Identifier: Apache-2.0

package policyv1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PolicySet is a PolicySet of policy.open-cluster-management.io/v1beta1.
type PolicySet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PolicySetSpec `json:"spec"`
}

// PolicySetSpec lists a set's policies, and the clusters that it excludes for them.
type PolicySetSpec struct {
	// Description is for users.
	Description string `json:"description,omitempty"`
	// Policies are the names of policies in the set's namespace.
	Policies []string `json:"policies"`
	// Exclusions keep policies of the set off some clusters. Several for one policy add up.
	Exclusions []Exclusion `json:"exclusions,omitempty"`
}

// Exclusion keeps one policy of a set off some clusters, as far as it is bound through that set.
type Exclusion struct {
	PolicyName string `json:"policyName"`
	// Reason is for users.
	Reason       string   `json:"reason,omitempty"`
	ClusterNames []string `json:"clusterNames"`
}
