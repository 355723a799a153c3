// SPDX-License-Identifier: Apache-2.0

package addonv1alpha1

import (
	"time"

	"open-cluster-management.io/api/addon/v1alpha1"
	"open-cluster-management.io/api/addon/v1beta1"

	"github.com/cohort-ocm/cohort/internal/oldaddon"
	"github.com/cohort-ocm/cohort/status"
)

// AddOnState is status.AddOnState for version v1alpha1 of the API.
type AddOnState struct {
	// AddOn is the object. It is not changed.
	AddOn *v1alpha1.ManagedClusterAddOn

	// Desired are the configurations that the add-on should have, in any order. Only the type and DesiredConfig are read,
	// and the deprecated referent where there is no DesiredConfig. Duplicates count once.
	Desired []v1alpha1.ConfigReference

	// Applied is the time from which the add-on's references are the desired ones, as in status.AddOnState.
	Applied time.Time

	// Now is the time of reading, for a caller that notes answers, as in status.WorkState.
	Now time.Time
}

// FromManagedClusterAddOn reads the report of the add-on's cluster as status.FromManagedClusterAddOn does.
func FromManagedClusterAddOn(a AddOnState) (status.Report, bool) {
	state := status.AddOnState{Desired: oldaddon.References(a.Desired), Applied: a.Applied, Now: a.Now}
	if a.AddOn != nil {
		state.AddOn = &v1beta1.ManagedClusterAddOn{ObjectMeta: a.AddOn.ObjectMeta}
		state.AddOn.Status.Conditions = a.AddOn.Status.Conditions
		state.AddOn.Status.ConfigReferences = oldaddon.References(a.AddOn.Status.ConfigReferences)
	}
	return status.FromManagedClusterAddOn(state)
}

// SetInstallProgression sets one entry of a ClusterManagementAddOn's installProgressions as status.SetInstallProgression does.
func SetInstallProgression(entry *v1alpha1.InstallProgression, s status.Summary, generation int64, now time.Time) bool {
	current := v1beta1.InstallProgression{
		Conditions:       entry.Conditions,
		ConfigReferences: make([]v1beta1.InstallConfigReference, len(entry.ConfigReferences)),
	}
	for i, c := range entry.ConfigReferences {
		current.ConfigReferences[i] = v1beta1.InstallConfigReference{
			DesiredConfig: oldaddon.Hash(c.DesiredConfig), LastAppliedConfig: oldaddon.Hash(c.LastAppliedConfig), LastKnownGoodConfig: oldaddon.Hash(c.LastKnownGoodConfig),
		}
	}
	if !status.SetInstallProgression(&current, s, generation, now) {
		return false
	}
	entry.Conditions = current.Conditions
	for i, c := range current.ConfigReferences {
		entry.ConfigReferences[i].LastAppliedConfig = hashBack(c.LastAppliedConfig)
		entry.ConfigReferences[i].LastKnownGoodConfig = hashBack(c.LastKnownGoodConfig)
	}
	return true
}

// hashBack undoes oldaddon.Hash.
func hashBack(h *v1beta1.ConfigSpecHash) *v1alpha1.ConfigSpecHash {
	if h == nil {
		return nil
	}
	return &v1alpha1.ConfigSpecHash{ConfigReferent: v1alpha1.ConfigReferent(h.ConfigReferent), SpecHash: h.SpecHash}
}

// DesiredConfigs are the configurations that an add-on should have, as of status.DesiredConfigs.
func DesiredConfigs(owner *v1alpha1.ClusterManagementAddOn, placement v1alpha1.PlacementRef, addOn *v1alpha1.ManagedClusterAddOn) ([]v1alpha1.ConfigReference, bool) {
	var newOwner v1beta1.ClusterManagementAddOn
	for _, c := range owner.Status.DefaultConfigReferences {
		newOwner.Status.DefaultConfigReferences = append(newOwner.Status.DefaultConfigReferences,
			v1beta1.DefaultConfigReference{ConfigGroupResource: v1beta1.ConfigGroupResource(c.ConfigGroupResource), DesiredConfig: oldaddon.Hash(c.DesiredConfig)})
	}
	for _, p := range owner.Status.InstallProgressions {
		entry := v1beta1.InstallProgression{PlacementRef: v1beta1.PlacementRef(p.PlacementRef)}
		for _, c := range p.ConfigReferences {
			entry.ConfigReferences = append(entry.ConfigReferences,
				v1beta1.InstallConfigReference{ConfigGroupResource: v1beta1.ConfigGroupResource(c.ConfigGroupResource), DesiredConfig: oldaddon.Hash(c.DesiredConfig)})
		}
		newOwner.Status.InstallProgressions = append(newOwner.Status.InstallProgressions, entry)
	}
	newAddOn := v1beta1.ManagedClusterAddOn{}
	newAddOn.Status.ConfigReferences = oldaddon.References(addOn.Status.ConfigReferences)
	for _, c := range addOn.Spec.Configs {
		newAddOn.Spec.Configs = append(newAddOn.Spec.Configs,
			v1beta1.AddOnConfig{ConfigGroupResource: v1beta1.ConfigGroupResource(c.ConfigGroupResource), ConfigReferent: v1beta1.ConfigReferent(c.ConfigReferent)})
	}
	desired, found := status.DesiredConfigs(&newOwner, v1beta1.PlacementRef(placement), &newAddOn)
	all := make([]v1alpha1.ConfigReference, 0, len(desired))
	for _, c := range desired {
		all = append(all, v1alpha1.ConfigReference{ConfigGroupResource: v1alpha1.ConfigGroupResource(c.ConfigGroupResource), DesiredConfig: hashBack(c.DesiredConfig)})
	}
	if desired == nil {
		return nil, found
	}
	return all, found
}
