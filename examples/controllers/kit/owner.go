// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	workv1 "open-cluster-management.io/api/work/v1"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"

	"github.com/cohort-ocm/cohort/rollout/writes"
)

// OwnerLabel is on the ManifestWorks of a ManifestWorkReplicaSet. Its value is OwnerValue.
const OwnerLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

// The label and the annotation that OCM's controller will write in addition, and instead of a label that would be too long
// (ocm#1684). No released version of the API has them, so they are read, and never written.
const (
	ownerHashLabel  = "work.open-cluster-management.io/ownerkey-hash"
	ownerAnnotation = "work.open-cluster-management.io/manifestworkreplicaset-owner" // namespace/name
)

// OwnerValue is the value of OwnerLabel for the works of a set: namespace.name. A namespace has no dot.
func OwnerValue(set metav1.Object) string { return set.GetNamespace() + "." + set.GetName() }

// setKind is the kind of the works' owners.
var setKind = schema.GroupKind{Group: workv1alpha1.GroupName, Kind: "ManifestWorkReplicaSet"}

// ownerNote is the annotation with the owner of a work (writes.Owner).
const ownerNote = "cohort.open-cluster-management.io/owner"

// Owner is a set as the owner of its works, which are among those with its label. It takes over the works of an earlier set
// of its name, once current returns its own UID: current reads live which set has the name, and is called only if there are
// such works.
func Owner(set metav1.Object, works []*workv1.ManifestWork, current func() (types.UID, error)) (writes.Owner, error) {
	owner := writes.Owner{Kind: setKind, Object: set, Labels: map[string]string{OwnerLabel: OwnerValue(set)}}
	var former []types.UID
	for _, w := range works {
		if uid, same := owner.Noted(w); same && uid != set.GetUID() {
			former = append(former, uid)
		}
	}
	if len(former) == 0 {
		return owner, nil
	}
	uid, err := current()
	if err == nil && uid == set.GetUID() {
		owner.Former = former
	}
	return owner, err
}

// Known returns works as they are. But of a work with only the annotation of ocm#1684 it returns a copy that notes its
// owner.
func Known(owner writes.Owner, work *workv1.ManifestWork) *workv1.ManifestWork {
	_, labelled := work.Labels[OwnerLabel]
	of, is := OwnerOf(work)
	if labelled || !is || work.Annotations[ownerNote] != "" || of.Namespace != owner.Object.GetNamespace() || of.Name != owner.Object.GetName() {
		return work
	}
	work = work.DeepCopy()
	owner.NoteOn(work)
	return work
}

// OfDeleted are the works to delete with a set: its own, and those of an earlier set of its name.
func OfDeleted(set metav1.Object, works []*workv1.ManifestWork) (left []*workv1.ManifestWork) {
	owner, _ := Owner(set, nil, nil)
	for _, w := range works {
		if _, noted := owner.Noted(w); noted || owner.Has(Known(owner, w)) {
			left = append(left, w)
		}
	}
	return left
}

// ValidateOwner returns an error if the label of a set's works would be too long: namespace, dot and name have more than 63
// characters. Neither can be changed, so only another set helps.
func ValidateOwner(set metav1.Object) error {
	value := OwnerValue(set)
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		return field.Invalid(field.NewPath("metadata", "name"), set.GetName(), "the label of its ManifestWorks would be "+
			value+", and "+strings.Join(wrong, "; ")+": make another with a shorter name or in a namespace with a shorter one")
	}
	return nil
}

// OwnerOf returns the set of a work: by its OwnerLabel, or else by the annotation of ocm#1684, if it also has the hash
// label. The hash itself is not checked. A work that notes another owner belongs to that one, whatever its labels.
func OwnerOf[T metav1.Object](work T) (types.NamespacedName, bool) {
	of, separator := work.GetLabels(), "."
	text, ok := of[OwnerLabel]
	if _, hashed := of[ownerHashLabel]; !ok && hashed {
		text, separator = work.GetAnnotations()[ownerAnnotation], "/"
	}
	namespace, name, _ := strings.Cut(text, separator)
	if note := work.GetAnnotations()[ownerNote]; note != "" && !strings.HasPrefix(note, setKind.String()+"/"+namespace+"/"+name+"/") {
		return types.NamespacedName{}, false
	}
	return types.NamespacedName{Namespace: namespace, Name: name}, namespace != "" && name != ""
}

// OwnerSelectors are the label selectors to list the works of a set. No work is selected by two of them. The last one also
// selects works of other sets, which OwnerOf tells apart. A nil set means all sets.
func OwnerSelectors(set *workv1alpha1.ManifestWorkReplicaSet) []string {
	hashed := ownerHashLabel + ",!" + OwnerLabel
	switch {
	case set == nil:
		return []string{OwnerLabel, hashed}
	case ValidateOwner(set) != nil: // no work can have such a label, and the API server rejects it in selectors
		return []string{hashed}
	}
	return []string{OwnerLabel + "=" + OwnerValue(set), hashed}
}

// SetInvalidOwner puts the error of ValidateOwner into a set's status, as OCM's controller does: ManifestworkApplied is
// False with the reason InvalidManifestWorkName. It says whether that is new.
func SetInvalidOwner(set *workv1alpha1.ManifestWorkReplicaSet, err error, now time.Time) bool {
	return meta.SetStatusCondition(&set.Status.Conditions, metav1.Condition{
		Type: workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied, Status: metav1.ConditionFalse,
		Reason: "InvalidManifestWorkName", Message: err.Error(),
		ObservedGeneration: set.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}
