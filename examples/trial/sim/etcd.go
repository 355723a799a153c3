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

// A Store is the etcd of one or several servers: keys, one revision for all of them, and the history since the last compaction.
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

// written is one write, and when it was committed.
type written struct {
	*clientv3.Event
	at time.Time
}

func newStore() *Store {
	return &Store{revision: 1, newest: map[string]*mvccpb.KeyValue{}, watches: map[*keyWatch]bool{}}
}

// Compact forgets the history before a revision, or before the newest one if it is 0: what lists at an older one, or watches from it, is
// answered with 410 Gone.
func (s *Store) Compact(revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision == 0 {
		revision = s.revision
	}
	if revision <= s.compacted || revision > s.revision {
		return
	}
	for w := range s.watches {
		s.skip(w, revision)
	}
	s.compacted = revision
	first := sort.Search(len(s.history), func(i int) bool { return s.history[i].Kv.ModRevision >= revision })
	s.history = append([]written(nil), s.history[first:]...)
}

// skip has a watch that has been told all before a revision go on from there.
func (s *Store) skip(w *keyWatch, revision int64) {
	if w.next < s.compacted {
		return // it asks for what is gone
	}
	first := sort.Search(len(s.history), func(i int) bool { return s.history[i].Kv.ModRevision >= w.next })
	for _, event := range s.history[first:] {
		if event.Kv.ModRevision >= revision || w.matches(string(event.Kv.Key)) {
			w.next = max(w.next, min(event.Kv.ModRevision, revision))
			return
		}
	}
	w.next = max(w.next, revision)
}

// Revision returns the revision of the newest write.
func (s *Store) Revision() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// Observe has a function called for each write from now on, in their order, at the instant when it is committed. The function has to
// return without a request to a server of this store, and must not wait.
func (s *Store) Observe(observer func(Commit)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observers = append(s.observers, observer)
}

// commit writes a key, or deletes it, under the lock.
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
	for w := range s.watches {
		if w.matches(key) {
			w.poke()
		}
	}
}

// at returns the values of the keys from one up to another, which is not among them, at a revision; 0 is the newest.
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

// undone returns what the keys were before the writes after a revision.
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

// is says whether a key was written last at a revision; 0 says that there is none.
func (s *Store) is(key string, revision int64) bool {
	now := s.newest[key]
	return now == nil && revision == 0 || now != nil && now.ModRevision == revision
}

// etcd is a server's client of a store. The events of a watch come as much later as the server is behind.
type etcd struct {
	*Store
	behind *atomic.Int64 // nanoseconds
}

func (e etcd) client() *kubernetes.Client {
	c := clientv3.NewCtxClient(context.Background())
	c.KV, c.Watcher = kv{nil, e.Store}, watcher{nil, e}
	return &kubernetes.Client{Client: c, Kubernetes: e}
}

func (e etcd) Get(_ context.Context, key string, o kubernetes.GetOptions) (r kubernetes.GetResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kvs, err := e.at(key, "", o.Revision)
	if r.Revision = e.revision; len(kvs) > 0 {
		r.KV = kvs[0]
	}
	return r, err
}

func (e etcd) List(_ context.Context, prefix string, o kubernetes.ListOptions) (r kubernetes.ListResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	from := prefix
	if o.Continue != "" {
		from = o.Continue
	}
	r.Kvs, err = e.at(from, clientv3.GetPrefixRangeEnd(prefix), o.Revision)
	r.Revision, r.Count = e.revision, int64(len(r.Kvs))
	if o.Limit > 0 && r.Count > o.Limit {
		r.Kvs = r.Kvs[:o.Limit]
	}
	return r, err
}

func (e etcd) Count(_ context.Context, prefix string, _ kubernetes.CountOptions) (int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	kvs, err := e.at(prefix, clientv3.GetPrefixRangeEnd(prefix), 0)
	return int64(len(kvs)), err
}

func (e etcd) OptimisticPut(_ context.Context, key string, value []byte, expected int64, o kubernetes.PutOptions) (r kubernetes.PutResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.Succeeded = e.is(key, expected); r.Succeeded {
		e.commit(key, append([]byte(nil), value...), false)
	} else if o.GetOnFailure {
		r.KV = e.newest[key]
	}
	r.Revision = e.revision
	return r, nil
}

func (e etcd) OptimisticDelete(_ context.Context, key string, expected int64, o kubernetes.DeleteOptions) (r kubernetes.DeleteResponse, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if r.Succeeded = e.newest[key] != nil && e.is(key, expected); r.Succeeded {
		e.commit(key, nil, true)
	} else if o.GetOnFailure {
		r.KV = e.newest[key]
	}
	r.Revision = e.revision
	return r, nil
}

// kv is for what asks etcd's client itself: the beginning of a watch.
type kv struct {
	clientv3.KV
	s *Store
}

func (k kv) Get(_ context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	op := clientv3.OpGet(key, opts...)
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	kvs, err := k.s.at(key, string(op.RangeBytes()), op.Rev())
	r := &clientv3.GetResponse{Header: &pb.ResponseHeader{Revision: k.s.revision}, Kvs: kvs, Count: int64(len(kvs))}
	if n := op.Limit(); n > 0 && r.Count > n {
		r.Kvs, r.More = kvs[:n:n], true
	}
	return r, err
}
