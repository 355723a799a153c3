// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	toolswatch "k8s.io/client-go/tools/watch"

	"github.com/cohort-ocm/cohort/examples/trial/apiserver"
)

// realHub is a real API server with OCM's definitions, for what only a real one shows: programs of other processes, and its audit log. Worlds
// share it, by their names, in real time.
type realHub struct {
	*site
	server *apiserver.Server
	wires  *wire
}

func startReal(t *testing.T, audit apiserver.Audit, definitions []string, also ...Kind) *realHub {
	t.Helper()
	silence()
	dir := t.TempDir()
	all, err := withOCM(dir, definitions)
	if err != nil {
		t.Fatal(err)
	}
	server, err := audit.Start(dir, all...)
	if err != nil {
		t.Fatal(err)
	}
	h := &realHub{server: server, site: &site{start: func(_ string, run func()) { go run() }, config: func(actor string) *rest.Config {
		config := rest.CopyConfig(server.Config)
		config.UserAgent = actor
		return config
	}}}
	h.watch = func(world string, feed func(event)) (end func()) {
		h.wires.join(world, feed)
		return func() { h.wires.leave(world) }
	}
	if h.wires, err = connect(h.clients("watch"), slices.Concat(kinds, also)); err != nil {
		err = errors.Join(err, server.Stop())
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.wires.stop()
		if err := server.Stop(); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	return h
}

// numbers are those of the worlds that share it.
var numbers atomic.Int64

func worldName() string { return fmt.Sprintf("w%d", numbers.Add(1)) }

// atOnce calls play n times, some of them at a time.
func atOnce(t *testing.T, n, most int, play func(ctx context.Context, i int)) {
	t.Helper()
	var running sync.WaitGroup
	slots := make(chan struct{}, most)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			play(t.Context(), i)
		})
	}
	running.Wait()
}

// wire watches everything and hands it to the rollout that it belongs to, which is the first part of its namespace.
type wire struct {
	ctx  context.Context // ends with it
	stop context.CancelFunc

	mu       sync.Mutex
	rollouts map[string]func(event)
	all      func(event) // if set, it has everything
}

// connect begins to watch some kinds. The server has no objects yet.
func connect(c clients, kinds []Kind) (*wire, error) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &wire{ctx: ctx, stop: cancel, rollouts: map[string]func(event){}}
	for _, k := range append(slices.Clone(kinds), managedClusters) {
		watcher, list := watcherOf(c, k)
		rv, err := list(ctx)
		if err != nil {
			cancel()
			return nil, err
		}
		events, err := toolswatch.NewRetryWatcherWithContext(ctx, rv, watcher)
		if err != nil {
			cancel()
			return nil, err
		}
		go func() {
			for e := range events.ResultChan() {
				if o, ok := e.Object.(object); ok && e.Type != watch.Bookmark {
					w.hand(event{rv: versionOf(o), id: id{k, cache.MetaObjectToName(o).String()}, object: o, gone: e.Type == watch.Deleted, at: time.Now()})
				}
			}
		}()
	}
	return w, nil
}

func watcherOf(c clients, k Kind) (cache.WatcherWithContext, func(context.Context) (string, error)) {
	var w func(context.Context, metav1.ListOptions) (watch.Interface, error)
	var l func(context.Context, metav1.ListOptions) (metav1.ListInterface, error)
	switch k {
	case managedClusters:
		api := c.cluster.ClusterV1().ManagedClusters()
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Placements:
		api := c.cluster.ClusterV1beta1().Placements("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Decisions:
		api := c.cluster.ClusterV1beta1().PlacementDecisions("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case ReplicaSets:
		api := c.work.WorkV1alpha1().ManifestWorkReplicaSets("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case Works:
		api := c.work.WorkV1().ManifestWorks("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case AddOns:
		api := c.addOn.AddonV1beta1().ClusterManagementAddOns()
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	case OnClusters:
		api := c.addOn.AddonV1beta1().ManagedClusterAddOns("")
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	default:
		api := c.any.Resource(policyResource(k))
		w, l = api.Watch, func(ctx context.Context, o metav1.ListOptions) (metav1.ListInterface, error) { return api.List(ctx, o) }
	}
	watcher := &cache.ListWatch{WatchFuncWithContext: w}
	return watcher, func(ctx context.Context) (string, error) {
		all, err := l(ctx, metav1.ListOptions{})
		if err != nil {
			return "", err
		}
		return all.GetResourceVersion(), nil
	}
}

// join has the events of a rollout handed to feed, which must be quick; leave ends it.
func (w *wire) join(rollout string, feed func(event)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rollouts[rollout] = feed
}

func (w *wire) leave(rollout string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.rollouts, rollout)
}

func (w *wire) hand(e event) {
	rollout, _, _ := strings.Cut(cmp.Or(e.object.GetNamespace(), e.object.GetName()), "-")
	w.mu.Lock()
	feed := w.rollouts[rollout]
	if w.all != nil {
		w.all(e)
	}
	w.mu.Unlock()
	if feed != nil {
		feed(e)
	}
}
