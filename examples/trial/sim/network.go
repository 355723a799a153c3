// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Network configures latencies and faults of messages. The seed decides what happens to a message by its identity: its
// actor, server, method, path, body, and the count of equal messages before it; the order in which goroutines run does not
// matter. The zero value has a latency of 0.2 to 3.2 ms each way, and no faults.
type Network struct {
	// A message takes Least, and up to Spread more.
	Least, Spread time.Duration
	// An event of a watch takes up to WatchSpread more. The events of one watch keep their order.
	WatchSpread time.Duration
	// Refused is the share of requests that do not arrive at the server. Lost is the share of requests that the server
	// carries out, but whose answers do not arrive. Clients see both as connection errors.
	Refused, Lost float64
	// Each actor is cut off repeatedly: up to twice CutEvery after the last cut ended, for up to twice CutLasts. CutEvery 0
	// means never.
	CutEvery, CutLasts time.Duration
}

func (n Network) withDefaults() Network {
	if n.Least == 0 {
		n.Least = 200 * time.Microsecond
	}
	if n.Spread == 0 {
		n.Spread = 3 * time.Millisecond
	}
	return n
}

// The timeouts of Kubernetes' clients: a ping on a silent connection, and a dial.
const (
	silence = 45 * time.Second
	dialing = 30 * time.Second
)

// The errors of connections, as a client sees them.
var (
	errRefused = errors.New("sim: connection refused")
	errLost    = errors.New("sim: connection reset, the answer is lost")
	errSilent  = errors.New("sim: connection lost, the other side is silent")
	errDialing = errors.New("sim: dial: i/o timeout")
	errDown    = errors.New("sim: connection reset, the server has stopped")
	errCrashed = errors.New("sim: the process has crashed")
)

// network is that of one world.
type network struct {
	Network
	seed    uint64
	choices uint64
	log     *journal

	mu      sync.Mutex
	counts  map[string]int
	wire    *wire
	arrived time.Time // when the last parcel arrived
	cuts    map[line]*cut
	lives   map[string]int // by actor: how often it has crashed
	open    map[*exchange]bool
	actors  map[string]bool // actors that the seed may cut off
}

// line is the line between an actor and a server; without a server, between the actor and all of them.
type line struct{ actor, server string }

// cut is the state of a cut line. What was sent waits until the line is restored, or until the sender gives up.
type cut struct {
	held []*parcel
	down bool // its connections have timed out
}

func newNetwork(config Network, seed, choices uint64, log *journal) *network {
	return &network{
		Network: config.withDefaults(), seed: seed, choices: choices, log: log, counts: map[string]int{}, wire: newWire(), cuts: map[line]*cut{},
		lives: map[string]int{}, open: map[*exchange]bool{}, actors: map[string]bool{},
	}
}

// draw is a random number that depends on the seed and a name.
func draw(seed uint64, what, name string, count int) uint64 {
	var h xxhash.Digest
	h.ResetWithSeed(seed)
	_, _ = h.WriteString(what)
	_, _ = h.WriteString("\x00")
	_, _ = h.WriteString(name)
	var number [8]byte
	binary.LittleEndian.PutUint64(number[:], uint64(count))
	_, _ = h.Write(number[:])
	return h.Sum64()
}

// share says whether a drawn number is within a share of all.
func share(drawn uint64, of float64) bool { return float64(drawn>>11)/(1<<53) < of }

// send makes a parcel arrive after a latency of the least plus up to spread, and not before a time. It returns that time.
func (n *network) send(parcel *parcel, spread time.Duration, notBefore time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[parcel.name]++
	parcel.count = n.counts[parcel.name]
	latency := n.Least
	if spread > 0 {
		latency += time.Duration(draw(n.seed, "latency", parcel.name, parcel.count) % uint64(spread))
	}
	parcel.due = time.Now().Add(latency)
	if parcel.due.Before(notBefore) {
		parcel.due = notBefore
	}
	n.wire.put(parcel)
	return parcel.due
}

// begin waits for the start of an actor's process.
func (n *network) begin(actor string) {
	begun := make(chan struct{})
	n.send(&parcel{name: "begin " + actor, deliver: func() { close(begun) }}, n.Spread, time.Time{})
	<-begun
}

