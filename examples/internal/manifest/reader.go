// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
)

// Reader reads files of objects. The zero Reader keeps their whole content.
type Reader struct {
	// Kinds are the kinds that may have many objects, by apiVersion and kind, such as "v1/Pod". The content of such an
	// object keeps only apiVersion, kind, name and namespace; use Into for the rest.
	Kinds map[string]Kind
	// Progress is updated while files are read; it may be nil.
	Progress *Progress
	// Skipped gets the paths of archives and other packed files in directories, which are not read; it may be nil.
	Skipped *[]string
}

// Progress says how much of the files has been read. It may be used while a [Reader] reads.
type Progress struct{ read, all atomic.Int64 }

// Share is between 0 and 1. Of a compressed file more is read than it has.
func (progress *Progress) Share() float64 {
	return min(1, float64(progress.read.Load())/float64(max(progress.all.Load(), 1)))
}

// expect adds bytes that will be read, and pass bytes that were. A nil Progress does nothing.
func (progress *Progress) expect(bytes int64) {
	if progress != nil {
		progress.all.Add(bytes)
	}
}

// passed returns a function to call once a file of this size was read. It corrects what pass was told of its parts.
func (progress *Progress) passed(bytes int) func() {
	if progress == nil {
		return func() {}
	}
	end := progress.read.Load() + int64(bytes)
	return func() { progress.read.Store(end) }
}

func (progress *Progress) pass(bytes int) {
	if progress != nil {
		progress.read.Add(int64(bytes))
	}
}

// Kind describes a kind to a Reader.
type Kind struct {
	// New returns a pointer to a zero value of its Go type. Objects are decoded into it while files are read.
	New func() any
	// Drop are unused paths, such as metadata.managedFields. They are not decoded, and faults there are not noticed.
	Drop []string
}

// decode reads the text of a file, as toText returns it: documents, and the items of lists, in parallel. If anything is
// wrong with a document, it is read again in one piece, with a precise error.
func (r Reader) decode(file string, data []byte) ([]Object, error) {
	documents := split(data)
	each := r.eachKind()
	// Documents first, then the items of those that are lists. An error counts if no document before it has one.
	results := make([]result, len(documents))
	parallel(len(documents), func(i int) {
		at := Position{File: file, Line: documents[i].line}
		if len(documents[i].text) > largeList {
			return // probably a list, whose items are decoded in parallel
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

// Served reads a JSON object as an API server sends it. Where names the place for errors, such as the resource.
func (r Reader) Served(where string, data []byte) (Object, error) {
	at, each := Position{File: where}, r.eachKind()
	for name, k := range each {
		k.served = true
		each[name] = k
	}
	if light, ok := (piece{data, none}).compact(each.drop); ok {
		data = light
	}
	objects, ok := each.object(data, at)
	if !ok || len(objects) != 1 {
		return Object{}, &Error{At: at, Err: errors.New("must be an object with apiVersion and kind")}
	}
	objects[0].Served = true
	return objects[0], nil
}

// largeList is the size from which the items of a document are decoded in parallel.
const largeList = 1 << 16

// result is the outcome of a document.
type result struct {
	done    bool
	objects []Object
	err     error
}

func (read result) pending() bool { return !read.done }

// document reads one document, item by item if it can be cut.
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
	objects, err := r.decodeWhole(d, at)
	return result{true, objects, err}
}

// list reads a list whose items were cut out. It is not ok if anything is wrong with it.
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
		r.Progress.pass(len(items[i].text))
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

// parallel calls do n times, some calls in parallel.
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
