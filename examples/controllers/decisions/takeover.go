// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cohort-ocm/cohort/examples/controllers/kit/manager"
	"github.com/cohort-ocm/cohort/rollout/writes"
)

// takeOver waits, before a process begins to act, until the caches show all objects of some kinds as the API server has
// them. The caches may not show yet what the previous process or leader has seen and written: a replica that waited for its
// lease has had its caches all along. The zero value is for a new process.
type takeOver struct {
	mu    sync.Mutex
	asked bool
	kinds []takenOver // not shown by the caches so far
}

// takenKind is a kind of objects, with its store.
type takenKind struct {
	store   toolscache.Indexer
	version schema.GroupVersion
	name    string
}

type takenOver struct {
	takenKind
	own writes.Own[client.Object]
}

// done says whether the stores have shown all objects of the time when the process began. It lists the metadata of the
// kinds once, and reads missing objects again, since they may be deleted.
func (taken *takeOver) done(ctx context.Context, live client.Reader, now func() time.Time, kinds ...takenKind) (bool, error) {
	taken.mu.Lock()
	defer taken.mu.Unlock()
	if !taken.asked {
		all, err := begin(ctx, live, now, kinds)
		if err != nil {
			return false, err
		}
		taken.kinds, taken.asked = all, true
	}
	for len(taken.kinds) > 0 {
		k := &taken.kinds[0]
		read := func(key types.NamespacedName) (client.Object, error) {
			return manager.GetMetadata(ctx, live, k.version, k.name, key)
		}
		if unseen, err := k.own.Unseen(k.store, read, now); unseen > 0 || err != nil {
			return false, err
		}
		taken.kinds = taken.kinds[1:]
	}
	return true, nil
}

// skip marks the takeover as done.
func (taken *takeOver) skip() { taken.asked = true }

func begin(ctx context.Context, live client.Reader, now func() time.Time, kinds []takenKind) ([]takenOver, error) {
	all := make([]takenOver, len(kinds))
	for i, kind := range kinds {
		var cached []client.Object
		for _, object := range kind.store.List() { // read first: objects that the cache shows later are newer than the list
			cached = append(cached, object.(client.Object))
		}
		of := func(m metav1.ObjectMeta) client.Object { return &metav1.PartialObjectMetadata{ObjectMeta: m} }
		there, err := manager.ListMetadata(ctx, live, kind.version, kind.name, of)
		if err != nil {
			return nil, err
		}
		all[i].takenKind = kind
		all[i].own.Begin(there, cached, now())
	}
	return all, nil
}
