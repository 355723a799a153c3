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
func (s *Strategy) DeepCopyInto(out *Strategy) {
	*out = Strategy{RolloutStrategy: *s.RolloutStrategy.DeepCopy()}
	if s.ManualPerGroup != nil {
		out.ManualPerGroup = s.ManualPerGroup.DeepCopy()
	}
	if s.IgnoreClusterRolloutStatus != nil {
		out.IgnoreClusterRolloutStatus = s.IgnoreClusterRolloutStatus.DeepCopy()
	}
}

// DeepCopy gives a copy that shares nothing with the Strategy.
func (s *Strategy) DeepCopy() *Strategy {
	if s == nil {
		return nil
	}
	out := new(Strategy)
	s.DeepCopyInto(out)
	return out
}
