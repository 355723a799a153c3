package sim

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Options say how a world is played. The zero value plays the world of seed 0.
type Options struct {
	Seed    uint64
	Network Network
	// Choices has selects take other cases where several are ready. A play whose history differs then depends on that, and so on more than the seed.
	Choices uint64
	// Begin is when the virtual clock begins: by default with the year 2030.
	Begin time.Time
	// Log, if set, gets a line for each message and each write. Two logs of one seed show what the seed does not decide.
	Log io.Writer
	// Stalled is after how much real time without a message the process ends, and says which goroutine virtual time waits for. By default two
	// minutes.
	Stalled time.Duration
	// Patience is how much virtual time processes have to return when the play has ended. By default ten minutes.
	Patience time.Duration
}

func (o Options) withDefaults() Options {
	if o.Begin.IsZero() {
		o.Begin = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if o.Stalled == 0 {
		o.Stalled = 2 * time.Minute
	}
	if o.Patience == 0 {
		o.Patience = 10 * time.Minute
	}
	return o
}

// A Record is what is known of a play when it has ended.
type Record struct {
	Seed uint64
	// Hash is of all messages, writes and their times, and Writes of the writes and their times. The same seed has the same.
	Hash, Writes string
	Messages     int // requests that came to a server
	Virtual      time.Duration
	// Err says what is left of the world: processes that did not return, goroutines that leaked.
	Err error
}

// A World is virtual: it has a clock of its own, a network, servers, and processes.
type World struct {
	T       *testing.T // of the bubble
	Seed    uint64
	options Options
	network *network
	log     *journal
	ctx     context.Context
	end     context.CancelFunc

	mu      sync.Mutex
	servers []*Server
	running map[*Process]bool
	last    time.Time // when something was written
}

// one is held by the play of this process: the sources of random numbers are of the whole process.
var one sync.Mutex

// Play plays a world in a bubble of testing/synctest. Time stands still while any goroutine of it can run, and leaps when all of them wait.
// It returns when play has returned, and all that it started. One world is played at a time.
func Play(t *testing.T, o Options, play func(*World)) *Record {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	o = o.withDefaults()
	defer prepare(o.Seed)()
	r := &Record{Seed: o.Seed}
	bubble(t, o, r, play)
	if r.Err != nil {
		t.Error(r.Err)
	}
	return r
}

// bubble plays a world and catches what the runtime says of goroutines that are left.
func bubble(t *testing.T, o Options, r *Record, play func(*World)) {
	t.Helper()
	seen := watchOver(o.Stalled)
	defer seen.stop()
	defer func() {
		if reason := recover(); reason != nil {
			r.Err = blocked(r.Err, reason)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(o.Begin))
		choose(o.Seed, o.Choices)
		w := newWorld(t, o, seen)
		defer w.close(r)
		play(w)
	})
}

func newWorld(t *testing.T, o Options, seen *overseer) *World {
	w := &World{T: t, Seed: o.Seed, options: o, log: newJournal(o.Log), running: map[*Process]bool{}, last: time.Now()}
	w.log.seen = seen
	seen.log.Store(w.log)
	w.ctx, w.end = context.WithCancel(t.Context())
	w.network = newNetwork(o.Network, o.Seed, o.Choices, w.log)
	go w.network.run(w.ctx)
	return w
}

// Context ends when the play has returned.
func (w *World) Context() context.Context { return w.ctx }

// Since returns how much virtual time has passed.
func (w *World) Since() time.Duration { return time.Since(w.log.began) }

// Rand returns a source of random numbers that the seed and a name decide.
func (w *World) Rand(name string) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, draw(w.Seed, "rand", name, 0)))
}

