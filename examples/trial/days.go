// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// long is how the times of a world are that lasts for days.
type long struct {
	pace  time.Duration            // how many times as long as elsewhere agents take
	leaps map[string]leap          // of clusters' clocks
	away  map[string]time.Duration // how long what goes away stays away, by the word of the script
}

// A leap is of a cluster's clock, which is right before.
type leap struct {
	after, by time.Duration
}

// What happens in a world that lasts for days.
const (
	serverAway = "server away" // for minutes, or hours: no client reads or writes
	suspended  = "suspended"   // the machine of the process is, for hours
)

// Days shows that a controller breaks nothing in worlds that last for days: with soaks and deadlines of hours, agents that take hours, an API server
// that is away, a process on a suspended machine, and clusters with leaping clocks.
func (h *Hub) Days(t *testing.T, subject *Subject) {
	h.suits(t, subject, needSays)
	h.rollouts(t, subject, "Days", max(1, *flagRollouts/2), func(seed uint64) *world { return drawDays(seed, subject) })
}

// drawDays makes a world that lasts for days.
func drawDays(seed uint64, subject *Subject) *world {
	w := draw(seed, subject, "")
	w.alone(1) // a lease is renewed each second
	rng := rand.New(rand.NewPCG(seed, 15))
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	w.long = &long{
		pace: pick[time.Duration](rng, 60, 600, 1800), leaps: map[string]leap{},
		away: map[string]time.Duration{serverAway: between(time.Minute, pick(rng, time.Hour, 4*time.Hour)), suspended: between(10*time.Minute, 8*time.Hour)},
	}
	w.dying *= w.long.pace
	for _, f := range w.fleets() {
		config, _, _, _ := parts(&f.strategy)
		config.ProgressDeadline = pick(rng, "None", "30m", "2h", "6h")
		config.MinSuccessTime = metav1.Duration{Duration: pick(rng, 0, 0, 10*time.Minute, time.Hour, 5*time.Hour)}
	}
	for _, c := range w.pool {
		if rng.IntN(3) == 0 {
			w.long.leaps[c] = leap{between(0, 12*time.Hour), pick(rng, -time.Hour, -3*time.Minute, -40*time.Second, 40*time.Second, 3*time.Minute, time.Hour)}
		}
	}
	for i := range w.script {
		w.script[i].after = between(time.Minute, 6*time.Hour)
		if rng.IntN(3) == 0 {
			w.script[i].what = pick(rng, serverAway, suspended)
		}
	}
	return w
}

// paced is a time of agents, and of processes that wait for them.
func (w *world) paced(d time.Duration) time.Duration {
	if w.long == nil {
		return d
	}
	return d * w.long.pace
}

// clock gives the clocks of clusters in a world that begins now.
func (w *world) clock() func(cluster string) time.Time {
	began := time.Now()
	return func(cluster string) time.Time {
		now := time.Now()
		if w.long != nil {
			if l := w.long.leaps[short(cluster)]; now.Sub(began) >= l.after {
				now = now.Add(l.by)
			}
		}
		return now
	}
}

// ahead is by how much the clock of a cluster is ahead at most.
func (w *world) ahead() (most time.Duration) {
	if w.long != nil {
		for _, l := range w.long.leaps {
			most = max(most, l.by)
		}
	}
	return most
}

// goAway has the API server or the process be away.
func (p *player) goAway(what string) error {
	from := time.Now()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.absent = append(p.absent, span{from, time.Now()})
	}()
	switch r := p.leader(); {
	case what == suspended:
		r.busy.Lock()
		defer r.busy.Unlock()
	case p.site.server == nil:
		return errors.New("the API server of this world cannot be stopped")
	default:
		p.site.server.Stop()
		defer p.site.server.Start()
	}
	time.Sleep(p.long.away[what])
	return nil
}

// absence is for how long the API server or the process was away, of which a trace does not tell.
func (h *history) absence() (all time.Duration) {
	for _, s := range h.absent {
		all += s.to.Sub(s.from)
	}
	return all
}

// resolve finds out which writes the server has carried out of those during which it went away.
func (h *history) resolve() {
	for i := range h.writes {
		w := &h.writes[i]
		if !w.unknown {
			continue
		}
		for _, e := range h.events {
			before := h.at(e.id, e.rv-1)
			isMade, isDeleted := before == nil, e.gone || e.object.GetDeletionTimestamp() != nil && before.GetDeletionTimestamp() == nil
			if e.id.kind != w.kind || e.at.Before(w.sent) || e.at.After(w.answered) || h.written[e.rv] != nil || isDeleted != (w.verb == "DELETE") {
				continue
			}
			if e.id.key == w.key || isMade && e.object.GetNamespace() == w.key {
				w.key, w.rv, w.done, w.lost = e.id.key, e.rv, true, true
				h.written[e.rv] = w
				break
			}
		}
	}
}
