package rollback

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/wayback"
)

// ManifestWorkReplicaSet is one as the enhancement has it: that of the API, with the fields that the API lacks.
type ManifestWorkReplicaSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ManifestWorkReplicaSetSpec   `json:"spec,omitempty"`
	Status ManifestWorkReplicaSetStatus `json:"status,omitempty"`
}

// ManifestWorkReplicaSetSpec is that of the API, with a limit of the history and strategies that say what happens on failure.
type ManifestWorkReplicaSetSpec struct {
	workv1alpha1.ManifestWorkReplicaSetSpec `json:",inline"`

	// PlacementRefs stand in for those of the API.
	PlacementRefs []LocalPlacementReference `json:"placementRefs"`

	// RevisionHistoryLimit is how many revisions are kept that no cluster is to have. Nil stands for 10.
	RevisionHistoryLimit *int32 `json:"revisionHistoryLimit,omitempty"`
}

// LocalPlacementReference is that of the API, with the strategy of the enhancement.
type LocalPlacementReference struct {
	Name            string          `json:"name"`
	RolloutStrategy RolloutStrategy `json:"rolloutStrategy"`
}

// RolloutStrategy is that of the API, and what happens when it stops.
type RolloutStrategy struct {
	clusterv1alpha1.RolloutStrategy `json:",inline"`

	FailureStrategy FailureStrategy `json:"failureStrategy,omitempty"`
}

// FailureStrategy says what happens when more clusters failed than maxFailures.
type FailureStrategy string

const (
	// FailureStrategyNone stops the rollout, and no more. It is the default.
	FailureStrategyNone FailureStrategy = ""
	// FailureStrategyAbortAll also takes the revision back, from the clusters of all placements.
	FailureStrategyAbortAll FailureStrategy = "AbortAll"
)

// ManifestWorkReplicaSetStatus is that of the API, with the revisions: currentRevision, updateRevision and abortedTime. A revision is
// named by its hash.
type ManifestWorkReplicaSetStatus struct {
	workv1alpha1.ManifestWorkReplicaSetStatus `json:",inline"`
	wayback.Revisions                         `json:",inline"`

	// CollisionCount is how often another content had the same hash. It is part of the next hash.
	CollisionCount *int32 `json:"collisionCount,omitempty"`
}

// The names that the enhancement adds to those of the API.
const (
	// HashLabel is on works and on ControllerRevisions: the hash of the revision.
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

// AbortAnnotation is what the enhancement does not have: a person who asks that the update revision be taken back writes the generation of the
// set there.
const AbortAnnotation = "cohort.open-cluster-management.io/abort"
