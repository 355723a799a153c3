// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"flag"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cohort-ocm/cohort/internal/exhaustive"
	"github.com/cohort-ocm/cohort/rollout"
)

var most = flag.Int("states", exhaustive.Of(2_000, 200_000, 1_000_000), "how many states are looked at of a world that is not searched whole")

// found is what a search came to.
type found struct {
	states, steps int
	all           bool   // no state was left
	fault         string // the first state that must not be
	history       []string
}

// search looks at the states of a world, the nearest first, until one must not be.
func (w *world) search(limit int) found {
	type place struct {
		from  int32
		event uint16 // which of the steps from there
	}
	seed := maphash.MakeSeed()
	seen, places := map[[2]uint64]bool{}, []place{{from: -1}}
	other := maphash.MakeSeed()
	key := func(s *state) [2]uint64 {
		return [2]uint64{maphash.Comparable(seed, *s), maphash.Comparable(other, *s)}
	}
	first := w.initial()
	w.normalize(&first)
	seen[key(&first)] = true
	level, numbers := []state{first}, []int32{0}
	out := found{states: 1}
	fail := func(at int32, fault string) {
		out.fault = fault
		var events []uint16
		for ; places[at].from >= 0; at = places[at].from {
			events = append(events, places[at].event)
		}
		s := first
		for i := len(events) - 1; i >= 0; i-- {
			n, from := uint16(0), s
			w.steps(&from, true, func(next step) {
				if n == events[i] {
					s, out.history = next.state, append(out.history, next.event)
				}
				n++
			})
		}
	}
	for len(level) > 0 {
		var nextLevel []state
		var nextNumbers []int32
		for i := range level {
			n := uint16(0)
			w.steps(&level[i], false, func(next step) {
				event := n
				n++
				out.steps++
				k := key(&next.state)
				if out.fault != "" || seen[k] || out.states >= limit {
					return
				}
				seen[k] = true
				out.states++
				places = append(places, place{numbers[i], event})
				number := int32(len(places) - 1)
				if fault := w.judge(&next.state); fault != "" {
					fail(number, fault)
					return
				}
				nextLevel, nextNumbers = append(nextLevel, next.state), append(nextNumbers, number)
			})
			if out.fault != "" {
				return out
			}
		}
		if level, numbers = nextLevel, nextNumbers; out.states >= limit {
			return out
		}
	}
	out.all = true
	return out
}

// judge says what is wrong with a state, by what is true on the clusters.
func (w *world) judge(s *state) string {
	inFlight, exposed := 0, 0
	for i := range w.n {
		h := &s.hubs[i]
		flying := int(h.inFlight + h.known[0] + h.known[1] + h.unknown[0] + h.unknown[1])
		inFlight, exposed = inFlight+flying, exposed+flying+int(h.failed)
	}
	switch {
	case inFlight > w.limits.Concurrency && !w.comeBack:
		return fmt.Sprintf("%d in flight", inFlight)
	case exposed > w.limits.Concurrency+w.limits.Failures:
		return fmt.Sprintf("%d exposed", exposed)
	}
	if w.broken != intact {
		return ""
	}
	return w.heals(*s)
}

// heals says what still waits once nothing is lost any more, processes live, and clusters that failed recover.
func (w *world) heals(s state) string {
	for range 60 {
		done := true
		for i := range w.n {
			h := &s.hubs[i]
			h.inFlight += h.known[0] + h.known[1] + h.unknown[0] + h.unknown[1]
			h.known, h.unknown = [2]int8{}, [2]int8{}
			if !h.up {
				h.up = true
			}
			done = done && h.waiting+h.inFlight+h.gone == 0
		}
		if done {
			return ""
		}
		s = w.tickOf(s)
		for i := range w.n {
			h := &s.hubs[i]
			if h.inFlight = 0; s.failedOver(w) {
				h.failed = 0
			}
		}
		if w.talk(&s); s.left > 0 && w.mayIgnore(&s) {
			s.ignore()
		}
		for i := range w.n {
			h := &s.hubs[i]
			for w.starts(h, i) {
				h.waiting--
				h.inFlight++
			}
		}
	}
	return "the rollout does not end"
}

