// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Play comes to the same as [Resume] with rollout.Plan, observed having at most one report of a cluster. It costs as
// much as there are events, where Resume costs as much as there are clusters at each of them. Of the waves, only the
// last has its Blocks; [Trace.Explain] gives them to others. With a watcher, each wave costs a whole plan.
func (sim Rollout) Play(observed []status.Report, lives func(cluster string) Life, start time.Time, watch ...func(after time.Duration, result *rollout.Result)) (*Trace, error) {
	planner, err := sim.planner()
	if err != nil {
		return nil, err
	}
	witness, err := sim.planner()
	if err != nil {
		return nil, err
	}
	p := play{
		run:     run{watch: watch, lives: lives, start: start, now: start, started: make(map[string]int)},
		rollout: sim, planner: planner, witness: witness, groups: sim.Groups,
	}
	p.trace.replay = &replay{rollout: sim, start: start}
	if err := p.begin(observed); err != nil {
		return nil, err
	}
	for {
		if err := p.wave(); err != nil {
			return nil, fmt.Errorf("%v after the start: %w", p.now.Sub(start), err)
		}
		more, err := p.goOn()
		switch {
		case err != nil:
			return nil, err
		case !more:
			return p.end()
		case len(p.trace.Waves) > 1+sim.Groups.Len()+len(sim.Options.Freezes)+3*p.lifetimes+sim.Retries.Times: // as mostWaves
			return nil, fmt.Errorf("no end after %d waves", len(p.trace.Waves))
		}
	}
}

// goOn goes to the next time at which something happens, if there is one.
func (p *play) goOn() (bool, error) {
	next, found := p.next()
	found = found && next.Sub(p.start) <= Horizon
	again, tried := p.retry(found)
	if tried = tried && (!found || !again.After(next)); tried {
		next = again
	}
	if p.abort(next, found || tried) || !found && !tried {
		return false, nil
	}
	p.now = next
	p.due()
	if tried {
		return true, p.raise()
	}
	return true, nil
}

// play is a rollout under way. The planner is told what is new.
type play struct {
	run
	rollout Rollout
	// planner decides. It is told which clusters timed out, as it says so each time otherwise; witness is told what the clusters say.
	planner   *rollout.Planner
	witness   *rollout.Planner
	said      []status.RolloutStatus // by member, as the planner takes what it was told; empty where it is not selected
	told      []status.Report        // by member, the last
	coming    events
	news      []int // the members with something to tell
	touched   []int // the members that this wave told of
	lifetimes int   // steps and starts of all lives
	last      rollout.Next

	first, attempt int       // the attempt of the observed clusters, and the present one
	raised         bool      // the attempt of the wave to come
	breached       time.Time // when a budget was breached
	before         []int     // the members that were in flight when the attempt began, or came back since

	groups  *grouping.Groups // without those that the scheduler has dropped
	leaving []int            // the members that it drops now
	// owner is the object that rolls out, with the record of deselected clusters, and record is what was read of it; nil as long as it
	// keeps none, since no cluster was deselected.
	owner  metav1.ObjectMeta
	record *status.Record
}

// begin takes in how things stand at the start.
func (p *play) begin(observed []status.Report) error {
	p.resume(observed)
	if m := p.rollout.StoredRecord; m != nil {
		p.record = &m.Record
		if _, err := (status.Records{"": m.Record}).Note(&p.owner); err != nil {
			return err
		}
	}
	if p.firstAttempt(observed); p.first > 0 || p.record != nil {
		if err := p.setOptions(); err != nil {
			return err
		}
	}
	if p.record == nil && slices.ContainsFunc(observed, p.hasDeselected) {
		if err := p.remember(); err != nil {
			return err
		}
	}
	for i := range p.members {
		p.add(i)
	}
	for _, report := range p.waiting {
		if err := p.tell(report); err != nil {
			return err
		}
	}
	return nil
}

// add has a new member's life begin.
func (p *play) add(i int) {
	p.said, p.told = append(p.said, ""), append(p.told, status.Report{})
	p.lifetimes += 1 + len(p.members[i].life)
	p.news = append(p.news, i)
	p.expect(i)
}

func (p *play) end() (*Trace, error) {
	t := &p.trace
	t.Final = p.witness.Result(p.now)
	last := len(t.Waves) - 1
	t.Waves[last].Blocks = t.Final.BlockCounts()
	t.Outcome = outcome(t.Final)
	if t.Aborted != nil {
		t.Aborted.last = t.Final
	}
	if t.Aborted != nil && t.Outcome != Breached {
		t.Outcome, t.Stopped = RolledBack, last
		return t, nil
	}
	if t.Outcome == AtGate { // the reasons give the time
		first := last
		for first > 0 && len(t.Waves[first].Started) == 0 {
			first--
		}
		var tail []int
		for i := first; i < last; i++ {
			tail = append(tail, i)
		}
		if err := t.Explain(tail...); err != nil {
			return nil, err
		}
	}
	t.Stopped = t.stopped()
	return t, nil
}
