package kit

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// PlacementOf says which Placement a PlacementDecision belongs to: the one that is its controller, or that its label names.
// A person may have edited the label or taken it off. By the label alone, such an object would never be seen again, and its name
// would stay taken. Where the two differ, the object's own name tells which of them was edited: nobody can change it.
func PlacementOf[T metav1.Object](decision T) (key types.NamespacedName, ok bool) {
	label := decision.GetLabels()[clusterv1beta1.PlacementLabel]
	key = types.NamespacedName{Namespace: decision.GetNamespace(), Name: label}
	if owner := placementThatControls(decision); owner != nil && (label == "" || madeFor(decision) != label) {
		key.Name = owner.Name
	}
	return key, key.Name != ""
}

// IsOf says whether a PlacementDecision belongs to this very Placement. What an earlier one of the same name controls is of this
// one by its label alone, to be replaced. Without the label the garbage collector deletes it.
func IsOf(decision *clusterv1beta1.PlacementDecision, placement *clusterv1beta1.Placement) bool {
	if key, ok := PlacementOf(decision); !ok || key != (types.NamespacedName{Namespace: placement.Namespace, Name: placement.Name}) {
		return false
	}
	return decision.Labels[clusterv1beta1.PlacementLabel] == placement.Name || placementThatControls(decision).UID == placement.UID
}

// placementThatControls is the reference to the Placement that is an object's controller, if one is.
func placementThatControls(object metav1.Object) *metav1.OwnerReference {
	owner := metav1.GetControllerOfNoCopy(object)
	if owner == nil || owner.Kind != "Placement" {
		return nil
	}
	if gv, err := schema.ParseGroupVersion(owner.APIVersion); err != nil || gv.Group != clusterv1beta1.GroupName {
		return nil
	}
	return owner
}

// madeFor is the Placement that an object's name speaks of: "web" of "web-decision-1".
func madeFor(decision metav1.Object) string {
	name := decision.GetName()
	return name[:max(0, strings.LastIndex(name, "-decision-"))]
}
