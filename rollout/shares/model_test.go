// SPDX-License-Identifier: Apache-2.0

package shares_test

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/rollout/shares"
)

// The model is a coordinator hub and some hubs, each with its clusters, and all that may happen between them. Writes are sent, and land
// later or never, as often as they like; those on top of a HubShares that has changed since are refused. No writer hears an answer: one that wrote
// reads. Copies are as old as they like. Processes end at any moment, with writes on their way. A tick is a second, and times are
// relative to now, so that the same situation at another time is the same state.

// hubs is how many hubs there may be.
const hubs = 3

var timing = shares.Timing{Lease: 5 * time.Second, ClockError: time.Second, SlowestWrite: time.Second}

// world says what may happen beside delay, loss and reordering, which always may.
type world struct {
	limits   rollout.Shares
	n        int        // how many hubs there are
	clusters [hubs]int8 // of each hub
	offset   [hubs]int8 // of each hub's clock, in ticks
	failures int8       // how many clusters may fail
	crashes  int8       // how many processes of hubs may end
	changes  int8       // how many processes of the coordinator hub may end
	joins    int8       // how many clusters may join
	looks    int8       // how often an operator may look
	moves    int8       // how many clusters in flight may move to another hub, one after the other
	ticks    int8       // how many seconds pass; -1 is as many as one likes
	comeBack bool       // a timed out cluster may be in flight again
	recover  bool       // a timed out cluster may succeed
	giver    bool       // hub a has all shares of failures at first
	broken   mutant
}

// mutant is a fault of the hubs or the coordinator hub.
type mutant int

const (
	intact          mutant = iota
	countedTwice           // what the coordinator hub asks back is free before it is given back
	noOwnWrites            // the coordinator hub takes each copy for what it sent last
	noFence                // a new process of the coordinator hub does so once
	hubNoFence             // a new process of a hub takes the HubShares's report for its own
	noClockError           // hubs do without the clock error
	noSlowestWrite         // and without the slowest write
	noExpiry               // shares never expire
	burntReturned          // a hub forgets its failures
	burntReused            // a hub starts the next cluster whether or not the failure has a right
	tooEarly               // an operator looks before the shares have expired
	countsAtOnce           // a new process of a hub doesn't wait for starts on their way
	actsUnanswered         // a hub uses what it takes before the HubShares shows that
	startsUntracked        // a hub doesn't count starts on their way
	ignoredEarly           // a moved cluster is ignored by the hub that it left as soon as the other hub reports it
	ignoredOld             // and by a report that the other hub made before the cluster came there
	mixedMoments           // the coordinator hub divides by HubShares of several moments, while clusters move
)

type grant struct {
	num, start, fail, expires int8
	stopped                   bool
}

type report struct {
	num, grant, start, fail, clusters, waiting, inFlight, failed int8
	since                                                        bool // it was made since the cluster that moved came to this hub
}

type account struct {
	g    grant
	r    report
	look look
}

// look is a shares.Seen, as long as it means something.
type look struct {
	is               bool
	inFlight, failed int8
}

type copied struct {
	account
	fresh bool
}

// hub is a hub with its clusters: waiting, with the start on its way (which its process knows of, or not), in flight, failed.
type hub struct {
	clusters, waiting, inFlight, failed int8
	gone                                int8    // in flight on another hub, and still counted here
	known, unknown                      [2]int8 // on their way, by age in ticks
	up                                  bool
	copy                                copied
	sent                                report
	pending                             [2]report // on their way to the HubShares, of its process and of one before; zero is none
}

type state struct {
	accounts [hubs]account
	hubs     [hubs]hub
	// The coordinator hub.
	copies                                                 [hubs]copied
	sent                                                   [hubs]grant
	hasSent                                                [hubs]bool
	pending                                                [hubs][2]grant
	failures, crashes, changes, joins, looks, moves, ticks int8
	// A cluster that moved: the hub that it left, which still counts it in flight, and the hub that it came to, from 1; 0 is none.
	left, came int8
}

var epoch = time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)

func at(tick int8) time.Time { return epoch.Add(time.Duration(tick) * time.Second) }

const longAgo = -4

