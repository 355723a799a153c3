// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"slices"
	"time"
)

// reading is how clusters count that left, or moved to another group.
type reading int

const (
	withoutLeft   reading = iota // a deselected cluster counts nowhere
	whereTheyAre                 // in the group that has the name of theirs, if there is one
	whereTheyWere                // in the group in which they started, by index and name
)

// decided is where complete decisions had each cluster.
type decided struct {
	at      time.Time
	groups  map[string]groupKey
	exposes int // what the strategy exposes of these groups
}

// decisions are all that were complete, in their order.
func (j *checker) decisions() []decided {
	if j.decided != nil {
		return j.decided
	}
	for _, e := range j.events {
		if e.id.kind != Placements && e.id.kind != Decisions {
			continue
		}
		s := j.truthAt(e.rv)
		if s == nil || s.ref.incomplete != "" {
			continue
		}
		d := decided{e.at, map[string]groupKey{}, s.exposes()}
		for _, g := range s.ref.groups {
			for _, c := range g.clusters {
				d.groups[c] = g.key()
			}
		}
		j.decided = append(j.decided, d)
	}
	return j.decided
}

func (g *seenGroup) key() groupKey { return groupKey{g.index, g.name} }

// left are the clusters that have the version, or something lasts of them, and that are not selected, by their group as they are read. One
// that is gone is among them.
func (s *snapshot) left(as reading) map[groupKey][]string {
	all := map[groupKey][]string{}
	if as == withoutLeft {
		return all
	}
	for _, cluster := range s.j.trial.clusters(s.j.trial.pool) {
		if s.isSelected(cluster) || s.stands(cluster, time.Time{}, leniency{}).at == waiting {
			continue
		}
		of := s.named(s.j.trial.groupOf[short(cluster)])
		if began, known := s.startedIn(cluster); known && as == whereTheyWere {
			of = began
		}
		all[of] = append(all[of], cluster)
	}
	return all
}

// named is the group that has a name now. One that is gone has no index.
func (s *snapshot) named(name string) groupKey {
	for i := range s.ref.groups {
		if g := &s.ref.groups[i]; g.name == name {
			return g.key()
		}
	}
	return groupKey{-1, name}
}

// startedIn is the group in which a cluster was when it got what it has, as far as complete decisions tell that a process may have read
// then.
func (s *snapshot) startedIn(cluster string) (of groupKey, known bool) {
	h, has := s.observed[cluster]
	if !has || h.version != s.version || !h.started {
		h = s.ghosts[cluster]
	}
	all := s.j.decisions()
	read := h.applied.Add(-s.j.trial.worst)
	first := slices.IndexFunc(all, func(d decided) bool { return d.at.After(read) })
	if first < 0 {
		first = len(all)
	}
	for _, d := range all[max(0, first-1):] {
		if of, known = d.groups[cluster]; known {
			break
		}
	}
	return of, known
}

// stillFailed says whether a deselected cluster has failed with the version and has not succeeded since. What it says in between ends no
// failure (R49); as long as it was selected, it did.
func (s *snapshot) stillFailed(cluster string) (failing bool) {
	since := s.deselectedSince(cluster)
	for i, states := range s.j.states {
		if i.kind != s.j.delivery.object {
			continue
		}
		for _, e := range states {
			if e.rv > s.rv || e.object.GetNamespace() != cluster {
				break
			}
			switch h := s.j.readAt(i, e.rv, e.object); {
			case e.gone || h.version != s.version || !h.started || h.answer == does:
				failing = false
			case h.answer == doesNot:
				failing = true
			default:
				failing = failing && !e.at.Before(since)
			}
		}
	}
	return failing
}

// deselectedSince is when complete decisions left a cluster out last.
func (s *snapshot) deselectedSince(cluster string) (since time.Time) {
	now, was := s.j.timeOf(s.rv), false
	for _, d := range s.j.decisions() {
		if s.rv != 1<<62 && d.at.After(now) {
			break
		}
		_, is := d.groups[cluster]
		if was && !is {
			since = d.at
		}
		was = is
	}
	return since
}

// moved is a selected cluster that is in flight, and started in a group that is gone. It still counts in that one: the group exists
// again, before all others.
func (s *snapshot) moved(now time.Time, l leniency, as reading) (cluster string, of groupKey) {
	if as != whereTheyWere {
		return "", of
	}
	for _, c := range s.j.trial.clusters(s.j.trial.pool) {
		at := s.stands(c, now, l)
		if !s.isSelected(c) || at.out || at.at != inFlight && at.at != soaking {
			continue
		}
		began, known := s.startedIn(c)
		if gone := !slices.ContainsFunc(s.ref.groups, func(g seenGroup) bool { return g.key() == began }); known && gone {
			return c, began
		}
	}
	return "", of
}

// unshownFor is how long a process may wait for its caches to show its own write until it asks the API server.
const unshownFor = 10 * time.Second

// span is from one time until another one.
type span struct{ from, to time.Time }

// unshown are the times in which a process may wait in vain for its caches to show a write: another client removed the object before they
// did. No event need come of it.
func (j *checker) unshown() (all []span) {
	for _, at := range j.gone { // no event tells of a ManagedCluster that is gone, so a process asks now and then
		all = append(all, span{at, at.Add(unshownFor + 2*time.Second)})
	}
	for n := range j.writes {
		w := &j.writes[n]
		if w.kind != j.delivery.object || w.verb == "DELETE" || !w.done || w.rv == 0 {
			continue
		}
		i := id{w.kind, w.key}
		states := j.states[i]
		g := slices.IndexFunc(states, func(e event) bool { return e.gone && e.rv > w.rv })
		if g < 0 {
			continue
		}
		gone := states[g].at
		if d := j.deletion(i, gone); d != nil && d.life == w.life && d.sent.After(w.sent) {
			continue
		}
		if !slices.ContainsFunc(j.reconciles, func(r *reconcile) bool {
			return r.life == w.life && r.began.After(w.sent) && r.view[i] > 0 && r.began.Before(later(gone, w.answered).Add(j.trial.worst))
		}) {
			all = append(all, span{w.sent, later(w.answered, gone).Add(unshownFor)})
		}
	}
	return all
}

// acts is from when on a process could do at a time what it could have done since another one: later, if it waited meanwhile for a write
// that its caches do not show.
func acts(since, now time.Time, unshown []span) time.Time {
	for _, s := range unshown {
		if !s.from.After(now) {
			since = later(since, s.to)
		}
	}
	return since
}
