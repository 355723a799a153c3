// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	strict "sigs.k8s.io/json"
)

// kinds are the kinds of a Reader, with the paths to drop of each.
type kinds map[string]kind

type kind struct {
	name   string
	new    func() any
	drop   paths
	served bool // by an API server
}

func (r Reader) eachKind() kinds {
	each := make(kinds, len(r.Kinds))
	for name, k := range r.Kinds {
		each[name] = kind{name: name, new: k.New, drop: newPaths(k.Drop)}
	}
	return each
}

// drop are the paths to drop of an object, by the kind in its first lines. If the kind is not there, all paths are kept.
func (k kinds) drop(text []byte) paths {
	if len(k) == 0 {
		return nil
	}
	return k.guess(text).drop
}

// guess is the kind that the first lines name, if any.
func (k kinds) guess(text []byte) kind {
	head := text[:min(len(text), 300)]
	return k[wordAfter(head, "apiVersion")+"/"+wordAfter(head, "kind")]
}

// wordAfter is the word after the first occurrence of a key. It is only a guess.
func wordAfter(head []byte, key string) string {
	i := bytes.Index(head, []byte(key))
	if i < 0 {
		return ""
	}
	word := bytes.TrimLeft(head[i+len(key):], `":' `)
	if end := bytes.IndexAny(word, "\"', \r\n}"); end >= 0 {
		word = word[:end]
	}
	return string(word)
}

// object makes an object of JSON.
func (k kinds) object(data []byte, at Position) ([]Object, bool) {
	if o, ok := k.sure(data, at); ok {
		return []Object{o}, true
	}
	var head struct {
		APIVersion json.RawMessage `json:"apiVersion"`
		Kind       json.RawMessage `json:"kind"`
		Metadata   struct {
			Name      any `json:"name"`
			Namespace any `json:"namespace"`
		} `json:"metadata"`
	}
	var apiVersion, kind string
	if len(k) > 0 && strict.UnmarshalCaseSensitivePreserveInts(data, &head) == nil &&
		json.Unmarshal(head.APIVersion, &apiVersion) == nil && json.Unmarshal(head.Kind, &kind) == nil {
		if known, found := k[apiVersion+"/"+kind]; found {
			metadata := make(map[string]any, 1)
			for key, value := range map[string]any{"name": head.Metadata.Name, "namespace": head.Metadata.Namespace} {
				if value != nil {
					metadata[key] = value
				}
			}
			content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadata}
			if check(content) != nil {
				return nil, false
			}
			return []Object{{Unstructured: unstructured.Unstructured{Object: content}, At: at, typed: known.decode(data)}}, true
		}
	}
	var content any
	if err := k8sjson.Unmarshal(data, &content); err != nil {
		return nil, false
	}
	object, ok := content.(map[string]any)
	if !ok {
		return nil, false
	}
	objects, err := flatten(nil, object, at)
	return objects, err == nil
}

// sure makes an object of JSON that begins with its kind: it is decoded once, into the type of that kind. It is not ok if
// anything is wrong.
func (k kinds) sure(data []byte, at Position) (o Object, ok bool) {
	known := k.guess(data)
	if known.new == nil {
		return o, false
	}
	t := known.decode(data)
	meta, hasMeta := t.value.(metav1.Object)
	head, hasKind := t.value.(interface{ GetObjectKind() schema.ObjectKind })
	if t.err != nil || !hasMeta || !hasKind {
		return o, false
	}
	apiVersion, kind := head.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	if apiVersion+"/"+kind != known.name {
		return o, false
	}
	content := map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": metadataOf(meta.GetName(), meta.GetNamespace())}
	return Object{Unstructured: unstructured.Unstructured{Object: content}, At: at, typed: t}, true
}

// metadataOf is the metadata that identifies an object among its kind.
func metadataOf(name, namespace string) map[string]any {
	metadata := make(map[string]any, 1)
	if name != "" {
		metadata["name"] = name
	}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return metadata
}

// lighten reduces the content of an object of a known kind.
func (r Reader) lighten(o Object) Object {
	known, found := r.Kinds[o.GetAPIVersion()+"/"+o.GetKind()]
	if !found {
		return o
	}
	data, err := json.Marshal(o.Object)
	if err != nil {
		return o
	}
	if light, ok := (kinds{o.GetAPIVersion() + "/" + o.GetKind(): {name: o.GetAPIVersion() + "/" + o.GetKind(), new: known.New}}).object(data, o.At); ok {
		return light[0]
	}
	return o
}

// typed is an object of a known kind: its JSON, and the outcome of its decoding.
type typed struct {
	data    []byte
	value   any
	unknown []string
	err     error
	served  bool
}

func (known kind) decode(data []byte) *typed {
	t := &typed{data: data, value: known.new(), served: known.served}
	unknown, misfit, err := decodeStrictly(data, t.value, known.served)
	if misfit {
		err = t.misfit(t.value, err)
	}
	t.unknown, t.err = unknown, err
	return t
}

// into is like decode, for a v of the kind's type without decoding again.
func (t *typed) into(v any) (unknown []string, err error) {
	if reflect.TypeOf(v) == reflect.TypeOf(t.value) {
		reflect.ValueOf(v).Elem().Set(reflect.ValueOf(t.value).Elem())
		return t.unknown, t.err
	}
	unknown, misfit, err := decodeStrictly(t.data, v, t.served)
	if misfit {
		return nil, t.misfit(v, err)
	}
	return unknown, err
}

// misfit names the part that does not fit.
func (t *typed) misfit(v any, err error) error {
	var content map[string]any
	if other := k8sjson.Unmarshal(t.data, &content); other != nil {
		return errors.Join(err, other)
	}
	return namePart(content, v, err)
}
