// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"time"
)

// lagging is how far behind the truth a process was when it wrote the object of a cluster.
type lagging struct {
	objects time.Duration // for how long some object had no longer been what the process knew of it
	plan    time.Duration // how long ago the process had begun to read what it planned with, and the clock
}

// laggings are those of all writes of the controller, by the resourceVersions that came of them. What others wrote has none.
func (h *history) laggings(isObject func(event) bool) map[int64]lagging {
	all, written := map[int64]lagging{}, h.latest()
	for _, e := range h.events {
		if !isObject(e) {
			continue
		}
		if w := h.writer(e, written); w != nil {
			all[e.rv] = lagging{h.outdated(e.rv, w, written), written[e.rv].Sub(h.reconciles[w.reconcile].read)}
		}
	}
	return all
}

// writer is the write of the controller that an event comes from. It is nil if another client wrote, and where a deletion only ends:
// its beginning was judged then.
func (h *history) writer(e event, written map[int64]time.Time) (w *write) {
	before := h.at(e.id, e.rv-1)
	switch {
	case before != nil && before.GetDeletionTimestamp() != nil:
		return nil
	case h.written[e.rv] != nil:
		return h.written[e.rv]
	case before == nil || !e.gone && e.object.GetDeletionTimestamp() == nil:
		return nil
	}
	var made time.Time // an object of the same name may have been deleted before
	for _, s := range h.states[e.id] {
		if s.rv < e.rv && s.gone {
			made = time.Time{}
		} else if s.rv < e.rv && made.IsZero() {
			made = written[s.rv]
		}
	}
	for i := range h.writes { // the answer to a deletion need not have a resourceVersion
		if c := &h.writes[i]; c.verb == "DELETE" && c.done && (id{c.kind, c.key}) == e.id && c.answered.After(made) && !c.sent.After(e.at) {
			w = c
		}
	}
	return w
}

// outdated is for how long an object had not been any more what the process of a write knew of it, at most, when it wrote.
func (h *history) outdated(rv int64, w *write, written map[int64]time.Time) (most time.Duration) {
	r := h.reconciles[w.reconcile]
	floor := h.floor(r, rv, w.sent, false)
	for i, states := range h.states {
		shown := floor[i]
		if r.view[i] == 0 { // what the caches do not have they may have shown to be gone
			for _, s := range states {
				if s.gone && s.rv < rv && !s.at.After(r.read) {
					shown = max(shown, s.rv)
				}
			}
		}
		next := slices.IndexFunc(states, func(s event) bool { return s.rv > shown })
		if next >= 0 && states[next].rv < rv {
			most = max(most, written[rv].Sub(written[states[next].rv]))
		}
	}
	return most
}

// latest is by resourceVersion when it was written at the latest: no later than anything came that was written after it. One watch may be
// ahead of another.
func (h *history) latest() map[int64]time.Time {
	all := make(map[int64]time.Time, len(h.events))
	var last time.Time
	for _, e := range slices.Backward(h.events) {
		if last.IsZero() || e.at.Before(last) {
			last = e.at
		}
		all[e.rv] = last
	}
	return all
}
