// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/etcd3"
)

// mostDecoded is how many stored values a decoder remembers: more than a small world writes between two reads of an object.
const mostDecoded = 512

// A decoder decodes stored values of one resource as Kubernetes' own does, and each value once. A write first reads what is stored, which
// the write before it has decoded. Decoding, pruning and defaulting a custom resource takes several times as long as a copy.
type decoder struct {
	etcd3.Decoder

	mu      sync.Mutex
	decoded map[decodedAs]decodedValue
	order   []decodedAs // the oldest first
}

// decodedAs is a write, which is of one key, and what the object that it is decoded into says that it is.
type decodedAs struct {
	revision int64
	kind     schema.GroupVersionKind
}

// decodedValue is a stored value, and the object that it says.
type decodedValue struct {
	value  []byte
	object map[string]any
}

func newDecoder(of etcd3.Decoder) *decoder {
	return &decoder{Decoder: of, decoded: map[decodedAs]decodedValue{}}
}

// Decode decodes a value that was written at a revision into an object.
func (d *decoder) Decode(value []byte, into runtime.Object, revision int64) error {
	object, custom := into.(*unstructured.Unstructured)
	if !custom {
		return d.Decoder.Decode(value, into, revision)
	}
	as := decodedAs{revision, object.GroupVersionKind()}
	if known := d.find(value, as); known != nil {
		object.Object = runtime.DeepCopyJSON(known)
		return nil
	}
	if err := d.Decoder.Decode(value, into, revision); err != nil {
		return err
	}
	d.keep(value, object.Object, as)
	return nil
}

// DecodeListItem decodes one value of a list.
func (d *decoder) DecodeListItem(ctx context.Context, value []byte, revision uint64, newItem func() runtime.Object) (runtime.Object, error) {
	item, custom := newItem().(*unstructured.Unstructured)
	if !custom {
		return d.Decoder.DecodeListItem(ctx, value, revision, newItem)
	}
	return item, d.Decode(value, item, int64(revision))
}

func (d *decoder) find(value []byte, as decodedAs) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	if known := d.decoded[as]; bytes.Equal(known.value, value) {
		return known.object
	}
	return nil
}

func (d *decoder) keep(value []byte, object map[string]any, as decodedAs) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.decoded[as]; known {
		return
	}
	d.decoded[as] = decodedValue{value, runtime.DeepCopyJSON(object)}
	if d.order = append(d.order, as); len(d.order) > mostDecoded {
		delete(d.decoded, d.order[0])
		d.order = d.order[1:]
	}
}
