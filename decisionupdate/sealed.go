// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"slices"
	"strings"

	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/seal"
)

// sealed adds the seal to the writes: to one that is there, or in the last step (D18).
func (f *fleet) sealed(steps []Step) []Step {
	for o := range f.objects {
		obj := &f.objects[o]
		if obj.stored == nil || obj.desired == nil {
			continue // a create has it
		}
		value := obj.desired.Annotations[seal.Annotation]
		if value == "" || value == obj.stored.Annotations[seal.Annotation] {
			continue
		}
		if write := lastWrite(steps, obj.name); write != nil {
			write.To = withSeal(write.To, value)
			if !slices.Contains(write.Parts, PartLabels) {
				write.Parts = append(slices.Clip(write.Parts), PartLabels)
			}
			continue
		}
		if len(steps) == 0 {
			steps = []Step{nil}
		}
		last := &steps[len(steps)-1]
		*last = append(*last, Write{Verb: VerbUpdate, Parts: []Part{PartLabels}, From: obj.stored, To: withSeal(obj.stored, value)})
		slices.SortFunc(*last, func(a, b Write) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return steps
}

// lastWrite returns the last write of an object, or nil.
func lastWrite(steps []Step, name string) *Write {
	for _, step := range slices.Backward(steps) {
		for i := range step {
			if step[i].Name() == name {
				return &step[i]
			}
		}
	}
	return nil
}

func withSeal(pd *clusterv1beta1.PlacementDecision, value string) *clusterv1beta1.PlacementDecision {
	to := *pd
	to.Annotations = with(pd.Annotations, seal.Annotation, value)
	return &to
}
