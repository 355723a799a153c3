// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"slices"
	"strings"
)

// owner is what is rolled out, with its clusters.
type owner struct {
	judge   *judge
	key     string
	fault   string
	states  span[ownerState]
	members map[string]*member
	epoch   int // of what it wants
	stages  map[stagesKey]*stages

	changed   int64 // when it wanted something else last
	event     int   // at which event of the recording it wanted another version last
	started   int64 // when something started last
	last      int64 // when it was looked at last, where nothing may happen
	isOpen    bool
	isFull    bool // and as many may be exposed already as the groups expose
	openSince int64
	said      bool             // that it is stuck
	saidQuiet bool             // that it says nothing
	surplus   map[string]int64 // clusters that have an object and are not selected: since when

	pending []pending
}

// pending is a deletion while decisions were partially observed. What comes next says whether its cluster stayed selected.
type pending struct {
	finding Finding
}

func (o *owner) member(cluster string) *member {
	m := o.members[cluster]
	if m == nil {
		m = &member{cluster: cluster, holders: map[string]*span[holderState]{}}
		o.members[cluster] = m
	}
	return m
}

// forget begins anew after a hole.
func (o *owner) forget() {
	o.last, o.isOpen, o.said, o.started, o.pending = 0, false, false, 0, nil
	o.changed = max(o.changed, o.judge.now)
	o.event = o.judge.taken
	clear(o.surplus)
}

// hasShifted says whether any cluster has left or moved in its placements.
func (o *owner) hasShifted() bool {
	s := o.states.now()
	return s != nil && slices.ContainsFunc(s.spec.refs, func(r ref) bool { return len(o.judge.placing(r.placement).shifted) > 0 })
}

// mayCountElsewhere says whether a cluster, unless it is out, may count where it is not selected: it left or moved since the present version
// is wanted, or left before and has it.
func (o *owner) mayCountElsewhere(out map[string]bool) bool {
	for _, r := range o.states.now().spec.refs {
		for cluster, event := range o.judge.placing(r.placement).shifted {
			if !out[cluster] && (event > o.event || !o.isPlaced(cluster) && o.member(cluster).carries(r.version)) {
				return true
			}
		}
	}
	return false
}

// hold gives an object of a cluster its next state, and judges the write.
func (o *owner) hold(e *event, next *holderState) {
	j, id := o.judge, e.id()
	var cluster string
	if next != nil {
		cluster = next.cluster
	} else {
		cluster, _, _ = strings.Cut(e.key, "/")
	}
	o.look()
	m := o.member(cluster)
	h := m.holders[id]
	if h == nil {
		h = &span[holderState]{}
		m.holders[id] = h
	}
	before := h.now()
	if next != nil {
		copied := *next // events that are judged again begin with what was read
		next = &copied
		next.applied, next.earliest = j.now, j.now
		if before != nil && next.version == "" && (next.deleting || !o.isPlaced(cluster)) { // what its owner takes back, its agent may have still
			next.version, next.inform, next.answer, next.since, next.latest = before.version, before.inform, before.answer, before.since, before.latest
		}
		if before != nil && before.version == next.version && before.inform == next.inform {
			next.applied, next.earliest = before.applied, before.earliest
		} else if since, ok := j.unknown(e.kind); ok {
			next.earliest = since
		}
	}
	starts := next != nil && !next.deleting && !next.inform && next.version != "" && (before == nil || before.version != next.version || before.inform)
	goes := before != nil && !before.deleting && (next == nil || next.deleting)
	if (starts || goes) && j.judges() && o.fault == "" && j.judgesWriter() {
		if starts {
			o.judgeStart(m, id, next.version, before == nil)
			if next.dated {
				o.judgePasses(m, id, next.version, before)
			}
		}
		if goes {
			o.judgeRemoval(m, id, before.version)
		}
	}
	if starts {
		o.started, o.isOpen, o.said = j.now, false, false
	}
	if m.last = nil; next == nil {
		m.last = before
	}
	if next != nil {
		m.failed = failure{}
	} else if before != nil && !before.inform && !o.isPlaced(cluster) && failedSince(h, before.version, j.now-j.lag) {
		m.failed = failure{before.version, o.epoch, j.now}
	}
	h.put(j.now, next, j.now-j.horizon)
	m.isQuiet = false
	if next == nil && h.settled(j.now-j.horizon) {
		delete(m.holders, id)
	}
}

// unknown says since when a kind is not whole, if it is not.
func (j *judge) unknown(kind string) (since int64, is bool) {
	if since, is = j.listing[""]; is {
		return since, true
	}
	since, is = j.listing[kind]
	return since, is
}
