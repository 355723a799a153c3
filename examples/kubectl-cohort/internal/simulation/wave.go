// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// wave does what run's wave does.
func (p *play) wave() error {
	w := Wave{After: p.now.Sub(p.start)}
	p.again(&w)
	if err := p.leave(&w); err != nil {
		return err
	}
	for {
		if err := p.plan(); err != nil {
			return err
		}
		if len(p.trace.Waves) == 0 {
			p.lateForEver(p.last.TimedOut)
		}
		if anew, err := p.keep(&w); err != nil {
			return err
		} else if anew {
			continue
		}
		if len(p.last.Start) == 0 {
			break
		}
		if err := p.starts(&w); err != nil {
			return err
		}
	}
	if err := p.note(&w); err != nil {
		return err
	}
	if p.record != nil {
		p.witness.Next(p.now) // it remembers deselected clusters
	}
	p.trace.Waves = append(p.trace.Waves, w)
	p.trace.replay.told = append(p.trace.replay.told, told{len(p.trace.replay.words), len(p.trace.replay.dropped), p.attempt, p.record})
	if !w.Breached {
		p.breached = time.Time{}
	} else if p.breached.IsZero() {
		p.breached = p.now
	}
	p.tellWatchers(w.After)
	return nil
}

// plan tells what is new and asks what may happen.
func (p *play) plan() error {
	for _, i := range p.news {
		if p.members[i].gone {
			continue
		}
		report := p.members[i].report(p.now)
		if l := p.rollout.Ledger; l != nil {
			var ok bool
			if report, ok = l.Report(report); !ok {
				continue
			}
		}
		if err := p.tell(report); err != nil {
			return err
		}
		if _, selected := p.rollout.Groups.Position(report.Cluster); selected {
			p.said[i], p.told[i] = taken(report), report
		}
	}
	p.touched = append(p.touched, p.news...)
	p.news = p.news[:0]
	return p.ask()
}

// ask asks what may happen, until a cluster starts or there is nothing more to tell.
func (p *play) ask() error {
	for {
		p.last = p.planner.Next(p.now)
		if p.rollout.Ledger == nil {
			return nil
		}
		start, tell := p.rollout.Ledger.Plan(p.last, p.now)
		for _, report := range tell {
			if err := p.tell(report); err != nil {
				return err
			}
		}
		if p.last.Start = start; len(start) > 0 || len(tell) == 0 {
			return nil
		}
	}
}

// tell says what a cluster says, and remembers it.
func (p *play) tell(report status.Report) error {
	if err := p.planner.Report(report); err != nil {
		return err
	}
	p.trace.replay.words = append(p.trace.replay.words, word{report: report})
	return p.witness.Report(report)
}

// taken is the status that a plan has for a cluster with such a report before its deadline.
func taken(report status.Report) status.RolloutStatus {
	switch report.Status {
	case status.Validating, status.Succeeded, status.Failed, status.TimeOut, status.Skip:
		return report.Status
	default:
		return status.Progressing
	}
}

// starts gives the workload to those that may have it now.
func (p *play) starts(w *Wave) error {
	if slices.ContainsFunc(p.last.Start, func(c rollout.Cluster) bool { _, twice := p.started[c.Name]; return twice }) {
		p.tellWatchers(w.After) // a cluster that starts again at once would not be seen to
	}
	for _, cluster := range p.last.Start {
		if i, twice := p.started[cluster.Name]; twice {
			if err := p.restart(i, w); err != nil {
				return err
			}
			continue
		}
		if err := p.run.begin(cluster.Name, w); err != nil {
			return err
		}
		last := len(p.members) - 1
		p.members[last].attempt = p.attempt
		p.add(last)
	}
	return nil
}

func (p *play) tellWatchers(after time.Duration) {
	if len(p.watch) == 0 {
		return
	}
	result := p.witness.Result(p.now)
	for _, watch := range p.watch {
		watch(after, result)
	}
}

// lateForEver does what run's lateForEver does.
func (p *play) lateForEver(late []rollout.Cluster) {
	for _, cluster := range late {
		i, found := p.started[cluster.Name]
		if !found || p.members[i].observed == nil || p.members[i].life == nil {
			continue
		}
		p.lifetimes -= len(p.members[i].life)
		p.members[i].life = nil
		p.news = append(p.news, i)
	}
}

// note does what run's note does, for clusters that may have changed: those with news, and those that time out now.
func (p *play) note(w *Wave) error {
	for _, cluster := range p.last.TimedOut {
		i, found := p.started[cluster.Name]
		if !found {
			continue
		}
		p.said[i] = status.TimeOut
		p.touched = append(p.touched, i)
		late := p.told[i] // the time from which it has the version stays
		late.Status = status.TimeOut
		if err := p.planner.Report(late); err != nil {
			return err
		}
	}
	for _, cluster := range p.last.Deselected {
		if i, found := p.started[cluster.Name]; found && p.said[i] != cluster.Status {
			p.said[i] = cluster.Status
			p.touched = append(p.touched, i)
		}
	}
	slices.Sort(p.touched)
	for _, i := range slices.Compact(p.touched) {
		if failed(p.said[i]) && p.members[i].attempt < p.attempt {
			p.waits(i, w)
			continue
		}
		m := &p.members[i]
		if m.show(p.said[i], w); m.attempt < p.attempt && unanswered(m.shown) {
			p.before = append(p.before, i) // it waited, and is in flight once more
		}
	}
	p.touched = p.touched[:0]
	p.late(w)
	w.Counts, w.Breached = p.last.Counts, p.last.Breach != nil
	return nil
}
