// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"strings"
)

// A world goes in ticks. A deadline, a soak and a grace period are a few ticks long. Every tick is therefore one of the times
// just before an end or at it. Times are kept as ages, which stop growing where nothing asks for more.

// most is the greatest number of clusters, and none is the group of those that are not selected.
const (
	most = 4
	none = 3
)

// condition is what an agent says of the workload on its cluster.
type condition uint8

const (
	unknown condition = iota
	progressing
	succeeded
	failed
)

func (c condition) String() string {
	return [...]string{"unknown", "progressing", "succeeded", "failed"}[c]
}

// absent is the version of an object that is not there. Otherwise 0 is the wanted version, 1 the one before it, and 2
// any before that.
const absent = 3

// object is the workload's object of a cluster, as it is or as the cache or the controller has it.
type object struct {
	version   uint8
	observed  bool      // the agent has answered this version
	condition condition // as the agent said it last, perhaps of an earlier version
	applied   uint8     // the age of the version
	changed   uint8     // the age of the condition
	attempt   uint8     // at the version
	deleting  bool      // it is to be deleted, and its agent has not let go of it
	verdict   verdict   // that stands in its annotation
}

var nothing = object{version: absent}

// cluster is what there is to know of one cluster, by the hub and by the controller.
type cluster struct {
	group uint8  // where the placement has it
	shown uint8  // where the stored decisions show it
	truth object // as it is stored
	seen  object // as the controller's cache shows it
	own   object // as the controller wrote it, until the cache shows that or something later; absent: nothing
	todo  todo   // what the plan that is being carried out says of it
	doubt bool   // the answer to a write was lost
	gone  uint8  // 1 more than the age of the first result that did not find it selected; 0: the last one did
	aside bool   // it does not count
	past  bool   // it failed before the rollout
	stuck bool   // its agent answers no more, in the runs that look for an end

	dead   bool  // its agent is cut off
	home   uint8 // where the placement has it again once its agent lives; none: it was not dropped
	former uint8 // the group in which the result before had it, as far as the controller knows; none: it does not know
	ended  bool  // its ManagedCluster is deleted
	keeps  bool  // it has the version without an object, as its agent is cut off
	proven bool  // it was done with the version, and may get it again

	hold    hold  // how it is frozen
	until   uint8 // how many ticks it lasts; 0: without an end
	allowed bool  // it is on the allowlist

	entry entry // what the owner's record has of it
	told  entry // the same, as the controller reads it
	noted entry // what the record has to have, by the rules

	then                         uint8 // the group in which the result before had it selected; none: in no group
	lasts, entryLasts, toldLasts uint8 // the breaches of the result before that it is one of, and those of the record
}

// todo is a write that a plan asks for.
type todo uint8

const (
	doNothing todo = iota
	write
	remove
)

// tear says how the stored decisions differ from the placement, while a scheduler rewrites them.
type tear uint8

const (
	whole   tear = iota
	partial      // clusters are missing, and the counts show it
	hidden       // clusters are missing, and the counts do not show it
	empty        // no object is there
)

// state is a moment of a world. The clusters stand in the order of what they pack to, so that worlds that differ
// only in the names of their clusters are one.
type state struct {
	clusters [most]cluster
	torn     tear
	tornAge  uint8
	closed   uint8 // the groups with a closed gate, a bit each
	opens    uint8 // in how many ticks they open; 0: unknown
	paused   bool
	attempt  uint8 // the one that is wanted
	aborted  bool  // the version before is wanted on the clusters that have the one that was
	recorded uint8 // the version of the record, as objects have it
	left     left

	before, entry, told memo // what the result before says, and the record, as it is and as the controller reads it
}

// left is how many events of each kind may still happen in a world. It bounds the histories.
type left struct {
	fails    uint8 // clusters that fail
	moves    uint8 // clusters that join, are deselected and move
	versions uint8 // new templates
	crashes  uint8 // of the controller
	faults   uint8 // writes that are refused, and answers that are lost
	tears    uint8 // decisions that are rewritten
	turns    uint8 // gates that open and close, pauses that begin and end
	cuts     uint8 // agents that are cut off
	gives    uint8 // clusters that an operator ignores, by naming them or by deleting their ManagedClusters
}

