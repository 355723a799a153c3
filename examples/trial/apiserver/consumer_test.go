// SPDX-License-Identifier: Apache-2.0

package apiserver_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	addonv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonclient "open-cluster-management.io/api/client/addon/clientset/versioned"
	addoninformers "open-cluster-management.io/api/client/addon/informers/externalversions"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
)

// consumer keeps a ManagedClusterAddOn in the namespace of each cluster that is in some PlacementDecision, as
// the add-on manager does: informers, a queue of cluster names, and workers that look at the informers' stores.
// It knows nothing of plans.
type consumer struct {
	addons   addonclient.Interface
	name     string // of all its add-ons
	pds      cache.Indexer
	children cache.Indexer
	queue    workqueue.TypedRateLimitingInterface[string]
	busy     atomic.Int64

	mu      sync.Mutex
	seen    map[string]*decision // by object: as the last event showed it
	places  map[string]int       // by cluster: objects that have it, event by event
	absent  map[string]int       // by cluster: how often an event took it out of the last object
	deleted map[string]int       // by cluster: children with an observed deletion
}

const byCluster = "cluster"

// startConsumer runs a consumer of the PlacementDecisions in a namespace until the test ends.
func startConsumer(t testing.TB, namespace string) *consumer {
	c := &consumer{
		addons: addons(t), name: namespace,
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Millisecond, time.Second)),
		seen:  map[string]*decision{}, places: map[string]int{}, absent: map[string]int{}, deleted: map[string]int{},
	}
	decisions := clusterinformers.NewSharedInformerFactoryWithOptions(clusters(t), 0, clusterinformers.WithNamespace(namespace))
	pds := decisions.Cluster().V1beta1().PlacementDecisions().Informer()
	c.pds = pds.GetIndexer()
	named := func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + namespace }
	own := addoninformers.NewSharedInformerFactoryWithOptions(c.addons, 0, addoninformers.WithTweakListOptions(named))
	children := own.Addon().V1alpha1().ManagedClusterAddOns().Informer()
	c.children = children.GetIndexer()

	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(pds.AddIndexers(cache.Indexers{byCluster: func(o any) ([]string, error) { return namesIn(o.(*decision)), nil }}))
	_, err := pds.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { c.observe(o.(*decision), false) },
		UpdateFunc: func(_, o any) { c.observe(o.(*decision), false) },
		DeleteFunc: func(o any) { c.observe(last[*decision](o), true) },
	})
	must(err)
	_, err = children.AddEventHandler(cache.ResourceEventHandlerFuncs{
		DeleteFunc: func(o any) { c.childGone(last[*addonv1alpha1.ManagedClusterAddOn](o)) },
	})
	must(err)

	ctx, cancel := context.WithCancel(context.Background())
	decisions.Start(ctx.Done())
	own.Start(ctx.Done())
	cache.WaitForCacheSync(ctx.Done(), pds.HasSynced, children.HasSynced)
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() { c.work(ctx) })
	}
	t.Cleanup(func() {
		cancel()
		c.queue.ShutDown()
		workers.Wait()
		decisions.Shutdown()
		own.Shutdown()
	})
	return c
}

// last returns the object of a deletion, whether the watch has seen it or a list has missed it.
func last[T any](o any) T {
	if tombstone, ok := o.(cache.DeletedFinalStateUnknown); ok {
		o = tombstone.Obj
	}
	return o.(T)
}

func namesIn(o *decision) []string {
	var names []string
	for _, d := range o.Status.Decisions {
		names = append(names, d.ClusterName)
	}
	return names
}

// observe queues the clusters of an event and keeps count of where each is. Events come one at a time.
func (c *consumer) observe(o *decision, gone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var before, after []string
	if old := c.seen[o.Name]; old != nil {
		before = namesIn(old)
	}
	c.seen[o.Name] = o
	if gone {
		delete(c.seen, o.Name)
	} else {
		after = namesIn(o)
	}
	for _, cluster := range after {
		c.places[cluster]++
	}
	for _, cluster := range before {
		if c.places[cluster]--; c.places[cluster] == 0 {
			c.absent[cluster]++
		}
	}
	for _, cluster := range append(before, after...) {
		c.queue.Add(cluster)
	}
}

func (c *consumer) childGone(child *addonv1alpha1.ManagedClusterAddOn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deleted[child.Namespace]++
	c.queue.Add(child.Namespace)
}

func (c *consumer) work(ctx context.Context) {
	for {
		cluster, quit := c.queue.Get()
		if quit {
			return
		}
		c.busy.Add(1)
		if err := c.sync(ctx, cluster); err != nil {
			c.queue.AddRateLimited(cluster)
		} else {
			c.queue.Forget(cluster)
		}
		c.queue.Done(cluster)
		c.busy.Add(-1)
	}
}

// sync creates the child of a selected cluster, and deletes the child of any other cluster.
func (c *consumer) sync(ctx context.Context, cluster string) error {
	in, err := c.pds.IndexKeys(byCluster, cluster)
	if err != nil {
		return err
	}
	_, has, err := c.children.GetByKey(cluster + "/" + c.name)
	if err != nil {
		return err
	}
	client := c.addons.AddonV1alpha1().ManagedClusterAddOns(cluster)
	switch {
	case len(in) > 0 && !has:
		child := &addonv1alpha1.ManagedClusterAddOn{}
		child.Name = c.name
		_, err = client.Create(ctx, child, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
	case len(in) == 0:
		// The store may not have a child yet that has just been created, so ask the server.
		err = client.Delete(ctx, c.name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	return err
}

// settle waits until the consumer has seen all objects as they are stored and has a child for just the clusters
// in them. It returns the UIDs of the children by cluster.
func (c *consumer) settle(t testing.TB, stored []*decision) map[string]types.UID {
	t.Helper()
	want := map[string]bool{}
	for _, o := range stored {
		for _, cluster := range namesIn(o) {
			want[cluster] = true
		}
	}
	var why string
	for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(500 * time.Microsecond) {
		if why = c.unsettled(stored); why != "" {
			continue
		}
		uids := map[string]types.UID{}
		has := map[string]bool{}
		for _, o := range c.children.List() {
			child := o.(*addonv1alpha1.ManagedClusterAddOn)
			uids[child.Namespace], has[child.Namespace] = child.UID, true
		}
		if maps.Equal(want, has) {
			return uids
		}
		why = fmt.Sprintf("children of %v, want of %v", has, want)
	}
	t.Fatalf("the consumer doesn't settle: %s", why)
	return nil
}

// unsettled says what the consumer has still to see or to do.
func (c *consumer) unsettled(stored []*decision) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.seen) != len(stored) {
		return fmt.Sprintf("it has seen %d objects, want %d", len(c.seen), len(stored))
	}
	for _, o := range stored {
		if seen := c.seen[o.Name]; seen == nil || seen.ResourceVersion != o.ResourceVersion {
			return "it has not seen " + o.Name
		}
	}
	if c.queue.Len() > 0 || c.busy.Load() > 0 {
		return "it is busy"
	}
	return ""
}

// sinceLast returns how often clusters were absent and children deleted, and begins to count anew.
func (c *consumer) sinceLast() (absent, deleted map[string]int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	absent, deleted = c.absent, c.deleted
	c.absent, c.deleted = map[string]int{}, map[string]int{}
	return absent, deleted
}
