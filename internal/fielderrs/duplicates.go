// SPDX-License-Identifier: Apache-2.0

package fielderrs

import "k8s.io/apimachinery/pkg/util/validation/field"

// Duplicates reports sorted elements that occur more than once, each once. Compare is the order in which they are
// sorted; elements that it calls equal are the same. Report gives the error for one of them, most often a
// field.Duplicate.
func Duplicates[E any](sorted []E, compare func(a, b E) int, report func(E) *field.Error) field.ErrorList {
	var errs field.ErrorList
	for i := 1; i < len(sorted); i++ {
		again := compare(sorted[i-1], sorted[i]) == 0
		if again && (i == 1 || compare(sorted[i-2], sorted[i]) != 0) {
			errs = append(errs, report(sorted[i]))
		}
	}
	return errs
}