// close ends a world, and says what is left of it.
func (w *World) close(r *Record) {
	virtual := w.Since()
	w.mu.Lock()
	servers := slices.Clone(w.servers)
	w.mu.Unlock()
	w.end()
	r.Err = w.await(w.options.Patience)
	for _, s := range servers {
		s.Stop()
	}
	time.Sleep(2 * silence) // for what ends a while after its context
	synctest.Wait()
	r.Virtual = virtual
	r.Hash, r.Writes = fmt.Sprintf("%016x", w.log.all.Sum64()), fmt.Sprintf("%016x", w.log.writes.Sum64())
	r.Messages = w.log.messages
	if err := w.log.flush(); err != nil {
		r.Err = fmt.Errorf("write the log: %w", err)
	}
}

// A Process is one of a world: it runs until its context ends or it crashes.
type Process struct {
	world  *World
	actor  string
	cancel context.CancelFunc
	done   chan struct{}
}

// Go runs a process. Its actor is the name that its clients have. It has to return when its context ends. It begins a moment later, and no
// two processes at the same instant: what they draw as they begin follows from the seed.
func (w *World) Go(actor string, run func(context.Context)) *Process {
	ctx, cancel := context.WithCancel(w.ctx)
	p := &Process{w, actor, cancel, make(chan struct{})}
	w.mu.Lock()
	w.running[p] = true
	w.mu.Unlock()
	go func() {
		defer func() {
			w.mu.Lock()
			delete(w.running, p)
			w.mu.Unlock()
			close(p.done)
		}()
		w.network.begin(actor)
		run(ctx)
	}()
	return p
}

// Stop ends the context of a process and waits until it has returned.
func (p *Process) Stop() {
	p.cancel()
	<-p.done
}

// Crash ends a process as if its machine was switched off: what its clients ask from now on fails at once, and what they have asked is
// not answered, but the server carries it out. It returns when the process has returned. Configurations of the actor made before are of no
// use any more.
func (p *Process) Crash() {
	p.world.network.crash(p.actor)
	p.Stop()
}

// await waits until all processes have returned.
func (w *World) await(patience time.Duration) error {
	deadline := time.After(patience)
	for {
		w.mu.Lock()
		var left []string
		var first *Process
		for p := range w.running {
			left, first = append(left, p.actor), p
		}
		w.mu.Unlock()
		if first == nil {
			return nil
		}
		select {
		case <-first.done:
		case <-deadline:
			slices.Sort(left)
			return fmt.Errorf("%s did not return within %v of virtual time after their contexts had ended", strings.Join(left, ", "), patience)
		}
	}
}

// Cut has no message of an actor come to a server, nor back: the servers that are given, or all. Clients notice after 45 seconds. What they
// sent until then arrives when the line is mended.
func (w *World) Cut(actor string, servers ...*Server) {
	for _, l := range lines(actor, servers) {
		w.network.sever(l)
	}
}

// Mend ends what Cut has begun with the same arguments.
func (w *World) Mend(actor string, servers ...*Server) {
	for _, l := range lines(actor, servers) {
		w.network.mend(l)
	}
}

func lines(actor string, servers []*Server) []line {
	if len(servers) == 0 {
		return []line{{actor, ""}}
	}
	var all []line
	for _, s := range servers {
		all = append(all, line{actor, s.name})
	}
	return all
}

// Ending says why a world has come to rest.
type Ending string

const (
	AllIdle  Ending = "nothing was written for a while"
	TimeIsUp Ending = "the time is up"
)

// Settle lets time pass until nothing was written for a while, or until the time is up. Leases and Events do not count: they are written as
// long as a controller lives.
func (w *World) Settle(quiet, limit time.Duration) Ending {
	began := time.Now()
	for {
		w.mu.Lock()
		last := w.last
		w.mu.Unlock()
		if last.Before(began) {
			last = began
		}
		rest, left := quiet-time.Since(last), limit-time.Since(began)
		switch {
		case rest <= 0:
			return AllIdle
		case left <= 0:
			return TimeIsUp
		}
		time.Sleep(min(rest, left))
	}
}
