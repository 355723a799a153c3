// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// ordered is a cache that lists its objects in an order that the seed decides. Those of client-go list them as a map does, each time in another
// order, which no seed decides.
type ordered struct {
	cache.Indexer
	seed uint64
}

func (o ordered) rank(key string) uint64 { return drawn(o.seed, key).Uint64() }

func (o ordered) objects(all []any) []any {
	type ranked struct {
		object any
		rank   uint64
	}
	by := make([]ranked, len(all))
	for i, object := range all {
		key, _ := cache.MetaNamespaceKeyFunc(object)
		by[i] = ranked{object, o.rank(key)}
	}
	slices.SortFunc(by, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	for i := range by {
		all[i] = by[i].object
	}
	return all
}

func (o ordered) keys(all []string) []string {
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(o.rank(a), o.rank(b)) })
	return all
}

func (o ordered) List() []any        { return o.objects(o.Indexer.List()) }
func (o ordered) ListKeys() []string { return o.keys(o.Indexer.ListKeys()) }

func (o ordered) ByIndex(index, value string) ([]any, error) {
	all, err := o.Indexer.ByIndex(index, value)
	return o.objects(all), err
}

func (o ordered) Index(index string, object any) ([]any, error) {
	all, err := o.Indexer.Index(index, object)
	return o.objects(all), err
}

func (o ordered) IndexKeys(index, value string) ([]string, error) {
	all, err := o.Indexer.IndexKeys(index, value)
	return o.keys(all), err
}

func (o ordered) ListIndexFuncValues(index string) []string {
	return o.keys(o.Indexer.ListIndexFuncValues(index))
}
