// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"cmp"
	"fmt"
)

// step is a state that one event leads to.
type step struct {
	event string
	state state
}

// steps gives the states that can come next, in an order that is always the same. Text says whether events get their names.
func (w *world) steps(s *state, text bool, yield func(step)) {
	does := func(format string, i int, change func(*state)) {
		next := *s
		change(&next)
		w.normalize(&next)
		out := step{state: next}
		if text {
			out.event = format
			if i >= 0 {
				out.event = fmt.Sprintf("hub %c: %s", 'a'+i, format)
			}
		}
		yield(out)
	}
	w.tick(s, does)
	w.coordinatorHub(s, does)
	for i := range w.n {
		w.network(s, i, does)
		w.process(s, i, does)
		w.clustersOf(s, i, does)
		w.person(s, i, does)
		w.move(s, i, does)
	}
}

type doing func(format string, i int, change func(*state))

// tick passes a second. A start lands within a second after the tick in which it was sent.
func (w *world) tick(s *state, does doing) {
	if s.ticks == 0 {
		return
	}
	for i := range w.n {
		if s.hubs[i].known[1]+s.hubs[i].unknown[1] > 0 {
			return
		}
	}
	does("a second passes", -1, func(s *state) {
		s.ticks = max(-1, s.ticks-1)
		older := func(g *grant) { g.expires = max(longAgo, g.expires-1) }
		for i := range w.n {
			h := &s.hubs[i]
			h.known, h.unknown = [2]int8{0, h.known[0]}, [2]int8{0, h.unknown[0]}
			for _, g := range []*grant{&s.accounts[i].g, &h.copy.g, &s.copies[i].g} {
				older(g)
			}
			if s.hasSent[i] {
				older(&s.sent[i])
			}
			for j := range s.pending[i] {
				if s.pending[i][j] != (grant{}) {
					older(&s.pending[i][j])
				}
			}
		}
	})
}

func (w *world) coordinatorHub(s *state, does doing) {
	moving := w.moves > 0 && w.broken != mixedMoments
	fresh := true
	for i := range w.n {
		fresh = fresh && s.copies[i].fresh
		if !s.copies[i].fresh && !moving {
			does("the coordinator hub reads the account", i, func(s *state) { s.copies[i] = copied{s.accounts[i], true} })
		}
	}
	if !fresh && moving { // its copies are of one moment
		does("the coordinator hub lists the accounts", -1, func(s *state) {
			for i := range w.n {
				s.copies[i] = copied{s.accounts[i], true}
			}
		})
	}
	if grants := w.divide(s); grants != ([hubs]grant{}) {
		does(fmt.Sprintf("the coordinator hub sends grants %v", grants), -1, func(s *state) {
			for i, g := range grants {
				if g != (grant{}) && s.copies[i].fresh { // on top of an old copy it is refused
					s.sent[i], s.hasSent[i], s.pending[i][0] = g, true, g
				}
			}
		})
	}
	if s.changes > 0 {
		does("the process of the coordinator hub ends, and another one lists the accounts", -1, func(s *state) {
			s.changes--
			for i := range w.n {
				s.pending[i] = [2]grant{{}, cmp.Or(s.pending[i][0], s.pending[i][1])}
				s.sent[i], s.hasSent[i] = grant{}, false
				s.copies[i] = copied{s.accounts[i], true}
				if w.broken == noFence {
					s.sent[i], s.hasSent[i] = s.accounts[i].g, true
				}
			}
		})
	}
}

// changed makes all copies of a HubShares old, and what is on its way is refused.
func (s *state) changed(i int) {
	s.hubs[i].copy.fresh, s.copies[i].fresh = false, false
	s.hubs[i].pending, s.pending[i] = [2]report{}, [2]grant{}
}

func (w *world) network(s *state, i int, does doing) {
	for _, g := range s.pending[i] {
		if g != (grant{}) {
			does(fmt.Sprintf("grant %v lands", g), i, func(s *state) { s.grant(i, g) })
		}
	}
	for _, r := range s.hubs[i].pending {
		if r != (report{}) {
			does(fmt.Sprintf("report %v lands", r), i, func(s *state) {
				s.accounts[i].r, s.accounts[i].look = r, look{}
				s.changed(i)
			})
		}
	}
}

