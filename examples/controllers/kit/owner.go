package kit

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	workv1alpha1 "open-cluster-management.io/api/work/v1alpha1"
)

// OwnerLabel is on the ManifestWorks of a ManifestWorkReplicaSet. Its value is that of OwnerValue.
const OwnerLabel = workv1alpha1.ManifestWorkReplicaSetControllerNameLabelKey

// The two that OCM's controller is to write beside that label, and without it where its value would be too long (ocm#1684). No
// released version of the API has them, so they are read, and never written.
const (
	ownerHashLabel  = "work.open-cluster-management.io/ownerkey-hash"
	ownerAnnotation = "work.open-cluster-management.io/manifestworkreplicaset-owner" // namespace/name
)

// OwnerValue is the value of OwnerLabel for the works of a set: namespace.name. A namespace has no dot.
func OwnerValue(set metav1.Object) string { return set.GetNamespace() + "." + set.GetName() }

// ValidateOwner says what is wrong with the name of a set if no work could have its label: together with the namespace and a dot it
// has more than 63 characters. Neither can be changed, so nothing helps but another set.
func ValidateOwner(set metav1.Object) error {
	value := OwnerValue(set)
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		return field.Invalid(field.NewPath("metadata", "name"), set.GetName(), "the label of its ManifestWorks would be "+
			value+", and "+strings.Join(wrong, "; ")+": make another with a shorter name or in a namespace with a shorter one")
	}
	return nil
}

// OwnerOf says whose a work is: by its OwnerLabel, or else by the annotation of ocm#1684, if it has the hash of that, too. The hash
// itself is not looked at.
func OwnerOf[T metav1.Object](work T) (types.NamespacedName, bool) {
	of, separator := work.GetLabels(), "."
	text, ok := of[OwnerLabel]
	if _, hashed := of[ownerHashLabel]; !ok && hashed {
		text, separator = work.GetAnnotations()[ownerAnnotation], "/"
	}
	namespace, name, _ := strings.Cut(text, separator)
	return types.NamespacedName{Namespace: namespace, Name: name}, namespace != "" && name != ""
}

// OwnerSelectors are those to list the works of a set with, as text. No work is selected by two of them. The last one selects works
// of other sets, too, which OwnerOf tells apart. A nil set means all sets.
func OwnerSelectors(set *workv1alpha1.ManifestWorkReplicaSet) []string {
	hashed := ownerHashLabel + ",!" + OwnerLabel
	switch {
	case set == nil:
		return []string{OwnerLabel, hashed}
	case ValidateOwner(set) != nil: // no work has such a label, and the API server refuses to select by it
		return []string{hashed}
	}
	return []string{OwnerLabel + "=" + OwnerValue(set), hashed}
}

// SetInvalidOwner says in a set's status what ValidateOwner found, as OCM's controller does: ManifestworkApplied is False with the
// reason InvalidManifestWorkName. It says whether that is new.
func SetInvalidOwner(set *workv1alpha1.ManifestWorkReplicaSet, err error, now time.Time) bool {
	return meta.SetStatusCondition(&set.Status.Conditions, metav1.Condition{
		Type: workv1alpha1.ManifestWorkReplicaSetConditionManifestworkApplied, Status: metav1.ConditionFalse,
		Reason: "InvalidManifestWorkName", Message: err.Error(),
		ObservedGeneration: set.Generation, LastTransitionTime: metav1.NewTime(now),
	})
}