// packed is a state in few bytes: two words of each cluster, and two.
type packed [2*most + 2]uint64

func (o object) pack() uint64 {
	return uint64(o.version) | bit(o.observed)<<2 | uint64(o.condition)<<3 | uint64(o.applied)<<5 | uint64(o.changed)<<7 | uint64(o.attempt)<<9 | bit(o.deleting)<<10 |
		o.verdict.pack()<<saidBits
}

// How many bits an object takes, with a verdict and without.
const (
	objectBits = saidBits + verdictBits
	saidBits   = 11
)

func unpackObject(p uint64) object {
	return object{
		version: uint8(p & 3), observed: p>>2&1 == 1, condition: condition(p >> 3 & 3),
		applied: uint8(p >> 5 & 3), changed: uint8(p >> 7 & 3), attempt: uint8(p >> 9 & 1), deleting: p>>10&1 == 1,
		verdict: unpackVerdict(p >> saidBits),
	}
}

func (c *cluster) pack() (first, second uint64) {
	p := uint64(c.group) | uint64(c.shown)<<2 | uint64(c.todo)<<4 | bit(c.doubt)<<6 | uint64(c.gone)<<7 | bit(c.stuck)<<10
	for i, o := range [...]object{c.truth, c.seen, c.own} {
		p |= o.pack() << (11 + i*objectBits)
	}
	p |= bit(c.aside)<<(11+3*objectBits) | bit(c.past)<<(12+3*objectBits)
	q := bit(c.dead) | uint64(c.home)<<1 | uint64(c.former)<<3 | bit(c.ended)<<5 | bit(c.keeps)<<6 | bit(c.proven)<<7
	for i, e := range [...]entry{c.entry, c.told, c.noted} {
		q |= e.pack() << (8 + i*entryBits)
	}
	q |= uint64(c.hold)<<(8+3*entryBits) | uint64(c.until)<<(10+3*entryBits) | bit(c.allowed)<<(12+3*entryBits)
	q |= (uint64(c.then) | uint64(c.lasts)<<2 | uint64(c.entryLasts)<<(2+mostLasting) | uint64(c.toldLasts)<<(2+2*mostLasting)) << (13 + 3*entryBits)
	return p, q
}

func unpackCluster(p, q uint64) cluster {
	part := func(i int) object { return unpackObject(p >> (11 + i*objectBits)) }
	said := func(i int) entry { return unpackEntry(q >> (8 + i*entryBits)) }
	lasts := func(i int) uint8 { return uint8(q >> (15 + 3*entryBits + i*mostLasting) & (1<<mostLasting - 1)) }
	return cluster{
		group: uint8(p & 3), shown: uint8(p >> 2 & 3), todo: todo(p >> 4 & 3), doubt: p>>6&1 == 1, gone: uint8(p >> 7 & 7), stuck: p>>10&1 == 1,
		truth: part(0), seen: part(1), own: part(2), aside: p>>(11+3*objectBits)&1 == 1, past: p>>(12+3*objectBits)&1 == 1,
		dead: q&1 == 1, home: uint8(q >> 1 & 3), former: uint8(q >> 3 & 3), ended: q>>5&1 == 1, keeps: q>>6&1 == 1, proven: q>>7&1 == 1,
		entry: said(0), told: said(1), noted: said(2),
		hold: hold(q >> (8 + 3*entryBits) & 3), until: uint8(q >> (10 + 3*entryBits) & 3), allowed: q>>(12+3*entryBits)&1 == 1,
		then: uint8(q >> (13 + 3*entryBits) & 3), lasts: lasts(0), entryLasts: lasts(1), toldLasts: lasts(2),
	}
}

