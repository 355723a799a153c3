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
func (p *Planner) build(rules *rules, options *options, now time.Time) {
	old := p.tracker
	schedule := newSchedule(rules, options, p.groups, fleet.FormerGroups{})
	previous, again := p.previousGroups(options), p.stale
	p.stale, p.names = false, nil
	if !again && p.isPlain(&old.schedule.options) && p.isPlain(options) && old.schedule.Groups == p.groups {
		p.tracker = &tracker{fleet.NewIndex(&schedule.Roster, old.Reports, nil, now), schedule}
		return
	}
	reported := p.reported()
	p.others = make(map[string]fleet.Report)
	reported(func(cluster string, report fleet.Report) {
		if _, selected := p.groups.Position(cluster); !selected || p.isRecorded(schedule, cluster) {
			p.others[cluster] = report
		}
	})
	if where := p.placed(schedule, previous, reported, now); !where.None() {
		schedule = newSchedule(rules, options, where.In(p.groups), where).recallCeiling(previous)
	}
	reports := fleet.NewReports(schedule.NumClusters())
	reported(func(cluster string, report fleet.Report) {
		if position, member := schedule.Position(cluster); member {
			reports.Note(position, report)
		}
	})
	recorded := make(map[fleet.Position]fleet.Observation)
	for cluster := range options.entries() {
		if position, member := schedule.Position(cluster); member {
			seen := p.seenOf(cluster, !schedule.IsDeselected(position))
			counts, is := schedule.Decide(cluster, seen)
			if reports.Note(position, counts); is {
				recorded[position] = seen
			}
		}
	}
	p.tracker = &tracker{fleet.NewIndex(&schedule.Roster, reports, recorded, now), schedule}
}

// seenOf gives what was reported of a cluster that the record has.
func (p *Planner) seenOf(cluster string, selected bool) fleet.Observation {
	return fleet.Observation{Report: p.others[cluster], Deleting: p.deleting[cluster], Selected: selected}
}

// isPlain says whether no cluster can have been deselected or moved.
func (p *Planner) isPlain(options *options) bool {
	previous := p.previousGroups(options)
	return len(p.others) == 0 && len(options.entries()) == 0 && (previous == nil || previous.Groups == p.groups)
}

// placed finds the clusters that were deselected or moved and still count. The schedule is the one by the current groups.
func (p *Planner) placed(schedule *schedule, previous *previousResult, reported func(func(string, fleet.Report)), now time.Time) (where fleet.FormerGroups) {
	where.Deselected, _ = schedule.FindDeselected(previous.groups(), p.seen(schedule, now), now)
	if !schedule.MayMove(previous.groups()) {
		return where
	}
	consider := func(cluster string, report fleet.Report) {
		if position, selected := schedule.Position(cluster); selected {
			if key, moved := schedule.MovedFrom(previous.groups(), position, schedule.StateAt(position, report, now)); moved {
				where.Moved = fleet.With(where.Moved, cluster, key)
			}
		}
	}
	reported(func(cluster string, report fleet.Report) {
		if !p.isRecorded(schedule, cluster) {
			consider(cluster, report)
		}
	})
	for cluster := range schedule.Record {
		counts, _ := schedule.Decide(cluster, p.seenOf(cluster, true))
		consider(cluster, counts)
	}
	return where
}

// isSettled says whether the cluster at a position, which moved, does not count any more in the group before (R52).
func (p *Planner) isSettled(position fleet.Position) bool {
	schedule := p.tracker.schedule
	switch is := p.tracker.State(position); {
	case fleet.InFlightStates.Has(is):
		return false
	case fleet.FailureStates.Has(is):
		_, there := fleet.Members{Groups: p.groups}.GroupWith(schedule.KeyOf(schedule.GroupOf(position)))
		return !there
	default:
		return true
	}
}

