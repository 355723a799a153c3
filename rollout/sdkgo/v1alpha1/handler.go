// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"errors"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/sdkgo/v1beta1"
	"github.com/cohort-ocm/cohort/status"
)

// Clock tells the time. The clocks of k8s.io/utils/clock and of its testing package satisfy it; sdk-go uses one of
// these.
type Clock interface {
	Now() time.Time
	// Since is how long ago a time was. Controllers from sdk-go use it.
	Since(time.Time) time.Duration
}

// RolloutClock is the clock of all handlers. Tests from sdk-go set it. As in sdk-go, it must not be set while another
// goroutine plans. Package rollout takes the time as an argument instead.
var RolloutClock Clock = realClock{}

type realClock struct{}

// Now implements Clock.
func (realClock) Now() time.Time { return time.Now() }

// Since implements Clock.
func (realClock) Since(at time.Time) time.Duration { return time.Since(at) }

// RolloutHandler plans rollouts over the groups of a tracker. It is safe for concurrent use.
type RolloutHandler[T any] struct {
	tracker *v1beta1.PlacementDecisionClustersTracker
}

// NewRolloutHandler makes a handler. A nil tracker is an error. The function is never called, and may be nil.
func NewRolloutHandler[T any](pdTracker *v1beta1.PlacementDecisionClustersTracker, statusFunc ClusterRolloutStatusFunc[T]) (*RolloutHandler[T], error) {
	if pdTracker == nil {
		return nil, errors.New("the placement decision tracker must not be nil")
	}
	return &RolloutHandler[T]{tracker: pdTracker}, nil
}

// GetRolloutCluster says what may happen now. The statuses are those of the clusters that have the workload; they are not
// changed. As in sdk-go, a deselected cluster counts for nothing, whatever its status. The returned strategy has only the
// block of its type. The errors are those of [rollout.Plan], and errors in the groups of the tracker.
func (r *RolloutHandler[T]) GetRolloutCluster(rolloutStrategy clusterv1alpha1.RolloutStrategy, existingClusterStatus []ClusterRolloutStatus) (*clusterv1alpha1.RolloutStrategy, RolloutResult, error) {
	now := RolloutClock.Now()
	result, err := r.plan(rolloutStrategy, existingClusterStatus, now, false)
	if err != nil {
		return nil, RolloutResult{}, err
	}
	return effective(rolloutStrategy), newAnswer(result, existingClusterStatus, now).result(), nil
}

// Plan is like [RolloutHandler.GetRolloutCluster], but returns the result of package rollout, with the reasons why clusters
// wait, the warnings, and the counts. And a deselected cluster that has the version counts until its status says that it is
// done, or it has no status any more.
func (r *RolloutHandler[T]) Plan(rolloutStrategy clusterv1alpha1.RolloutStrategy, existingClusterStatus []ClusterRolloutStatus) (*rollout.Result, error) {
	return r.plan(rolloutStrategy, existingClusterStatus, RolloutClock.Now(), true)
}

func (r *RolloutHandler[T]) plan(strategy clusterv1alpha1.RolloutStrategy, statuses []ClusterRolloutStatus, now time.Time, countLeft bool) (*rollout.Result, error) {
	groups, err := r.tracker.Groups()
	if err != nil {
		return nil, err
	}
	strategy, zero := withoutZero(strategy)
	reports := make([]status.Report, len(statuses))
	for i := range statuses {
		if reports[i] = statuses[i].report(); zero {
			backdate(&reports[i])
		}
		if _, selected := groups.Position(statuses[i].ClusterName); !selected && !countLeft {
			reports[i] = status.Report{Cluster: reports[i].Cluster, Status: status.ToApply}
		}
	}
	result, err := decide(strategy, groups, reports, now)
	if err == nil && zero {
		result.Schedule.ProgressDeadline = new(time.Duration)
	}
	return result, err
}

// effective returns the strategy with only the block of its type, which is empty if it is missing.
func effective(strategy clusterv1alpha1.RolloutStrategy) *clusterv1alpha1.RolloutStrategy {
	only := &clusterv1alpha1.RolloutStrategy{Type: strategy.Type}
	switch strategy.Type {
	case clusterv1alpha1.Progressive:
		only.Progressive = copyOf(strategy.Progressive, strategy.Progressive.DeepCopy)
	case clusterv1alpha1.ProgressivePerGroup:
		only.ProgressivePerGroup = copyOf(strategy.ProgressivePerGroup, strategy.ProgressivePerGroup.DeepCopy)
	default:
		only.Type, only.All = clusterv1alpha1.All, copyOf(strategy.All, strategy.All.DeepCopy)
	}
	return only
}

func copyOf[T any](block *T, deepCopy func() *T) *T {
	if block == nil {
		return new(T)
	}
	return deepCopy()
}
