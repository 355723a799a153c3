// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	strict "sigs.k8s.io/json"
)

// Into decodes into v, a pointer to a struct with JSON tags such as an API type. Keys are case-sensitive. A key that the
// type lacks is an error with its path, and so is a value of another type. All errors are *Error.
//
// Keys below status, and all keys of an object that is Served, may be unknown: a server of a newer version may have written
// them. Their paths are returned in alphabetical order.
//
// If the [Reader] knows the kind and v is of its type, v shares memory with other calls.
func (o Object) Into(v any) (unknown []string, err error) {
	if o.typed != nil {
		unknown, err = o.typed.into(v)
	} else {
		unknown, err = decode(o.Object, v, o.Served)
	}
	return unknown, o.Fault(err)
}

// decode decodes a complete object into v.
func decode(content map[string]any, v any, served bool) (unknown []string, err error) {
	data, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	unknown, misfit, err := decodeStrictly(data, v, served)
	if misfit {
		return nil, namePart(content, v, err)
	}
	return unknown, err
}

// decodeStrictly decodes JSON into v. If that does not fit the type, the error has no path.
func decodeStrictly(data []byte, v any, served bool) (unknown []string, misfit bool, err error) {
	faults, err := strict.UnmarshalStrict(data, v)
	if err != nil {
		return nil, true, err
	}
	var errs []error
	for _, fault := range faults {
		path := fault.Error()
		if at := (strict.FieldError)(nil); errors.As(fault, &at) {
			path = at.FieldPath()
		}
		if served || strings.HasPrefix(path, "status.") {
			unknown = append(unknown, path)
			continue
		}
		errs = append(errs, UnknownField(v, path))
	}
	return unknown, false, errors.Join(errs...)
}

// namePart finds the field of err, which the decoder mostly cannot name: types with their own UnmarshalJSON do not know
// their path. It is the smallest part of the object that fails alone.
func namePart(content map[string]any, v any, err error) error {
	at := culprit{value: content, err: err}.narrow(func(part any) error {
		data, err := json.Marshal(part)
		if err != nil {
			return err
		}
		_, err = strict.UnmarshalStrict(data, reflect.New(reflect.TypeOf(v).Elem()).Interface())
		return err
	})
	if at.path == nil {
		return err
	}
	found, detail := at.value, at.err.Error()
	switch at.value.(type) {
	case map[string]any, []any:
		found = describe(at.value)
	}
	if mismatch := (*json.UnmarshalTypeError)(nil); errors.As(at.err, &mismatch) {
		detail = "must be " + expected(mismatch.Type)
	}
	if want := wanted(typeAt(reflect.TypeOf(v), at.path.String()), at.path.String()); want != "" {
		detail = "must be " + want
	}
	return field.Invalid(at.path, found, detail)
}

// wanted says what a field expects, for types with their own JSON form or a telling name; empty for others.
func wanted(t reflect.Type, path string) string {
	switch {
	case t == reflect.TypeFor[intstr.IntOrString]():
		return "a whole number, or a percentage such as 10%"
	case t == reflect.TypeFor[metav1.Duration](), strings.HasSuffix(path, "Deadline"):
		return "a time such as 30s or 30m"
	case t == reflect.TypeFor[metav1.Time]():
		return "an instant such as 2025-01-31T22:00:00Z"
	}
	return ""
}

// culprit is a value that cannot be decoded, with its path and the reason.
type culprit struct {
	path  *field.Path
	value any
	err   error
}

// narrow descends to the innermost value that fails by itself.
func (found culprit) narrow(decode func(any) error) culprit {
	switch value := found.value.(type) {
	case map[string]any:
		if decode(map[string]any{}) != nil {
			return found // an object is wrong here
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			alone := func(part any) error { return decode(map[string]any{key: part}) }
			if err := alone(value[key]); err != nil {
				path := found.path.Child(key)
				if strings.ContainsAny(key, "./") { // a key of a map
					path = found.path.Key(key)
				}
				return culprit{path, value[key], err}.narrow(alone)
			}
		}
	case []any:
		if decode([]any{}) != nil {
			return found
		}
		for i, item := range value {
			alone := func(part any) error { return decode([]any{part}) }
			if err := alone(item); err != nil {
				return culprit{found.path.Index(i), item, err}.narrow(alone)
			}
		}
	}
	return found
}

// expected names a Go type in the words of JSON.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return fmt.Sprintf("a whole number of %d bits", t.Bits())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number of at least 0, of %d bits", t.Bits())
	default:
		return "a whole number"
	}
}
