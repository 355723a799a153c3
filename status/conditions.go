// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/internal/clauses"
	"github.com/cohort-ocm/cohort/internal/condition"
)

// The types of the conditions that [SetConditions] sets. Exactly one of them is True.
const (
	ConditionProgressing = "Progressing"
	ConditionSucceeded   = "Succeeded"
	ConditionFailed      = "Failed"
)

// The reasons of the conditions that [SetConditions] sets. All three conditions have the same reason: the first in this
// order that applies.
const (
	// ReasonGroupsIncomplete says that the decision groups are not all there yet. The rollout is Progressing.
	ReasonGroupsIncomplete = "GroupsIncomplete"
	// ReasonMaxFailuresBreached says that more clusters failed than the budget allows, so nothing starts any more. The
	// rollout is Failed.
	ReasonMaxFailuresBreached = "MaxFailuresBreached"
	// ReasonRolloutPaused says that the rollout is paused before its end. It is Progressing.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonGateClosed says that a closed gate, such as an approval that is not there yet, stops the rollout before its end. It
	// is Progressing.
	ReasonGateClosed = "GateClosed"
	// ReasonRolloutProgressing says that clusters wait or are in flight. The rollout is Progressing.
	ReasonRolloutProgressing = "RolloutProgressing"
	// ReasonClustersFailed says that the rollout has come to its end, with failures that the budget allows. It is Failed.
	ReasonClustersFailed = "ClustersFailed"
	// ReasonNoClusterSelected says that there is no cluster to roll out to. The rollout has Succeeded.
	ReasonNoClusterSelected = "NoClusterSelected"
	// ReasonAllClustersIgnored says that clusters are selected, but none of them counts. The rollout has Succeeded, which says
	// nothing about its workload.
	ReasonAllClustersIgnored = "AllClustersIgnored"
	// ReasonRolloutSucceeded says that all clusters that count are done. The rollout has Succeeded.
	ReasonRolloutSucceeded = "RolloutSucceeded"
)

// SetConditions sets the conditions of type Progressing, Succeeded and Failed from the summary, and says whether it changed
// any. Each has the reason that goes with the aggregate, and the version and the summary in words as its message. Generation is the
// metadata.generation of the object whose strategy was rolled out; it becomes their observedGeneration. Conditions of other
// types stay as they are. A condition's lastTransitionTime is set to now when its status changes, and only then.
func SetConditions(conditions *[]metav1.Condition, summary Summary, generation int64, now time.Time) bool {
	aggregate := summary.Aggregate()
	common := metav1.Condition{Reason: summary.reason(), Message: summary.message(), ObservedGeneration: generation}
	return condition.SetFlags(conditions, common, now,
		condition.Flag{Type: ConditionProgressing, Is: aggregate == Progressing},
		condition.Flag{Type: ConditionSucceeded, Is: aggregate == Succeeded},
		condition.Flag{Type: ConditionFailed, Is: aggregate == Failed})
}

// message gives the summary in words, after the version where that is known.
func (s Summary) message() string {
	if s.Version == "" {
		return s.String()
	}
	all := s.clauses()
	all[0] = "version " + s.Version + ": " + all[0]
	return clauses.Bounded(all)
}

// reason gives the reason that goes with the aggregate.
func (s Summary) reason() string {
	switch aggregate := s.Aggregate(); {
	case s.Incomplete != "":
		return ReasonGroupsIncomplete
	case s.Breach != "":
		return ReasonMaxFailuresBreached
	case aggregate == Progressing && s.Paused != "":
		return ReasonRolloutPaused
	case aggregate == Progressing && len(s.Gates) > 0:
		return ReasonGateClosed
	case aggregate == Progressing:
		return ReasonRolloutProgressing
	case aggregate == Failed:
		return ReasonClustersFailed
	case s.Total() == 0:
		return s.nothingRan()
	default:
		return ReasonRolloutSucceeded
	}
}

// nothingRan gives the reason where no cluster counts.
func (c Counts) nothingRan() string {
	if c.selected() == 0 {
		return ReasonNoClusterSelected
	}
	return ReasonAllClustersIgnored
}
