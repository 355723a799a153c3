// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// carrier is the transport of one process of an actor to a server.
type carrier struct {
	server *Server
	actor  string
	life   int
}

// exchange is a request and its answer. It ends once: with the answer, or with a connection error.
type exchange struct {
	network *network
	line    line
	name    string
	request *http.Request // as it arrives at the server
	client  *http.Request
	lost    bool
	streams bool // it is a watch
	body    *stream
	cancel  context.CancelFunc // cancels the server's work on it

	done chan struct{} // closed when the client has its answer
	// Guarded by the network's lock.
	ended    bool
	response *http.Response
	err      error
}

// RoundTrip carries a request to the server, and the answer back. A sent request arrives, even if the client gives up.
func (c *carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	n := c.server.world.network
	if n.life(c.actor) != c.life {
		return nil, errCrashed
	}
	if !ofResource(r) {
		return c.discover(r)
	}
	body, err := content(r)
	if err != nil {
		return nil, err
	}
	x := c.exchange(r, body)
	n.mu.Lock()
	n.open[x] = true
	n.mu.Unlock()
	refused, lost := n.fate(x.name)
	x.lost = lost
	arrive := func() { go c.server.serve(x) }
	if refused {
		arrive = func() { n.log.note("refused", "%s", x.name); x.fail(errRefused) }
	}
	n.send(&parcel{name: x.name, line: x.line, exchange: x, deliver: arrive}, n.Spread, time.Time{})
	select {
	case <-x.done:
	case <-r.Context().Done():
		x.fail(context.Cause(r.Context()))
		<-x.done
	}
	return x.response, x.err
}

// discover answers discovery requests at once, without a message. Clients hold mutexes meanwhile, such as those of
// controller-runtime's informers, and virtual time does not pass while another goroutine waits for a mutex.
func (c *carrier) discover(r *http.Request) (*http.Response, error) {
	n, front := c.server.world.network, c.server.front.Load()
	n.mu.Lock()
	cut := n.cutOf(line{c.actor, c.server.name})
	n.mu.Unlock()
	switch {
	case cut != nil:
		return nil, errDialing
	case front == nil:
		return nil, errRefused
	}
	n.log.note("?", "%s %s %s", c.actor, c.server.name, r.URL.Path)
	w := &answer{header: http.Header{}}
	front.handler.ServeHTTP(w, r)
	return w.response(r, io.NopCloser(&w.body), int64(w.body.Len())), nil
}

func content(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}

func (c *carrier) exchange(r *http.Request, body []byte) *exchange {
	name := c.actor + " " + c.server.name + " " + r.Method + " " + r.URL.RequestURI()
	if len(body) > 0 {
		name = fmt.Sprintf("%s %x", name, xxhash.Sum64(body))
	}
	ctx, cancel := context.WithCancel(context.Background())
	request := r.Clone(ctx)
	request.RequestURI, request.RemoteAddr = r.URL.RequestURI(), c.actor
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	x := &exchange{network: c.server.world.network, line: line{c.actor, c.server.name}, name: name, request: request, client: r,
		cancel: cancel, done: make(chan struct{})}
	if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		x.streams, x.body = true, newStream(x)
	}
	return x
}

// end ends an exchange. It returns false if the exchange had ended before.
func (x *exchange) end(response *http.Response, err error) bool {
	x.network.mu.Lock()
	first := !x.ended
	if first {
		x.ended, x.response, x.err = true, response, err
		close(x.done)
	}
	if err != nil || !x.streams {
		delete(x.network.open, x)
	}
	x.network.mu.Unlock()
	return first
}

// fail ends an exchange or its stream.
func (x *exchange) fail(err error) {
	x.end(nil, err)
	if x.streams {
		x.body.fail(err)
		x.cancel()
	}
}

// answer is the response writer of a server.
type answer struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(b)
}

// Flush and CloseNotify are required of a response writer for watches.
func (a *answer) Flush()                   {}
func (a *answer) CloseNotify() <-chan bool { return nil }

