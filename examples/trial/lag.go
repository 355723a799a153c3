// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"
)

// lag is a process's caches. They show each object's events in order, but late, and out of order between objects. They
// change at known moments only, so that what a reconcile has read is known.
type lag struct {
	stores map[Kind]cache.Indexer
	strips bool    // they leave managed fields out, as many a controller's do to save memory
	only   Kind    // if set, nothing else is late
	often  float64 // share of events that are late
	worst  time.Duration
	wake   chan struct{}

	seed    uint64
	replica int

	mu       sync.Mutex
	life     int          // of the process; 0 while it lists first
	shown    map[id]int64 // resourceVersion of what the stores have; none, if they don't have it
	queue    map[id][]late
	last     time.Time // when something was shown
	sights   []showing // all that was shown to the process that runs
	handlers map[Kind][]cache.ResourceEventHandler
}

type late struct {
	event
	due time.Time
}

// A showing is of an event that the caches of a process came to show after its first list.
type showing struct {
	life int
	event
	before object    // what they showed of it; nil if nothing
	at     time.Time // when they did
}

func newLag(seed uint64, replica int, often float64, worst time.Duration) *lag {
	l := &lag{
		stores: map[Kind]cache.Indexer{}, shown: map[id]int64{}, handlers: map[Kind][]cache.ResourceEventHandler{},
		seed: seed, replica: replica, often: often, worst: worst, queue: map[id][]late{}, wake: make(chan struct{}, 1),
	}
	return l
}

// feed takes an event from the wire.
func (l *lag) feed(e event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := e.at
	if rng := drawn(l.seed, "lag", l.replica, e.id, e.rv); rng.Float64() < l.often && (l.only == "" || l.only == e.id.kind) {
		due = due.Add(time.Duration(rng.Int64N(int64(l.worst))))
	}
	waiting := l.queue[e.id]
	if n := len(waiting); n > 0 && waiting[n-1].due.After(due) {
		due = waiting[n-1].due
	}
	l.queue[e.id] = append(waiting, late{e, due})
	l.poke()
}

func (l *lag) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// deliver shows the process what is due.
func (l *lag) deliver(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var shown []event
	for i, waiting := range l.queue {
		n := 0
		for n < len(waiting) && !waiting[n].due.After(now) {
			n++
		}
		if n == 0 {
			continue
		}
		l.last = time.Now()
		shown = append(shown, waiting[n-1].event)
		if l.queue[i] = waiting[n:]; n == len(waiting) {
			delete(l.queue, i)
		}
	}
	slices.SortFunc(shown, func(a, b event) int { return cmp.Compare(a.rv, b.rv) })
	for _, e := range shown {
		l.show(e)
	}
}

func (l *lag) show(e event) {
	store := l.stores[e.id.kind]
	before, had, _ := store.Get(e.object)
	was, _ := before.(object)
	l.sights = append(l.sights, showing{l.life, e, was, time.Now()})
	if e.gone {
		delete(l.shown, e.id)
		if had {
			_ = store.Delete(e.object)
			for _, h := range l.handlers[e.id.kind] {
				h.OnDelete(e.object)
			}
		}
		return
	}
	o := e.object
	if l.strips {
		o = o.DeepCopyObject().(object)
		o.SetManagedFields(nil)
	}
	_ = store.Update(o)
	l.shown[e.id] = e.rv
	for _, h := range l.handlers[e.id.kind] {
		if had {
			h.OnUpdate(before, o)
		} else {
			h.OnAdd(o, false)
		}
	}
}

// handle has a handler called for what is there and for what changes.
func (l *lag) handle(k Kind, h cache.ResourceEventHandler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.stores[k].List() {
		h.OnAdd(o, true)
	}
	l.handlers[k] = append(l.handlers[k], h)
}

// restart is the first list of a process. It shows all that happened, or if the API server answers from a cache of its
// own that is behind, only what is due.
func (l *lag) restart(stale bool) {
	for _, k := range slices.Concat(kinds, policyKinds) {
		store := ordered{cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}), l.seed}
		if before := l.stores[k]; before != nil {
			_ = store.Replace(before.List(), "")
		}
		l.stores[k] = store
	}
	if stale {
		l.deliver(time.Now())
	} else {
		l.deliver(time.Now().Add(time.Hour))
	}
}

// begin notes that a process has listed.
func (l *lag) begin(life int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = life
}

// forget ends what a process has asked for.
func (l *lag) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.life = 0
	l.handlers = map[Kind][]cache.ResourceEventHandler{}
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

// view is what the caches show now.
func (l *lag) view() map[id]int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.shown)
}

// shows is the resourceVersion of an object in the caches.
func (l *lag) shows(i id) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shown[i]
}

func (l *lag) lastShown() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// slowDown has the events of one kind be late by as long, and no others.
func (l *lag) slowDown(only Kind, worst time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.often, l.only, l.worst = 1, only, worst
}