// talk has all hubs report and the coordinator hub answer, with nothing lost.
func (w *world) talk(s *state) {
	for i := range w.n {
		h := &s.hubs[i]
		h.copy = copied{s.accounts[i], true}
		if r, must := w.next(s, i); must {
			h.sent, s.accounts[i].r, s.accounts[i].look = r, r, look{}
			s.changed(i)
		}
	}
	for i := range w.n {
		s.copies[i] = copied{s.accounts[i], true}
	}
	for i, g := range w.divide(s) {
		if g != (grant{}) {
			s.grant(i, g)
			s.sent[i], s.hasSent[i] = g, true
		}
	}
	for i := range w.n {
		s.hubs[i].copy, s.copies[i] = copied{s.accounts[i], true}, copied{s.accounts[i], true}
	}
	w.normalize(s)
}

// grant writes into a HubShares. What an operator saw counts until the shares are renewed.
func (s *state) grant(i int, g grant) {
	if a := &s.accounts[i]; a.g.expires < g.expires {
		a.look = look{}
	}
	s.accounts[i].g = g
	s.changed(i)
}

func (s *state) failedOver(w *world) bool {
	failed := 0
	for i := range s.hubs {
		failed += int(s.hubs[i].failed)
	}
	return failed > w.limits.Failures
}

// tickOf passes a second.
func (w *world) tickOf(s state) state {
	s.ticks = -1
	w.tick(&s, func(_ string, _ int, change func(*state)) { change(&s) })
	return s
}

func (f found) String() string {
	if f.fault == "" {
		return fmt.Sprintf("%d states, %d steps, all: %v", f.states, f.steps, f.all)
	}
	return f.fault + " after\n  " + strings.Join(f.history, "\n  ")
}

var (
	one  = rollout.Shares{Concurrency: 1}
	two  = rollout.Shares{Concurrency: 2}
	both = rollout.Shares{Concurrency: 2, Failures: 1}
	skew = [hubs]int8{-1, 1, 0}
)

// looks says when all states of a world are looked at.
type looks int

const (
	never  looks = iota
	weekly       // it has millions
	always       // also before each change
)

// whole says whether this run looks at all states.
func (l looks) whole() bool { return exhaustive.Whole && l == weekly || exhaustive.On && l == always }

// worlds are searched with the code as it is. Only the last has everything at once. It has too many states to look at all of them, as has
// the one in which clusters are in flight again: long histories by lot reach what is far.
var worlds = []struct {
	name string
	all  looks
	world
}{
	{"two hubs, all delays and losses", always, world{limits: one, n: 2, clusters: [hubs]int8{2, 2}, failures: 1, recover: true}},
	{"two hubs, processes of hubs end", always, world{limits: one, n: 2, clusters: [hubs]int8{1, 1}, failures: 1, crashes: 1}},
	{"two hubs, processes of the coordinator hub end", always, world{limits: one, n: 2, clusters: [hubs]int8{1, 1}, failures: 1, changes: 1}},
	{"two hubs with clocks apart, a person looks", weekly, world{limits: one, n: 2, clusters: [hubs]int8{1, 1}, offset: skew, looks: 1, ticks: -1}},
	{"two hubs, a cluster joins", always, world{limits: one, n: 2, clusters: [hubs]int8{1, 1}, joins: 1}},
	{"two hubs, clusters in flight move", always, world{limits: one, n: 2, clusters: [hubs]int8{2, 1}, moves: 1}},
	{"two hubs, clusters move, with two units", weekly, world{limits: both, n: 2, clusters: [hubs]int8{2, 2}, moves: 2}},
	{"two hubs, a timed out cluster is in flight again", never, world{limits: both, n: 2, clusters: [hubs]int8{2, 2}, failures: 2, comeBack: true, giver: true}},
	{"three hubs, all delays and losses", weekly, world{limits: both, n: 3, clusters: [hubs]int8{2, 2, 2}, failures: 1}},
	{"three hubs, processes of hubs end", always, world{limits: one, n: 3, clusters: [hubs]int8{2, 2, 2}, crashes: 1}},
	{"three hubs, everything", never, world{limits: both, n: 3, clusters: [hubs]int8{2, 2, 2}, offset: skew, failures: 3, crashes: 2, changes: 1, joins: 1, looks: 1, ticks: -1, recover: true}},
}

// Rules H1, H2, H3, H4, H5, H6, H7, H9, H14: in every state, no more clusters are in flight than there are shares of concurrency, no more are exposed than there are
// shares, and from there the rollout ends.
func TestLimitsHold(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			limit, whole := *most, w.all.whole()
			if whole {
				limit = math.MaxInt
			}
			f := w.search(limit)
			if t.Log(f); f.fault != "" {
				t.Error("the limits do not hold")
			}
			if whole && !f.all {
				t.Error("not all states were looked at")
			}
		})
	}
}