// join cuts an actor off repeatedly, if the network does that.
func (n *network) join(ctx context.Context, actor string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.CutEvery == 0 || n.actors[actor] {
		return
	}
	n.actors[actor] = true
	go func() {
		for i := 0; ; i++ {
			wait := time.Duration(draw(n.seed, "cut", actor, i) % uint64(2*n.CutEvery))
			last := time.Duration(draw(n.seed, "mend", actor, i) % uint64(2*max(1, n.CutLasts)))
			if sleep(ctx, wait) != nil {
				return
			}
			n.sever(line{actor, ""})
			if sleep(ctx, last) != nil {
				return
			}
			n.mend(line{actor, ""})
		}
	}()
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fate says what happens to a request.
func (n *network) fate(name string) (refused, lost bool) {
	if n.Refused == 0 && n.Lost == 0 {
		return false, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	key := "fate " + name
	n.counts[key]++
	return share(draw(n.seed, "refused", name, n.counts[key]), n.Refused), share(draw(n.seed, "lost", name, n.counts[key]), n.Lost)
}

// carry delivers a parcel that has arrived, unless its line is cut.
func (n *network) carry(parcel *parcel) {
	n.mu.Lock()
	cut := n.cutOf(parcel.line)
	if cut == nil {
		n.mu.Unlock()
		parcel.deliver()
		return
	}
	cut.held = append(cut.held, parcel)
	wait, err := silence, errSilent
	if cut.down {
		wait, err = dialing, errDialing
	}
	n.mu.Unlock()
	if parcel.exchange != nil {
		time.AfterFunc(wait, func() { n.abandon(cut, parcel, err) })
	}
}

// abandon ends the exchange of a parcel that is held.
func (n *network) abandon(cut *cut, parcel *parcel, err error) {
	n.mu.Lock()
	i := slices.Index(cut.held, parcel)
	if i >= 0 {
		cut.held = slices.Delete(cut.held, i, i+1)
	}
	n.mu.Unlock()
	if i >= 0 {
		parcel.exchange.fail(err)
	}
}

func (n *network) cutOf(between line) *cut {
	if whole := n.cuts[line{between.actor, ""}]; whole != nil {
		return whole
	}
	return n.cuts[between]
}

// sever cuts a line. Its streams end when their clients notice.
func (n *network) sever(between line) {
	n.log.note("cut", "%s %s", between.actor, between.server)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cuts[between] != nil {
		return
	}
	cut := &cut{}
	n.cuts[between] = cut
	time.AfterFunc(silence, func() {
		n.mu.Lock()
		still := n.cuts[between] == cut
		cut.down = cut.down || still
		var streams []*exchange
		if still {
			streams = n.which(func(exchange *exchange) bool { return exchange.streams && between.covers(exchange.line) })
		}
		n.mu.Unlock()
		for _, exchange := range streams {
			exchange.fail(errSilent)
		}
	})
}

func (l line) covers(other line) bool {
	return l.actor == other.actor && (l.server == "" || l.server == other.server)
}

// mend restores a line. Held parcels arrive in their order.
func (n *network) mend(between line) {
	n.log.note("mend", "%s %s", between.actor, between.server)
	n.mu.Lock()
	defer n.mu.Unlock()
	cut := n.cuts[between]
	if cut == nil {
		return
	}
	delete(n.cuts, between)
	due := time.Now().Add(n.Least)
	for _, held := range cut.held {
		held.due = due
		due = due.Add(1)
		n.wire.put(held)
	}
}

// which returns the exchanges for which a function is true, in a fixed order.
func (n *network) which(is func(*exchange) bool) (found []*exchange) {
	for exchange := range n.open {
		if is(exchange) {
			found = append(found, exchange)
		}
	}
	slices.SortFunc(found, func(a, b *exchange) int { return strings.Compare(a.name, b.name) })
	return found
}

// fail ends all exchanges for which a function is true.
func (n *network) fail(err error, is func(*exchange) bool) {
	n.mu.Lock()
	found := n.which(is)
	n.mu.Unlock()
	for _, exchange := range found {
		exchange.fail(err)
	}
}

// crash breaks the connections of an actor's process. What it has sent still arrives.
func (n *network) crash(actor string) {
	n.log.note("crash", "%s", actor)
	n.mu.Lock()
	n.lives[actor]++
	n.mu.Unlock()
	n.fail(errCrashed, func(exchange *exchange) bool { return exchange.line.actor == actor })
}

func (n *network) life(actor string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lives[actor]
}
