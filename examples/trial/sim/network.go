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

// Network says how the messages of a world travel. What happens to a message depends on the seed and on what the message is: its
// actor, server, method, path, body, and how many like it came before; not on the order in which goroutines run. The zero value has
// a latency of 0.2 to 3.2 ms each way, and no faults.
type Network struct {
	// A message takes Least, and up to Spread more.
	Least, Spread time.Duration
	// An event of a watch takes up to WatchSpread more than that. The events of one watch stay in their order.
	WatchSpread time.Duration
	// Refused is the share of requests that never come to the server, and Lost that of requests whose answer never comes, though the
	// server has carried them out. Both are errors of the connection.
	Refused, Lost float64
	// Each actor is cut off again and again: up to twice CutEvery after it began or was mended, for up to twice CutLasts.
	// With a CutEvery of 0 no actor is.
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

// What Kubernetes' clients wait for: an answer to a ping of a connection that has gone silent, and a connection that is dialled.
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
	arrived time.Time // when the last parcel did
	cuts    map[line]*cut
	lives   map[string]int // by actor: how often it has crashed
	open    map[*exchange]bool
	actors  map[string]bool // that may be cut off by the seed
}

// line is between an actor and a server; without a server, between the actor and all of them.
type line struct{ actor, server string }

// cut is a line that carries nothing. What was sent waits until it is mended, or until who sent it gives up.
type cut struct {
	held []*parcel
	down bool // the connections that were there are given up
}

func newNetwork(n Network, seed, choices uint64, log *journal) *network {
	return &network{
		Network: n.withDefaults(), seed: seed, choices: choices, log: log, counts: map[string]int{}, wire: newWire(), cuts: map[line]*cut{},
		lives: map[string]int{}, open: map[*exchange]bool{}, actors: map[string]bool{},
	}
}

// draw is a number that the seed and a name decide.
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

// share says whether what was drawn is within a share of all.
func share(drawn uint64, of float64) bool { return float64(drawn>>11)/(1<<53) < of }

// send has a parcel arrive after a latency of the least and up to spread more, and not before a time. It returns when.
func (n *network) send(p *parcel, spread time.Duration, notBefore time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.counts[p.name]++
	p.count = n.counts[p.name]
	latency := n.Least
	if spread > 0 {
		latency += time.Duration(draw(n.seed, "latency", p.name, p.count) % uint64(spread))
	}
	p.due = time.Now().Add(latency)
	if p.due.Before(notBefore) {
		p.due = notBefore
	}
	n.wire.put(p)
	return p.due
}

// begin waits until a process of an actor begins.
func (n *network) begin(actor string) {
	begun := make(chan struct{})
	n.send(&parcel{name: "begin " + actor, deliver: func() { close(begun) }}, n.Spread, time.Time{})
	<-begun
}

// join has an actor cut off again and again, if actors are.
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

// fate says what becomes of a request.
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
func (n *network) carry(p *parcel) {
	n.mu.Lock()
	c := n.cutOf(p.line)
	if c == nil {
		n.mu.Unlock()
		p.deliver()
		return
	}
	c.held = append(c.held, p)
	wait, err := silence, errSilent
	if c.down {
		wait, err = dialing, errDialing
	}
	n.mu.Unlock()
	if p.exchange != nil {
		time.AfterFunc(wait, func() { n.giveUp(c, p, err) })
	}
}

// giveUp ends the exchange of a parcel that is still held.
func (n *network) giveUp(c *cut, p *parcel, err error) {
	n.mu.Lock()
	i := slices.Index(c.held, p)
	if i >= 0 {
		c.held = slices.Delete(c.held, i, i+1)
	}
	n.mu.Unlock()
	if i >= 0 {
		p.exchange.fail(err)
	}
}

func (n *network) cutOf(l line) *cut {
	if c := n.cuts[line{l.actor, ""}]; c != nil {
		return c
	}
	return n.cuts[l]
}

// sever cuts a line. Streams on it end when their clients notice.
func (n *network) sever(l line) {
	n.log.note("cut", "%s %s", l.actor, l.server)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cuts[l] != nil {
		return
	}
	c := &cut{}
	n.cuts[l] = c
	time.AfterFunc(silence, func() {
		n.mu.Lock()
		still := n.cuts[l] == c
		c.down = c.down || still
		var streams []*exchange
		if still {
			streams = n.which(func(x *exchange) bool { return x.streams && l.covers(x.line) })
		}
		n.mu.Unlock()
		for _, x := range streams {
			x.fail(errSilent)
		}
	})
}

func (l line) covers(other line) bool {
	return l.actor == other.actor && (l.server == "" || l.server == other.server)
}

// mend makes a line whole. What was held arrives in its order.
func (n *network) mend(l line) {
	n.log.note("mend", "%s %s", l.actor, l.server)
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.cuts[l]
	if c == nil {
		return
	}
	delete(n.cuts, l)
	due := time.Now().Add(n.Least)
	for _, p := range c.held {
		p.due = due
		due = due.Add(1)
		n.wire.put(p)
	}
}

// which returns the exchanges that something is true of, in an order of their own.
func (n *network) which(is func(*exchange) bool) (found []*exchange) {
	for x := range n.open {
		if is(x) {
			found = append(found, x)
		}
	}
	slices.SortFunc(found, func(a, b *exchange) int { return strings.Compare(a.name, b.name) })
	return found
}

// fail ends all exchanges that something is true of.
func (n *network) fail(err error, is func(*exchange) bool) {
	n.mu.Lock()
	found := n.which(is)
	n.mu.Unlock()
	for _, x := range found {
		x.fail(err)
	}
}

// crash ends a process of an actor, as its clients see it. What it has sent still arrives.
func (n *network) crash(actor string) {
	n.log.note("crash", "%s", actor)
	n.mu.Lock()
	n.lives[actor]++
	n.mu.Unlock()
	n.fail(errCrashed, func(x *exchange) bool { return x.line.actor == actor })
}

func (n *network) life(actor string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lives[actor]
}
