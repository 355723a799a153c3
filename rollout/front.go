package rollout

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// front holds the clusters of the active stage that the held clusters of a result wait for. It has what sentences and
// explanations need. It is worked out once a result, when somebody asks, in one pass over the fleet. Where a budget is
// breached it is empty, since the held clusters then wait for those that failed.
//
// For example, with a mandatory group {a soaking until 10:15, b progressing until 10:50} and {c, d} that wait for it, the
// crowd of soaking is a, that of progressing is b, last is b, a, and first is a, b.
type front struct {
	once   sync.Once
	crowds [numStates]crowd // of the active stage, by state; those that start stand under toApply
	last   few              // of those that the stage waits for: who ends last, those that never end before all others
	first  few              // of those that have a slot: who frees it first
	frees  time.Time        // when enough slots are free for one more cluster to start; zero if time alone does not free them
	// How many only start now, and of how many nobody knows since when they are in flight.
	starting, unknown int
}

// crowd holds clusters in the same state.
type crowd struct {
	n     int
	names []string // the first of them, in order
	first Blocker  // who ends first
	last  Blocker  // who ends last
}

// few holds the first blockers in some order, at most maxNamed, and counts all of them.
type few struct {
	blockers []Blocker
	n        int
}

// add counts b, and puts it in its place if that is among the first: in the order of compareEnds, or with the sign -1 in
// the reverse order.
func (f *few) add(b *Blocker, sign int) {
	f.n++
	at := len(f.blockers)
	for at > 0 && sign*compareEnds(b, &f.blockers[at-1]) < 0 {
		at--
	}
	if at < maxNamed {
		f.blockers = slices.Insert(f.blockers[:min(len(f.blockers), maxNamed-1)], at, *b)
	}
}

// look gives the front. It is empty where something stops all stages, or all are complete.
func (r *Result) look() *front {
	r.front.once.Do(func() {
		if s := r.schedule; !s.stopped(&r.choice) && r.choice.active < len(s.Stages) {
			r.findFront(r.front)
		}
	})
	return r.front
}

func (r *Result) findFront(f *front) {
	s := r.schedule
	excess := r.choice.excess(s)
	var ends []time.Time // of the slots that time frees, where more than one has to come free
	for position, state := range r.states {
		if int(s.stageOf[s.groups.GroupAt(position)]) != r.choice.active || state&starting == 0 && !inFlightStates.has(state) {
			continue
		}
		b := r.blocker(position)
		f.crowds[state&^starting].add(b)
		f.starting += one(b.Starting)
		f.unknown += one(!b.Starting && b.Since.IsZero())
		if !isFailed(state) {
			f.last.add(&b, 1)
		}
		if !isFailed(state) || !s.options.freeFailed {
			f.first.add(&b, -1)
			if !b.Until.IsZero() {
				ends = append(ends, b.Until)
			}
		}
	}
	if excess >= 1 && excess <= len(ends) {
		slices.SortFunc(ends, time.Time.Compare)
		f.frees = ends[excess-1]
	}
	f.joinStarts()
}

// joinStarts puts those that start into one crowd, whether they were never reported or were reported ToApply.
func (f *front) joinStarts() {
	if c := &f.crowds[unreported]; c.n > 0 {
		f.crowds[toApply].merge(c)
		*c = crowd{}
	}
}

// waitedFor says whom a rollout waits for that holds nobody: all that start or are in flight.
func (r *Result) waitedFor() string {
	var f front
	for position, state := range r.states {
		if state&starting != 0 || inFlightStates.has(state) {
			f.crowds[state&^starting].add(r.blocker(position))
		}
	}
	f.joinStarts()
	return f.sentences(0, 0)
}

func isFailed(s state) bool { return failedStates.has(s) }

// excess counts the slots of the active stage that have to come free before one more cluster may start.
func (c *choice) excess(s *schedule) int {
	return s.holdingSlots(&c.used) + c.slots - s.Stages[c.active].MaxConcurrency + 1
}

func (c *crowd) add(b Blocker) {
	if c.n++; c.n <= maxNamed {
		c.names = append(c.names, b.Name)
	}
	if c.n == 1 || b.Until.Before(c.first.Until) {
		c.first = b
	}
	if c.n == 1 || c.last.Until.Before(b.Until) {
		c.last = b
	}
}

func (c *crowd) merge(other *crowd) {
	c.n += other.n
	c.names = append(c.names, other.names...)
	slices.Sort(c.names)
	c.names = c.names[:min(len(c.names), maxNamed)]
	if c.first.Name == "" {
		c.first, c.last = other.first, other.last
	}
}

// sentence says what the clusters of a crowd do and until when: until they are done, or where slots have to come free, until
// they give those back. Of several that end at different times it names the last, or the first to free a slot. Where more
// than one slot has to come free, it names the first and the last.
func (c *crowd) sentence(slots int) string {
	b, which, end := c.last, "last", (*Blocker).end
	if slots > 0 {
		b, which, end = c.first, "first", (*Blocker).slot
	}
	names := listed(c.names, c.n)
	if many := c.n > 1; !many || c.first.Until.Equal(c.last.Until) {
		return fmt.Sprintf("%s %s%s", names, b.kind(many), end(&b, many))
	}
	one := func(which string, b *Blocker) string {
		return fmt.Sprintf("the %s, %s,%s", which, b.Name, strings.TrimPrefix(end(b, false), ","))
	}
	s := fmt.Sprintf("%s %s, %s", names, b.kind(true), one(which, &b))
	if slots > 1 {
		s += ", and " + one("last", &c.last)
	}
	return s
}

// longestDetail is the most bytes that the sentences about clusters have together, unless the first alone has more. With the
// names that a hub allows, a hold is then shorter than the 1,024 bytes of a message.
const longestDetail = 560

// sentences joins what the crowds of all states but some say, the most troublesome first. The slots are those that have to
// come free, if it is slots that are waited for.
func (f *front) sentences(slots int, without stateSet) string {
	var s strings.Builder
	more := 0
	for _, state := range [...]state{progressingUndated, failedUndated, soakingUndated, silent, failed, progressing, soaking, toApply} {
		c := &f.crowds[state]
		if c.n == 0 || without.has(state) {
			continue
		}
		next := c.sentence(slots)
		if more > 0 || s.Len() > 0 && s.Len()+len(next) > longestDetail {
			more += c.n
			continue
		}
		if s.Len() > 0 {
			s.WriteString("; ")
		}
		s.WriteString(next)
	}
	if more > 0 {
		fmt.Fprintf(&s, "; and %d more", more)
	}
	return s.String()
}

// listed joins the first names of n, and counts the others: "a, b and 2 more".
func listed(names []string, n int) string {
	s := strings.Join(names, ", ")
	if more := n - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
