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

// exchange is a request and its answer. It ends once: by the answer, or by an error of the connection.
type exchange struct {
	network *network
	line    line
	name    string
	request *http.Request // as it comes to the server
	client  *http.Request
	lost    bool
	streams bool // it is a watch
	body    *stream
	cancel  context.CancelFunc // of what the server does for it

	done chan struct{} // closed when the client is answered
	// Guarded by the network's lock.
	ended    bool
	response *http.Response
	err      error
}

// RoundTrip carries a request to the server and its answer back. What was sent arrives, even if the client gives up meanwhile.
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

// discover answers what is asked about the server itself at once, without a message. Clients hold mutexes meanwhile, as
// controller-runtime does that of its informers, and virtual time does not pass while another goroutine waits for a mutex.
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

// end ends an exchange, if it has not ended, and says whether it has not.
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

// fail ends an exchange, or the stream that it has become.
func (x *exchange) fail(err error) {
	x.end(nil, err)
	if x.streams {
		x.body.fail(err)
		x.cancel()
	}
}

// answer is what a server writes to answer a request.
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

// Flush and CloseNotify are what the server's writers have to have for a watch.
func (a *answer) Flush()                   {}
func (a *answer) CloseNotify() <-chan bool { return nil }

func (a *answer) response(r *http.Request, body io.ReadCloser, length int64) *http.Response {
	a.WriteHeader(http.StatusOK)
	return &http.Response{
		StatusCode: a.code, Status: fmt.Sprint(a.code, " ", http.StatusText(a.code)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.header, Body: body, ContentLength: length, Request: r,
	}
}

// serve has the server carry out a request that has arrived, and sends the answer.
func (s *Server) serve(x *exchange) {
	n := s.world.network
	front := s.front.Load()
	if front == nil {
		n.log.note("down", "%s", x.name)
		x.fail(errRefused)
		return
	}
	n.log.note(">", "%s", x.name)
	if x.streams {
		x.body.serve(front)
		return
	}
	w := &answer{header: http.Header{}}
	front.handler.ServeHTTP(w, x.request)
	x.cancel()
	body := w.body.Bytes()
	if isCore(x.client) {
		body = fromCore(body)
	}
	response := w.response(x.client, io.NopCloser(bytes.NewReader(body)), int64(len(body)))
	deliver := func() {
		n.log.note("<", "%s: %d, %d bytes %x", x.name, response.StatusCode, len(body), xxhash.Sum64(body))
		x.end(response, nil)
	}
	if x.lost {
		deliver = func() { n.log.note("lost", "%s: %d", x.name, response.StatusCode); x.fail(errLost) }
	}
	n.send(&parcel{name: x.name + " back", line: x.line, exchange: x, deliver: deliver}, n.Spread, time.Time{})
}

// stream is the answer to a watch: pieces that arrive in their order.
type stream struct {
	answer
	x       *exchange
	opened  bool
	last    time.Time // when the last piece arrives
	written bytes.Buffer

	mu   sync.Mutex
	some sync.Cond
	text []byte
	err  error // io.EOF if the server has ended it
}

func newStream(x *exchange) *stream {
	s := &stream{answer: answer{header: http.Header{}}, x: x}
	s.some.L = &s.mu
	return s
}

// serve runs until the server ends the watch, or the client does.
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

// Flush sends what was written since the last time, and first of all the head of the answer.
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

// send sends a piece, behind those before it.
func (s *stream) send(what string, deliver func()) {
	n := s.x.network
	p := &parcel{name: s.x.name + " " + what, line: s.x.line, deliver: deliver}
	spread := n.Spread
	if what == "back" {
		p.exchange = s.x
	} else {
		spread += n.WatchSpread
	}
	s.last = n.send(p, spread, s.last.Add(1))
}

// fail ends the stream for the client: with io.EOF when all was read, and else at once.
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
	n := s.x.network
	n.mu.Lock()
	delete(n.open, s.x)
	n.mu.Unlock()
	s.fail(context.Canceled)
	s.x.cancel()
	return nil
}
