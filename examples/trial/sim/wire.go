// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"cmp"
	"container/heap"
	"context"
	"net/http"
	"time"
)

// A parcel is in transit on a line. On arrival, deliver is called, which must not wait.
type parcel struct {
	due      time.Time
	name     string
	count    int // of the parcels of this name, from 1
	line     line
	exchange *exchange // ends if the parcel is never delivered; nil for pieces of a stream
	deliver  func()
}

// wire has the parcels in transit.
type wire struct {
	queue parcels
	wake  chan struct{}
}

func newWire() *wire { return &wire{wake: make(chan struct{}, 1)} }

// parcels is a heap: the first one arrives next.
type parcels []*parcel

func (p parcels) Len() int      { return len(p) }
func (p parcels) Swap(i, j int) { p[i], p[j] = p[j], p[i] }
func (p parcels) Less(i, j int) bool {
	return cmp.Or(p[i].due.Compare(p[j].due), cmp.Compare(p[i].name, p[j].name), cmp.Compare(p[i].count, p[j].count)) < 0
}
func (p *parcels) Push(x any) { *p = append(*p, x.(*parcel)) }
func (p *parcels) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return x
}

// put sends a parcel. The caller holds the network's lock.
func (w *wire) put(parcel *parcel) {
	if heap.Push(&w.queue, parcel); w.queue[0] == parcel {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// run delivers parcels, one an instant, until the world ends. If several would arrive at once, the name decides which is
// first, not the order in which goroutines run: all of them were sent before this instant.
func (n *network) run(ctx context.Context) {
	for arrived := 0; ; {
		parcel, wait := n.take()
		if parcel != nil {
			if arrived++; arrived%garbageLooks == 0 {
				collect()
			}
			chance := draw(n.seed, "choices", parcel.name, parcel.count)
			choose(chance, n.choices)
			uids.seed(chance)
			if parcel.exchange != nil && parcel.exchange.client.Method == http.MethodPost {
				seedNames(chance)
			}
			n.carry(parcel)
			continue
		}
		var due <-chan time.Time
		if wait > 0 {
			due = time.After(wait)
		}
		select {
		case <-due:
		case <-n.wire.wake:
		case <-ctx.Done():
			return
		}
	}
}

// take returns the parcel that arrives now, or the time until one does; 0 if none is in transit.
func (n *network) take() (*parcel, time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.wire.queue) == 0 {
		return nil, 0
	}
	now := time.Now()
	next := n.wire.queue[0].due
	if earliest := n.arrived.Add(1); next.Before(earliest) {
		next = earliest
	}
	if next.After(now) {
		return nil, next.Sub(now)
	}
	n.arrived = now
	return heap.Pop(&n.wire.queue).(*parcel), 0
}
