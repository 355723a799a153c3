// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// This is what controller-gen generates.

// DeepCopyInto copies a FleetConfig.
func (in *FleetConfig) DeepCopyInto(out *FleetConfig) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.RolloutStrategy.DeepCopyInto(&out.Spec.RolloutStrategy)
	out.Spec.Data = maps.Clone(in.Spec.Data)
	out.Status.Conditions = slices.Clone(in.Status.Conditions)
}

// DeepCopyObject gives a copy.
func (in *FleetConfig) DeepCopyObject() runtime.Object {
	out := new(FleetConfig)
	in.DeepCopyInto(out)
	return out
}

// DeepCopyObject gives a copy.
func (in *FleetConfigList) DeepCopyObject() runtime.Object {
	out := new(FleetConfigList)
	*out = *in
	out.Items = make([]FleetConfig, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
