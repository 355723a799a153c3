// SPDX-License-Identifier: Apache-2.0

// Package surge says which PlacementDecisions hold clusters only while an update is under way.
package surge

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Annotation marks such an object. Its labels are those of its group, as of any other object.
const Annotation = "cohort.open-cluster-management.io/surge"

// Holds reports whether the object is of a surge.
func Holds(object metav1.Object) bool {
	_, marked := object.GetAnnotations()[Annotation]
	return marked
}
