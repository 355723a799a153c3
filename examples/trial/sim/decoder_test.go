// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
)

// countingDecoder counts what is decoded.
type countingDecoder struct {
	etcd3.Decoder
	decoded int
}

func (d *countingDecoder) Decode(value []byte, into runtime.Object, revision int64) error {
	d.decoded++
	return d.Decoder.Decode(value, into, revision)
}

// A decoder gives the objects that Kubernetes' own gives, each value is decoded once, and an object that a request changes is a copy.
func TestEachValueIsDecodedOnce(t *testing.T) {
	own := etcd3.NewDefaultDecoder(unstructured.UnstructuredJSONScheme, storage.APIObjectVersioner{})
	counting := &countingDecoder{Decoder: own}
	d := newDecoder(counting)
	valueOf := func(revision int64, color string) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"Widget","metadata":{"name":"w%d"},"spec":{"colors":[%q]}}`, revision, color)
	}
	decode := func(d etcd3.Decoder, value []byte, revision int64) map[string]any {
		into := &unstructured.Unstructured{}
		if err := d.Decode(value, into, revision); err != nil {
			t.Fatal(err)
		}
		return into.Object
	}
	same := func(value []byte, revision int64) {
		t.Helper()
		want := decode(own, value, revision)
		got := decode(d, value, revision)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("revision %d is decoded as %v, expected %v", revision, got, want)
		}
		_ = unstructured.SetNestedStringSlice(got, []string{"changed"}, "spec", "colors") // what a request does with it
		got["spec"].(map[string]any)["more"] = true
	}
	for range 3 {
		same(valueOf(7, "red"), 7)
		same(valueOf(8, "red"), 8)
	}
	if counting.decoded != 2 {
		t.Errorf("%d values were decoded, expected 2", counting.decoded)
	}
	item, err := d.DecodeListItem(context.Background(), valueOf(7, "red"), 7, func() runtime.Object { return &unstructured.Unstructured{} })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := item.(*unstructured.Unstructured).Object, decode(own, valueOf(7, "red"), 7); !reflect.DeepEqual(got, want) {
		t.Errorf("in a list it is decoded as %v, expected %v", got, want)
	}
	same(valueOf(7, "blue"), 7) // of a revision that is remembered with another value
	other := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v2"}}
	before := counting.decoded
	if err := d.Decode(valueOf(7, "red"), other, 7); err != nil || counting.decoded != before+1 {
		t.Errorf("into an object of another version: %v, decoded %d times", err, counting.decoded-before)
	}
	for revision := range int64(2 * mostDecoded) {
		same(valueOf(revision, "red"), revision)
	}
	if len(d.decoded) > mostDecoded || len(d.order) != len(d.decoded) {
		t.Errorf("%d values are remembered, in an order of %d, expected at most %d", len(d.decoded), len(d.order), mostDecoded)
	}
	if err := d.Decode([]byte(`{`), &unstructured.Unstructured{}, 9999); err == nil {
		t.Error("half a value is decoded")
	}
}
