// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"slices"
	"time"
)

// quiet is how long nothing happens until nothing will: the slowest agent takes six seconds, and a process that waits for its own write to be shown takes ten.
func (p *player) quiet() time.Duration {
	var soak time.Duration
	for _, f := range p.placed {
		config, _, _, _ := parts(&f.strategy)
		soak = max(soak, config.MinSuccessTime.Duration)
	}
	longest := p.longestDeadline() + soak
	if p.cut != nil {
		longest += p.cut.lease + 2*p.cut.back
	}
	return longest + p.worst + p.paced(10*time.Second) + p.ahead() + p.subject.RemoveAfter
}

// await waits until the rollout is complete, or nothing has happened for so long that nothing will. A controller that looks again and
// again and finds nothing to do is none that something happens to. The rollout is not complete before the controller is idle: a status
// that says that it has failed may be one that a write on its way replaces.
func (p *player) await(ctx context.Context) error {
	quiet, longest := p.quiet(), p.paced(5*time.Minute)
	if p.ignored != "" {
		longest = time.Minute // it may try for ever
	}
	var still stillness
	for start := time.Now(); time.Since(start) < longest; time.Sleep(max(tick, quiet/500)) {
		now := time.Now()
		p.mu.Lock()
		last, busy, idle := p.activity(now)
		for _, away := range p.absent { // only afterwards can a process write what it could not
			last = later(last, away.to)
		}
		complete := p.heals && idle && p.complete(now)
		ends := still.since(last, now, busy) > quiet || complete
		if ends {
			p.end(now)
		}
		p.mu.Unlock()
		if ends {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(time.Now())
	return nil // the observer says what is wrong
}

// activity says when something happened last, whether something is under way or has to wait for a process, and whether the controller is idle. The
// player is locked.
func (p *player) activity(now time.Time) (last time.Time, busy, idle bool) {
	last, idle = p.events[len(p.events)-1].at, true
	busy = !p.led() && len(p.reconciles) > 0 // of a subject that never acts nothing is awaited
	for _, r := range p.replicas {
		_, late := r.caches.next(now)
		busy = busy || late || r.reconciling
		last = later(last, r.stirred)
		idle = idle && r.idle(now)
	}
	return last, busy, idle
}

// led says whether some process may act: it runs, and leads where a leader is elected. When the last one has crashed, another one still has to come,
// or to wait for the lease, and what is left to do has to wait for it. The player is locked.
func (p *player) led() bool {
	return slices.ContainsFunc(p.replicas, func(r *replica) bool { return r.running && (r.lock == nil || r.lock.leads()) })
}

// tick is how often one looks whether nothing happens any more.
const tick = 250 * time.Millisecond

// stillness counts for how long nothing happens. What a reconcile or an event on its way takes is none of that time.
type stillness struct {
	last, looked time.Time
	busy         time.Duration // since then
}

// since takes a look, and gives for how long nothing has happened since something last did.
func (s *stillness) since(last, now time.Time, busy bool) time.Duration {
	if !last.Equal(s.last) {
		s.last, s.looked, s.busy = last, later(last, s.looked), 0
	}
	if busy {
		s.busy += max(0, now.Sub(s.looked))
	}
	s.looked = now
	return now.Sub(last) - s.busy
}

// complete says whether the rollout is at its end, and the status says so in all that the judge asks of it: a controller may write it in
// several steps. Where the status stays wrong, the judge sees it when nothing happens any more. The
// player is locked.
func (p *player) complete(now time.Time) bool {
	h := p.history(p.writes, p.reconciles)
	h.until = now
	return h.end(now, p.subject.Says).complete && len(h.checkEnd(now, p.subject.Says)) == 0 &&
		(p.subject.Revisions == nil || len(h.checkBack(now, p.subject.Says)) == 0)
}

// end notes that a world ends. Agents go on until all of its goroutines have ended, and the controller no longer answers them. So
// what they do then is not judged. The player is locked.
func (p *player) end(now time.Time) { p.ended, p.endedWith = now, len(p.events) }