// Histories that are far longer than those that a search comes to.
func TestLimitsHoldInLongHistories(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			for seed := range uint64(exhaustive.Of(10, 100, 300)) {
				if f := w.wander(seed, 400); f.fault != "" {
					t.Fatal("seed", seed, f)
				}
			}
		})
	}
}

// wander takes one step after the other by lot.
func (w *world) wander(seed uint64, length int) (out found) {
	lot := rand.New(rand.NewPCG(seed, 1))
	s := w.initial()
	for range length {
		n := 0
		var taken step
		w.steps(&s, true, func(next step) {
			if n++; lot.IntN(n) == 0 {
				taken = next
			}
		})
		if n == 0 {
			return out
		}
		s, out.history = taken.state, append(out.history, taken.event)
		if out.fault = w.judge(&s); out.fault != "" {
			return out
		}
	}
	return out
}

// Each fault of a hub or of the coordinator hub is found, with a shortest history that shows it.
func TestEachFaultIsFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		world
		length int // of the shortest history
	}{
		{"a right counted twice: free before it is given back", world{broken: countedTwice, limits: one, n: 2, clusters: [hubs]int8{1, 1}, offset: skew, ticks: -1}, 23},
		{"a right counted twice: own grants unknown", world{broken: noOwnWrites, limits: one, n: 3, clusters: [hubs]int8{1, 1, 1}, joins: 1}, 27},
		{"a right counted twice: a grant of the process before", world{broken: noFence, limits: one, n: 3, clusters: [hubs]int8{1, 1, 1}, joins: 1, changes: 1}, 27},
		{"a report of the process before", world{broken: hubNoFence, limits: both, n: 2, clusters: [hubs]int8{2, 2}, crashes: 1, failures: 2, giver: true}, 25},
		{"a lease too short: by the clock error", world{broken: noClockError, limits: one, n: 2, clusters: [hubs]int8{1, 1}, offset: skew, looks: 1, ticks: -1}, 24},
		{"a lease too short: by the slowest write", world{broken: noSlowestWrite, limits: one, n: 2, clusters: [hubs]int8{1, 1}, offset: skew, looks: 1, ticks: -1}, 24},
		{"no lease", world{broken: noExpiry, limits: one, n: 2, clusters: [hubs]int8{1, 1}, offset: skew, looks: 1, ticks: -1}, 23},
		{"a person looks too early", world{broken: tooEarly, limits: one, n: 2, clusters: [hubs]int8{1, 1}, looks: 1, ticks: -1}, 24},
		{"a burnt right returned", world{broken: burntReturned, limits: rollout.Shares{Concurrency: 1, Failures: 1}, n: 2, clusters: [hubs]int8{2, 2}, failures: 3}, 24},
		{"a failure without a right gives its slot back", world{broken: burntReused, limits: one, n: 2, clusters: [hubs]int8{2, 2}, failures: 1}, 4},
		{"a new process counts at once", world{broken: countsAtOnce, limits: one, n: 2, clusters: [hubs]int8{2, 1}, crashes: 1}, 7},
		{"a hub uses what the account does not show", world{broken: actsUnanswered, limits: one, n: 2, clusters: [hubs]int8{1, 1}, joins: 1}, 18},
		{"a cluster that moved is ignored early", world{broken: ignoredEarly, limits: one, n: 2, clusters: [hubs]int8{2, 1}, moves: 1}, 7},
		{"a cluster that moved is ignored by a report of before", world{broken: ignoredOld, limits: two, n: 2, clusters: [hubs]int8{1, 2}, moves: 2}, 20},
		{"accounts of several moments, while clusters move", world{broken: mixedMoments, limits: two, n: 2, clusters: [hubs]int8{2, 1}, moves: 2}, 30},
		{"starts on their way do not count", world{broken: startsUntracked, limits: one, n: 2, clusters: [hubs]int8{2, 1}}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !exhaustive.On && tt.length > 19 {
				t.Skip("hundred thousands of steps: with -tags exhaustive")
			}
			f := tt.search(1_000_000)
			if t.Log(f); len(f.history) != tt.length {
				t.Errorf("the shortest history has %d events, want %d", len(f.history), tt.length)
			}
			if broken := tt.world; exhaustive.On {
				broken.broken = intact
				if g := broken.search(f.states); g.fault != "" {
					t.Error("without the fault:", g)
				}
			}
		})
	}
}
