package main

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// takeover is what the caches have to show once, before a process begins to act. The process before this one, or the leader
// before, has placed clusters that the caches need not show yet: a replica that waited for its lease has had its caches all
// along. They would be taken from the decisions, and come back a moment later. The zero value is for a new process.
type takeover struct {
	mu    sync.Mutex
	done  bool
	since time.Time    // when the API server was asked
	waits []mustBeSeen // what the caches did not show when they were looked at last
}

// mustBeSeen is an object as the API server has it.
type mustBeSeen struct {
	in              toolscache.Indexer
	key             string
	resourceVersion string // empty if it must be gone
}

// takenOver says whether the caches have shown all that there was when the process began. It asks the API server once, and
// again where something does not come: it may be gone since.
func (c *controller) takenOver(ctx context.Context) (bool, error) {
	t := &c.takeover
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.done {
		return true, nil
	}
	if t.since.IsZero() || c.now().Sub(t.since) >= patience {
		waits, err := c.listAll(ctx)
		if err != nil {
			return false, err
		}
		t.waits, t.since = waits, c.now()
	}
	var waits []mustBeSeen
	for _, m := range t.waits {
		if !m.seen() {
			waits = append(waits, m)
		}
	}
	t.waits, t.done = waits, len(waits) == 0
	return t.done, nil
}

func (m *mustBeSeen) seen() bool {
	object, there, _ := m.in.GetByKey(m.key) // never an error
	if m.resourceVersion == "" {
		return !there
	}
	return there && !older(object.(metav1.Object).GetResourceVersion(), m.resourceVersion)
}

// listAll asks the API server for the metadata of all that a choice is made of, and for what the caches have beside it.
func (c *controller) listAll(ctx context.Context) (all []mustBeSeen, err error) {
	for _, each := range []struct {
		in            toolscache.Indexer
		kind, version string
	}{
		{c.caches.placements, "PlacementList", clusterv1beta1.GroupVersion.String()},
		{c.caches.clusters, "ManagedClusterList", clusterv1.GroupVersion.String()},
		{c.caches.sets, "ManagedClusterSetList", clusterv1beta2.GroupVersion.String()},
		{c.caches.bindings, "ManagedClusterSetBindingList", clusterv1beta2.GroupVersion.String()},
	} {
		cached := each.in.ListKeys() // before the list: what comes later is newer
		there := map[string]bool{}
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{Kind: each.kind, APIVersion: each.version}}
		for {
			const page = 500
			if err := c.live.List(ctx, list, client.Limit(page), client.Continue(list.Continue)); err != nil {
				return nil, err
			}
			for i := range list.Items {
				key := toolscache.MetaObjectToName(&list.Items[i]).String()
				there[key] = true
				all = append(all, mustBeSeen{each.in, key, list.Items[i].ResourceVersion})
			}
			if list.Continue == "" {
				break
			}
		}
		for _, key := range cached {
			if !there[key] {
				all = append(all, mustBeSeen{in: each.in, key: key})
			}
		}
	}
	return all, nil
}
