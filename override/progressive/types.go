// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cohort-ocm/cohort/status"
)

// APIVersion and Kind are those of the object [Rollout].
const (
	APIVersion = "cluster.open-cluster-management.io/v1beta1"
	Kind       = "Rollout"
)

// Rollout is the object in which a policy's rollout keeps its state, and in which users approve groups and retry. Its name is
// "policy-" followed by the root policy's name, and its namespace is the root policy's. Users write the spec, the controller all else.
// Its CustomResourceDefinition is in config/crd.yaml.
//
// The status has a copy of the policy's last successful definition, so the object is about as large as the policy without its status
// and managed fields. If the API server refuses it as too large, the rollout does not end, and clusters that join wait for their turn
// as before.
type Rollout struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   RolloutSpec   `json:"spec,omitzero"`
	Status RolloutStatus `json:"status,omitzero"`
}

// RolloutList is a list of Rollouts.
type RolloutList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Rollout `json:"items"`
}

// RolloutSpec has the users' approvals and retries.
type RolloutSpec struct {
	// ApprovalsForVersion ties the approvals to a version of the policy: they count while it is the value of the root policy's
	// annotation policy.open-cluster-management.io/version. Where it is empty they count for each version.
	// Change the annotation and the templates in one write: else the approvals count for the templates before.
	ApprovalsForVersion string `json:"approvalsForVersion,omitempty"`
	// DecisionGroups are approvals under ManualPerGroup. A group that is not among them is not approved.
	DecisionGroups []DecisionGroup `json:"decisionGroups,omitempty"`
	// Ungrouped is the approval for clusters that are in no named group. Its GroupName is empty.
	Ungrouped DecisionGroup `json:"ungrouped,omitzero"`
	// RetryRollout retries a failed rollout.
	RetryRollout Retry `json:"retryRollout,omitzero"`
}

// DecisionGroup is a group of the policy's placements, and in a spec the approval of it.
type DecisionGroup struct {
	// GroupName is the name of a group in the decisionStrategy of a Placement. It means the groups of that name in all placements.
	GroupName string `json:"groupName,omitempty"`
	// RolloutApproved lets the group have the new version.
	RolloutApproved bool `json:"rolloutApproved,omitempty"`
}

// Retry says which rollout to retry.
type Retry struct {
	// RolloutUID is the status.rolloutUID of a failed rollout. The retry has another one, so it happens once.
	RolloutUID string `json:"rolloutUID,omitempty"`
}

// RolloutStatus is the state of the rollout.
type RolloutStatus struct {
	// DecisionGroups are the groups that can be approved.
	DecisionGroups []DecisionGroup `json:"decisionGroups,omitempty"`
	// LastSuccessful is the root policy as it was when a rollout last succeeded; nil before that.
	LastSuccessful *runtime.RawExtension `json:"lastSuccessful,omitempty"`
	// CurrentRolloutGeneration is the metadata.generation of the root policy that is rolled out.
	CurrentRolloutGeneration int64 `json:"currentRolloutGeneration,omitempty"`
	// RolloutStatus is the same as the root policy's: ToApply, Progressing, Succeeded or Failed. The last two are kept until
	// another rollout begins.
	RolloutStatus status.RolloutStatus `json:"rolloutStatus,omitempty"`
	// RolloutUID identifies this rollout.
	RolloutUID string `json:"rolloutUID,omitempty"`
}
