// SPDX-License-Identifier: Apache-2.0

package override

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// Ignored is a binding of the policy that has no effect, or has an override without effect.
type Ignored struct {
	Binding string
	Type    IgnoredType
	// Message is a sentence fit for an event or a condition.
	Message string
}

// IgnoredType says why a binding is ignored, fit for the reason of an event.
type IgnoredType string

const (
	// IgnoredPlacementRef says that the binding refers to neither a Placement nor a PlacementRule. It binds nothing
	// and overrides nothing.
	IgnoredPlacementRef IgnoredType = "PlacementRefIgnored"
	// IgnoredSubFilter says that the binding is a sub filter, and that the policy's rollout strategy is not All. It
	// has no effect.
	IgnoredSubFilter IgnoredType = "SubFilterIgnored"
	// IgnoredOverride says that the binding says enforce, and that the policy's rollout strategy is not All. It binds
	// its clusters and does not change their action.
	IgnoredOverride IgnoredType = "OverrideIgnored"
)

// ignore finds the parts of a binding that have no effect (O5, O6).
func ignore(binding *Binding, strategy clusterv1alpha1.RolloutType) (Ignored, bool) {
	all := strategy == clusterv1alpha1.All
	switch {
	case !selects(binding.PlacementRef):
		return Ignored{binding.Name, IgnoredPlacementRef, fmt.Sprintf(
			"PlacementBinding %q has no effect: its placementRef has the apiGroup %q, the kind %q and the name %q; it must name a Placement of cluster.open-cluster-management.io or a PlacementRule of apps.open-cluster-management.io",
			binding.Name, binding.PlacementRef.APIGroup, binding.PlacementRef.Kind, binding.PlacementRef.Name)}, true
	case !all && binding.SubFilter:
		return Ignored{binding.Name, IgnoredSubFilter, fmt.Sprintf(
			"PlacementBinding %q has no effect: its subFilter needs the rollout strategy All, and the policy has %s; without the subFilter it would bind its clusters", binding.Name, strategy)}, true
	case !all && binding.Enforce:
		return Ignored{binding.Name, IgnoredOverride, fmt.Sprintf(
			"PlacementBinding %q does not enforce the policy: its bindingOverrides need the rollout strategy All, and the policy has %s", binding.Name, strategy)}, true
	default:
		return Ignored{}, false
	}
}
