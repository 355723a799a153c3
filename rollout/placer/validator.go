// SPDX-License-Identifier: Apache-2.0

package placer

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Validator rejects owners that would stall the controller: by an error of Rollout, an invalid strategy, invalid options or
// invalid approvals. The errors have the paths of the fields. An owner that was already stored invalid passes if its spec,
// labels and annotations stay as they are, and while it is being deleted, so that finalizers can be removed. Any other
// change is rejected until the owner is valid, even a pause.
func (k Kind[O]) Validator() admission.Validator[O] { return validator[O]{k} }

type validator[O client.Object] struct{ kind Kind[O] }

func (v validator[O]) ValidateCreate(_ context.Context, owner O) (admission.Warnings, error) {
	return nil, v.validate(owner)
}

func (v validator[O]) ValidateUpdate(_ context.Context, before, after O) (admission.Warnings, error) {
	if after.GetDeletionTimestamp() != nil || v.same(before, after) {
		return nil, nil
	}
	return nil, v.validate(after)
}

func (v validator[O]) ValidateDelete(context.Context, O) (admission.Warnings, error) { return nil, nil }

// same says whether two states of an owner want the same: their generation, annotations and labels are equal.
func (v validator[O]) same(before, after O) bool {
	return before.GetGeneration() == after.GetGeneration() &&
		equality.Semantic.DeepEqual(before.GetAnnotations(), after.GetAnnotations()) &&
		equality.Semantic.DeepEqual(before.GetLabels(), after.GetLabels())
}

func (v validator[O]) validate(owner O) error {
	wanted, err := v.kind.Rollout(owner.DeepCopyObject().(O))
	if err != nil {
		return err
	}
	return validate(wanted, owner).ToAggregate()
}
