package status

import (
	"time"

	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
)

// AddOnStateV1alpha1 is AddOnState for version v1alpha1 of the API.
type AddOnStateV1alpha1 struct {
	// AddOn is the object. It is not changed.
	AddOn *addonv1alpha1.ManagedClusterAddOn

	// Desired are the configurations that the add-on should have, in any order. Only the type and DesiredConfig are read,
	// and the deprecated referent where there is no DesiredConfig. Duplicates count once.
	Desired []addonv1alpha1.ConfigReference

	// Applied is since when the add-on's references are the desired ones, as in AddOnState.
	Applied time.Time

	// Now is the time of reading, for a caller that notes answers, as in WorkState.
	Now time.Time
}

// FromManagedClusterAddOnV1alpha1 does for version v1alpha1 of the API what FromManagedClusterAddOn does for v1beta1.
func FromManagedClusterAddOnV1alpha1(a AddOnStateV1alpha1) (Report, bool) {
	if a.AddOn == nil {
		return Report{}, false
	}
	return addOn{
		object:     a.AddOn,
		conditions: a.AddOn.Status.Conditions,
		actual:     addOnConfigsV1alpha1(a.AddOn.Status.ConfigReferences),
		desired:    addOnConfigsV1alpha1(a.Desired),
		applied:    a.Applied,
		now:        a.Now,
	}.report()
}

func addOnConfigsV1alpha1(references []addonv1alpha1.ConfigReference) []addOnConfig {
	hash := func(h *addonv1alpha1.ConfigSpecHash) *addonv1beta1.ConfigSpecHash {
		if h == nil {
			return nil
		}
		return &addonv1beta1.ConfigSpecHash{ConfigReferent: addonv1beta1.ConfigReferent(h.ConfigReferent), SpecHash: h.SpecHash}
	}
	configs := make([]addOnConfig, len(references))
	for i, r := range references {
		configs[i] = addOnConfig{
			resource: addonv1beta1.ConfigGroupResource(r.ConfigGroupResource),
			desired:  hash(r.DesiredConfig),
			applied:  hash(r.LastAppliedConfig),
			referent: addonv1beta1.ConfigReferent(r.ConfigReferent),
		}
	}
	return configs
}

// SetInstallProgressionV1alpha1 does for version v1alpha1 of the API what SetInstallProgression does for v1beta1.
func SetInstallProgressionV1alpha1(entry *addonv1alpha1.InstallProgression, s Summary, generation int64, now time.Time) bool {
	changed := setInstallProgressing(&entry.Conditions, s, generation, now)
	if !s.provesGood() {
		return changed
	}
	for i := range entry.ConfigReferences {
		c := &entry.ConfigReferences[i]
		changed = setConfig(&c.LastAppliedConfig, c.DesiredConfig) || changed
		changed = setConfig(&c.LastKnownGoodConfig, c.DesiredConfig) || changed
	}
	return changed
}
