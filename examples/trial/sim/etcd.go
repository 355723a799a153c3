// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	rpctypes "go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// A Store is the etcd of one or more servers: keys with one common revision, and the history since the last compaction.
type Store struct {
	mu        sync.Mutex
	revision  int64
	compacted int64
	keys      []string // sorted
	newest    map[string]*mvccpb.KeyValue
	history   []written // by revision
	observers []func(Commit)
	watches   map[*keyWatch]bool
}

// written is a write and its time.
type written struct {
	*clientv3.Event
	at time.Time
}

func newStore() *Store {
	return &Store{revision: 1, newest: map[string]*mvccpb.KeyValue{}, watches: map[*keyWatch]bool{}}
}

// Compact drops the history before a revision, or before the newest one if it is 0. Lists and watches at an older revision
// get 410 Gone.
func (s *Store) Compact(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision == 0 {
		revision = s.revision
	}
	if revision <= s.compacted || revision > s.revision {
		return
	}
	for watch := range s.watches {
		s.skip(watch, revision)
	}
	s.compacted = revision
	first := sort.Search(len(s.history), func(i int) bool { return s.history[i].Kv.ModRevision >= revision })
	s.history = append([]written(nil), s.history[first:]...)
}

// skip advances a watch to a revision, if it has received all events before it.
func (s *Store) skip(watch *keyWatch, revision int64) {
	if watch.next < s.compacted {
		return // it needs dropped history
	}
	first := sort.Search(len(s.history), func(i int) bool { return s.history[i].Kv.ModRevision >= watch.next })
	for _, event := range s.history[first:] {
		if event.Kv.ModRevision >= revision || watch.matches(string(event.Kv.Key)) {
			watch.next = max(watch.next, min(event.Kv.ModRevision, revision))
			return
		}
	}
	watch.next = max(watch.next, revision)
}

