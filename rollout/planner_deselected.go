package rollout

import (
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout/internal/fleet"
	"github.com/cohort-ocm/cohort/status"
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
		p.tracker = (&tracker{schedule: s, reports: old.reports, now: now}).fill()
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
	t := &tracker{schedule: s, reports: fleet.NewReports(s.NumClusters()), now: now}
	reported(func(cluster string, r fleet.Report) {
		if position, member := s.Position(cluster); member {
			t.reports.Note(position, r)
		}
	})
	for cluster := range o.record.all() {
		if position, member := s.Position(cluster); member {
			counts, _ := s.decide(cluster, observation{p.others[cluster], p.deleting[cluster], !s.IsDeselected(position)})
			t.reports.Note(position, counts)
		}
	}
	p.tracker = t.fill()
}

// isPlain says whether no cluster can have been deselected or moved.
func (p *Planner) isPlain(o *options) bool {
	previous := p.previousGroups(o)
	return len(p.others) == 0 && o.record.all() == nil && (previous == nil || previous.Groups == p.groups)
}

// placed finds the clusters that were deselected or moved and still count. The schedule is the one by the current groups.
func (p *Planner) placed(s *schedule, f *previousResult, reported func(func(string, fleet.Report)), now time.Time) (where fleet.FormerGroups) {
	where.Deselected, _ = s.findDeselected(f, p.seen(s, now), now)
	if !s.mayMove(f) {
		return where
	}
	consider := func(cluster string, r fleet.Report) {
		if position, selected := s.Position(cluster); selected {
			if key, moved := s.movedFrom(f, position, s.StateAt(position, r, now)); moved {
				where.Moved = with(where.Moved, cluster, key)
			}
		}
	}
	reported(func(cluster string, r fleet.Report) {
		if !p.isRecorded(s, cluster) {
			consider(cluster, r)
		}
	})
	for cluster := range s.options.record.all() {
		counts, _ := s.decide(cluster, observation{p.others[cluster], p.deleting[cluster], true})
		consider(cluster, counts)
	}
	return where
}

// mayMove says whether the selected cluster at a position of the tracker may count in another group than it does there, once it
// begins or ceases to be in flight or a failure (R52).
func (p *Planner) mayMove(position fleet.Position) bool {
	s := p.tracker.schedule
	previous := p.previousGroups(&s.options)
	if s.HasMoved(position) {
		return true
	}
	cluster := s.Cluster(position)
	e, known := s.options.record.entry(cluster)
	if !known && (previous == nil || previous.Members == s.Members) || s.IsDeselected(position) {
		return false
	}
	key := e.key
	if !known {
		key, known = previous.groupOf(cluster)
	}
	return known && key != s.KeyOf(s.GroupOf(position))
}

// isSettled says whether the cluster at a position, which moved, does not count any more in the group before (R52).
func (p *Planner) isSettled(position fleet.Position) bool {
	s := p.tracker.schedule
	switch is := p.tracker.states[position]; {
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
		for position := range fleet.Position(t.reports.Len()) {
			cluster := s.Cluster(position)
			if t.reports.Kind(position) != fleet.KindNone && !s.IsDeselected(position) && !p.isRecorded(s, cluster) {
				take(cluster, t.reports.Of(position))
			}
		}
		for cluster, r := range others {
			take(cluster, r)
		}
	}
}

// isRecorded says whether the record of a schedule has a cluster.
func (p *Planner) isRecorded(s *schedule, cluster string) bool {
	_, is := s.options.record.entry(cluster)
	return is
}

