// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"testing"
	"time"
)

// Say notes what the controller says of its rollout, where that stands nowhere on the API server. It is called within
// [Process.Reconcile].
func (p *Process) Say(c Claim) {
	player := p.replica.player
	player.mu.Lock()
	defer player.mu.Unlock()
	player.reconciles[p.replica.net.reconcile].claim = &c
}

// Trials shows that a controller breaks nothing where versions cut clusters off.
func (h *Hub) Trials(t *testing.T, subject *Subject) {
	h.suits(t, subject, needDelivery|needIgnoreAnnotation)
	var all trialFigures
	var traces traceFigures
	start := time.Now()
	k := &kindOf[*trial, *tried]{"Trials", func(seed uint64) *trial { return drawTrial(seed, "") }, func(w *trial) *tried { return h.try(t, subject, w) }}
	playEach(t, k, *flagRollouts, func(o *tried) {
		all.add(o)
		traces.addTrial(t, o, subject)
	})
	t.Logf("%s%s\n%v of virtual time in %v%s", &all, &traces, all.virtual.Round(time.Second), time.Since(start).Round(time.Second), memory())
}

// EachTrialDuty shows that the harness finds a controller that ignores one of the duties.
func (h *Hub) EachTrialDuty(t *testing.T, subject *Subject, duties map[Duty][]Invariant) {
	h.suits(t, subject, needDelivery|needIgnoreAnnotation)
	if *flagTraces {
		h.trialDutiesFromTraces(t, duties, subject)
		return
	}
	findEach(t, duties, func() tallies[*tried] { return &trialFigures{} }, func(t *testing.T, seed uint64, d Duty) *tried {
		trial := drawTrial(seed, d)
		trial.outlast(subject.RemoveAfter)
		return h.try(t, subject, trial)
	})
}

func (h *Hub) try(t *testing.T, subject *Subject, trial *trial) (o *tried) {
	t.Helper()
	hash := h.play(t, trial.world, func(t *testing.T, at *site) { o = trial.play(t.Context(), at, subject) })
	o.digest = hash
	return o
}

// trialFigures are of all trials that were observed.
type trialFigures struct {
	trials, complete, failed, events, writes, lost, restarts, removed, violations int
	of                                                                            map[Invariant]int
	virtual                                                                       time.Duration
}

// add counts an outcome, and says whether it can be judged.
func (f *trialFigures) add(o *tried) bool {
	f.virtual += o.took
	if o.err != nil {
		f.failed++
		return false
	}
	f.trials++
	if o.complete {
		f.complete++
	}
	f.events, f.restarts, f.violations = f.events+len(o.checker.events), f.restarts+o.restarts, f.violations+len(o.violations)
	for _, w := range o.checker.writes {
		f.writes++
		if w.done && w.lost {
			f.lost++
		}
		if w.done && w.kind == o.checker.delivery.object && w.verb == "DELETE" {
			f.removed++
		}
	}
	for _, v := range o.violations {
		if f.of == nil {
			f.of = map[Invariant]int{}
		}
		f.of[v.invariant]++
	}
	return true
}

func (f *trialFigures) String() string {
	return fmt.Sprintf("%d trials (%d not observed): %d came to their end, %d stood still; %d events, %d writes of the controller (%d answers lost), %d removals, %d restarts; %d violations %v",
		f.trials, f.failed, f.complete, f.trials-f.complete, f.events, f.writes, f.lost, f.removed, f.restarts, f.violations, f.of)
}
