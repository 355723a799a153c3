// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
	"github.com/cohort-ocm/cohort/status"
)

// RolloutStatus is the state of a workload on one cluster.
type RolloutStatus int

const (
	// ToApply says that the cluster does not have the workload, or not its present version.
	ToApply RolloutStatus = iota
	// Progressing says that the workload was applied and has neither succeeded nor failed. Any value other than these
	// constants counts as Progressing.
	Progressing
	// Succeeded says that the workload does what it should.
	Succeeded
	// Failed says that the workload was applied and does not do what it should.
	Failed
	// TimeOut says that the workload was Progressing or Failed for longer than its deadline.
	TimeOut
	// Skip says that the rollout leaves the cluster out.
	Skip
)

// ClusterRolloutStatus is the state of a workload on one cluster, and its time.
type ClusterRolloutStatus struct {
	// ClusterName is the name of the ManagedCluster. A status without one is an error of the plan.
	ClusterName string
	// GroupKey is the cluster's decision group. It is copied to the result, and has no other effect.
	GroupKey v1beta1.GroupKey
	// Status is what was observed.
	Status RolloutStatus
	// LastTransitionTime is when the cluster got this status. Deadline and soak run from it. If it is nil, that time is
	// unknown, and neither ends.
	LastTransitionTime *metav1.Time
	// RecheckTime is when the deadline or the soak ends. The handler sets it.
	RecheckTime *metav1.Time
}

// ClusterRolloutStatusFunc returns the status of one workload. As in sdk-go, the handler does not call it.
type ClusterRolloutStatusFunc[T any] func(clusterName string, workload T) (ClusterRolloutStatus, error)

// RolloutResult says what may happen now.
type RolloutResult struct {
	// ClustersToRollout are the clusters to start, as ToApply, and those in flight.
	ClustersToRollout []ClusterRolloutStatus
	// ClustersTimeOut are the clusters whose deadline has passed since they were reported.
	ClustersTimeOut []ClusterRolloutStatus
	// ClustersRemoved are the clusters with a status that are not selected.
	ClustersRemoved []ClusterRolloutStatus
	// MaxFailureBreach says that more clusters failed than the budget allows, so nothing starts.
	MaxFailureBreach bool
	// RecheckAfter is when time alone changes something; nil if it does not.
	RecheckAfter *time.Duration
}

func (s *ClusterRolloutStatus) report() status.Report {
	report := status.Report{Cluster: s.ClusterName, Status: status.Progressing}
	if s.Status >= ToApply && s.Status <= Skip {
		report.Status = [...]status.RolloutStatus{
			status.ToApply, status.Progressing, status.Succeeded, status.Failed, status.TimeOut, status.Skip,
		}[s.Status]
	}
	if s.LastTransitionTime != nil {
		report.LastTransitionTime = s.LastTransitionTime.Time
	}
	return report
}
