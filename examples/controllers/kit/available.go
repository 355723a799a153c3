// SPDX-License-Identifier: Apache-2.0

package kit

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AvailableAnnotation of an owner, by the value true, makes its works successful once they are Available, if no
// conditionRules in the template say when they are done.
const AvailableAnnotation = "cohort.open-cluster-management.io/available-succeeds"

// AvailableSucceeds says whether the owner has that annotation with the value true.
func AvailableSucceeds(owner metav1.Object) bool {
	return owner.GetAnnotations()[AvailableAnnotation] == "true"
}