// last gives what was reported of a cluster.
func (p *Planner) last(cluster string) fleet.Report {
	s := p.tracker.schedule
	if position, member := s.Position(cluster); member && !s.IsDeselected(position) && !p.isRecorded(s, cluster) {
		return p.tracker.reports.Of(position)
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
		before := t.states[position]
		t.report(position, r)
		if counts(before) != counts(t.states[position]) && p.mayMove(position) {
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
	switch counts := s.stillCounts(r, t.now); {
	case deselected && counts && !recorded:
		t.report(position, r)
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
func (p *Planner) seen(s *schedule, now time.Time) map[string]observation {
	var obs map[string]observation
	for cluster, r := range p.others {
		if _, selected := p.groups.Position(cluster); selected || !p.isRecorded(s, cluster) && !s.mayCount(r, now) {
			continue
		}
		if obs == nil {
			obs = make(map[string]observation)
		}
		obs[cluster] = observation{Report: r, deleting: p.deleting[cluster]}
	}
	return obs
}

// once finds the clusters that do not count any more, except for their start or their success.
func (p *Planner) once(now time.Time) []departure {
	s := p.tracker.schedule
	if !s.options.starts.IsSet() && s.wait == 0 {
		return nil
	}
	var o observed
	_, o.departed = s.findDeselected(p.previousGroups(&s.options), p.seen(s, now), now)
	for cluster, e := range s.options.record.all() {
		if position, selected := s.Position(cluster); selected && !s.IsDeselected(position) {
			if counts, recorded := s.decide(cluster, observation{p.others[cluster], p.deleting[cluster], true}); !recorded {
				o.comesBack(s, position, counts, e, now)
			}
		}
	}
	return o.departed
}

// tellMore notes the failures that the record alone tells of, and the messages of the reports that count.
func (p *Planner) tellMore(r *Result) {
	s := r.schedule
	for cluster, said := range p.says {
		if position, member := s.Position(cluster); member {
			if _, recorded := s.decide(cluster, observation{p.others[cluster], p.deleting[cluster], !s.IsDeselected(position)}); !recorded {
				r.say(position, said)
			}
		}
	}
	for cluster := range s.options.record.all() {
		if position, member := s.Position(cluster); member {
			r.lose(position, p.isLost(position))
		}
	}
}

// isLost says whether only the record tells of the failure of the cluster at a position.
func (p *Planner) isLost(position fleet.Position) bool {
	s := p.tracker.schedule
	cluster := s.Cluster(position)
	obs := observation{p.others[cluster], p.deleting[cluster], !s.IsDeselected(position)}
	_, recorded := s.decide(cluster, obs)
	return obs.isLost(p.tracker.states[position], recorded)
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

// previousResult is what a result before knew of the groups of clusters.
type previousResult struct {
	schedule                           // its groups have those that had left; it is without what it knew of the results before
	departed   map[string]grouping.Key // of clusters of which only the start or the success counted
	lasting    []status.Breached       // the breaches that last
	incomplete bool                    // the groups were being written: they tell the part of a cluster, and its group only if it had left or moved
}

// knows gives what a result knows, and the results before it. Groups that are being written tell nothing of where a cluster
// was, unless nothing else tells it; nothing has started by them either (R47).
func (s *schedule) knows(before *previousResult, c *choice) *previousResult {
	if s.missing != "" && before != nil && !before.incomplete {
		return before
	}
	return s.newFormer(c)
}

// newFormer gives what a result knows.
func (s *schedule) newFormer(c *choice) *previousResult {
	f := &previousResult{schedule: *s, incomplete: s.missing != ""}
	f.options.previous = nil // or each result would keep all before it
	for i := range c.last {
		f.lasting = append(f.lasting, c.last[i].Breached)
	}
	for i := range c.departed {
		if f.departed == nil {
			f.departed = make(map[string]grouping.Key, len(c.departed))
		}
		f.departed[c.departed[i].cluster] = c.departed[i].key
	}
	return f
}

// groupOf gives the group in which a cluster was.
func (f *previousResult) groupOf(cluster string) (key grouping.Key, known bool) {
	if f == nil {
		return key, false
	}
	if position, was := f.Position(cluster); was {
		if f.incomplete && !f.IsDeselected(position) && !f.HasMoved(position) {
			return fleet.UnknownGroup(), true
		}
		return f.KeyOf(f.GroupOf(position)), true
	}
	key, known = f.departed[cluster]
	return key, known
}
