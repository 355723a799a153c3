// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// decide makes the decision. A test can replace it by the planner.
func decide(strategy clusterv1alpha1.RolloutStrategy, groups *grouping.Groups, reports []status.Report, now time.Time) (*rollout.Result, error) {
	return rollout.Plan(strategy, groups, reports, now, rollout.Options{})
}
