// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
)

// A Planner keeps two kinds of clusters apart. Of a selected cluster, the tracker has what was reported, by position. Of a
// cluster that is not selected, or that the record has, others has what was reported; the tracker has what counts, if it is a
// member (R46, R49).

// build makes the tracker anew, from what was reported, for the rules, the options and the planner's groups. It takes time
// linear in the clusters.
func (p *Planner) build(r *rules, o *options, now time.Time) {
	old := p.tracker
	s := newSchedule(r, o, p.groups, fleet.FormerGroups{})
	previous, again := p.previousGroups(o), p.stale
	p.stale, p.names = false, nil
	if !again && p.isPlain(&old.schedule.options) && p.isPlain(o) && old.schedule.Groups == p.groups {
		p.tracker = &tracker{fleet.NewIndex(&s.Roster, old.Reports, nil, now), s}
		return
	}
	reported := p.reported()
	p.others = make(map[string]fleet.Report)
	reported(func(cluster string, r fleet.Report) {
		if _, selected := p.groups.Position(cluster); !selected || p.isRecorded(s, cluster) {
			p.others[cluster] = r
		}
	})
	if where := p.placed(s, previous, reported, now); !where.None() {
		s = newSchedule(r, o, where.In(p.groups), where).recallCeiling(previous)
	}
	reports := fleet.NewReports(s.NumClusters())
	reported(func(cluster string, r fleet.Report) {
		if position, member := s.Position(cluster); member {
			reports.Note(position, r)
		}
	})
	recorded := make(map[fleet.Position]fleet.Observation)
	for cluster := range o.entries() {
		if position, member := s.Position(cluster); member {
			seen := p.seenOf(cluster, !s.IsDeselected(position))
			counts, is := s.Decide(cluster, seen)
			if reports.Note(position, counts); is {
				recorded[position] = seen
			}
		}
	}
	p.tracker = &tracker{fleet.NewIndex(&s.Roster, reports, recorded, now), s}
}

// seenOf gives what was reported of a cluster that the record has.
func (p *Planner) seenOf(cluster string, selected bool) fleet.Observation {
	return fleet.Observation{Report: p.others[cluster], Deleting: p.deleting[cluster], Selected: selected}
}

// isPlain says whether no cluster can have been deselected or moved.
func (p *Planner) isPlain(o *options) bool {
	previous := p.previousGroups(o)
	return len(p.others) == 0 && len(o.entries()) == 0 && (previous == nil || previous.Groups == p.groups)
}

// placed finds the clusters that were deselected or moved and still count. The schedule is the one by the current groups.
func (p *Planner) placed(s *schedule, f *previousResult, reported func(func(string, fleet.Report)), now time.Time) (where fleet.FormerGroups) {
	where.Deselected, _ = s.FindDeselected(f.groups(), p.seen(s, now), now)
	if !s.MayMove(f.groups()) {
		return where
	}
	consider := func(cluster string, r fleet.Report) {
		if position, selected := s.Position(cluster); selected {
			if key, moved := s.MovedFrom(f.groups(), position, s.StateAt(position, r, now)); moved {
				where.Moved = fleet.With(where.Moved, cluster, key)
			}
		}
	}
	reported(func(cluster string, r fleet.Report) {
		if !p.isRecorded(s, cluster) {
			consider(cluster, r)
		}
	})
	for cluster := range s.Record {
		counts, _ := s.Decide(cluster, p.seenOf(cluster, true))
		consider(cluster, counts)
	}
	return where
}

// isSettled says whether the cluster at a position, which moved, does not count any more in the group before (R52).
func (p *Planner) isSettled(position fleet.Position) bool {
	s := p.tracker.schedule
	switch is := p.tracker.State(position); {
	case fleet.InFlightStates.Has(is):
		return false
	case fleet.FailureStates.Has(is):
		_, there := fleet.Members{Groups: p.groups}.GroupWith(s.KeyOf(s.GroupOf(position)))
		return !there
	default:
		return true
	}
}

// reported gives a function that walks through all that was reported.
func (p *Planner) reported() func(take func(cluster string, r fleet.Report)) {
	t, others := p.tracker, p.others
	s := t.schedule
	return func(take func(cluster string, r fleet.Report)) {
		for position := range fleet.Position(t.NumClusters()) {
			cluster := s.Cluster(position)
			if t.Kind(position) != fleet.KindNone && !s.IsDeselected(position) && !p.isRecorded(s, cluster) {
				take(cluster, t.Of(position))
			}
		}
		for cluster, r := range others {
			take(cluster, r)
		}
	}
}

