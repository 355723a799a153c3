// SPDX-License-Identifier: Apache-2.0

// Package condition sets the conditions of an object. Time is an argument.
package condition

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Flag is the type of a condition, and whether it is true.
type Flag struct {
	Type string
	Is   bool
}

// SetFlags sets conditions that have the rest in common, and says whether it changed any.
func SetFlags(conditions *[]metav1.Condition, common metav1.Condition, now time.Time, flags ...Flag) bool {
	changed := false
	for _, flag := range flags {
		condition := common
		condition.Type, condition.Status = flag.Type, Status(flag.Is)
		changed = Set(conditions, condition, now) || changed
	}
	return changed
}

// Set is meta.SetStatusCondition with the time as an argument.
func Set(conditions *[]metav1.Condition, condition metav1.Condition, now time.Time) bool {
	if now.IsZero() {
		now = time.Unix(0, 0) // for a zero time SetStatusCondition would ask the clock
	}
	condition.LastTransitionTime = metav1.NewTime(now)
	return meta.SetStatusCondition(conditions, condition)
}

// Status is True or False.
func Status(is bool) metav1.ConditionStatus {
	if is {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}
