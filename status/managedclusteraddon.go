// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/internal/clauses"
)

// AddOnState is what a controller knows of a ManagedClusterAddOn.
//
// A stamp is metadata and the references are status, so a write takes two requests. The first is the stamp, with the attempt
// that the rollout gives, and with the version that the add-on is stamped with; but where the report is ToApply, with one that
// it never had, such as the time. The report of what came back says what the second is:
//
//	ToApply                                                    the references, and the condition Progressing
//	Progressing, and the reason of that condition is Failed    the condition: the references are tried again
//	anything else                                              nothing
//
// The condition becomes True, with the reason Progressing, in the same request as the references. Otherwise the failure of the
// configurations before counts for the new ones, and may stop their rollout. Leave out lastAppliedConfig of new references, so
// that what was applied before has to be applied anew. Where a request fails, the next look makes both again, as in the example
// of writes.Object. The version of the rollout is not that of the stamp, but names what is desired, such as by a hash.
type AddOnState struct {
	// AddOn is the object. It is not changed.
	AddOn *addonv1beta1.ManagedClusterAddOn

	// Desired are the configurations that the add-on should have, in any order. Only the type and DesiredConfig are read.
	// Duplicates count once.
	Desired []addonv1beta1.ConfigReference

	// Applied is the time from which the add-on's references are the desired ones. The zero time means the time of its stamp. A stamp
	// that came after the references, or that was not new, would give them an earlier time, and they could time out at once.
	Applied time.Time

	// Now is the time of reading, for a caller that notes answers, as in WorkState. An agent that sets the condition as above needs none.
	Now time.Time
}

// FromManagedClusterAddOn reads the report of the add-on's cluster, which is the add-on's namespace. It returns false
// where there is no add-on. One that is being deleted is reported like any other, as long as it is there. The first line that
// applies decides:
//
//	the add-on's references are not the desired ones, or a desired hash differs   ToApply, without times
//	every desired configuration is the last applied one                           Succeeded
//	the Progressing condition's reason is Failed                                  Failed; Progressing where it was so before a later attempt
//	anything else                                                                 Progressing
//
// An add-on without configurations that should have none has Succeeded.
//
// In the first attempt, Failed counts for the present references even where the condition's time is before Applied. Completed
// and Failed both have the status False, so the time does not say whether the failure is new. AddOnState says what a
// controller writes, so that no old failure is left.
//
// LastTransitionTime is the time of the Progressing condition, or zero where that is missing. It moves only with the
// condition's status: if the condition was False before and after a new configuration, its time is from before it.
// Applied keeps a deadline or a soak from counting since then. Set Applied, or give the add-on
// a [Stamp]. Attempt is the one of the stamp. Message is that of the Progressing condition, and says so where that is missing; a
// success has none.
func FromManagedClusterAddOn(state AddOnState) (Report, bool) {
	if state.AddOn == nil {
		return Report{}, false
	}
	report := Report{Cluster: state.AddOn.Namespace, Status: ToApply, Deleting: state.AddOn.DeletionTimestamp != nil}
	references := state.AddOn.Status.ConfigReferences
	if !maps.Equal(configSet(references), configSet(state.Desired)) {
		return report, true
	}
	stamp := noted(state.AddOn)
	if report.Applied = state.Applied; state.Applied.IsZero() && !stamp.Applied.IsZero() {
		report.Applied = later(stamp.Applied, state.AddOn.CreationTimestamp.Time)
	}
	reason := ""
	if condition := meta.FindStatusCondition(state.AddOn.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionProgressing); condition != nil {
		reason, report.LastTransitionTime, report.Message = condition.Reason, condition.LastTransitionTime.Time, clauses.Line(condition.Message)
	} else {
		report.Message = noProgressing
	}
	switch {
	case allApplied(references):
		report.Status, report.Message = Succeeded, ""
	case reason == addonv1beta1.ProgressingReasonFailed:
		report.Status = Failed
	default:
		report.Status = Progressing
	}
	if report.Status != Succeeded {
		state.Now = time.Time{} // what the condition says may not be an answer
	}
	return stamp.Report(report, state.Now), true
}

// noProgressing is what the message of an add-on says while no condition is Progressing.
const noProgressing = "the add-on has no condition Progressing"

// desiredConfig has what tells two desired configurations apart.
type desiredConfig struct {
	resource addonv1beta1.ConfigGroupResource
	desired  addonv1beta1.ConfigSpecHash
}

func configSet(references []addonv1beta1.ConfigReference) map[desiredConfig]bool {
	set := make(map[desiredConfig]bool, len(references))
	for _, reference := range references {
		key := desiredConfig{resource: reference.ConfigGroupResource}
		if reference.DesiredConfig != nil {
			key.desired = *reference.DesiredConfig
		}
		set[key] = true
	}
	return set
}

// allApplied says whether the last applied configuration of each reference is the desired one.
func allApplied(references []addonv1beta1.ConfigReference) bool {
	for _, reference := range references {
		desired, applied := reference.DesiredConfig, reference.LastAppliedConfig
		if (desired == nil) != (applied == nil) || desired != nil && *desired != *applied {
			return false
		}
	}
	return true
}
