package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	k8sjson "k8s.io/apimachinery/pkg/util/json"
	strict "sigs.k8s.io/json"
)

// Reader reads files of objects. The zero Reader keeps all that they say.
type Reader struct {
	// Kinds are those of which there may be many, by apiVersion and kind, such as "v1/Pod". Of such an object only the
	// apiVersion, the kind, the name and the namespace stay in its content; the rest is had by Into.
	Kinds map[string]Kind
}

// Kind is what a Reader knows of a kind.
type Kind struct {
	// New returns a pointer to a zero value of its Go type. Objects are decoded into it while the files are read.
	New func() any
	// Drop are paths that nobody looks at, such as metadata.managedFields. They are not decoded, and a mistake there does
	// not show.
	Drop []string
}

// decode reads the text of a file: documents, and the items of lists, next to one another. What is not as most
// are is left to the real parser, document by document.
func (r Reader) decode(file string, data []byte) ([]Object, error) {
	documents := split(data)
	each := r.eachKind()
	// Documents first, then the items of those that are lists. An error counts if no document before it has one.
	results := make([]result, len(documents))
	parallel(len(documents), func(i int) {
		at := Position{File: file, Line: documents[i].line}
		if len(documents[i].text) > largeList {
			return // a list, probably, whose items are what is done in parallel
		}
		results[i] = r.document(documents[i], at, each, false)
	})
	var objects []Object
	for i := range results {
		if results[i].pending() {
			results[i] = r.document(documents[i], Position{File: file, Line: documents[i].line}, each, true)
		}
		if results[i].err != nil {
			return nil, results[i].err
		}
		objects = append(objects, results[i].objects...)
		results[i] = result{}
	}
	return objects, nil
}

// largeList is the size of a document from which on its items are read in parallel.
const largeList = 1 << 16

// result is what became of a document.
type result struct {
	done    bool
	objects []Object
	err     error
}

func (r result) pending() bool { return !r.done }

// document reads one document, by the fast way if it can be gone.
func (r Reader) document(d document, at Position, each kinds, inParallel bool) result {
	if items, rest, ok := cut(d.text); ok {
		if objects, ok := r.list(items, rest, at, each, inParallel); ok {
			return result{true, objects, nil}
		}
	} else if data, ok := (piece{d.text, none}).compact(each.drop); ok {
		if objects, ok := each.object(data, at); ok {
			return result{true, objects, nil}
		}
	}
	objects, err := r.decodeSlowly(d, at)
	return result{true, objects, err}
}

// list reads a list whose items were cut out of it. It is not ok if anything is the matter with it.
func (r Reader) list(items []piece, rest []byte, at Position, each kinds, inParallel bool) ([]Object, bool) {
	content, err := parse(document{text: rest, line: at.Line})
	if err != nil || content == nil || check(content) != nil || !isList(content) {
		return nil, false
	}
	results := make([][]Object, len(items))
	var failed atomic.Bool
	read := func(i int) {
		inner := at
		inner.Item = index(at.Item, i)
		data, ok := items[i].compact(each.drop)
		if ok && !failed.Load() {
			results[i], ok = each.object(data, inner)
		}
		if !ok {
			failed.Store(true)
		}
	}
	if inParallel {
		parallel(len(items), read)
	} else {
		for i := range items {
			read(i)
		}
	}
	if failed.Load() {
		return nil, false
	}
	objects := make([]Object, 0, len(items))
	for _, some := range results {
		objects = append(objects, some...)
	}
	return objects, true
}

// parallel does n things, some next to one another.
func parallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	const together = 64
	for range min(runtime.GOMAXPROCS(0), n/together+1) {
		all.Go(func() {
			for {
				end := int(next.Add(together))
				if end-together >= n {
					return
				}
				for i := end - together; i < min(end, n); i++ {
					do(i)
				}
			}
		})
	}
	all.Wait()
}

// kinds are those of a Reader, with the paths to drop of each.
type kinds map[string]kind

type kind struct {
	name string
	new  func() any
	drop paths
}

func (r Reader) eachKind() kinds {
	each := make(kinds, len(r.Kinds))
	for name, k := range r.Kinds {
		each[name] = kind{name, k.New, newPaths(k.Drop)}
	}
	return each
}

// drop is what is dropped of an object, going by what its first lines say. One whose lines are in another order
// keeps all.
func (k kinds) drop(text []byte) paths {
	if len(k) == 0 {
		return nil
	}
	return k.guess(text).drop
}

// guess is the kind that the first lines name, or none.
func (k kinds) guess(text []byte) kind {
	head := text[:min(len(text), 300)]
	return k[wordAfter(head, "apiVersion")+"/"+wordAfter(head, "kind")]
}

// wordAfter is what stands behind the first mention of a key. It is only a guess.
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

// sure makes an object of JSON that says first what it is: it is decoded once, as that kind, and its Go type knows what
// the rest of its content would be. It is not ok if anything is the matter.
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

// metadataOf is what tells an object from others of its kind.
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

// lighten leaves of an object of a known kind what such an object keeps.
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

// typed is an object of a known kind: its JSON, and what became of it.
type typed struct {
	data    []byte
	value   any
	unknown []string
	err     error
}

func (k kind) decode(data []byte) *typed {
	t := &typed{data: data, value: k.new()}
	unknown, misfit, err := decodeStrictly(data, t.value)
	if misfit {
		err = t.misfit(t.value, err)
	}
	t.unknown, t.err = unknown, err
	return t
}

// into is as decode for v, which is done already for a type that was told.
func (t *typed) into(v any) (unknown []string, err error) {
	if reflect.TypeOf(v) == reflect.TypeOf(t.value) {
		reflect.ValueOf(v).Elem().Set(reflect.ValueOf(t.value).Elem())
		return t.unknown, t.err
	}
	unknown, misfit, err := decodeStrictly(t.data, v)
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
