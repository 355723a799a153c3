// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// What the types of a user's API may hold is copied as controller-gen's output expects: a copy says the same, and shares no pointer, slice
// or map with the original. All fields are filled, so that a new field that is not copied is found.
func TestDeepCopiesShareNothing(t *testing.T) {
	for name, pair := range map[string]struct{ original, copied any }{
		"Options":       copies(new(rollout.Options), (*rollout.Options).DeepCopy),
		"ClosedGate":    copies(new(rollout.ClosedGate), (*rollout.ClosedGate).DeepCopy),
		"ClusterFreeze": copies(new(rollout.ClusterFreeze), (*rollout.ClusterFreeze).DeepCopy),
		"Summary":       copies(new(status.Summary), (*status.Summary).DeepCopy),
		"Record":        copies(new(status.Record), (*status.Record).DeepCopy),
	} {
		if !reflect.DeepEqual(pair.original, pair.copied) {
			t.Errorf("%s: the copy is %+v, the original %+v", name, pair.copied, pair.original)
		}
		shared(t, name, reflect.ValueOf(pair.original), reflect.ValueOf(pair.copied))
	}
}

// A copy of nil is nil, as that of every type that controller-gen writes.
func TestDeepCopyOfNil(t *testing.T) {
	if (*rollout.Options)(nil).DeepCopy() != nil || (*rollout.ClosedGate)(nil).DeepCopy() != nil || (*rollout.ClusterFreeze)(nil).DeepCopy() != nil ||
		(*status.Summary)(nil).DeepCopy() != nil || (*status.Record)(nil).DeepCopy() != nil {
		t.Error("a copy of nil is not nil")
	}
}

func copies[T any](original *T, deepCopy func(*T) *T) struct{ original, copied any } {
	fill(reflect.ValueOf(original).Elem())
	return struct{ original, copied any }{original, deepCopy(original)}
}

// fill sets all that JSON has of a value. Functions and results are no part of an API.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0).UTC()))
			return
		}
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() && field.Tag.Get("json") != "-" {
				fill(v.Field(i))
			}
		}
	}
}

// shared reports each pointer, slice and map that two values share.
func shared(t *testing.T, path string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.IsNil() {
			return
		}
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
			return
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		shared(t, path, a.Elem(), b.Elem())
	case reflect.Slice:
		for i := range a.Len() {
			shared(t, path+"[]", a.Index(i), b.Index(i))
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			shared(t, path+"[]", a.MapIndex(key), b.MapIndex(key))
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range a.NumField() {
			if field := a.Type().Field(i); field.IsExported() {
				shared(t, path+"."+field.Name, a.Field(i), b.Field(i))
			}
		}
	}
}