// Revision returns the revision of the newest write.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Observe calls a function for each later write, in order, at the instant of the commit. The function must not wait, and
// must make no request to a server of this store.
func (s *Store) Observe(observer func(Commit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observers = append(s.observers, observer)
}

// commit writes or deletes a key. The caller holds the lock.
func (s *Store) commit(key string, value []byte, gone bool) {
	s.revision++
	before := s.newest[key]
	now := &mvccpb.KeyValue{Key: []byte(key), Value: value, ModRevision: s.revision, CreateRevision: s.revision, Version: 1}
	event := &clientv3.Event{Type: clientv3.EventTypePut, Kv: now, PrevKv: before}
	at := sort.SearchStrings(s.keys, key)
	switch {
	case gone:
		event.Type = clientv3.EventTypeDelete
		event.Kv = &mvccpb.KeyValue{Key: now.Key, ModRevision: s.revision}
		delete(s.newest, key)
		s.keys = append(s.keys[:at], s.keys[at+1:]...)
	case before == nil:
		s.keys = append(s.keys, "")
		copy(s.keys[at+1:], s.keys[at:])
		s.keys[at], s.newest[key] = key, now
	default:
		now.CreateRevision, now.Version = before.CreateRevision, before.Version+1
		s.newest[key] = now
	}
	s.history = append(s.history, written{event, time.Now()})
	for _, observer := range s.observers {
		observer(commitOf(event))
	}
	for watch := range s.watches {
		if watch.matches(key) {
			watch.poke()
		}
	}
}

// at returns the values of the keys in [from, to) at a revision; 0 is the newest.
func (s *Store) at(from, to string, revision int64) ([]*mvccpb.KeyValue, error) {
	if revision > s.revision {
		return nil, rpctypes.ErrFutureRev
	}
	if revision > 0 && revision < s.compacted {
		return nil, rpctypes.ErrCompacted
	}
	within := func(key string) bool { return key == from || to != "" && key >= from && key < to }
	if revision == 0 || revision == s.revision {
		var all []*mvccpb.KeyValue
		for i := sort.SearchStrings(s.keys, from); i < len(s.keys) && within(s.keys[i]); i++ {
			all = append(all, s.newest[s.keys[i]])
		}
		return all, nil
	}
	return s.undone(within, revision), nil
}

// undone returns the keys as they were at a revision, for those written since.
func (s *Store) undone(within func(string) bool, revision int64) []*mvccpb.KeyValue {
	then := map[string]*mvccpb.KeyValue{}
	for key, kv := range s.newest {
		if within(key) {
			then[key] = kv
		}
	}
	for i := len(s.history) - 1; i >= 0 && s.history[i].Kv.ModRevision > revision; i-- {
		event := s.history[i]
		switch key := string(event.Kv.Key); {
		case !within(key):
		case event.PrevKv == nil:
			delete(then, key)
		default:
			then[key] = event.PrevKv
		}
	}
	var all []*mvccpb.KeyValue
	for _, kv := range then {
		all = append(all, kv)
	}
	sort.Slice(all, func(i, j int) bool { return string(all[i].Key) < string(all[j].Key) })
	return all
}

// is says whether a revision is the last write of a key; 0 says that there is no key.
func (s *Store) is(key string, revision int64) bool {
	now := s.newest[key]
	return now == nil && revision == 0 || now != nil && now.ModRevision == revision
}

// etcd is a server's client of a store. It delays watch events by behind.
type etcd struct {
	*Store
	behind *atomic.Int64 // nanoseconds
}

func (e etcd) client() *kubernetes.Client {
	c := clientv3.NewCtxClient(context.Background())
	c.KV, c.Watcher = kv{nil, e.Store}, watcher{nil, e}
	return &kubernetes.Client{Client: c, Kubernetes: e}
}

func (e etcd) Get(_ context.Context, key string, options kubernetes.GetOptions) (response kubernetes.GetResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kvs, err := e.at(key, "", options.Revision)
	if response.Revision = e.revision; len(kvs) > 0 {
		response.KV = kvs[0]
	}
	return response, err
}

func (e etcd) List(_ context.Context, prefix string, options kubernetes.ListOptions) (response kubernetes.ListResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from := prefix
	if options.Continue != "" {
		from = options.Continue
	}
	response.Kvs, err = e.at(from, clientv3.GetPrefixRangeEnd(prefix), options.Revision)
	response.Revision, response.Count = e.revision, int64(len(response.Kvs))
	if options.Limit > 0 && response.Count > options.Limit {
		response.Kvs = response.Kvs[:options.Limit]
	}
	return response, err
}

func (e etcd) Count(_ context.Context, prefix string, _ kubernetes.CountOptions) (int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kvs, err := e.at(prefix, clientv3.GetPrefixRangeEnd(prefix), 0)
	return int64(len(kvs)), err
}

func (e etcd) OptimisticPut(_ context.Context, key string, value []byte, expected int64, options kubernetes.PutOptions) (response kubernetes.PutResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if response.Succeeded = e.is(key, expected); response.Succeeded {
		e.commit(key, append([]byte(nil), value...), false)
	} else if options.GetOnFailure {
		response.KV = e.newest[key]
	}
	response.Revision = e.revision
	return response, nil
}

func (e etcd) OptimisticDelete(_ context.Context, key string, expected int64, options kubernetes.DeleteOptions) (response kubernetes.DeleteResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if response.Succeeded = e.newest[key] != nil && e.is(key, expected); response.Succeeded {
		e.commit(key, nil, true)
	} else if options.GetOnFailure {
		response.KV = e.newest[key]
	}
	response.Revision = e.revision
	return response, nil
}

// kv implements the requests to etcd's own client, which begin a watch.
type kv struct {
	clientv3.KV
	s *Store
}

func (k kv) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	op := clientv3.OpGet(key, opts...)
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	kvs, err := k.s.at(key, string(op.RangeBytes()), op.Rev())
	response := &clientv3.GetResponse{Header: &pb.ResponseHeader{Revision: k.s.revision}, Kvs: kvs, Count: int64(len(kvs))}
	if n := op.Limit(); n > 0 && response.Count > n {
		response.Kvs, response.More = kvs[:n:n], true
	}
	return response, err
}
