// SPDX-License-Identifier: Apache-2.0

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
func (w *World) NewServer(name string, definitions Definitions) *Server {
	w.T.Helper()
	server := &Server{world: w, name: name, store: newStore(), behind: &atomic.Int64{}, defs: definitions}
	server.store.Observe(func(commit Commit) {
		w.log.write(name, commit)
		if strings.HasPrefix(commit.Resource, "leases.") || strings.HasPrefix(commit.Resource, "events.") {
			return
		}
		w.mu.Lock()
		w.last = commit.Time
		w.mu.Unlock()
	})
	go server.store.compactRegularly(w.ctx)
	return server.begin()
}

// Second starts another API server on the etcd of this one, with watch caches that are behind by a time. Reads at
// resourceVersion 0 and watches come from them; all other reads, and writes, go to the etcd.
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

// Behind changes the time by which the watch caches are behind.
func (s *Server) Behind(by time.Duration) {
	s.behind.Store(int64(by))
	s.store.wake()
}

// Store returns the store of the server. The servers that Second started share it.
func (s *Server) Store() *Store { return s.store }

// Name returns the name that the server was started with.
func (s *Server) Name() string { return s.name }

// Stop stops a server: connections break, and new ones are refused. The store stays.
func (s *Server) Stop() {
	front := s.front.Swap(nil)
	if front == nil {
		return
	}
	s.world.log.note("stop", "%s", s.name)
	s.world.network.fail(errDown, func(exchange *exchange) bool { return exchange.line.server == s.name })
	front.stop()
}

// Start starts a stopped server.
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

// Define sets the definitions of a server, from its next start on.
func (s *Server) Define(definitions Definitions) { s.defs = definitions }

// Config returns a client configuration for an actor, with all permissions and without a rate limit.
func (s *Server) Config(actor string) *rest.Config {
	s.world.network.join(s.world.ctx, actor)
	return &rest.Config{
		Host: fmt.Sprintf("http://%s.sim", s.name), UserAgent: actor, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		Transport:     &carrier{s, actor, s.world.network.life(actor)},
	}
}
