package kit

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AvailableAnnotation of an owner says, by the value true, that its works have succeeded once they are Available, where no conditionRules
// in the template say when they are done.
const AvailableAnnotation = "cohort.open-cluster-management.io/available-succeeds"

// AvailableSucceeds says whether the owner has that annotation. Any other value counts for nothing.
func AvailableSucceeds(owner metav1.Object) bool {
	return owner.GetAnnotations()[AvailableAnnotation] == "true"
}
