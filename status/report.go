package status

import "time"

// RolloutStatus is where a workload stands on one cluster. The values are those of OCM's rollout
// helper and of the Policy API's rolloutStatus field, so they can be written to an object as they are.
type RolloutStatus string

const (
	// ToApply: the cluster does not have the workload, or not its present version.
	ToApply RolloutStatus = "ToApply"
	// Progressing: the workload was applied and has neither succeeded nor failed.
	Progressing RolloutStatus = "Progressing"
	// Succeeded: the workload does what it should.
	Succeeded RolloutStatus = "Succeeded"
	// Failed: the workload was applied and does not do what it should. It may still recover.
	Failed RolloutStatus = "Failed"
	// TimeOut: the workload was Progressing or Failed for as long as its progress deadline allows.
	TimeOut RolloutStatus = "TimeOut"
	// Skip: the rollout leaves this cluster out.
	Skip RolloutStatus = "Skip"
)

// Report is one cluster's status as the caller observed it (R1). A cluster that never got the workload
// needs no Report: having none means the same as ToApply but for its turn (R8).
type Report struct {
	// Cluster is the name of the ManagedCluster; it must not be empty.
	Cluster string `json:"cluster"`

	// Status is what was observed. A value that is none of the constants counts as Progressing, since
	// a newer API may add one and in flight is the safe reading (R1). So does the empty one.
	Status RolloutStatus `json:"status"`

	// LastTransitionTime is when Status became what it is. Deadlines and soak times run from it (R4,
	// R5). The zero time means unknown: the deadline never passes, the soak never ends, and the
	// cluster is rechecked after one of them.
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`

	// Applied is since when the cluster has the present version of the workload: when the controller wrote it.
	// The zero time means that nobody knows. With it, deadlines and soak times run from the later of Applied and
	// LastTransitionTime, and ToApply means that the cluster has the workload and has not answered yet: it is in
	// flight.
	Applied time.Time `json:"applied,omitzero"`
}