func (w *world) process(s *state, i int, does doing) {
	h := &s.hubs[i]
	if !h.up {
		if h.unknown == ([2]int8{}) || w.broken == countsAtOnce {
			does("a new process begins, and reads the account", i, func(s *state) {
				h := &s.hubs[i]
				h.up, h.copy = true, copied{s.accounts[i], true}
				if w.broken == hubNoFence {
					h.sent = s.accounts[i].r
				}
			})
		}
		return
	}
	if !h.copy.fresh {
		does("reads the account", i, func(s *state) { s.hubs[i].copy = copied{s.accounts[i], true} })
	}
	if r, must := w.next(s, i); must && h.copy.fresh {
		does(fmt.Sprintf("sends report %v", r), i, func(s *state) {
			s.hubs[i].sent, s.hubs[i].pending[0] = r, r
		})
	}
	if w.starts(h, i) {
		does("starts a cluster", i, func(s *state) { s.hubs[i].waiting--; s.hubs[i].known[0]++ })
	}
	if s.crashes > 0 {
		does("its process ends", i, func(s *state) {
			h := &s.hubs[i]
			s.crashes--
			h.up, h.copy, h.sent = false, copied{}, report{}
			h.pending = [2]report{{}, cmp.Or(h.pending[0], h.pending[1])}
			for age := range h.known {
				h.unknown[age], h.known[age] = h.unknown[age]+h.known[age], 0
			}
		})
	}
}

func (w *world) clustersOf(s *state, i int, does doing) {
	h := &s.hubs[i]
	for age := range h.known {
		if h.known[age] > 0 {
			does("a start lands", i, func(s *state) { s.hubs[i].known[age]--; s.hubs[i].inFlight++ })
		}
		if h.unknown[age] > 0 {
			does("a start of the process before lands", i, func(s *state) { s.hubs[i].unknown[age]--; s.hubs[i].inFlight++ })
		}
	}
	if h.inFlight > 0 {
		does("a cluster soaked", i, func(s *state) { s.hubs[i].inFlight-- })
		if s.failures > 0 {
			does("a cluster fails and times out", i, func(s *state) { s.failures--; s.hubs[i].inFlight--; s.hubs[i].failed++ })
		}
	}
	if s.joins > 0 {
		does("a cluster joins", i, func(s *state) { s.joins--; s.hubs[i].clusters++; s.hubs[i].waiting++ })
	}
	if h.failed > 0 && w.recover {
		does("a failed cluster recovers", i, func(s *state) { s.hubs[i].failed-- })
	}
	if h.failed > 0 && w.comeBack {
		does("a failed cluster is in flight again", i, func(s *state) { s.hubs[i].failed--; s.hubs[i].inFlight++ })
	}
}

func (w *world) person(s *state, i int, does doing) {
	if s.looks > 0 && s.accounts[i].g.num > 0 && (s.accounts[i].g.expires <= 0 || w.broken == tooEarly) {
		does("a person looks", i, func(s *state) {
			h := &s.hubs[i]
			s.looks--
			s.changed(i)
			s.accounts[i].look = look{true, h.inFlight, h.failed}
		})
	}
}

// move has clusters in flight move from a hub to another (H14).
func (w *world) move(s *state, i int, does doing) {
	for j := range w.n {
		if s.moves > 0 && s.left == 0 && i != j && s.hubs[i].inFlight > 0 {
			does(fmt.Sprintf("a cluster in flight moves to hub %c", 'a'+j), i, func(s *state) {
				from, to := &s.hubs[i], &s.hubs[j]
				s.forget()
				s.moves, s.left, s.came = s.moves-1, int8(i+1), int8(j+1)
				from.inFlight, from.gone, to.inFlight, to.clusters = from.inFlight-1, from.gone+1, to.inFlight+1, to.clusters+1
			})
		}
	}
	if s.left == int8(i+1) && w.mayIgnore(s) {
		does("a cluster that moved is ignored", i, func(s *state) { s.ignore() })
	}
}

// mayIgnore says whether the HubShares show that a moved cluster needs no share of the hub that it left (H14).
func (w *world) mayIgnore(s *state) bool {
	from, to := &s.accounts[s.left-1], &s.accounts[s.came-1]
	flying := func(hub int8) int8 { return int8(w.use(&s.hubs[hub-1]).InFlight) }
	reported := to.r.start >= flying(s.came) && (to.r.since || w.broken == ignoredOld)
	return reported && (w.broken == ignoredEarly || to.g.start >= to.r.start || from.g.start < flying(s.left))
}

func (s *state) ignore() {
	h := &s.hubs[s.left-1]
	h.gone, h.clusters = h.gone-1, h.clusters-1
	s.left, s.came = 0, 0
	s.forget()
}

// forget forgets which reports were made since the cluster came that moved last.
func (s *state) forget() {
	for i := range s.hubs {
		h := &s.hubs[i]
		for _, r := range []*report{&s.accounts[i].r, &s.copies[i].r, &h.copy.r, &h.sent, &h.pending[0], &h.pending[1]} {
			r.since = false
		}
	}
}
