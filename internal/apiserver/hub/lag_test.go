package hub_test

import (
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
	clusterlisters "open-cluster-management.io/api/client/cluster/listers/cluster/v1beta1"
	worklisters "open-cluster-management.io/api/client/work/listers/work/v1"
	worklistersv1alpha1 "open-cluster-management.io/api/client/work/listers/work/v1alpha1"
)

// lag is a controller's caches. They show each object's events in order, but late, and out of order between
// objects. Only the controller's goroutine brings them up to date, so that what a reconcile has read is known.
type lag struct {
	stores map[kind]cache.Indexer
	shown  map[id]int64 // resourceVersion of what the stores have; none, if they don't have it
	strips bool         // they leave managed fields out, as many a controller's do to save memory
	news   bool         // something has been shown since the last reconcile began

	mu    sync.Mutex
	rng   *rand.Rand
	often float64 // share of events that are late
	worst time.Duration
	queue map[id][]late
	seen  map[kind]int64 // newest resourceVersion that has come in, from the watch of each kind
	wake  chan struct{}
}

type late struct {
	event
	due time.Time
}

func newLag(rng *rand.Rand, often float64, worst time.Duration) *lag {
	l := &lag{
		stores: map[kind]cache.Indexer{}, shown: map[id]int64{},
		rng: rng, often: often, worst: worst, queue: map[id][]late{}, seen: map[kind]int64{}, wake: make(chan struct{}, 1),
	}
	for _, k := range kinds {
		l.stores[k] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	}
	return l
}

// feed takes an event from the wire.
func (l *lag) feed(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := e.at
	if l.rng.Float64() < l.often {
		due = due.Add(time.Duration(l.rng.Int64N(int64(l.worst))))
	}
	waiting := l.queue[e.id]
	if n := len(waiting); n > 0 && waiting[n-1].due.After(due) {
		due = waiting[n-1].due
	}
	l.queue[e.id] = append(waiting, late{e, due})
	l.seen[e.id.kind] = max(l.seen[e.id.kind], e.rv)
	l.poke()
}

func (l *lag) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// deliver shows the controller what is due.
func (l *lag) deliver(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, waiting := range l.queue {
		n := 0
		for n < len(waiting) && !waiting[n].due.After(now) {
			n++
		}
		if n == 0 {
			continue
		}
		l.news = true
		l.show(waiting[n-1].event)
		if l.queue[i] = waiting[n:]; n == len(waiting) {
			delete(l.queue, i)
		}
	}
}

func (l *lag) show(e event) {
	if e.gone {
		l.stores[e.id.kind].Delete(e.object)
		delete(l.shown, e.id)
		return
	}
	o := e.object
	if l.strips {
		o = o.DeepCopyObject().(object)
		o.SetManagedFields(nil)
	}
	l.stores[e.id.kind].Update(o)
	l.shown[e.id] = e.rv
}

// next returns how long it takes until something is due.
func (l *lag) next(now time.Time) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var first time.Time
	for _, waiting := range l.queue {
		if due := waiting[0].due; first.IsZero() || due.Before(first) {
			first = due
		}
	}
	return first.Sub(now), !first.IsZero()
}

// has says whether everything up to a resourceVersion of each kind has come in. One watch may be ahead of another.
func (l *lag) has(newest map[kind]int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, rv := range newest {
		if l.seen[k] < rv {
			return false
		}
	}
	return true
}

// relist shows everything up to now and at least up to a resourceVersion of each kind, as the first list of a
// controller that starts does.
func (l *lag) relist(newest map[kind]int64) {
	for start := time.Now(); time.Since(start) < 10*time.Second && !l.has(newest); time.Sleep(5 * time.Millisecond) {
	}
	l.deliver(time.Now().Add(time.Hour))
}

// view is what the caches show now.
func (l *lag) view() map[id]int64 { return maps.Clone(l.shown) }

func (l *lag) listers() (worklistersv1alpha1.ManifestWorkReplicaSetLister, worklisters.ManifestWorkLister, clusterlisters.PlacementLister, clusterlisters.PlacementDecisionLister) {
	return worklistersv1alpha1.NewManifestWorkReplicaSetLister(l.stores[replicaSets]), worklisters.NewManifestWorkLister(l.stores[works]),
		clusterlisters.NewPlacementLister(l.stores[placements]), clusterlisters.NewPlacementDecisionLister(l.stores[decisions])
}