func (g grant) real() shares.Grant {
	out := shares.Grant{Number: int64(g.num), Shares: rollout.Shares{Concurrency: int(g.start), Failures: int(g.fail)}}
	if g.num > 0 {
		out.Expires = metav1.NewTime(at(g.expires))
	}
	if g.stopped {
		out.Stopped = "stopped"
	}
	return out
}

func grantOf(g shares.Grant) grant {
	out := grant{num: int8(g.Number), start: int8(g.Concurrency), fail: int8(g.Failures), expires: longAgo, stopped: g.Stopped != ""}
	if !g.Expires.IsZero() {
		out.expires = int8(max(longAgo, g.Expires.Sub(epoch)/time.Second))
	}
	return out
}

func (r report) real() shares.Report {
	if r.num == 0 {
		return shares.Report{}
	}
	return shares.Report{
		Number: int64(r.num), Grant: int64(r.grant), Taken: rollout.Shares{Concurrency: int(r.start), Failures: int(r.fail)},
		Use: shares.Use{Clusters: int(r.clusters), Waiting: int(r.waiting), InFlight: int(r.inFlight), Failed: int(r.failed), TimedOut: int(r.failed)},
	}
}

func reportOf(r shares.Report) report {
	return report{int8(r.Number), int8(r.Grant), int8(r.Taken.Concurrency), int8(r.Taken.Failures), int8(r.Clusters), int8(r.Waiting), int8(r.InFlight), int8(r.Failed), false}
}

func (w *world) real(a *account, i int) shares.HubShares {
	out := shares.HubShares{Hub: string(rune('a' + i)), Grant: a.g.real(), Report: a.r.real()}
	if a.look.is {
		out.Seen = &shares.Seen{Report: out.Report.Number, InFlight: int(a.look.inFlight), Failed: int(a.look.failed), Time: out.Grant.Expires}
	}
	return out
}

func (w *world) initial() state {
	var s state
	for i := range w.n {
		h := &s.hubs[i]
		h.clusters, h.waiting, h.up = w.clusters[i], w.clusters[i], true
		s.accounts[i].g.expires = longAgo
		h.copy = copied{s.accounts[i], true}
		s.copies[i] = h.copy
	}
	s.failures, s.crashes, s.changes, s.joins, s.looks, s.moves, s.ticks = w.failures, w.crashes, w.changes, w.joins, w.looks, w.moves, w.ticks
	for range 12 { // until the shares are divided and taken
		w.talk(&s)
	}
	if w.giver {
		for _, a := range []*account{&s.accounts[0], &s.copies[0].account, &s.hubs[0].copy.account} {
			a.g.fail, a.r.fail = int8(w.limits.Failures), int8(w.limits.Failures)
		}
		s.sent[0].fail, s.hubs[0].sent.fail = int8(w.limits.Failures), int8(w.limits.Failures)
	}
	return s
}

// use is how a hub's process counts its clusters.
func (w *world) use(h *hub) shares.Use {
	onWay := h.known[0] + h.known[1]
	u := shares.Use{
		Clusters: int(h.clusters), Waiting: int(h.waiting + h.unknown[0] + h.unknown[1]),
		InFlight: int(h.inFlight + onWay + h.gone), Failed: int(h.failed), TimedOut: int(h.failed),
	}
	switch w.broken {
	case burntReturned:
		u.Failed, u.TimedOut = 0, 0
	case startsUntracked:
		u.InFlight = int(h.inFlight + h.gone)
	}
	return u
}

func (w *world) timing() shares.Timing {
	t := timing
	switch w.broken {
	case noClockError:
		t.ClockError = 0
	case noSlowestWrite:
		t.SlowestWrite = 0
	case noExpiry:
		t.ClockError = -time.Hour
	}
	return t
}

// starts says whether a hub may start a cluster now.
func (w *world) starts(h *hub, i int) bool {
	a, sent := w.real(&h.copy.account, i), h.sent.real()
	if w.broken == actsUnanswered {
		a.Report = sent
	}
	may, use := a.May(sent, at(w.offset[i]), w.timing()), w.use(h)
	fails := use.Failed <= may.Failures || w.broken == burntReused
	return h.waiting > 0 && use.InFlight < may.Concurrency && fails
}

// next gives the report that a hub writes now.
func (w *world) next(s *state, i int) (report, bool) {
	h := &s.hubs[i]
	a := w.real(&h.copy.account, i)
	r, must := a.Next(h.sent.real(), w.use(h), at(w.offset[i]), timing)
	out := reportOf(r)
	out.since = s.came == int8(i+1)
	return out, must
}

