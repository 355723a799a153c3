package status

import "time"

// RolloutStatus says where a workload stands on one cluster. The values are the ones of OCM's rollout helper and of
// the Policy API's rolloutStatus field, so they can be written to an object as they are.
type RolloutStatus string

const (
	// ToApply says that the cluster does not have the workload, or not its present version.
	ToApply RolloutStatus = "ToApply"
	// Progressing says that the workload was applied and has neither succeeded nor failed.
	Progressing RolloutStatus = "Progressing"
	// Succeeded says that the workload does what it should.
	Succeeded RolloutStatus = "Succeeded"
	// Failed says that the workload was applied and does not do what it should. It may still recover.
	Failed RolloutStatus = "Failed"
	// TimeOut says that the workload was Progressing or Failed for as long as its progress deadline allows.
	TimeOut RolloutStatus = "TimeOut"
	// Skip says that the rollout leaves this cluster out.
	Skip RolloutStatus = "Skip"
)

// Report is one cluster's status as the caller observed it. A cluster that never got the workload needs no Report: it
// waits like one that is ToApply without Applied, and starts after those.
//
// Deadlines and soak times run from the later of Applied and LastTransitionTime. Where both are unknown, the deadline
// never passes and the soak never ends.
type Report struct {
	// Cluster is the name of the ManagedCluster; it must not be empty.
	Cluster string `json:"cluster"`

	// Status is what was observed. A value that is none of the constants counts as Progressing, since a newer API may
	// add one and in flight is the safe reading. So does the empty one.
	Status RolloutStatus `json:"status"`

	// LastTransitionTime is when Status became what it is. The zero time means that nobody knows.
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`

	// Applied is since when the cluster's object has the present version of the workload: the time at which the
	// controller wrote it. The zero time means that nobody knows.
	//
	// What was observed before that time speaks of an earlier version. So ToApply with Applied means that the agent has
	// not answered yet: the cluster is in flight since then, like a Progressing one, and can time out. ToApply without
	// Applied means that the cluster waits for its turn.
	Applied time.Time `json:"applied,omitzero"`

	// Attempt tells which attempt at the present version the cluster's object has: 0 for the first, then whatever number
	// the controller noted when it tried again. It matters only to a rollout that wants a later attempt: a cluster that
	// failed in an earlier one waits for its turn again. A number below 0 counts as 0.
	Attempt int `json:"attempt,omitempty"`
}

// ofAttempt gives the report of a cluster that is tried again: a failure from before the attempt was written is not one
// of it. The time of a condition does not move while the cluster stays failed, so that only the deadline tells (R39). It
// has whole seconds, cut off, and a failure is often tried again in the second in which it is seen.
func (r Report) ofAttempt() Report {
	if r.Attempt > 0 && r.Status == Failed && !r.LastTransitionTime.After(r.Applied) {
		r.Status = Progressing
	}
	return r
}
