// SPDX-License-Identifier: Apache-2.0

package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/internal/condition"
)

// SetInstallProgression sets one entry of a ClusterManagementAddOn's installProgressions from the summary of the rollout
// to its placement: the condition Progressing, and the configurations that are now known to work. It says whether it
// changed anything.
//
//	aggregate                             Progressing   reason              lastAppliedConfig, lastKnownGoodConfig
//	Progressing                           True          Progressing         stay
//	Failed                                False         Failed              stay
//	Succeeded, no cluster is selected     False         NoClusterSelected   stay
//	Succeeded, all clusters are ignored      False         AllClustersIgnored    stay
//	Succeeded, a cluster was skipped      False         Completed           stay
//	Succeeded                             False         Completed           become desiredConfig
//
// A configuration thus becomes the last known good one only where some cluster succeeded with it and none failed or was
// skipped. Clusters that are ignored play no part in this.
//
// The caller has set the entry's placement and the desiredConfig of its configReferences. A reference whose
// desiredConfig is nil keeps what it has. The condition has the summary in words as its message. Generation is the
// ClusterManagementAddOn's; it becomes the condition's observedGeneration. The condition's lastTransitionTime is set to
// now when its status changes, and only then. Conditions of other types stay as they are. The entry shares nothing with
// what it is given.
func SetInstallProgression(entry *addonv1beta1.InstallProgression, summary Summary, generation int64, now time.Time) bool {
	changed := setInstallProgressing(&entry.Conditions, summary, generation, now)
	if !summary.provesGood() {
		return changed
	}
	for i := range entry.ConfigReferences {
		reference := &entry.ConfigReferences[i]
		changed = setConfig(&reference.LastAppliedConfig, reference.DesiredConfig) || changed
		changed = setConfig(&reference.LastKnownGoodConfig, reference.DesiredConfig) || changed
	}
	return changed
}

func setInstallProgressing(conditions *[]metav1.Condition, summary Summary, generation int64, now time.Time) bool {
	aggregate := summary.Aggregate()
	reason := addonv1beta1.ProgressingReasonCompleted
	switch {
	case aggregate == Progressing:
		reason = addonv1beta1.ProgressingReasonProgressing
	case aggregate == Failed:
		reason = addonv1beta1.ProgressingReasonFailed
	case summary.Total() == 0:
		reason = summary.nothingRan()
	}
	return condition.Set(conditions, metav1.Condition{
		Type:               addonv1beta1.ManagedClusterAddOnConditionProgressing,
		Status:             condition.Status(aggregate == Progressing),
		Reason:             reason,
		Message:            summary.String(),
		ObservedGeneration: generation,
	}, now)
}

// provesGood says whether the rolled out configuration is known to work everywhere (S8).
func (s Summary) provesGood() bool {
	return s.Aggregate() == Succeeded && s.Succeeded > 0 && s.Skip == 0
}

// setConfig copies desired, so that a later change of it does not change what was applied.
func setConfig(config **addonv1beta1.ConfigSpecHash, desired *addonv1beta1.ConfigSpecHash) bool {
	if desired == nil || *config != nil && **config == *desired {
		return false
	}
	applied := *desired
	*config = &applied
	return true
}
