package sim

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// A Server is an API server of a world.
type Server struct {
	world  *World
	name   string
	store  *Store
	front  atomic.Pointer[frontend]
	behind *atomic.Int64
	cached bool
	defs   Definitions
}

// NewServer starts an API server with an etcd of its own.
func (w *World) NewServer(name string, d Definitions) *Server {
	w.T.Helper()
	s := &Server{world: w, name: name, store: newStore(), behind: &atomic.Int64{}, defs: d}
	s.store.Observe(func(c Commit) {
		w.log.write(name, c)
		if strings.HasPrefix(c.Resource, "leases.") || strings.HasPrefix(c.Resource, "events.") {
			return
		}
		w.mu.Lock()
		w.last = c.Time
		w.mu.Unlock()
	})
	go s.store.compactRegularly(w.ctx)
	return s.begin()
}

// Second starts another API server on the etcd of this one, with watch caches, which are behind by a time. What is read at
// resourceVersion 0, and what is watched, comes from them; all other reads and the writes don't.
func (s *Server) Second(name string, behind time.Duration) *Server {
	s.world.T.Helper()
	second := &Server{world: s.world, name: name, store: s.store, behind: &atomic.Int64{}, cached: true, defs: s.defs}
	second.behind.Store(int64(behind))
	return second.begin()
}

func (s *Server) begin() *Server {
	s.world.T.Helper()
	s.world.mu.Lock()
	s.world.servers = append(s.world.servers, s)
	s.world.mu.Unlock()
	s.Start()
	return s
}

// Behind sets by how much the watch caches are behind from now on.
func (s *Server) Behind(by time.Duration) {
	s.behind.Store(int64(by))
	s.store.wake()
}

// Store returns the etcd of the server.
func (s *Server) Store() *Store { return s.store }

// Name returns the name of the server.
func (s *Server) Name() string { return s.name }

// Stop ends a server: connections break, and new ones are refused. What is stored stays.
func (s *Server) Stop() {
	front := s.front.Swap(nil)
	if front == nil {
		return
	}
	s.world.log.note("stop", "%s", s.name)
	s.world.network.fail(errDown, func(x *exchange) bool { return x.line.server == s.name })
	front.stop()
}

// Start starts a server that was stopped.
func (s *Server) Start() {
	s.world.T.Helper()
	if s.front.Load() != nil {
		return
	}
	front, err := newFrontend(s.defs, s.store, s.behind, s.cached)
	if err != nil {
		s.world.T.Fatalf("sim: start server %s: %v", s.name, err)
	}
	s.world.log.note("start", "%s", s.name)
	s.front.Store(front)
}

// Define gives a server other definitions, from its next start on.
func (s *Server) Define(d Definitions) { s.defs = d }

// Config is for clients of an actor, with all rights and without a limit of requests.
func (s *Server) Config(actor string) *rest.Config {
	s.world.network.join(s.world.ctx, actor)
	return &rest.Config{
		Host: fmt.Sprintf("http://%s.sim", s.name), UserAgent: actor, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		Transport:     &carrier{s, actor, s.world.network.life(actor)},
	}
}
