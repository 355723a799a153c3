// SPDX-License-Identifier: Apache-2.0

package grouping

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

// Owns says which PlacementDecisions are a placement's. [Read] and [Groups.Decisions] leave out all others, and so does Diff of package
// decisionupdate, so they may be given all objects of the namespace.
//
// The object that a Placement controls (owner reference) belongs to that Placement, whatever its label says: the label may be missing or
// edited by hand. Any other object belongs to the placement that its label names, even an object of an earlier Placement of that name,
// until the garbage collector deletes it: readers see it, and its clusters need another object before. A Placement is the same if its name
// and UID are; an unknown UID matches any.
//
// Neither may be nil.
func Owns(placement *clusterv1beta1.Placement, decision *clusterv1beta1.PlacementDecision) bool {
	if decision.Namespace != placement.Namespace {
		return false
	}
	owner := controllerOf(decision)
	switch {
	case owner != nil && owner.Name != placement.Name:
		return false
	case owner != nil && (owner.UID == placement.UID || owner.UID == "" || placement.UID == ""):
		return true
	}
	return decision.Labels[clusterv1beta1.PlacementLabel] == placement.Name
}

// controllerOf gives the reference to the Placement that controls an object, or nil.
func controllerOf(decision *clusterv1beta1.PlacementDecision) *metav1.OwnerReference {
	ref := metav1.GetControllerOfNoCopy(decision)
	if ref == nil || ref.Kind != "Placement" || !strings.HasPrefix(ref.APIVersion, clusterv1beta1.GroupName+"/") {
		return nil
	}
	return ref
}

// onePlacement reports the first object that is of another placement or namespace than those before it. Indexes of different placements
// mean different groups.
func onePlacement(objects []*clusterv1beta1.PlacementDecision) *field.Error {
	for _, decision := range objects {
		first := objects[0]
		if decision.Namespace != first.Namespace {
			return field.Invalid(objectPath(decision).Child("metadata", "namespace"), decision.Namespace, fmt.Sprintf(
				"must be %q, the namespace of the other decisions, as of %s/%s", first.Namespace, first.Namespace, first.Name))
		}
		if of, want := placementOf(decision), placementOf(first); of != want {
			path := objectPath(decision).Child("metadata", "labels").Key(clusterv1beta1.PlacementLabel)
			if controllerOf(decision) != nil {
				path = objectPath(decision).Child("metadata", "ownerReferences")
			}
			return field.Invalid(path, of, fmt.Sprintf(
				"must be %q, the placement of the other decisions, as of %s/%s", want, first.Namespace, first.Name))
		}
	}
	return nil
}

// placementOf gives the name of the placement that an object is of.
func placementOf(decision *clusterv1beta1.PlacementDecision) string {
	if owner := controllerOf(decision); owner != nil {
		return owner.Name
	}
	return decision.Labels[clusterv1beta1.PlacementLabel]
}
