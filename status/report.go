// SPDX-License-Identifier: Apache-2.0

package status

import "time"

// RolloutStatus says where a workload stands on one cluster. The values are the same as in OCM's rollout helper and in
// the Policy API's rolloutStatus field, so they can be written to an object as they are.
type RolloutStatus string

const (
	// ToApply says that the cluster does not have the workload, or not its present version.
	ToApply RolloutStatus = "ToApply"
	// Progressing says that the workload was applied and has neither succeeded nor failed.
	Progressing RolloutStatus = "Progressing"
	// Validating says that the workload does what it should, and a validator has yet to say whether it may count as Succeeded.
	// [Judge] makes such reports.
	Validating RolloutStatus = "Validating"
	// Succeeded says that the workload does what it should.
	Succeeded RolloutStatus = "Succeeded"
	// Failed says that the workload was applied and does not do what it should. It may still recover.
	Failed RolloutStatus = "Failed"
	// TimeOut says that the workload was Progressing, Validating or Failed for as long as its progress deadline allows.
	TimeOut RolloutStatus = "TimeOut"
	// Skip says that the rollout leaves this cluster out.
	Skip RolloutStatus = "Skip"
)

// Report is one cluster's status as the caller observed it. A cluster that never got the workload needs no Report: it
// waits like a cluster that is ToApply without Applied, and starts after all such clusters.
//
// Deadlines and soak times run from the later of Applied and LastTransitionTime, a soak not before Answered. Where both are
// unknown, the deadline never passes and the soak never ends.
type Report struct {
	// Cluster is the name of the ManagedCluster; it must not be empty.
	Cluster string `json:"cluster"`

	// Status is the observed status. Any value other than the constants counts as Progressing, also the empty one: a
	// newer API may add values, and in flight is the safe reading.
	Status RolloutStatus `json:"status"`

	// LastTransitionTime is when Status became what it is. The zero time means that this is unknown.
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`

	// Applied is when the cluster's object got the present version of the workload: the time at which the
	// controller wrote it. The zero time means that this is unknown.
	//
	// Deadlines and soaks never count from before that time. But the Status always counts for the present version, also
	// where LastTransitionTime is before Applied: a cluster that succeeded before the write and after it keeps its time.
	// Report a status only if it is about the present version. While the agent has not answered, report ToApply with
	// Applied: the cluster is in flight since Applied, like a Progressing one, and can time out. ToApply without Applied
	// means that the cluster waits for its turn.
	Applied time.Time `json:"applied,omitzero"`

	// Answered is when the controller first saw an answer of the cluster to the present version. LastTransitionTime does not
	// tell where the status was the same with the version before. A soak never counts from before Answered. The zero time
	// means that it was not recorded. It matters only to Succeeded and Validating, and only beside Applied.
	Answered time.Time `json:"answered,omitzero"`

	// Attempt is the number of the attempt at the present version that the cluster's object has: 0 for the first, then
	// what the controller noted when it tried again. It matters only to a rollout that wants a later attempt: a cluster
	// that failed in an earlier attempt waits for its turn again. A number below 0 counts as 0.
	Attempt int `json:"attempt,omitempty"`

	// Deleting says that the object is being deleted. Its report counts until the object is gone: the agent of a cluster that
	// was cut off can't let go of it. Only a success doesn't last: if the cluster is selected, it waits for its turn again.
	Deleting bool `json:"deleting,omitempty"`

	// Reason says more than Status does of a cluster in flight, or of one whose start was refused. It is empty where there is no
	// more to say.
	Reason ReportReason `json:"reason,omitempty"`

	// Message says why the cluster stands as it does, in the words of its agent, its policy or its validator: why it failed, was
	// refused or is not done yet. Explanations repeat it in quotes. The functions of this package make one line of at most 200
	// characters of it. It decides nothing. No record keeps it, and only a refused start has it in a condition.
	Message string `json:"message,omitempty"`
}

// ReportReason says more of a cluster, in the form of a condition's reason. It decides which sentences and warnings there
// are, and never whether a cluster starts.
type ReportReason string

const (
	// ReportRefused says that the agent could not apply the present version, and tries again. The Status is ToApply. Without
	// Applied it says that the API server refused to write the object of the waiting cluster.
	ReportRefused ReportReason = "Refused"
	// ReportUntracked says that the present version is applied, and nothing will say when it is done: no conditionRules in the
	// template of a ManifestWork set the condition Progressing. The Status is Progressing.
	ReportUntracked ReportReason = "Untracked"
)
