// SPDX-License-Identifier: Apache-2.0

package judge

import "time"

// grace is for the times of conditions, which have whole seconds. Times are read in favour of the judged controller.
const grace = int64(1500 * time.Millisecond)

// leniency takes one limit away, to say what a start broke: what is forbidden with a limit and allowed without it was forbidden
// by this limit alone. Exact takes times as they are. WithLeft counts clusters that left with the version, too, withGone also those
// with an object that said that it failed, and is gone, and withStays only those of these that no user can have ignored by deleting the cluster.
type leniency struct{ noSoak, noDeadline, exact, withLeft, withGone, withStays bool }

// could is where a cluster may stand with a version, in some of the views of it. What holds a start back is said only if it is so
// in all of them.
type could struct {
	succeed bool // in some view it has succeeded and soaked
	give    bool // in some view it has failed or timed out
	wait    bool // in some view it has not got the version
	holds   bool // in every view it holds a slot
	failed  bool // in every view it has failed, or timed out beyond doubt
}

var waits = could{wait: true}

// stands says where an object stands at a time, for a plan that was made no earlier than before.
func (h *holderState) stands(version string, s *strategy, now, before int64, l leniency) (c could) {
	if h == nil || !carries(h.version, version) || h.inform {
		return waits
	}
	if l.withLeft && h.deleting { // it counts as long as it is there
		kept := *h
		kept.deleting = false
		h = &kept
	}
	grace := grace
	if l.exact {
		grace = 0
	}
	since, earliest := max(h.since, h.applied), max(h.since, h.earliest)
	timedOut := s.deadline > 0 && (now+grace >= earliest+s.deadline || l.noDeadline && now+s.deadline*2/3 >= earliest+s.deadline)
	surely := s.deadline > 0 && before-grace >= since+s.deadline
	if h.stale() {
		if h.answer == does && !l.exact && !h.deleting {
			return could{succeed: true, give: timedOut}
		}
		return could{holds: !timedOut && !h.deleting, give: timedOut, failed: timedOut && surely}
	}
	answer := h.answer
	if answer == fails && s.patient {
		answer = silent
	}
	switch answer {
	case does:
		if h.deleting {
			return waits
		}
		if l.noSoak || s.soak == 0 || now+grace >= earliest+s.soak { // a cluster's clock may be ahead
			return could{succeed: true}
		}
		return could{holds: true}
	case fails:
		failed := could{give: true, failed: true, holds: !timedOut && !h.deleting}
		if h.unclear() && !l.exact {
			return failed.or(could{holds: !timedOut && !h.deleting, give: timedOut})
		}
		return failed
	default:
		if timedOut {
			return could{give: true, failed: surely}
		}
		return could{holds: !h.deleting}
	}
}

// stale says whether an answer with nothing but a time, in whole seconds, is about the version before.
func (h *holderState) stale() bool {
	return h.dated && h.answer != silent && h.latest+int64(time.Second) < h.applied
}

// unclear says whether it may be about either: it is from the second of the write, or from the one before, or one template said nothing since.
func (h *holderState) unclear() bool { return h.dated && h.answer != silent && h.since < h.applied }

// or joins what an object may be in one view with what it may be in another.
func (c could) or(o could) could {
	return could{c.succeed || o.succeed, c.give || o.give, c.wait || o.wait, c.holds && o.holds, c.failed && o.failed}
}

// and joins what two objects of a cluster may be.
func (c could) and(o could) could {
	switch {
	case c == waits:
		return o
	case o == waits:
		return c
	}
	return could{c.succeed && o.succeed || c.succeed && o.wait || c.wait && o.succeed, c.give || o.give, c.wait && o.wait, c.holds || o.holds, c.failed || o.failed}
}

// member is a cluster of an owner, with its objects.
type member struct {
	cluster string
	holders map[string]*span[holderState] // by id
	failed  failure                       // that of its last object, which is gone
	last    *holderState                  // that object; nil while there is one

	// What stands for certain from a time on, until something happens to the cluster, or the owner wants something else.
	quiet   could
	isQuiet bool
	from    int64
	of      string // the version that it is quiet with
	epoch   int
}

// failure is what an object said last of a version, while its cluster was not selected any more.
type failure struct {
	version string
	epoch   int   // of the owner: it lasts until something else is wanted
	at      int64 // when the object went
}

// failedSince says whether an object has said all the time, beyond doubt, that a version failed.
func failedSince(h *span[holderState], version string, since int64) bool {
	all := true
	h.since(since, func(s *holderState) bool {
		all = s != nil && s.version == version && s.answer == fails && !s.unclear()
		return all
	})
	return all
}

// stands says where a cluster may stand, in all views that are at most lag behind.
func (m *member) stands(o *owner, version string, s *strategy, now, lag int64, l leniency) could {
	if l.withStays && o.judge.registry.deleted[m.cluster] && !o.isPlaced(m.cluster) {
		return waits // deleting the ManagedCluster of a deselected cluster ignores the cluster, also while its object is there
	}
	if m.hasFailed(o) && carries(m.failed.version, version) && (l.withGone || l.withStays && m.stays(o)) {
		l.withGone, l.withStays = false, false
		return m.stands(o, version, s, now, lag, l).and(could{give: true, failed: true, holds: s.deadline == 0})
	}
	if m.isQuiet && now >= m.from && m.epoch == o.epoch && m.of == version {
		return m.quiet
	}
	all, quiet := waits, true
	for _, h := range m.holders {
		one, first := could{}, true
		h.since(now-lag, func(state *holderState) bool {
			if c := state.stands(version, s, now, now-lag, l); first {
				one, first = c, false
			} else {
				one = one.or(c)
			}
			return true
		})
		all = all.and(one)
		state := h.now()
		quiet = quiet && h.settled(now-o.judge.horizon) &&
			(one == waits || !state.stale() && one.succeed && !one.wait && !one.give && (s.soak == 0 || now-o.judge.horizon-grace >= max(state.since, state.applied)+s.soak))
	}
	if quiet && !l.noSoak && !l.noDeadline && !l.withLeft {
		m.quiet, m.isQuiet, m.from, m.of, m.epoch = all, true, now, version, o.epoch
	}
	return all
}

// hasFailed says whether its last object failed, with what its owner still wants.
func (m *member) hasFailed(o *owner) bool { return m.failed.version != "" && m.failed.epoch == o.epoch }

// carries says whether a cluster has an object with a version.
func (m *member) carries(version string) bool {
	for _, h := range m.holders {
		if s := h.now(); s != nil && carries(s.version, version) {
			return true
		}
	}
	return false
}

// mayHaveFailed says whether its last object, which is gone, may have failed or timed out with a version. A controller may have that on
// record, and not start the cluster again.
func (m *member) mayHaveFailed(o *owner, version string, s *strategy, lag int64) bool {
	return m.last.stands(version, s, o.judge.now, o.judge.now-lag, leniency{}).give
}

// has says whether a cluster has an object that isn't being deleted, other than one.
func (m *member) has(other string) (id string, ok bool) {
	for id, h := range m.holders {
		if s := h.now(); id != other && s != nil && !s.deleting {
			return id, true
		}
	}
	return "", false
}
