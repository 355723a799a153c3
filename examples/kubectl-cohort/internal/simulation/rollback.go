// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// Abort says when a rollout is aborted; never if it is zero.
type Abort struct {
	// At is so long after the start, whatever has happened by then, unless the rollout is complete. 0 is never.
	At time.Duration
	// OnBreach is as soon as more clusters failed than a budget allows.
	OnBreach bool
}

// Aborted is a rollout that is aborted and rolled back from some time on.
type Aborted struct {
	// After is when, since the start of the rollout.
	After time.Duration

	rollout Rollout
	time    time.Time
	members []member
	lives   func(cluster string) Life
	groups  *grouping.Groups // of the time of the abort
	last    *rollout.Result  // before it
}

// abort says whether the rollout is rolled back before anything else happens, which is at next if it is found.
func (p *play) abort(next time.Time, found bool) bool {
	wanted := p.rollout.Abort
	at := p.start.Add(wanted.At)
	switch {
	case wanted.OnBreach && p.last.Breach != nil:
		at = p.now
	case wanted.At == 0 || found && next.Before(at):
		return false
	case !found && at.After(p.now) && p.last.Breach == nil && p.last.Counts.ToApply == 0 && p.last.Counts.InFlight() == 0:
		return false // it is complete, and is not rolled back
	}
	p.now = at
	p.trace.Aborted = &Aborted{After: at.Sub(p.start), rollout: p.rollout, time: at, members: p.members, lives: p.lives, groups: p.groups}
	return true
}

// HaveVersion is how many clusters have the version that is rolled back: the selected ones, and those deselected since the start.
func (a *Aborted) HaveVersion() (n int) {
	for i := range a.members {
		if _, selected := a.rollout.Groups.Position(a.members[i].name); selected && !a.members[i].gone && a.members[i].report(a.time).Status != status.Skip {
			n++
		}
	}
	return n
}

// Has says whether the cluster is among those.
func (a *Aborted) Has(cluster string) bool {
	for i := range a.members {
		if a.members[i].name == cluster {
			return a.members[i].report(a.time).Status != status.Skip
		}
	}
	return false
}

// Back plays the rollback as rollout.Revert has it, by a strategy and with options. A cluster takes as long to roll back as it
// took to succeed or fail, and succeeds; one that did not answer does not then either. Times of the trace are those since
// the abort. Each wave costs a whole plan, so for many clusters the times are rounded up.
func (a *Aborted) Back(strategy clusterv1alpha1.RolloutStrategy, options rollout.Options, watch ...func(after time.Duration, result *rollout.Result)) (*Trace, error) {
	went := make(map[string]bool)
	previous, latest := a.last, a.time
	plan := func(before []status.Report, now time.Time) (*rollout.Result, error) {
		abort := rollout.Abort{Time: a.time, Before: before}
		for _, report := range before[len(went):] { // in the order in which they went
			went[report.Cluster] = true
		}
		if len(went) < len(a.members) {
			for i := range a.members {
				if m := &a.members[i]; !went[m.name] && !m.gone {
					abort.Failed = append(abort.Failed, m.report(now))
				}
			}
		}
		options.RemoveAfter.Duration, options.Previous = grace, previous
		result, err := rollout.Revert(strategy, a.selected(now), abort, now, options)
		previous, latest = result, now
		return result, err
	}
	round := a.round()
	drops := make(map[string]time.Time)
	for i := range a.members {
		if at := a.members[i].drops(); !at.IsZero() {
			drops[a.members[i].name] = at
		}
	}
	return Run(plan, func(cluster string) Life {
		if at, cutOff := drops[cluster]; cutOff {
			return Life{{After: at.Sub(latest), Drops: true}}
		}
		return back(a.lives(cluster), round)
	}, a.time, watch...)
}

// selected are the groups without those that the scheduler has dropped by then.
func (a *Aborted) selected(now time.Time) *grouping.Groups {
	if now.Equal(a.time) {
		return a.groups
	}
	var drops []string
	for i := range a.members {
		if a.members[i].leaves(now) {
			drops = append(drops, a.members[i].name)
		}
	}
	if len(drops) == 0 {
		return a.groups
	}
	return without(a.groups, drops)
}

// back is the life of a cluster on the rollback.
func back(life Life, round time.Duration) Life {
	if len(life) == 0 {
		return nil
	}
	after := life[0].After
	if rest := after % round; rest > 0 {
		after += round - rest
	}
	return Life{{After: after, Status: status.Succeeded}}
}

// round is what the times of many clusters are rounded up to: a hundredth of the longest.
func (a *Aborted) round() time.Duration {
	const many = 1000
	if len(a.members) < many {
		return 1
	}
	longest := time.Duration(0)
	for i := range a.members {
		if life := a.lives(a.members[i].name); len(life) > 0 {
			longest = max(longest, life[0].After)
		}
	}
	return max(longest/100, time.Second)
}
