// SPDX-License-Identifier: Apache-2.0

package rollback

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/internal/condition"
	"github.com/cohort-ocm/cohort/status"
)

// The types of the conditions that SetConditions sets beside status.ConditionProgressing.
const (
	// ConditionDegraded says that clusters failed, or still have a version that is rolled back.
	ConditionDegraded = "Degraded"
	// ConditionAborted says that the update revision is rolled back.
	ConditionAborted = "Aborted"
)

// The reasons of a rollout that was aborted, beside those of package status.
const (
	// ReasonRolloutReverting says that clusters roll back to the current revision.
	ReasonRolloutReverting = "RolloutReverting"
	// ReasonRolloutReverted says that all clusters that had the update revision rolled back.
	ReasonRolloutReverted = "RolloutReverted"
)

// SetConditions sets the conditions of type Progressing, Degraded and Aborted, and says whether it changed any. An
// owner that keeps Revisions uses it in place of status.SetConditions. The summary is the rollout's or, if that was aborted, the
// rollback's. The message then says how many clusters rolled back.
//
//	                              Progressing  Degraded             Aborted  Reason
//	rolls out                     True         if a cluster failed  False    RolloutProgressing, RolloutPaused, GateClosed
//	budget exceeded               False        True                 False    MaxFailuresBreached
//	complete                      False        False                False    RolloutSucceeded, NoClusterSelected, AllClustersIgnored
//	complete, clusters failed     False        True                 False    ClustersFailed
//	rolls back                    True         True                 True     RolloutReverting, RolloutPaused, GateClosed
//	rollback stopped              False        True                 True     MaxFailuresBreached (Abort.StopAtBreach)
//	rolled back                   False        False                True     RolloutReverted, AllClustersIgnored
//	rolled back, clusters failed  False        True                 True     ClustersFailed
//
// All three have the same reason and message. While the decision groups are incomplete it is GroupsIncomplete, and
// the rollout continues or rolls back. The generation and the times are as in status.SetConditions.
func SetConditions(conditions *[]metav1.Condition, revisions Revisions, summary status.Summary, generation int64, now time.Time) bool {
	var own []metav1.Condition // what the summary alone says
	status.SetConditions(&own, summary, generation, now)
	common := metav1.Condition{Reason: own[0].Reason, Message: own[0].Message, ObservedGeneration: generation}
	aborted, progressing := revisions.AbortedTime != nil, summary.Aggregate() == status.Progressing
	if aborted {
		common.Reason = reverting(common.Reason)
		stops := clauses.Once([]string{revisions.rolledBack(&summary)}, []string{summary.Incomplete, summary.Breach, summary.Paused}, summary.Gates, summary.Waiting)
		common.Message = clauses.Bounded(stops)
	}
	return condition.SetFlags(conditions, common, now,
		condition.Flag{Type: status.ConditionProgressing, Is: progressing},
		condition.Flag{Type: ConditionDegraded, Is: summary.Failures() > 0 || summary.Breach != "" || aborted && progressing},
		condition.Flag{Type: ConditionAborted, Is: aborted})
}

// reverting turns a reason of package status into the reason for a rollback.
func reverting(reason string) string {
	switch reason {
	case status.ReasonRolloutProgressing:
		return ReasonRolloutReverting
	case status.ReasonRolloutSucceeded, status.ReasonNoClusterSelected:
		return ReasonRolloutReverted
	default:
		return reason
	}
}

// rolledBack says how far the rollback is. Clusters that never had the version are left out.
func (r Revisions) rolledBack(summary *status.Summary) string {
	aborted := fmt.Sprintf("the rollout of %s was aborted at ", r.UpdateRevision) + r.AbortedTime.UTC().Format(time.RFC3339)
	switch had := summary.Total() - summary.Skip; {
	case had > 0:
		done, soFar := summary.Succeeded-summary.Soaking, "so far "
		if done == had {
			soFar = ""
		}
		return aborted + fmt.Sprintf("; %s%d of %d clusters are rolled back to %s", soFar, done, had, r.CurrentRevision) +
			clauses.Number(summary.InFlight(), "in flight") + clauses.Number(summary.Failures(), "failed")
	case summary.Incomplete != "":
		return aborted // it is unknown yet which clusters have it
	case summary.IgnoredToApply > 0:
		return aborted + fmt.Sprintf(": only ignored clusters have %s", r.UpdateRevision) + clauses.Number(summary.IgnoredToApply, "of these still rolling back")
	default:
		return aborted + fmt.Sprintf(": no selected cluster has %s, so there is nothing to roll back", r.UpdateRevision)
	}
}
