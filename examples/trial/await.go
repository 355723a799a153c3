package trial

import (
	"context"
	"time"
)

// caughtUp says whether the wire has shown all that the controller has written. The player is locked.
func (p *player) caughtUp() bool {
	for k, rv := range p.newest {
		if p.seen[k] < rv {
			return false
		}
	}
	return true
}

// awaitEvents waits until the wire has shown all that the controller has written. One watch may be ahead of another.
func (p *player) awaitEvents(ctx context.Context) {
	for start := time.Now(); time.Since(start) < 10*time.Second && ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		p.mu.Lock()
		done := p.caughtUp()
		p.mu.Unlock()
		if done {
			return
		}
	}
}

// quiet is how long nothing happens until nothing will: the slowest agent takes six seconds.
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
	return longest + p.worst + 5*time.Second + p.subject.RemoveAfter
}

// await waits until the rollout is complete, or nothing has happened for so long that nothing will. It is not complete
// before the controller is idle: a status that says that it has failed may be one that a write on its way replaces.
func (p *player) await(ctx context.Context) error {
	quiet, longest := p.quiet(), 3*time.Minute
	if p.ignored != "" {
		longest = time.Minute // it may try for ever
	}
	for start := time.Now(); time.Since(start) < longest; time.Sleep(250 * time.Millisecond) {
		now := time.Now()
		p.mu.Lock()
		last, idle := p.events[len(p.events)-1].at, p.caughtUp()
		for _, r := range p.replicas {
			if r.reconciling {
				last = now
			} else if r.last.After(last) {
				last = r.last
			}
			idle = idle && r.idle(now)
		}
		complete := p.heals && idle && p.history(nil, nil).end(now, p.subject.Says).complete
		ends := now.Sub(last) > quiet || complete
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

// end notes that a world ends. Agents go on until all of its goroutines have ended, and the controller no longer answers them. So
// what they do then is not judged. The player is locked.
func (p *player) end(now time.Time) { p.ended, p.endedWith = now, len(p.events) }
