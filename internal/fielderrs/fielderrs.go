// SPDX-License-Identifier: Apache-2.0

// Package fielderrs turns a field.ErrorList into one error.
package fielderrs

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Join returns nil for an empty list, otherwise one error that holds all of them, as from errors.Join, even if it is only
// one: its message has a line for each, errors.As finds the first as a *field.Error, and Unwrap() []error gives all. For
// errors.As it does not use ErrorList.ToAggregate.
func Join(list field.ErrorList) error {
	errs := make([]error, len(list))
	for i := range list {
		errs[i] = list[i]
	}
	return errors.Join(errs...)
}
