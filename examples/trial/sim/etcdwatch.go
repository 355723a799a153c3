// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"reflect"
	"sort"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// progressInterval is how often a watch gets a progress notification with the newest revision, as in Kubernetes' etcd.
const progressInterval = 5 * time.Second

// watcher is the watch part of etcd's client.
type watcher struct {
	clientv3.Watcher
	etcd etcd
}

func (watcher) Close() error { return nil }

// RequestProgress does nothing: no server of this package waits for the notification.
func (watcher) RequestProgress(context.Context) error { return nil }

// keyWatch is a watch of a key, or of all keys with a prefix.
type keyWatch struct {
	key    string
	prefix bool
	next   int64 // the next revision to send
	wake   chan struct{}
}

func (w *keyWatch) matches(key string) bool {
	return key == w.key || w.prefix && strings.HasPrefix(key, w.key)
}

func (w *keyWatch) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Watch returns the events of a key or a prefix from a revision on.
func (w watcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpGet(key, opts...)
	watch := &keyWatch{key, len(op.RangeBytes()) > 0, op.Rev(), make(chan struct{}, 1)}
	out := make(chan clientv3.WatchResponse)
	w.etcd.mu.Lock()
	w.etcd.watches[watch] = true
	w.etcd.mu.Unlock()
	go func() {
		defer close(out)
		defer w.leave(watch)
		w.follow(ctx, watch, notified(op), out)
	}()
	return out
}

// notified says whether a watch wants progress notifications. Etcd has no exported accessor.
func notified(op clientv3.Op) bool { return reflect.ValueOf(op).FieldByName("progressNotify").Bool() }

func (w watcher) leave(watch *keyWatch) {
	w.etcd.mu.Lock()
	defer w.etcd.mu.Unlock()
	delete(w.etcd.watches, watch)
}

// follow sends events until the watch ends, or until the history it needs next is dropped.
func (w watcher) follow(ctx context.Context, watch *keyWatch, notified bool, out chan<- clientv3.WatchResponse) {
	var notice <-chan time.Time
	if notified {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		notice = ticker.C
	}
	for progress := false; ; {
		response, due := w.etcd.read(watch)
		if len(response.Events) > 0 || response.Canceled || progress {
			select {
			case out <- response:
			case <-ctx.Done():
				return
			}
		}
		if progress = false; response.Canceled {
			return
		}
		if len(response.Events) > 0 {
			continue // a notification comes only if there are no events
		}
		var next <-chan time.Time
		if due > 0 {
			next = time.After(due)
		}
		select {
		case <-watch.wake:
		case <-next:
		case <-notice:
			progress = true
		case <-ctx.Done():
			return
		}
	}
}

// read returns the events to send now, and how long until there are more; 0 if that is unknown.
func (e etcd) read(watch *keyWatch) (response clientv3.WatchResponse, due time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if watch.next < e.compacted {
		response.CompactRevision, response.Canceled = e.compacted, true
		return response, 0
	}
	seen := time.Now().Add(-time.Duration(e.behind.Load()))
	end := sort.Search(len(e.history), func(i int) bool { return e.history[i].at.After(seen) })
	if response.Header.Revision = e.revision; end < len(e.history) {
		due = e.history[end].at.Sub(seen)
		response.Header.Revision = e.history[end].Kv.ModRevision - 1
	}
	from := sort.Search(end, func(i int) bool { return e.history[i].Kv.ModRevision >= watch.next })
	for _, event := range e.history[from:end] {
		if watch.matches(string(event.Kv.Key)) {
			response.Events = append(response.Events, event.Event)
		}
	}
	watch.next = max(watch.next, response.Header.Revision+1)
	return response, due
}

// wake wakes all watches.
func (s *Store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for watch := range s.watches {
		watch.poke()
	}
}

// compactRegularly drops history that is older than five to ten minutes, like Kubernetes' servers.
func (s *Store) compactRegularly(ctx context.Context) {
	ticker := time.NewTicker(compactInterval)
	defer ticker.Stop()
	for before := int64(0); ; before = s.Revision() {
		if before > 0 {
			s.Compact(before)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}
