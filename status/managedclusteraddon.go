package status

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

// FromManagedClusterAddOn reads the report of the add-on's cluster, which is the add-on's namespace,
// given the configurations that it should have (S2). Of desired, the type, DesiredConfig and (where
// there is no DesiredConfig) the referent count; a configuration given twice counts once; the order is
// free.
//
//	the add-on's references are not the desired ones, or a desired hash differs   ToApply
//	every desired configuration is the last applied one                           Succeeded
//	the Progressing condition's reason is Failed                                  Failed
//	anything else                                                                 Progressing
//
// So an add-on that has and wants no configuration has Succeeded.
//
// LastTransitionTime is that of the Progressing condition, the zero time where it is missing or the
// status is ToApply. It moves with the condition's status only: an add-on that recovers keeps the time
// at which it failed if the condition was False before and after. The add-on is not changed; nil gives
// ToApply without a cluster.
func FromManagedClusterAddOn(addon *addonv1alpha1.ManagedClusterAddOn, desired []addonv1alpha1.ConfigReference) Report {
	if addon == nil {
		return Report{Status: ToApply}
	}
	report := Report{Cluster: addon.Namespace, Status: ToApply}
	actual := addon.Status.ConfigReferences
	if !maps.Equal(configs(actual), configs(desired)) {
		return report
	}

	reason := ""
	if c := meta.FindStatusCondition(addon.Status.Conditions, addonv1alpha1.ManagedClusterAddOnConditionProgressing); c != nil {
		reason, report.LastTransitionTime = c.Reason, c.LastTransitionTime.Time
	}
	switch {
	case allApplied(actual):
		report.Status = Succeeded
	case reason == addonv1alpha1.ProgressingReasonFailed:
		report.Status = Failed
	default:
		report.Status = Progressing
	}
	return report
}

// config is what tells two desired configurations apart.
type config struct {
	resource addonv1alpha1.ConfigGroupResource
	desired  addonv1alpha1.ConfigSpecHash
}

// configs returns the set of desired configurations in a list of references.
func configs(references []addonv1alpha1.ConfigReference) map[config]bool {
	set := make(map[config]bool, len(references))
	for _, reference := range references {
		c := config{resource: reference.ConfigGroupResource}
		if reference.DesiredConfig != nil {
			c.desired = *reference.DesiredConfig
		} else {
			c.desired.ConfigReferent = reference.ConfigReferent
		}
		set[c] = true
	}
	return set
}

// allApplied reports whether the last applied configuration of each reference is the desired one.
func allApplied(references []addonv1alpha1.ConfigReference) bool {
	for _, reference := range references {
		desired, applied := reference.DesiredConfig, reference.LastAppliedConfig
		if (desired == nil) != (applied == nil) || desired != nil && *desired != *applied {
			return false
		}
	}
	return true
}
