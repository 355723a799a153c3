// SPDX-License-Identifier: Apache-2.0

// Package oldaddon gives the configurations of add-ons of version v1alpha1 as those of v1beta1.
package oldaddon

import (
	"open-cluster-management.io/api/addon/v1alpha1"
	"open-cluster-management.io/api/addon/v1beta1"
)

// References gives the same references of v1beta1, which has no referent beside a reference. A referent without DesiredConfig
// tells references apart, so it becomes a desired configuration without a hash. Such a one is applied where nothing is. The
// result shares nothing with the references.
func References(old []v1alpha1.ConfigReference) []v1beta1.ConfigReference {
	references := make([]v1beta1.ConfigReference, len(old))
	for i, reference := range old {
		desired, applied := Hash(reference.DesiredConfig), Hash(reference.LastAppliedConfig)
		if desired == nil {
			desired = &v1beta1.ConfigSpecHash{ConfigReferent: v1beta1.ConfigReferent(reference.ConfigReferent)}
			if applied == nil {
				applied = desired
			} else {
				applied = nil
			}
		}
		references[i] = v1beta1.ConfigReference{
			ConfigGroupResource: v1beta1.ConfigGroupResource(reference.ConfigGroupResource),
			DesiredConfig:       desired,
			LastAppliedConfig:   applied,
		}
	}
	return references
}

// Hash gives the same configuration of v1beta1; nil for nil.
func Hash(hash *v1alpha1.ConfigSpecHash) *v1beta1.ConfigSpecHash {
	if hash == nil {
		return nil
	}
	return &v1beta1.ConfigSpecHash{ConfigReferent: v1beta1.ConfigReferent(hash.ConfigReferent), SpecHash: hash.SpecHash}
}
