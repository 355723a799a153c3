// SPDX-License-Identifier: Apache-2.0

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

// Options configure a play. The zero value plays the world of seed 0.
type Options struct {
	Seed    uint64
	Network Network
	// Choices changes which of several ready cases selects take. If a play then has another history, it depends on more
	// than the seed.
	Choices uint64
	// Begin is the start of the virtual clock: by default the year 2030.
	Begin time.Time
	// Log, if set, gets a line for each message and each write. Two logs of one seed show what does not depend on the seed.
	Log io.Writer
	// Stalled is the real time without a message after which the process exits, at the latest after twice that time. It names
	// the goroutine that virtual time waits for. The default is two minutes.
	Stalled time.Duration
	// Patience is the virtual time that processes have to return after the play. The default is ten minutes.
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

// A Record is the outcome of a play.
type Record struct {
	Seed uint64
	// Hash is a hash of all messages, writes and their times, and Writes of the writes and their times. Both are the same
	// for the same seed.
	Hash, Writes string
	Messages     int // requests that arrived at a server
	Virtual      time.Duration
	// Err names processes that did not return and goroutines that leaked.
	Err error
}

// A World has a virtual clock, a network, servers, and processes.
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
	last    time.Time // time of the last write
}

// one is locked by the play of this process: random sources belong to the whole process.
var one sync.Mutex

// Play plays a world in a bubble of testing/synctest. Time stands still while any of its goroutines can run, and leaps when
// all of them wait. Play returns when the function and all that it started have returned. One world is played at a time.
func Play(t *testing.T, options Options, play func(*World)) *Record {
	t.Helper()
	one.Lock()
	defer one.Unlock()
	options = options.withDefaults()
	defer prepare(options.Seed)()
	record := &Record{Seed: options.Seed}
	bubble(t, options, record, play)
	if record.Err != nil {
		t.Error(record.Err)
	}
	return record
}

// bubble plays a world, and recovers the runtime's panic about leaked goroutines.
func bubble(t *testing.T, options Options, record *Record, play func(*World)) {
	t.Helper()
	seen := watchOver(options.Stalled)
	defer seen.stop()
	defer func() {
		if reason := recover(); reason != nil {
			record.Err = blocked(record.Err, reason)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(options.Begin))
		choose(options.Seed, options.Choices)
		world := newWorld(t, options, seen)
		defer world.close(record)
		play(world)
	})
}

func newWorld(t *testing.T, options Options, seen *overseer) *World {
	world := &World{T: t, Seed: options.Seed, options: options, log: newJournal(options.Log), running: map[*Process]bool{}, last: time.Now()}
	world.log.seen = seen
	seen.log.Store(world.log)
	world.ctx, world.end = context.WithCancel(t.Context())
	world.network = newNetwork(options.Network, options.Seed, options.Choices, world.log)
	go world.network.run(world.ctx)
	return world
}

// Context returns a context that ends with the world.
func (w *World) Context() context.Context { return w.ctx }

// Since returns how much virtual time has passed.
func (w *World) Since() time.Duration { return time.Since(w.log.began) }

// Rand returns a random source that depends on the seed and a name.
func (w *World) Rand(name string) *rand.Rand {
	return rand.New(rand.NewPCG(w.Seed, draw(w.Seed, "rand", name, 0)))
}

// close ends a world, and records what is left of it.
func (w *World) close(record *Record) {
	virtual := w.Since()
	w.mu.Lock()
	servers := slices.Clone(w.servers)
	w.mu.Unlock()
	w.end()
	record.Err = w.await(w.options.Patience)
	for _, server := range servers {
		server.Stop()
	}
	time.Sleep(2 * silence) // for goroutines that end a while after their context
	synctest.Wait()
	record.Virtual = virtual
	record.Hash, record.Writes = fmt.Sprintf("%016x", w.log.all.Sum64()), fmt.Sprintf("%016x", w.log.writes.Sum64())
	record.Messages = w.log.messages
	if err := w.log.flush(); err != nil {
		record.Err = fmt.Errorf("write the log: %w", err)
	}
}

// A Process runs until its context ends or it crashes.
type Process struct {
	world  *World
	actor  string
	cancel context.CancelFunc
	done   chan struct{}
}

// Go runs a process. Its clients have the actor's name. It must return when its context ends. It begins a moment later, and
// no two processes at the same instant, so that what they draw at their start follows from the seed.
func (w *World) Go(actor string, run func(context.Context)) *Process {
	ctx, cancel := context.WithCancel(w.ctx)
	process := &Process{w, actor, cancel, make(chan struct{})}
	w.mu.Lock()
	w.running[process] = true
	w.mu.Unlock()
	go func() {
		defer func() {
			w.mu.Lock()
			delete(w.running, process)
			w.mu.Unlock()
			close(process.done)
		}()
		w.network.begin(actor)
		run(ctx)
	}()
	return process
}

// Stop ends the context of a process and waits until it has returned.
func (p *Process) Stop() {
	p.cancel()
	<-p.done
}

// Crash ends a process as if its machine was switched off. Later requests of its clients fail at once. Requests already
// sent are carried out, but not answered. Crash returns when the process has returned. Earlier configurations of the actor
// do not work any more.
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
		for process := range w.running {
			left, first = append(left, process.actor), process
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

// Cut lets no message pass between an actor and the given servers, or all servers. Clients notice after 45 seconds. What
// they sent until then arrives when the line is restored.
func (w *World) Cut(actor string, servers ...*Server) {
	for _, line := range lines(actor, servers) {
		w.network.sever(line)
	}
}

// Mend restores the lines that Cut has cut with the same arguments.
func (w *World) Mend(actor string, servers ...*Server) {
	for _, line := range lines(actor, servers) {
		w.network.mend(line)
	}
}

func lines(actor string, servers []*Server) []line {
	if len(servers) == 0 {
		return []line{{actor, ""}}
	}
	var all []line
	for _, server := range servers {
		all = append(all, line{actor, server.name})
	}
	return all
}

// Ending says why Settle returned.
type Ending string

const (
	AllIdle  Ending = "nothing was written for a while"
	TimeIsUp Ending = "the time is up"
)

// Settle lets time pass until nothing was written for a while, or until the time is up. Leases and Events do not count,
// since they are written as long as a controller lives.
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
