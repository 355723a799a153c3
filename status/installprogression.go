package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// SetInstallProgression sets the condition Progressing of one entry of a ClusterManagementAddOn's
// installProgressions to what the rollout to its placement comes to, and when that has succeeded the
// configurations that are now known to work; it says whether it changed any (S8).
//
//	aggregate     Progressing   reason        lastAppliedConfig, lastKnownGoodConfig
//	Progressing   True          Progressing   stay
//	Failed        False         Failed        stay
//	Succeeded     False         Completed     become desiredConfig
//
// The caller has set the entry's placement and the desiredConfig of its configReferences; a reference
// whose desiredConfig is nil keeps what it has. A rollout that ended with tolerated failures is Failed,
// so that lastAppliedConfig is never one that some add-on did not apply. The other reasons of the API
// say what a Summary does not know.
//
// The condition has the summary in a sentence as message and generation, that of the ClusterManagementAddOn,
// as observedGeneration; its lastTransitionTime is set to now when its status changes, and only then.
// Conditions of other types stay as they are. The entry shares nothing with what it is given.
func SetInstallProgression(entry *addonv1alpha1.InstallProgression, s Summary, generation int64, now time.Time) bool {
	aggregate := s.Aggregate()
	reason := addonv1alpha1.ProgressingReasonProgressing
	switch aggregate {
	case Succeeded:
		reason = addonv1alpha1.ProgressingReasonCompleted
	case Failed:
		reason = addonv1alpha1.ProgressingReasonFailed
	}
	changed := setCondition(&entry.Conditions, metav1.Condition{
		Type:               addonv1alpha1.ManagedClusterAddOnConditionProgressing,
		Status:             conditionStatus(aggregate == Progressing),
		Reason:             reason,
		Message:            s.String(),
		ObservedGeneration: generation,
	}, now)
	if aggregate == Succeeded {
		for i := range entry.ConfigReferences {
			c := &entry.ConfigReferences[i]
			changed = setConfig(&c.LastAppliedConfig, c.DesiredConfig) || changed
			changed = setConfig(&c.LastKnownGoodConfig, c.DesiredConfig) || changed
		}
	}
	return changed
}

// setConfig makes a copy of desired, so that a later change of it is not one of what was applied.
func setConfig(config **addonv1alpha1.ConfigSpecHash, desired *addonv1alpha1.ConfigSpecHash) bool {
	if desired == nil || *config != nil && **config == *desired {
		return false
	}
	*config = desired.DeepCopy()
	return true
}
