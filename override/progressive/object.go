// SPDX-License-Identifier: Apache-2.0

package progressive

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cohort-ocm/cohort/status"
)

// Store sets the name, the owner, the record and the status of a policy's Rollout. Pass a copy of the Rollout that was read, or an
// empty one if there is none. Store says whether it changed anything. If it did, write the object and its status before anything else,
// and reconcile again once you read that write back.
//
// There is an error if the record cannot be written (status.Records).
func (p *Propagation) Store(object *Rollout) (changed bool, err error) {
	if p.disabled {
		return false, nil
	}
	root := p.state.Policy
	if object.Name != nameOf(root) || object.Namespace != root.GetNamespace() {
		object.Name, object.Namespace, changed = nameOf(root), root.GetNamespace(), true
	}
	object.APIVersion, object.Kind = APIVersion, Kind
	if !object.isOwnedBy(root) {
		object.OwnerReferences = append(slices.Clone(object.OwnerReferences), metav1.OwnerReference{
			APIVersion: root.GetAPIVersion(), Kind: root.GetKind(), Name: root.GetName(), UID: root.GetUID(),
		})
		changed = true
	}
	noted, err := status.Records{"": p.Plan.Record}.Note(object)
	if err != nil {
		return changed, err
	}
	changed = changed || noted || !object.Status.equal(&p.next)
	object.Status = p.next.copied()
	return changed, nil
}

// equal says whether two statuses are the same.
func (s *RolloutStatus) equal(other *RolloutStatus) bool {
	raw := func(status *RolloutStatus) []byte {
		if status.LastSuccessful == nil {
			return nil
		}
		return status.LastSuccessful.Raw
	}
	return s.RolloutUID == other.RolloutUID && s.RolloutStatus == other.RolloutStatus &&
		s.CurrentRolloutGeneration == other.CurrentRolloutGeneration && slices.Equal(s.DecisionGroups, other.DecisionGroups) &&
		bytes.Equal(raw(s), raw(other))
}

// isOwnedBy says whether a Rollout has the root policy as an owner.
func (r *Rollout) isOwnedBy(root *unstructured.Unstructured) bool {
	return slices.ContainsFunc(r.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == root.GetUID() })
}

func nameOf(root *unstructured.Unstructured) string { return "policy-" + root.GetName() }

// check reports where a Rollout is not that of the root policy (O31).
func (r *Rollout) check(root *unstructured.Unstructured) (errs field.ErrorList) {
	path := field.NewPath("rollout", "metadata")
	if r.Name != nameOf(root) {
		errs = append(errs, field.Invalid(path.Child("name"), r.Name, "must be "+nameOf(root)+", after the policy"))
	}
	if r.Namespace != root.GetNamespace() {
		errs = append(errs, field.Invalid(path.Child("namespace"), r.Namespace, "must be "+root.GetNamespace()+", the policy's"))
	}
	for i, owner := range r.OwnerReferences {
		if owner.Kind == root.GetKind() && group(owner.APIVersion) == group(root.GetAPIVersion()) && owner.UID != root.GetUID() {
			errs = append(errs, field.Invalid(path.Child("ownerReferences").Index(i).Child("uid"), owner.UID, fmt.Sprintf(
				"must be %s, the policy's; the API server deletes the Rollout of a deleted policy", root.GetUID())))
		}
	}
	return errs
}

func group(apiVersion string) string {
	name, _, _ := strings.Cut(apiVersion, "/")
	return name
}
