// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/status"
)

// Retries say how often a user tries again, with the same version, what failed or timed out (rollout.Options.Attempt).
type Retries struct {
	// Times is how often; never if it is 0.
	Times int
	// After is how long after a breach, or else after the end, it is tried again. It must be above 0.
	After time.Duration
	// Lives is asked for a cluster that starts again, for the first time with 1. Nil is that it does as it did.
	Lives func(cluster string, again int) Life
}

// firstAttempt is the one of the observed clusters, or that the owner has a record of, or the options ask for: the last of these.
func (p *play) firstAttempt(observed []status.Report) {
	if m := p.rollout.StoredRecord; m != nil && m.Record.Version == m.Version {
		p.first = m.Record.Attempt
	}
	for _, report := range observed {
		p.first = max(p.first, report.Attempt)
	}
	if asked := p.rollout.Options.Attempt; asked > p.first {
		p.first, p.raised = asked, true
	}
	p.attempt = p.first
}

// retry says when a user tries again, if ever. found says whether anything else will happen.
func (p *play) retry(found bool) (at time.Time, ok bool) {
	retries := p.rollout.Retries
	switch {
	case p.attempt-p.first >= retries.Times || p.last.Counts.Failures() == 0:
		return at, false
	case p.last.Breach != nil:
		return p.breached.Add(retries.After), true
	case found:
		return at, false
	default:
		return p.now.Add(retries.After), true
	}
}

// raise has the next attempt begin.
func (p *play) raise() error {
	p.attempt++
	p.raised, p.breached = true, time.Time{}
	p.before = p.before[:0]
	for i := range p.members {
		if unanswered(p.members[i].shown) {
			p.before = append(p.before, i)
		}
	}
	return p.setOptions()
}

func (p *play) setOptions() error {
	options := p.rollout.options(p.attempt, p.record)
	return errors.Join(p.planner.SetStrategy(p.rollout.Strategy, options), p.witness.SetStrategy(p.rollout.Strategy, options))
}

// again notes in the wave that begins an attempt which clusters wait for their turn once more.
func (p *play) again(w *Wave) {
	if !p.raised {
		return
	}
	p.raised = false
	w.Attempt = p.attempt
	for i := range p.members {
		if failed(p.members[i].shown) {
			p.waits(i, w)
		}
	}
}

// waits notes that a member waits once more.
func (p *play) waits(i int, w *Wave) {
	m := &p.members[i]
	if _, selected := p.groups.Position(m.name); selected && m.shown != status.ToApply {
		m.shown = status.ToApply
		w.Again = append(w.Again, m.name)
	}
}

// unanswered says whether a cluster is in flight and may time out.
func unanswered(s status.RolloutStatus) bool {
	return s == status.Progressing || s == status.Validating
}

func failed(s status.RolloutStatus) bool { return s == status.Failed || s == status.TimeOut }

// late notes the clusters that were in flight before this attempt began and waits now, as its deadline has passed: that is no failure, and
// nothing tells of it.
func (p *play) late(w *Wave) {
	p.before = slices.DeleteFunc(p.before, func(i int) bool {
		return p.members[i].attempt == p.attempt || !unanswered(p.members[i].shown)
	})
	if len(p.before) == 0 {
		return
	}
	inFlight := make(map[string]bool)
	for _, cluster := range p.planner.InFlight(p.now) {
		inFlight[cluster.Name] = true
	}
	for _, i := range p.before {
		if !inFlight[p.members[i].name] {
			p.waits(i, w)
		}
	}
}

// restart gives the workload once more to a cluster that failed in an earlier attempt. Where it does so in the same instant
// that is no failure.
func (p *play) restart(i int, w *Wave) error {
	m := &p.members[i]
	if m.attempt >= p.attempt && !m.onItsWayOut() {
		return fmt.Errorf("cluster %q started a second time", m.name)
	}
	lives := p.rollout.Retries.Lives
	if lives == nil {
		lives = func(cluster string, _ int) Life { return p.lives(cluster) }
	}
	life := lives(m.name, m.restarts+1)
	if drops := m.drops(); !drops.IsZero() { // its agent is as silent as before
		life = Life{{After: drops.Sub(p.now), Drops: true}}
	}
	*m = member{name: m.name, started: p.now, attempt: p.attempt, restarts: m.restarts + 1, life: life, shown: status.Progressing}
	w.Started = append(w.Started, m.name)
	p.lifetimes += 1 + len(m.life)
	p.news = append(p.news, i)
	p.expect(i)
	return nil
}
