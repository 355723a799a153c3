package trial

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// pulse is an object of the harness alone. It is written again and again, and each time the wire has to show it before the next write. So
// the harness knows when the machine was too busy to serve anybody, whatever the controller does.
type pulse struct {
	mu     sync.Mutex
	beats  []span    // that took longer than slowBeat
	began  time.Time // of the one that is under way, or when the next one is due
	n      int       // that have ended
	arrive chan int64
	shown  int64 // the newest resourceVersion that arrived
}

const (
	pulseName = "pulse"
	pulseRest = 500 * time.Millisecond // from one beat to the next
	slowBeat  = 3 * time.Second        // a beat takes some milliseconds
)

// beat writes the object until the context ends. Its errors are beats that take longer.
func (p *pulse) beat(ctx context.Context, h *Hub) {
	p.arrive = make(chan int64, 100)
	h.wires.join(pulseName, func(e event) {
		select {
		case p.arrive <- e.rv:
		default: // nobody waits
		}
	})
	defer h.wires.leave(pulseName)
	api := h.clients(pulseName).work.WorkV1().ManifestWorks(pulseName)
	var work *manifestWork
	for n := 0; ctx.Err() == nil; n++ {
		p.begin(time.Now())
		var err error
		if work == nil {
			work, err = api.Create(ctx, &manifestWork{ObjectMeta: metav1.ObjectMeta{Namespace: pulseName, Name: pulseName}}, metav1.CreateOptions{})
			if err != nil {
				work, err = api.Get(ctx, pulseName, metav1.GetOptions{})
			}
		} else {
			work = work.DeepCopy()
			work.Annotations = map[string]string{pulseName: strconv.Itoa(n)}
			work, err = api.Update(ctx, work, metav1.UpdateOptions{})
		}
		if err != nil {
			work = nil
			sleep(ctx, 100*time.Millisecond)
			continue // it is the same beat
		}
		p.await(ctx, versionOf(work))
		p.end(time.Now())
		sleep(ctx, pulseRest)
	}
}

// await waits until the wire has shown a resourceVersion. After a write that failed that may be one that it showed before.
func (p *pulse) await(ctx context.Context, rv int64) {
	for p.shown < rv && ctx.Err() == nil {
		select {
		case p.shown = <-p.arrive:
		case <-ctx.Done():
		}
	}
}

// begin notes that a beat begins, unless one is under way or due.
func (p *pulse) begin(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() {
		p.began = now
	}
}

// end notes that a beat has ended. The next one begins when it is due: a machine that serves nobody may well begin to do so while the
// pulse rests.
func (p *pulse) end(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.began) > slowBeat {
		p.beats = append(p.beats, span{p.began, now})
	}
	p.began = now.Add(pulseRest)
	p.n++
}

// lost is for how long the machine served nobody between two times.
func (p *pulse) lost(from, to time.Time) (all time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	beats := p.beats
	if now := time.Now(); now.Sub(p.began) > slowBeat && !p.began.IsZero() {
		beats = append(slices.Clip(beats), span{p.began, now})
	}
	for _, b := range beats {
		if b.to.After(to) {
			b.to = to
		}
		all += max(0, b.to.Sub(later(b.from, from)))
	}
	return all
}

// inTime are the invariants that say by when something has to happen. On a machine that serves nobody nothing does.
var inTime = []Invariant{invLate, invLeft, invStuck, invStatus, invRemoved}

// observed are the violations of a world that count, on a machine that stalled meanwhile those of the limits alone, and whether it excused
// any other. A world that broke nothing all the same has been judged in full.
func observed(broken []violation, stalled bool) (count []violation, excused bool) {
	if !stalled {
		return broken, false
	}
	count = slices.DeleteFunc(slices.Clone(broken), func(v violation) bool { return slices.Contains(inTime, v.invariant) })
	return count, len(count) < len(broken)
}
