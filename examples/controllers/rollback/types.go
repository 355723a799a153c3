// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/rollback"
)

// ManifestWorkReplicaSet is the enhancement's type: the API's, with the fields that the API lacks.
type ManifestWorkReplicaSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ManifestWorkReplicaSetSpec   `json:"spec,omitempty"`
	Status ManifestWorkReplicaSetStatus `json:"status,omitempty"`
}

// ManifestWorkReplicaSetSpec is the API's, with a limit for the history and the enhancement's strategies.
type ManifestWorkReplicaSetSpec struct {
	workv1alpha1.ManifestWorkReplicaSetSpec `json:",inline"`

	// PlacementRefs replace those of the API.
	PlacementRefs []LocalPlacementReference `json:"placementRefs"`

	// RevisionHistoryLimit is how many revisions are kept that no cluster should have. Nil means 10.
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// LocalPlacementReference is the API's, with the strategy of the enhancement.
type LocalPlacementReference struct {
	Name            string          `json:"name"`
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy"`
}

// RolloutStrategy is the API's, with what happens when it stops.
type RolloutStrategy struct {
	clusterv1alpha1.RolloutStrategy `json:",inline"`

	FailureStrategy FailureStrategy `json:"failureStrategy,omitempty"`
}

// FailureStrategy says what happens when more clusters failed than maxFailures.
type FailureStrategy string

const (
	// FailureStrategyNone stops the rollout, and no more. It is the default.
	FailureStrategyNone FailureStrategy = ""
	// FailureStrategyAbortAll also rolls back the revision, on the clusters of all placements.
	FailureStrategyAbortAll FailureStrategy = "AbortAll"
)

// ManifestWorkReplicaSetStatus is the API's, with the revisions: currentRevision, updateRevision and abortedTime. A
// revision is identified by its hash.
type ManifestWorkReplicaSetStatus struct {
	workv1alpha1.ManifestWorkReplicaSetStatus `json:",inline"`
	rollback.Revisions                        `json:",inline"`

	// CollisionCount is how often another content had the same hash. It is part of the next hash.
	CollisionCount *int32 `json:"collisionCount,omitempty"`
}

// The enhancement's names.
const (
	// HashLabel is on works and on ControllerRevisions, with the hash of the revision.
	HashLabel = "work.open-cluster-management.io/controller-hash"

	// ConditionProgressing is the type of a condition of sets.
	ConditionProgressing = "Progressing"

	// ReasonNewRevisionCreated and the next four are reasons of that condition.
	ReasonNewRevisionCreated       = "NewRevisionCreated"
	ReasonFoundNewRevision         = "FoundNewRevision"
	ReasonNewManifestWorkAvailable = "NewManifestWorkAvailable"
	ReasonRolloutAborted           = "RolloutAborted"
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"

	// ReasonRolloutDegraded is a reason of the API's condition PlacementRolledOut.
	ReasonRolloutDegraded = "RolloutDegraded"
)

// AbortAnnotation is not in the enhancement: to ask for a rollback of the update revision, an operator sets it to the
// generation of the set.
const AbortAnnotation = "cohort.open-cluster-management.io/abort"
