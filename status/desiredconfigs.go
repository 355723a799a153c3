// SPDX-License-Identifier: Apache-2.0

package status

import (
	"slices"

	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

// DesiredConfigs are the configurations that an add-on should have ([AddOnState]), as OCM's add-on manager sees them. Of each type the
// last of these counts that names one:
//
//	status.defaultConfigReferences of the owner
//	the placement's entry in status.installProgressions of the owner
//	spec.configs of the add-on
//
// If several placements select the cluster, placement is the last of them in spec.installStrategy. The hash of a configuration of the
// add-on's own is the one in the add-on's status, and empty if that does not name it yet: the add-on then has to be written. It
// returns false if the owner's status does not have the placement yet. The objects are not changed, and the result shares nothing with them.
func DesiredConfigs(owner *addonv1beta1.ClusterManagementAddOn, placement addonv1beta1.PlacementRef, addOn *addonv1beta1.ManagedClusterAddOn) ([]addonv1beta1.ConfigReference, bool) {
	of := func(progression addonv1beta1.InstallProgression) bool { return progression.PlacementRef == placement }
	i := slices.IndexFunc(owner.Status.InstallProgressions, of)
	if i < 0 {
		return nil, false
	}
	var defaults, placed, own []addonv1beta1.ConfigReference
	for _, reference := range owner.Status.DefaultConfigReferences {
		defaults = append(defaults, addonv1beta1.ConfigReference{ConfigGroupResource: reference.ConfigGroupResource, DesiredConfig: reference.DesiredConfig.DeepCopy()})
	}
	for _, reference := range owner.Status.InstallProgressions[i].ConfigReferences {
		placed = append(placed, addonv1beta1.ConfigReference{ConfigGroupResource: reference.ConfigGroupResource, DesiredConfig: reference.DesiredConfig.DeepCopy()})
	}
	for _, config := range addOn.Spec.Configs {
		desired := &addonv1beta1.ConfigSpecHash{ConfigReferent: config.ConfigReferent}
		for _, has := range addOn.Status.ConfigReferences {
			if has.ConfigGroupResource == config.ConfigGroupResource && has.DesiredConfig != nil && has.DesiredConfig.ConfigReferent == config.ConfigReferent {
				desired = has.DesiredConfig.DeepCopy()
			}
		}
		own = append(own, addonv1beta1.ConfigReference{ConfigGroupResource: config.ConfigGroupResource, DesiredConfig: desired})
	}
	return overridden(overridden(defaults, placed), own), true
}

// overridden are the configurations by and, of the types that it does not have, those that are there.
func overridden(there, by []addonv1beta1.ConfigReference) []addonv1beta1.ConfigReference {
	named := func(reference addonv1beta1.ConfigReference) bool {
		return reference.DesiredConfig == nil || slices.ContainsFunc(by, func(other addonv1beta1.ConfigReference) bool {
			return other.ConfigGroupResource == reference.ConfigGroupResource
		})
	}
	by = slices.DeleteFunc(slices.Clone(by), func(reference addonv1beta1.ConfigReference) bool { return reference.DesiredConfig == nil })
	return append(slices.DeleteFunc(there, named), by...)
}