func (s *state) pack() (p packed) {
	for i := range s.clusters {
		p[2*i], p[2*i+1] = s.clusters[i].pack()
	}
	l := s.left
	p[2*most] = uint64(s.torn) | uint64(s.tornAge)<<2 | uint64(s.closed)<<4 | bit(s.paused)<<7 | uint64(s.attempt)<<36 | bit(s.aborted)<<37 | uint64(s.opens)<<38 |
		uint64(l.cuts)<<40 | uint64(l.gives)<<44 | uint64(s.recorded)<<48
	for i, n := range [...]uint8{l.fails, l.moves, l.versions, l.crashes, l.faults, l.tears, l.turns} {
		p[2*most] |= uint64(n) << (8 + 4*i)
	}
	p[2*most+1] = s.before.pack() | s.entry.pack()<<memoBits | s.told.pack()<<(2*memoBits)
	return p
}

func (p *packed) unpack() (s state) {
	for i := range s.clusters {
		s.clusters[i] = unpackCluster(p[2*i], p[2*i+1])
	}
	g := p[2*most]
	s.torn, s.tornAge, s.closed, s.paused = tear(g&3), uint8(g>>2&3), uint8(g>>4&7), g>>7&1 == 1
	s.attempt, s.aborted = uint8(g>>36&1), g>>37&1 == 1
	s.opens, s.recorded = uint8(g>>38&3), uint8(g>>48&3)
	s.left.cuts, s.left.gives = uint8(g>>40&15), uint8(g>>44&15)
	for i, n := range [...]*uint8{&s.left.fails, &s.left.moves, &s.left.versions, &s.left.crashes, &s.left.faults, &s.left.tears, &s.left.turns} {
		*n = uint8(g >> (8 + 4*i) & 15)
	}
	g = p[2*most+1]
	s.before, s.entry, s.told = unpackMemo(g), unpackMemo(g>>memoBits), unpackMemo(g>>(2*memoBits))
	return s
}

// sorted puts the clusters in order and says which stood at each place before.
func (p *packed) sorted() (from [most]uint8) {
	from = [most]uint8{0, 1, 2, 3}
	for i := 1; i < most; i++ {
		for j := i; j > 0 && (p[2*j] < p[2*j-2] || p[2*j] == p[2*j-2] && p[2*j+1] < p[2*j-1]); j-- {
			p[2*j], p[2*j-2] = p[2*j-2], p[2*j]
			p[2*j+1], p[2*j-1] = p[2*j-1], p[2*j+1]
			from[j], from[j-1] = from[j-1], from[j]
		}
	}
	return from
}

func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// older lets time pass for an object, up to an age.
func (o *object) older(oldest uint8) {
	if o.version == absent {
		return
	}
	o.applied = max(o.applied, min(o.applied+1, oldest))
	if o.condition != unknown {
		o.changed = max(o.changed, min(o.changed+1, oldest))
	}
	o.verdict.older(oldest)
}

// ancient is an age that a time from before an attempt or an abort keeps, so that it stays behind all others.
const ancient = 3

// relabel gives an object's version the number that it has when another is wanted: a new one, or again the one before.
func (o *object) relabel(back bool) {
	switch {
	case o.version == absent:
	case !back:
		o.version = min(o.version+1, 2)
	case o.version < 2:
		o.version = 1 - o.version
	}
	o.verdict.relabel(back)
}

// forget drops what no longer matters of an object with a version that is not wanted again.
func (o *object) forget(oldest uint8) {
	if o.version == absent || o.version == 0 {
		return
	}
	o.version, o.observed, o.applied, o.attempt = 1, true, oldest, 0
	o.verdict.older(oldest)
	o.verdict.overtaken()
	if o.condition != unknown {
		o.changed = oldest
	}
}

// view is the object as the controller plans with it: its own write until the cache shows that or something later.
func (c *cluster) view() object {
	if c.own.version != absent {
		return c.own
	}
	return c.seen
}

// names are the names of the clusters, in the order in which a planner takes them.
var names = [most]string{"a", "b", "c", "d"}

// set is a set of clusters by their place.
type set uint8

func (s set) has(i int) bool { return s>>i&1 == 1 }
func (s *set) add(i int)     { *s |= 1 << i }
func (s set) len() (n int) {
	for ; s != 0; s &= s - 1 {
		n++
	}
	return n
}

// in names the clusters of a set, "a, b".
func (s set) in(names [most]string) string {
	var out []string
	for i := range most {
		if s.has(i) {
			out = append(out, names[i])
		}
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