func (a *answer) response(r *http.Request, body io.ReadCloser, length int64) *http.Response {
	a.WriteHeader(http.StatusOK)
	return &http.Response{
		StatusCode: a.code, Status: fmt.Sprint(a.code, " ", http.StatusText(a.code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: body, ContentLength: length, Request: r,
	}
}

// serve lets the server handle a request that has arrived, and sends the answer.
func (s *Server) serve(exchange *exchange) {
	n := s.world.network
	front := s.front.Load()
	if front == nil {
		n.log.note("down", "%s", exchange.name)
		exchange.fail(errRefused)
		return
	}
	n.log.note(">", "%s", exchange.name)
	if exchange.streams {
		exchange.body.serve(front)
		return
	}
	w := &answer{header: http.Header{}}
	front.handler.ServeHTTP(w, exchange.request)
	exchange.cancel()
	body := w.body.Bytes()
	if isCore(exchange.client) {
		body = fromCore(body)
	}
	response := w.response(exchange.client, io.NopCloser(bytes.NewReader(body)), int64(len(body)))
	deliver := func() {
		n.log.note("<", "%s: %d, %d bytes %x", exchange.name, response.StatusCode, len(body), xxhash.Sum64(body))
		exchange.end(response, nil)
	}
	if exchange.lost {
		deliver = func() { n.log.note("lost", "%s: %d", exchange.name, response.StatusCode); exchange.fail(errLost) }
	}
	n.send(&parcel{name: exchange.name + " back", line: exchange.line, exchange: exchange, deliver: deliver}, n.Spread, time.Time{})
}

// stream is the answer to a watch: pieces that arrive in order.
type stream struct {
	answer
	x       *exchange
	opened  bool
	last    time.Time // when the last piece arrives
	written bytes.Buffer

	mu   sync.Mutex
	some sync.Cond
	text []byte
	err  error // io.EOF if the server ended the stream
}

func newStream(exchange *exchange) *stream {
	stream := &stream{answer: answer{header: http.Header{}}, x: exchange}
	stream.some.L = &stream.mu
	return stream
}

// serve runs until the server or the client ends the watch.
func (s *stream) serve(front *frontend) {
	front.handler.ServeHTTP(s, s.x.request)
	s.ship()
	s.send("end", func() { s.fail(io.EOF) })
	s.x.cancel()
}

func (s *stream) Write(b []byte) (int, error) {
	s.WriteHeader(http.StatusOK)
	return s.written.Write(b)
}

// Flush sends what was written since the last Flush. The first one also sends the header.
func (s *stream) Flush() { s.ship() }

func (s *stream) ship() {
	if !s.opened {
		s.opened = true
		response := s.response(s.x.client, s, -1)
		s.send("back", func() {
			s.x.network.log.note("<", "%s: %d", s.x.name, response.StatusCode)
			if !s.x.end(response, nil) {
				s.x.cancel()
			}
		})
	}
	if s.written.Len() == 0 {
		return
	}
	text := bytes.Clone(s.written.Bytes())
	if isCore(s.x.client) {
		text = fromCore(text)
	}
	s.written.Reset()
	s.send("piece", func() {
		s.x.network.log.note("~", "%s: %d bytes %x", s.x.name, len(text), xxhash.Sum64(text))
		s.mu.Lock()
		defer s.mu.Unlock()
		s.text = append(s.text, text...)
		s.some.Broadcast()
	})
}

// send sends a piece after those before it.
func (s *stream) send(what string, deliver func()) {
	network := s.x.network
	piece := &parcel{name: s.x.name + " " + what, line: s.x.line, deliver: deliver}
	spread := network.Spread
	if what == "back" {
		piece.exchange = s.x
	} else {
		spread += network.WatchSpread
	}
	s.last = network.send(piece, spread, s.last.Add(1))
}

// fail ends the stream for the client: after the last piece for io.EOF, otherwise at once.
func (s *stream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil || err != io.EOF {
		s.err = err
	}
	if err != io.EOF {
		s.text = nil
	}
	s.some.Broadcast()
}

func (s *stream) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.text) == 0 && s.err == nil {
		s.some.Wait()
	}
	if len(s.text) == 0 {
		return 0, s.err
	}
	read := copy(b, s.text)
	s.text = s.text[read:]
	return read, nil
}

// Close is called by the client.
func (s *stream) Close() error {
	network := s.x.network
	network.mu.Lock()
	delete(network.open, s.x)
	network.mu.Unlock()
	s.fail(context.Canceled)
	s.x.cancel()
	return nil
}
