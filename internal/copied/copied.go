// SPDX-License-Identifier: Apache-2.0

// Package copied checks deep copies, as types of an API need them.
package copied

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

// Check checks DeepCopy and DeepCopyInto of a type: a copy is equal, and shares nothing that can be changed, but for the named fields,
// which it shares.
func Check[T any, P interface {
	*T
	DeepCopyInto(P)
	DeepCopy() P
}](t *testing.T, shared ...string) {
	t.Helper()
	apart := make(map[string]bool)
	for _, field := range shared {
		apart[field] = true
	}
	var value T
	fill(reflect.ValueOf(&value).Elem(), 0)
	into := value // what is there already is replaced
	P(&value).DeepCopyInto(&into)
	for name, of := range map[string]P{"DeepCopy": P(&value).DeepCopy(), "DeepCopyInto": &into} {
		if difference := compare(reflect.ValueOf(&value).Elem(), reflect.ValueOf(of).Elem(), "", apart); difference != "" {
			t.Errorf("%s: %s", name, difference)
		}
	}
	if P(nil).DeepCopy() != nil {
		t.Error("DeepCopy of nil is not nil")
	}
}

// deepest is how deep values are filled that contain their own type.
const deepest = 8

// fill sets all that can be set.
func fill(v reflect.Value, depth int) {
	if depth > deepest {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), depth+1)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		fillStruct(v, depth)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	}
}

func fillStruct(value reflect.Value, depth int) {
	if value.Type() == reflect.TypeFor[time.Time]() {
		value.Set(reflect.ValueOf(time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)))
		return
	}
	for i := range value.NumField() {
		if value.Field(i).CanSet() {
			fill(value.Field(i), depth+1)
		}
	}
}

// compare says where a copy differs, or what it shares.
func compare(a, b reflect.Value, path string, apart map[string]bool) string {
	if apart[path] {
		return ""
	}
	if a.Type() == reflect.TypeFor[time.Time]() {
		if !a.Interface().(time.Time).Equal(b.Interface().(time.Time)) {
			return path + " differs"
		}
		return ""
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() != b.IsNil() {
			return path + " is nil in one"
		}
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return path + " is shared"
		}
	}
	return compareParts(a, b, path, apart)
}

func compareParts(a, b reflect.Value, path string, apart map[string]bool) string {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return ""
		}
		return compare(a.Elem(), b.Elem(), path, apart)
	case reflect.Struct:
		for i := range a.NumField() {
			if !a.Type().Field(i).IsExported() {
				continue
			}
			if text := compare(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name, apart); text != "" {
				return text
			}
		}
	case reflect.Slice:
		if a.Len() != b.Len() {
			return path + " has another length"
		}
		for i := range a.Len() {
			if text := compare(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i), apart); text != "" {
				return text
			}
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			if !b.MapIndex(key).IsValid() {
				return fmt.Sprintf("%s[%v] is missing", path, key)
			}
			if text := compare(a.MapIndex(key), b.MapIndex(key), fmt.Sprintf("%s[%v]", path, key), apart); text != "" {
				return text
			}
		}
	case reflect.Func, reflect.Interface, reflect.Chan:
		return path + " is of a kind that no API has"
	default:
		if !a.Equal(b) {
			return path + " differs"
		}
	}
	return ""
}
