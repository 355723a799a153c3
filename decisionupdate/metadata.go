// SPDX-License-Identifier: Apache-2.0

package decisionupdate

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/cohort-ocm/cohort/internal/place"
)

// metadata returns a stored object with the metadata that it shall have, and whether it has it already. The labels that name placement and
// group become exactly the desired ones. Other labels are added or changed, but never removed, and so is the place of its group. An object
// without a controller gets the desired one (G7).
func metadata(stored, desired *clusterv1beta1.PlacementDecision) (dressed *clusterv1beta1.PlacementDecision, same bool) {
	to := *stored
	to.Labels = finalLabels(stored.Labels, desired.Labels)
	value, placed := desired.Annotations[place.Annotation]
	if placed = placed && stored.Annotations[place.Annotation] != value; placed {
		to.Annotations = with(stored.Annotations, place.Annotation, value)
	}
	owner := adopter(stored, desired)
	if owner != nil {
		to.OwnerReferences = adopted(stored, *owner)
	}
	if !placed && owner == nil && maps.Equal(stored.Labels, to.Labels) {
		return stored, true
	}
	return &to, false
}

// finalLabels returns the labels that a stored object shall have.
func finalLabels(stored, desired map[string]string) map[string]string {
	labels := make(map[string]string, len(desired))
	maps.Copy(labels, stored)
	for _, key := range groupLabels() {
		delete(labels, key)
	}
	maps.Copy(labels, desired)
	return labels
}

// adopter returns the controller that an object without one shall have, or nil.
func adopter(current, to *clusterv1beta1.PlacementDecision) *metav1.OwnerReference {
	if metav1.GetControllerOfNoCopy(current) != nil {
		return nil
	}
	return metav1.GetControllerOfNoCopy(to)
}

// adopted returns the owners of an object with its controller. A reference to the same owner is replaced.
func adopted(current *clusterv1beta1.PlacementDecision, owner metav1.OwnerReference) []metav1.OwnerReference {
	owners := []metav1.OwnerReference{owner}
	for _, ref := range current.OwnerReferences {
		if ref.UID != owner.UID {
			owners = append(owners, ref)
		}
	}
	return owners
}

// dress gives an object, which may have another content by now, the metadata that it shall have.
func (o *object) dress(pd *clusterv1beta1.PlacementDecision) *clusterv1beta1.PlacementDecision {
	to := *pd
	to.Labels, to.Annotations, to.OwnerReferences = o.dressed.Labels, o.dressed.Annotations, o.dressed.OwnerReferences
	return &to
}

// mark gives objects the place of their group before the first of them gets another index (D19), and returns the step that does so. While
// indexes change, the places of objects that have none could not be told, as those of another scheduler.
func (f *fleet) mark() (step Step) {
	for o := range f.objects {
		obj := &f.objects[o]
		if obj.stored == nil || obj.desired == nil {
			continue
		}
		was, is := groupOf(obj.stored.Labels), groupOf(obj.desired.Labels)
		_, known := place.Read(obj.stored.Labels, obj.stored.Annotations)
		number, placed := place.Read(obj.desired.Labels, obj.desired.Annotations)
		if known || !placed || was.Name != is.Name || was.Index == is.Index {
			continue
		}
		marked := *obj.stored
		marked.Annotations = with(marked.Annotations, place.Annotation, place.Of(number, marked.Labels))
		step = append(step, Write{Verb: VerbUpdate, Parts: []Part{PartLabels}, From: obj.stored, To: &marked})
		obj.stored = &marked
		obj.dressed, _ = metadata(obj.stored, obj.desired)
	}
	return step
}

// with returns annotations with one more, or with another value.
func with(annotations map[string]string, key, value string) map[string]string {
	more := make(map[string]string, len(annotations)+1)
	maps.Copy(more, annotations)
	more[key] = value
	return more
}
