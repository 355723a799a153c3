// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// DeepCopy gives a copy that shares nothing with the Rollout.
func (r *Rollout) DeepCopy() *Rollout {
	if r == nil {
		return nil
	}
	out := *r
	r.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.DecisionGroups = slices.Clone(r.Spec.DecisionGroups)
	out.Status = r.Status.copied()
	return &out
}

func (s *RolloutStatus) copied() RolloutStatus {
	out := *s
	out.DecisionGroups = slices.Clone(s.DecisionGroups)
	out.LastSuccessful = s.LastSuccessful.DeepCopy()
	return out
}

// DeepCopyObject makes Rollout a runtime.Object.
func (r *Rollout) DeepCopyObject() runtime.Object {
	if r == nil {
		return nil
	}
	return r.DeepCopy()
}

// DeepCopyObject makes RolloutList a runtime.Object.
func (l *RolloutList) DeepCopyObject() runtime.Object {
	if l == nil {
		return nil
	}
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = slices.Clone(l.Items)
	for i := range out.Items {
		out.Items[i] = *l.Items[i].DeepCopy()
	}
	return &out
}

// DeepCopyInto copies the Strategy.
func (declared *Strategy) DeepCopyInto(out *Strategy) {
	*out = Strategy{RolloutStrategy: *declared.RolloutStrategy.DeepCopy()}
	if declared.ManualPerGroup != nil {
		out.ManualPerGroup = declared.ManualPerGroup.DeepCopy()
	}
	if declared.IgnoreClusterRolloutStatus != nil {
		out.IgnoreClusterRolloutStatus = declared.IgnoreClusterRolloutStatus.DeepCopy()
	}
}

// DeepCopy gives a copy that shares nothing with the Strategy.
func (declared *Strategy) DeepCopy() *Strategy {
	if declared == nil {
		return nil
	}
	out := new(Strategy)
	declared.DeepCopyInto(out)
	return out
}
