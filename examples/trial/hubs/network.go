// SPDX-License-Identifier: Apache-2.0

package hubs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// network lies between the coordinator hub and one hub. It cuts.
type network struct{ isCut atomic.Bool }

// counts are what happened on the lines of a rollout.
type counts struct{ cut, lost, doubled, late, refused atomic.Int64 }

// line goes from one process to one API server.
type line struct {
	dead   *atomic.Bool // the process has ended: what it sent goes on, and nothing more
	net    *network     // nil between a process and the API server of its own hub
	slow   time.Duration
	breaks float64 // how many requests meet a broken connection, before they arrive or after
	double float64 // how many writes arrive a second time, later
	counts *counts
	fated  func(r *http.Request, body []byte) fate // of a write, where a scene says so; or nil

	seed    uint64
	ends    <-chan struct{} // closed when the rollout ends
	sending *sync.WaitGroup
	mu      sync.Mutex
	drawn   map[string]int // how often each thing was drawn
}

var (
	errDead = errors.New("the process has ended")
	errCut  = errors.New("injected: cut off")
	errLost = errors.New("injected: the connection broke")
)

// fate is what a scene does to a write.
type fate struct {
	lost   bool            // it never arrives
	hold   time.Duration   // before it arrives
	until  <-chan struct{} // it does not arrive before this is closed; or nil
	breaks <-chan struct{} // when this is closed, the connection breaks, while the write is on its way
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (l *line) wrap(base http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		luck := l.luck(r.Method + " " + r.URL.RequestURI())
		if r.Method == http.MethodGet {
			return l.read(base, r, luck)
		}
		return l.write(base, r, luck)
	})
}

// luck is what one request draws from: the seed decides it, what is requested and how often it was, and not which others there are.
type luck struct {
	mu  sync.Mutex
	rng *rand.Rand
}

func (l *line) luck(request string) *luck {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drawn[request]++
	h := fnv.New64a()
	fmt.Fprintln(h, request, l.drawn[request])
	return &luck{rng: rand.New(rand.NewPCG(l.seed, h.Sum64()))}
}

// draw draws a time up to a longest one, most often a short one.
func (l *luck) draw(longest time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(l.rng.Float64() * l.rng.Float64() * float64(longest))
}

func (l *luck) chance(p float64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.rng.Float64() < p
}

func (l *line) isCut() bool {
	if l.net == nil || !l.net.isCut.Load() {
		return false
	}
	l.counts.cut.Add(1)
	return true
}

func (l *line) read(base http.RoundTripper, r *http.Request, luck *luck) (*http.Response, error) {
	if l.over() {
		return base.RoundTrip(r)
	}
	if err := l.before(r.Context(), luck); err != nil {
		return nil, err
	}
	response, err := base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if l.isCut() {
		response.Body.Close()
		return nil, errCut
	}
	if r.URL.Query().Has("watch") {
		response.Body = &lateBody{ReadCloser: response.Body, events: bufio.NewReader(response.Body), line: l, luck: luck}
	}
	return response, nil
}

// over says whether the rollout has ended. A manager of a process that ended before its caches were filled goes on until they are.
func (l *line) over() bool {
	select {
	case <-l.ends:
		return true
	default:
		return false
	}
}

// before is what happens to a request before it is on its way.
func (l *line) before(ctx context.Context, luck *luck) error {
	if l.dead.Load() {
		return errDead
	}
	pause(ctx, luck.draw(l.slow))
	switch {
	case l.isCut():
		pause(ctx, luck.draw(2*time.Second)) // it is not refused at once
		return errCut
	case luck.chance(l.breaks):
		l.counts.lost.Add(1)
		return errLost
	}
	return nil
}

// write carries a write to the server, also where the process has given up or ended meanwhile.
func (l *line) write(base http.RoundTripper, r *http.Request, luck *luck) (*http.Response, error) {
	if err := l.before(r.Context(), luck); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	type result struct {
		response *http.Response
		err      error
	}
	var f fate
	if l.fated != nil {
		f = l.fated(r, body)
	}
	if f.lost {
		l.counts.lost.Add(1)
		return nil, errLost
	}
	done := make(chan result, 1)
	// The sender goes on beside the caller, so all is drawn before: else the order of the two would decide.
	hold, again, later, broken := luck.draw(l.slow), luck.chance(l.double), luck.draw(2*time.Second), luck.chance(l.breaks)
	l.sending.Go(func() {
		time.Sleep(hold + f.hold)
		if f.until != nil {
			select {
			case <-f.until:
			case <-l.ends:
			}
		}
		if l.dead.Load() {
			l.counts.late.Add(1)
		}
		response, err := send(base, r, body)
		done <- result{response, err}
		if again {
			time.Sleep(later)
			if second, err := send(base, r, body); err == nil {
				if l.counts.doubled.Add(1); second.StatusCode >= 300 {
					l.counts.refused.Add(1)
				}
			}
		}
	})
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-f.breaks:
		l.counts.lost.Add(1)
		return nil, errLost
	case result := <-done:
		if result.err == nil && (l.isCut() || broken || l.dead.Load()) {
			l.counts.lost.Add(1)
			return nil, errLost
		}
		return result.response, result.err
	}
}

// send sends a request; its caller may have gone.
func send(base http.RoundTripper, r *http.Request, body []byte) (*http.Response, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 20*time.Second)
	defer cancel()
	r = r.Clone(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response, err := base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(answer))
	return response, err
}

// lateBody is a watch that shows things late, and breaks where the network is cut: what came meanwhile is listed later. Each event is late by
// itself: how many come in one read is decided by goroutines.
type lateBody struct {
	io.ReadCloser
	events *bufio.Reader
	rest   []byte // of the event that is being read
	line   *line
	luck   *luck
}

func (b *lateBody) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		event, err := b.events.ReadBytes('\n')
		time.Sleep(b.luck.draw(b.line.slow))
		if b.line.dead.Load() || b.line.isCut() {
			return 0, errCut
		}
		if b.rest = event; len(event) == 0 {
			return 0, err
		}
	}
	n := copy(p, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
