package status

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions that SetConditions sets (S7). One of them is True.
const (
	ConditionProgressing = "Progressing"
	ConditionSucceeded   = "Succeeded"
	ConditionFailed      = "Failed"
)

// The reasons of the conditions that SetConditions sets. All three conditions have the same.
const (
	// ReasonRolloutProgressing: clusters wait or are in flight.
	ReasonRolloutProgressing = "RolloutProgressing"
	// ReasonRolloutSucceeded: all clusters are done.
	ReasonRolloutSucceeded = "RolloutSucceeded"
	// ReasonMaxFailuresBreached: more clusters failed than the budget allows, and nothing starts any more.
	ReasonMaxFailuresBreached = "MaxFailuresBreached"
	// ReasonClustersFailed: the rollout has come to its end, with failures that the budget allows.
	ReasonClustersFailed = "ClustersFailed"
)

// SetConditions sets the conditions of type Progressing, Succeeded and Failed to what the summary comes to
// and says whether it changed any (S7). Each has the aggregate's reason, the summary in a sentence as
// message, and generation, that of the object whose strategy was rolled out, as observedGeneration.
// Conditions of other types stay as they are. A condition's lastTransitionTime is set to now when its
// status changes, and only then.
func SetConditions(conditions *[]metav1.Condition, s Summary, generation int64, now time.Time) bool {
	aggregate := s.Aggregate()
	changed := false
	for _, c := range []struct {
		conditionType string
		trueFor       RolloutStatus
	}{
		{ConditionProgressing, Progressing},
		{ConditionSucceeded, Succeeded},
		{ConditionFailed, Failed},
	} {
		changed = setCondition(conditions, metav1.Condition{
			Type:               c.conditionType,
			Status:             conditionStatus(aggregate == c.trueFor),
			Reason:             s.reason(),
			Message:            s.String(),
			ObservedGeneration: generation,
		}, now) || changed
	}
	return changed
}

// setCondition is meta.SetStatusCondition with the time as an argument.
func setCondition(conditions *[]metav1.Condition, c metav1.Condition, now time.Time) bool {
	if now.IsZero() {
		now = time.Unix(0, 0) // for the zero time SetStatusCondition would ask the clock
	}
	c.LastTransitionTime = metav1.NewTime(now)
	return meta.SetStatusCondition(conditions, c)
}

func conditionStatus(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// reason is the one that goes with the aggregate.
func (s Summary) reason() string {
	switch aggregate := s.Aggregate(); {
	case s.Breach:
		return ReasonMaxFailuresBreached
	case aggregate == Progressing:
		return ReasonRolloutProgressing
	case aggregate == Failed:
		return ReasonClustersFailed
	default:
		return ReasonRolloutSucceeded
	}
}
