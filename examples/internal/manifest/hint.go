// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/cohort-ocm/cohort/examples/internal/spelling"
)

// UnknownField is an error for a path that the type of v, a pointer to a struct, does not have, with the field that may be
// meant.
func UnknownField(v any, path string) error {
	parent, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		parent, name = path[:i], path[i+1:]
	}
	var names []string
	if t := typeAt(reflect.TypeOf(v), parent); t != nil && t.Kind() == reflect.Struct {
		names = slices.Collect(maps.Keys(jsonFields(t)))
	}
	return fmt.Errorf("%s: unknown field%s", path, spelling.Hint(name, names))
}

// typeAt is the type at a path of JSON fields; nil if the path does not exist. For a list it is the type of an item.
func typeAt(t reflect.Type, path string) reflect.Type {
	for t != nil {
		switch kind := t.Kind(); {
		case kind == reflect.Pointer, kind == reflect.Slice, kind == reflect.Array:
			t = t.Elem() // an index is not a step of its own
			continue
		case path == "":
			return t
		}
		var name string
		name, path, _ = strings.Cut(path, ".")
		name, _, _ = strings.Cut(name, "[")
		switch t.Kind() {
		case reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			t = jsonFields(t)[name]
		default:
			return nil
		}
	}
	return nil
}

// jsonFields are the types of a struct's fields by their JSON names, including the fields of embedded structs.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous:
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				maps.Copy(fields, jsonFields(inner))
			}
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	return fields
}
