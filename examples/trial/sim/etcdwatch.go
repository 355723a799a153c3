package sim

import (
	"context"
	"reflect"
	"sort"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// progressInterval is how often a watch that asks for it is told the newest revision, as Kubernetes has its etcd do.
const progressInterval = 5 * time.Second

// watcher is the part of etcd's client that watches.
type watcher struct {
	clientv3.Watcher
	etcd etcd
}

func (watcher) Close() error { return nil }

// RequestProgress is answered by the next notice: no server of this package waits for it.
func (watcher) RequestProgress(context.Context) error { return nil }

// keyWatch is a watch of a key, or of all keys that begin with it.
type keyWatch struct {
	key    string
	prefix bool
	next   int64 // revision
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

// notified says whether a watch asks for notices of progress. Etcd exports no method that does.
func notified(op clientv3.Op) bool { return reflect.ValueOf(op).FieldByName("progressNotify").Bool() }

func (w watcher) leave(watch *keyWatch) {
	w.etcd.mu.Lock()
	defer w.etcd.mu.Unlock()
	delete(w.etcd.watches, watch)
}

// follow sends the events until the watch ends, or the store has forgotten what comes next.
func (w watcher) follow(ctx context.Context, watch *keyWatch, notified bool, out chan<- clientv3.WatchResponse) {
	var notice <-chan time.Time
	if notified {
		ticker := time.NewTicker(progressInterval)
		defer ticker.Stop()
		notice = ticker.C
	}
	for progress := false; ; {
		r, due := w.etcd.read(watch)
		if len(r.Events) > 0 || r.Canceled || progress {
			select {
			case out <- r:
			case <-ctx.Done():
				return
			}
		}
		if progress = false; r.Canceled {
			return
		}
		if len(r.Events) > 0 {
			continue // a notice comes only when there is nothing else to tell
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

// read returns what a watch has to be told now, and how long it takes until there is more to tell; 0 if that is not known.
func (e etcd) read(watch *keyWatch) (r clientv3.WatchResponse, due time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if watch.next < e.compacted {
		r.CompactRevision, r.Canceled = e.compacted, true
		return r, 0
	}
	seen := time.Now().Add(-time.Duration(e.behind.Load()))
	end := sort.Search(len(e.history), func(i int) bool { return e.history[i].at.After(seen) })
	if r.Header.Revision = e.revision; end < len(e.history) {
		due = e.history[end].at.Sub(seen)
		r.Header.Revision = e.history[end].Kv.ModRevision - 1
	}
	from := sort.Search(end, func(i int) bool { return e.history[i].Kv.ModRevision >= watch.next })
	for _, event := range e.history[from:end] {
		if watch.matches(string(event.Kv.Key)) {
			r.Events = append(r.Events, event.Event)
		}
	}
	watch.next = max(watch.next, r.Header.Revision+1)
	return r, due
}

// wake has all watches look again.
func (s *Store) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		w.poke()
	}
}

// compactRegularly forgets what is older than five to ten minutes, as Kubernetes' servers do.
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
