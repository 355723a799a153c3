package fielderrs

import "k8s.io/apimachinery/pkg/util/validation/field"

// Duplicates reports elements that stand twice among sorted ones. Compare is the order that they are sorted by, in
// which equal elements are the same; report gives the error for one of them, most often a field.Duplicate. An
// element that stands three times is reported once.
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