// isRecorded says whether the record of a schedule has a cluster.
func (p *Planner) isRecorded(s *schedule, cluster string) bool {
	_, is := s.Record[cluster]
	return is
}

// last gives what was reported of a cluster.
func (p *Planner) last(cluster string) fleet.Report {
	s := p.tracker.schedule
	if position, member := s.Position(cluster); member && !s.IsDeselected(position) && !p.isRecorded(s, cluster) {
		return p.tracker.Of(position)
	}
	return p.others[cluster]
}

// set replaces the report of a cluster; the zero report removes it.
func (p *Planner) set(cluster string, r fleet.Report) {
	t := p.tracker
	s := t.schedule
	position, member := s.Position(cluster)
	recorded, deselected := p.isRecorded(s, cluster), member && s.IsDeselected(position)
	if member && !deselected && !recorded {
		before := t.State(position)
		t.Report(position, r)
		if counts(before) != counts(t.State(position)) && s.CountsElsewhere(p.previousGroups(&s.options).groups(), position) {
			p.stale = true
		}
		return
	}
	if before := p.others[cluster]; (before.Kind == fleet.KindNone) != (r.Kind == fleet.KindNone) {
		p.names = nil
	}
	if p.others[cluster] = r; r.Kind == fleet.KindNone {
		delete(p.others, cluster)
	}
	switch counts := s.StillCounts(r, t.Now); {
	case deselected && counts && !recorded:
		t.Report(position, r)
	case recorded, deselected != counts:
		p.stale = true
	}
}

// previousGroups gives what the last answer knew of the clusters' groups, or what the option says of the result before.
func (p *Planner) previousGroups(o *options) *previousResult {
	if p.previous != nil {
		return p.previous
	}
	return o.previous
}

// seen gives what was reported of the clusters that are not selected and may count.
func (p *Planner) seen(s *schedule, now time.Time) map[string]fleet.Observation {
	var obs map[string]fleet.Observation
	for cluster, r := range p.others {
		if _, selected := p.groups.Position(cluster); selected || !p.isRecorded(s, cluster) && !s.MayCount(r, now) {
			continue
		}
		if obs == nil {
			obs = make(map[string]fleet.Observation)
		}
		obs[cluster] = fleet.Observation{Report: r, Deleting: p.deleting[cluster]}
	}
	return obs
}

// once finds the clusters that do not count any more, except for their start or their success.
func (p *Planner) once(now time.Time) []fleet.Departure {
	s := p.tracker.schedule
	if !s.options.starts.IsSet() && s.Wait == 0 {
		return nil
	}
	_, departed := s.FindDeselected(p.previousGroups(&s.options).groups(), p.seen(s, now), now)
	for cluster, e := range s.Record {
		if position, selected := s.Position(cluster); selected && !s.IsDeselected(position) {
			if counts, recorded := s.Decide(cluster, p.seenOf(cluster, true)); !recorded {
				if start, is := s.ComesBack(position, counts, e, now); is {
					departed = append(departed, start)
				}
			}
		}
	}
	return departed
}

// counts says how a state counts for R52: in flight, as a failure, or not at all.
func counts(is fleet.State) (as struct{ inFlight, failed bool }) {
	as.inFlight, as.failed = fleet.InFlightStates.Has(is), fleet.FailureStates.Has(is)
	return as
}

// pendingRemoval notes which clusters were reported and are not selected, and whose objects are being deleted.
func (p *Planner) pendingRemoval(o *observed) {
	o.removed = p.removedNames()
	if o.there = o.removed; len(p.deleting) == 0 {
		return
	}
	o.there = slices.DeleteFunc(slices.Clone(o.removed), func(cluster string) bool { return p.deleting[cluster] })
	s := p.tracker.schedule
	o.deleting = make(map[fleet.Position]bool)
	for cluster := range p.deleting {
		if position, member := s.Position(cluster); member && !s.IsDeselected(position) {
			o.deleting[position] = true
		}
	}
}

// removedNames gives the names of the clusters that have a report and are not selected, in order, without those that another
// part removes.
func (p *Planner) removedNames() []string {
	if p.names != nil {
		return p.names
	}
	p.names = make([]string, 0, len(p.others))
	for _, cluster := range slices.Sorted(maps.Keys(p.others)) {
		_, selected := p.groups.Position(cluster)
		if other, _ := fleet.Elsewhere(p.groups, cluster); !selected && !other {
			p.names = append(p.names, cluster)
		}
	}
	return p.names
}