// reported gives a function that walks through all that was reported.
func (p *Planner) reported() func(take func(cluster string, report fleet.Report)) {
	tracker, others := p.tracker, p.others
	schedule := tracker.schedule
	return func(take func(cluster string, report fleet.Report)) {
		for position := range fleet.Position(tracker.NumClusters()) {
			cluster := schedule.Cluster(position)
			if tracker.Kind(position) != fleet.KindNone && !schedule.IsDeselected(position) && !p.isRecorded(schedule, cluster) {
				take(cluster, tracker.Of(position))
			}
		}
		for cluster, report := range others {
			take(cluster, report)
		}
	}
}

// isRecorded says whether the record of a schedule has a cluster.
func (p *Planner) isRecorded(schedule *schedule, cluster string) bool {
	_, is := schedule.Record[cluster]
	return is
}

// last gives what was reported of a cluster.
func (p *Planner) last(cluster string) fleet.Report {
	schedule := p.tracker.schedule
	if position, member := schedule.Position(cluster); member && !schedule.IsDeselected(position) && !p.isRecorded(schedule, cluster) {
		return p.tracker.Of(position)
	}
	return p.others[cluster]
}

// set replaces the report of a cluster; the zero report removes it.
func (p *Planner) set(cluster string, report fleet.Report) {
	tracker := p.tracker
	schedule := tracker.schedule
	position, member := schedule.Position(cluster)
	recorded, deselected := p.isRecorded(schedule, cluster), member && schedule.IsDeselected(position)
	if member && !deselected && !recorded {
		before := tracker.State(position)
		tracker.Report(position, report)
		if counts(before) != counts(tracker.State(position)) && schedule.CountsElsewhere(p.previousGroups(&schedule.options).groups(), position) {
			p.stale = true
		}
		return
	}
	if before := p.others[cluster]; (before.Kind == fleet.KindNone) != (report.Kind == fleet.KindNone) {
		p.names = nil
	}
	if p.others[cluster] = report; report.Kind == fleet.KindNone {
		delete(p.others, cluster)
	}
	switch counts := schedule.StillCounts(report, tracker.Now); {
	case deselected && counts && !recorded:
		tracker.Report(position, report)
	case recorded, deselected != counts:
		p.stale = true
	}
}

// previousGroups gives what the last answer knew of the clusters' groups, or what the option says of the result before.
func (p *Planner) previousGroups(options *options) *previousResult {
	if p.previous != nil {
		return p.previous
	}
	return options.previous
}

// seen gives what was reported of the clusters that are not selected and may count.
func (p *Planner) seen(schedule *schedule, now time.Time) map[string]fleet.Observation {
	var obs map[string]fleet.Observation
	for cluster, report := range p.others {
		if _, selected := p.groups.Position(cluster); selected || !p.isRecorded(schedule, cluster) && !schedule.MayCount(report, now) {
			continue
		}
		if obs == nil {
			obs = make(map[string]fleet.Observation)
		}
		obs[cluster] = fleet.Observation{Report: report, Deleting: p.deleting[cluster]}
	}
	return obs
}

// once finds the clusters that do not count any more, except for their start or their success.
func (p *Planner) once(now time.Time) []fleet.Departure {
	schedule := p.tracker.schedule
	if !schedule.options.starts.IsSet() && schedule.Wait == 0 {
		return nil
	}
	_, departed := schedule.FindDeselected(p.previousGroups(&schedule.options).groups(), p.seen(schedule, now), now)
	for cluster, entry := range schedule.Record {
		if position, selected := schedule.Position(cluster); selected && !schedule.IsDeselected(position) {
			if counts, recorded := schedule.Decide(cluster, p.seenOf(cluster, true)); !recorded {
				if start, is := schedule.ComesBack(position, counts, entry, now); is {
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
func (p *Planner) pendingRemoval(observed *observed) {
	observed.removed = p.removedNames()
	if observed.there = observed.removed; len(p.deleting) == 0 {
		return
	}
	observed.there = slices.DeleteFunc(slices.Clone(observed.removed), func(cluster string) bool { return p.deleting[cluster] })
	schedule := p.tracker.schedule
	observed.deleting = make(map[fleet.Position]bool)
	for cluster := range p.deleting {
		if position, member := schedule.Position(cluster); member && !schedule.IsDeselected(position) {
			observed.deleting[position] = true
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
