package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions that SetRevisionConditions sets beside ConditionProgressing.
const (
	// ConditionDegraded says that clusters failed, or still have a version that is taken back.
	ConditionDegraded = "Degraded"
	// ConditionAborted says that the update revision is taken back.
	ConditionAborted = "Aborted"
)

// The reasons of a rollout that was aborted, beside the reasons of SetConditions.
const (
	// ReasonRolloutReverting says that clusters go back to the current revision.
	ReasonRolloutReverting = "RolloutReverting"
	// ReasonRolloutReverted says that all clusters that had the update revision went back.
	ReasonRolloutReverted = "RolloutReverted"
)

// SetRevisionConditions sets the conditions of type Progressing, Degraded and Aborted, and says whether it changed any. An
// owner that keeps Revisions uses it in place of [SetConditions]. The summary is the rollout's or, if that was aborted, the
// way back's. The message then says how many clusters went back.
//
//	                            Progressing  Degraded         Aborted  Reason
//	goes on                     True         if a cluster failed False RolloutProgressing, RolloutPaused, GateClosed
//	more failed than may        False        True             False    MaxFailuresBreached
//	ended                       False        False            False    RolloutSucceeded, NoClusterSelected
//	ended, clusters failed      False        True             False    ClustersFailed
//	goes back                   True         True             True     RolloutReverting, RolloutPaused, GateClosed
//	went back                   False        False            True     RolloutReverted
//	went back, clusters failed  False        True             True     ClustersFailed
//
// All three have the same reason and message. While the decision groups are incomplete it is GroupsIncomplete, and
// the rollout goes on or goes back. The generation and the times are as in SetConditions.
func SetRevisionConditions(conditions *[]metav1.Condition, r Revisions, s Summary, generation int64, now time.Time) bool {
	aborted := r.AbortedTime != nil
	message := s.String()
	if aborted {
		message = sentence(append([]string{r.wentBack(&s)}, s.stops()...))
	}
	progressing, reason := s.Aggregate() == Progressing, s.reason()
	if aborted {
		reason = reverting(reason)
	}
	common := metav1.Condition{Reason: reason, Message: message, ObservedGeneration: generation}
	return setFlags(conditions, common, now,
		flag{ConditionProgressing, progressing},
		flag{ConditionDegraded, s.Failures() > 0 || s.Breach != "" || aborted && progressing},
		flag{ConditionAborted, aborted})
}

// reverting turns a reason of SetConditions into the reason for a way back.
func reverting(reason string) string {
	switch reason {
	case ReasonRolloutProgressing:
		return ReasonRolloutReverting
	case ReasonRolloutSucceeded, ReasonNoClusterSelected:
		return ReasonRolloutReverted
	default:
		return reason
	}
}

// wentBack says how far the way back is. Clusters that never had the version are left out.
func (r Revisions) wentBack(s *Summary) string {
	aborted := "aborted at " + r.AbortedTime.UTC().Format(time.RFC3339)
	switch had := s.Total() - s.Skip; {
	case had > 0:
		return aborted + fmt.Sprintf(": %d of %d clusters went back to %s", s.Succeeded-s.Soaking, had, r.CurrentRevision) +
			part(s.InFlight(), "in flight") + part(s.Failures(), "failed")
	case s.Incomplete != "":
		return aborted // it is unknown yet which clusters have it
	case s.UncountedToApply > 0:
		return aborted + ": no selected cluster that counts has " + r.UpdateRevision + part(s.UncountedToApply, "not counted still going back")
	default:
		return aborted + ": no selected cluster has " + r.UpdateRevision
	}
}