// divide gives the grants that the coordinator hub writes now.
func (w *world) divide(s *state) [hubs]grant {
	accounts, sent := make([]shares.HubShares, w.n), map[string]shares.Grant{}
	for i := range accounts {
		accounts[i] = w.real(&s.copies[i].account, i)
		if s.hasSent[i] {
			sent[accounts[i].Hub] = s.sent[i].real()
		}
		if w.broken == countedTwice {
			accounts[i].Report.Taken = rollout.Shares{}
		}
		if w.broken == noOwnWrites {
			sent[accounts[i].Hub] = accounts[i].Grant
		}
	}
	division, err := shares.Divide(w.limits, accounts, sent, epoch, timing)
	if err != nil {
		panic(err)
	}
	var out [hubs]grant
	for i := range accounts {
		if g, ok := division.Grants[accounts[i].Hub]; ok {
			out[i] = grantOf(g)
		}
	}
	return out
}

// normalize gives states that cannot be told apart the same form. Of numbers only this matters: which of a HubShares, a copy and what was
// sent are the same, and which is later.
func (w *world) normalize(s *state) {
	for i := range w.n {
		h, a, c := &s.hubs[i], &s.accounts[i], &s.copies[i]
		// What a hub sent last matters as long as the HubShares shows it, or may.
		alive := h.sent == a.r || h.sent == h.pending[0] || h.sent == h.pending[1]
		if !h.copy.fresh && (h.copy.r != h.sent || h.waiting == 0 || !w.allows(h, i)) {
			h.copy = copied{} // by an old copy that allows nothing, the hub does nothing until it reads
		}
		if !alive && (h.copy == copied{} || h.copy.r != h.sent) {
			h.sent = report{num: -1}
		}
		shown, copied, first, second := h.sent == a.r, h.sent == h.copy.r, h.sent == h.pending[0], h.sent == h.pending[1]
		numbers := [...]*int8{&a.g.num, &c.g.num, &s.sent[i].num, &s.pending[i][0].num, &s.pending[i][1].num}
		reports := [...]*report{&a.r, &c.r, &h.sent, &h.pending[0], &h.pending[1], &h.copy.r}
		for _, of := range [...]*account{a, &c.account, &h.copy.account} {
			if of.r.num > 0 && of.r.grant != of.g.num {
				of.r.grant = -1
			}
		}
		old := a.g.num
		compress(numbers[:])
		for _, r := range reports { // a report that may land has read the grant that is there
			if r.grant == old && old > 0 {
				r.grant = a.g.num
			}
		}
		if c.r.grant > 0 {
			c.r.grant = c.g.num
		}
		if h.copy.fresh {
			h.copy.account = *a
		} else if h.copy.g.num > 0 {
			if h.copy.g.num = 1; h.copy.r.grant > 0 {
				h.copy.r.grant = 1
			}
		}
		nums := [len(reports)]*int8{}
		for j, r := range reports {
			nums[j] = &r.num
		}
		compress(nums[:])
		switch {
		case shown:
			h.sent = a.r
		case copied:
			h.sent = h.copy.r
		case first:
			h.sent = h.pending[0]
		case second:
			h.sent = h.pending[1]
		}
	}
}

// allows says whether a hub may start clusters by its copy.
func (w *world) allows(h *hub, i int) bool {
	a, sent := w.real(&h.copy.account, i), h.sent.real()
	if w.broken == actsUnanswered {
		a.Report = sent
	}
	return a.May(sent, at(w.offset[i]), w.timing()).Concurrency > 0
}

// compress makes the gaps between numbers small: only their order, and what is one more than another, mean something.
func compress(numbers []*int8) {
	var seen [8]int8
	sorted := seen[:0]
	for _, n := range numbers {
		if *n > 0 && !slices.Contains(sorted, *n) {
			sorted = append(sorted, *n)
		}
	}
	slices.Sort(sorted)
	last, to := int8(0), int8(0)
	var small [128]int8
	for _, n := range sorted {
		to += min(n-last, 2)
		last, small[n] = n, to
	}
	for _, n := range numbers {
		if *n > 0 {
			*n = small[*n]
		}
	}
}
