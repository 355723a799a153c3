// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// leaving is what a history tells of clusters that left. Those that have the version count then wherever they went.
type leaving struct {
	annotation string               // of the set, in which an operator names the ignored clusters
	deleted    map[string]time.Time // clusters that an operator ignores by deleting them
	stays      []stay
	views      []view           // what processes saw of this
	moved      map[string]int64 // by cluster: when it was not any more what it was in the first decisions, and where
	away       map[string]int64 // by cluster: when it was in no decision first
	failures   []goneFailure
	exposes    bool // agents keep to what they said, so that exposure has a bound
}

// A stay is where each selected cluster was, as of a resourceVersion at which the decisions were complete.
type stay struct {
	rv     int64
	places map[string]place
	groups map[string][]seenGroup // by ref
}

// A view is what the caches of a process showed when a reconcile began. It has no places if the decisions were incomplete.
type view struct {
	by     *reconcile
	places map[string]place
}

// A place is a group of a ref.
type place struct {
	ref, name string
	index     int
}

// A goneFailure counts also when its object is gone. It surely does where a controller had time to note it: it deleted the
// object knowing of the failure, or the failure stood for long.
type goneFailure struct {
	cluster, version string
	surely           bool
	from, until      time.Time // until the cluster succeeded, or got the version anew
}

// keepLeavers has a history count clusters that left.
func (h *history) keepLeavers(annotation string, deleted map[string]time.Time) {
	l := &leaving{
		annotation: annotation, deleted: maps.Clone(deleted),
		moved: map[string]int64{}, away: map[string]int64{},
	}
	for _, e := range h.events {
		if e.id.kind == Works {
			if e.gone {
				first(l.moved, e.object.GetNamespace(), e.rv)
			}
			continue
		}
		now := h.stayAt(func(i id) object { return h.at(i, e.rv) }, e.rv)
		if now.places == nil {
			continue
		}
		if len(l.stays) > 0 {
			l.compare(&now)
		}
		l.stays = append(l.stays, now)
	}
	for _, r := range h.reconciles {
		now := h.stayAt(func(i id) object { return h.at(i, r.view[i]) }, 0)
		l.views = append(l.views, view{r, now.places})
	}
	h.left = l
}

// first notes when something was so first.
func first[K comparable](in map[K]int64, what K, rv int64) {
	if _, is := in[what]; !is {
		in[what] = rv
	}
}

// stayAt reads where each cluster is from the objects that get gets. It has no places if the decisions are incomplete.
func (h *history) stayAt(get func(id) object, rv int64) (now stay) {
	s := h.look(func(i id) object {
		if i.kind == Works {
			return nil
		}
		return get(i)
	}, rv, time.Time{}, nil)
	if s.set == nil || s.incomplete() != "" {
		return now
	}
	now = stay{rv, map[string]place{}, map[string][]seenGroup{}}
	for _, r := range s.refs {
		now.groups[r.name] = r.groups
		for _, g := range r.groups {
			for _, c := range g.clusters {
				now.places[c] = place{r.name, g.name, g.index}
			}
		}
	}
	return now
}

// compare notes which clusters are not where they were.
func (l *leaving) compare(now *stay) {
	begin, before := l.stays[0].places, l.stays[len(l.stays)-1].places
	for c, p := range now.places {
		if begin[c] != p {
			first(l.moved, c, now.rv)
		}
	}
	for c := range before {
		if _, stays := now.places[c]; !stays {
			first(l.away, c, now.rv)
		}
	}
}

// placeOf is where a cluster was selected last: in truth, or as the results of a process tell, or else those of the processes
// before it.
func (l *leaving) placeOf(cluster string, rv int64, by *reconcile) (last place, known, itself bool) {
	if by == nil {
		for _, s := range slices.Backward(l.stays) {
			if p, is := s.places[cluster]; is && s.rv <= rv {
				return p, true, true
			}
		}
		return last, false, false
	}
	end := slices.IndexFunc(l.views, func(v view) bool { return v.by == by })
	for _, v := range slices.Backward(l.views[:end+1]) {
		p, is := v.places[cluster]
		if is && v.by.life == by.life {
			return p, true, true
		}
		if is && !known {
			last, known = p, true
		}
	}
	return last, known, false
}

// look adds the clusters that left to a scene, as of a resourceVersion and a time.
func (l *leaving) look(s *scene, rv int64, at time.Time, by *reconcile) {
	s.counts, s.bounded, s.known = true, l.exposes, by != nil
	s.ignoredClusters, s.deleted, s.failed, s.left = map[string]bool{}, map[string]bool{}, map[string]goneFailure{}, map[string]place{}
	s.moved, s.away = map[string]bool{}, map[string]bool{}
	for _, c := range strings.Split(s.set.Annotations[l.annotation], ",") {
		s.ignoredClusters[c] = true
	}
	for c, since := range l.deleted {
		if !at.Before(since) {
			s.deleted[c] = true
		}
	}
	for c, since := range l.moved {
		s.moved[c] = rv >= since
	}
	for c, since := range l.away {
		s.away[c] = rv >= since
	}
	for _, f := range l.failures {
		if !at.Before(f.from) && (f.until.IsZero() || at.Before(f.until)) {
			f.surely = f.surely || s.failed[f.cluster].surely && s.failed[f.cluster].version == f.version
			s.failed[f.cluster] = f
		}
	}
	if len(l.stays) > 0 {
		s.first = l.stays[0].groups
	}
	if s.incomplete() != "" {
		return
	}
	for _, clusters := range []map[string]bool{keys(s.works), keys(s.failed)} {
		for c := range clusters {
			// Of several placements none counts a cluster that got the version from a leader before when it had left.
			strays := len(s.refs) > 1 && slices.ContainsFunc(s.works[c], func(w seenWork) bool { return w.heldBack })
			if p, known, itself := l.placeOf(c, rv, by); known && !s.selects(c) && (itself || !strays) {
				s.left[c] = p
			}
		}
	}
	for _, r := range s.refs {
		for _, c := range slices.Sorted(maps.Keys(s.left)) {
			if s.left[c].ref == r.name {
				r.leave(c, s.left[c])
			}
		}
	}
}

func keys[T any](of map[string]T) map[string]bool {
	all := map[string]bool{}
	for k := range of {
		all[k] = true
	}
	return all
}

// leave puts a cluster that left into the group where it was. A group that is gone exists again, before all that are there.
func (s *seenRef) leave(cluster string, from place) {
	was := groupKey{from.index, from.name}
	i := slices.IndexFunc(s.groups, func(g seenGroup) bool { return groupKey{g.index, g.name} == was })
	if i < 0 {
		i = 0
		for i < s.revived && (groupKey{s.groups[i].index, s.groups[i].name}).compare(was) < 0 {
			i++
		}
		s.groups = slices.Insert(s.groups, i, seenGroup{index: from.index, name: from.name})
		s.revived++
	}
	s.groups[i].left = append(s.groups[i].left, cluster)
}

// leavers are those that left from the groups of a stage. Everywhere they are all that left or moved, since a controller
// may not know from where, and a moved one counts where it was.
func (s *scene) leavers(stage []seenGroup, l leniency) (all []string) {
	switch {
	case l.noLeft:
		return nil
	case l.everywhere:
		all = slices.Sorted(maps.Keys(s.left))
		for _, clusters := range []map[string]bool{s.moved, s.away} {
			for c, is := range clusters {
				if _, left := s.left[c]; is && !left && !slices.Contains(all, c) {
					all = append(all, c)
				}
			}
		}
		return all
	}
	for _, g := range stage {
		all = append(all, g.left...)
	}
	return all
}

// notDone lists the clusters that left with the version, and are neither done with it nor ignored, and those of them that
// have not failed.
func (s *scene) notDone(now time.Time, l leniency) (clusters, moving []string) {
	for c, from := range s.left {
		for _, r := range s.refs {
			if r.name != from.ref {
				continue
			}
			if at, _, _ := s.stands(c, s.wanted(c), r.config(), now, l); at != waiting && at != succeeded {
				clusters = append(clusters, c)
				if at != failed {
					moving = append(moving, c)
				}
			}
		}
	}
	slices.Sort(clusters)
	return clusters, moving
}

// belies lists the clusters that left and show that what a status says is not so.
func (s *scene) belies(said Saying, now time.Time) []string {
	all, moving := s.notDone(now, leniency{})
	switch {
	case said.Current && said.Succeeded:
		return all
	case said.Current && said.Complete:
		return moving
	}
	return nil
}

// timeOf is when the last event was received up to a resourceVersion.
func (h *history) timeOf(rv int64) time.Time {
	n, found := slices.BinarySearchFunc(h.events, rv, func(e event, rv int64) int { return cmp.Compare(e.rv, rv) })
	if !found {
		n--
	}
	if n < 0 {
		return time.Time{}
	}
	return h.events[n].at
}

// rvAt is the resourceVersion that follows all that was received by a time.
func (h *history) rvAt(at time.Time) (rv int64) {
	for _, e := range h.events {
		if !e.at.After(at) {
			rv = e.rv
		}
	}
	return rv + 1
}

// checkLeft judges what becomes of clusters that left: nothing is called complete while one of them is not done, and
// each loses its work in time.
func (h *history) checkLeft(patience, removeAfter time.Duration, says func(*replicaSet) Saying) (broken []violation) {
	for _, e := range h.states[id{ReplicaSets, h.setKey()}] {
		w, said := h.written[e.rv], says(e.object.(*replicaSet))
		if w == nil || !w.status {
			continue
		}
		r := h.reconciles[w.reconcile]
		known, truth := h.known(r, e.rv, w.sent), h.truth(e.rv-1)
		both := slices.DeleteFunc(known.belies(said, w.sent), func(c string) bool {
			return !slices.Contains(truth.belies(said, w.sent), c) || !slices.Contains(known.belies(said, r.read), c)
		})
		if len(both) > 0 {
			broken = append(broken, violation{invariant: invDone, rv: e.rv, text: fmt.Sprintf("%v left with the version and are not done, and it says %q", both, said.Message)})
		}
	}
	for _, f := range h.lasting(removeAfter+patience, func(s *scene, now time.Time) (clusters []string) {
		for c := range s.left {
			if has(s, c) {
				clusters = append(clusters, fmt.Sprintf("%s (count %d)", c, h.countsAnew(now)))
			}
		}
		return clusters
	}) {
		broken = append(broken, violation{invariant: invRemoved, rv: f.rv, text: fmt.Sprintf("%s has its work %v after it left%s", f.what, removeAfter+patience, h.whyStays(strings.Fields(f.what)[0], f, patience))})
	}
	return broken
}

// countsAnew is how often controllers had to count the time until they remove a work anew, by a time: with each process, and where
// its caches showed decisions that are partially observed.
func (h *history) countsAnew(now time.Time) (n int) {
	for _, began := range h.began {
		if !began.After(now) {
			n++
		}
	}
	for _, v := range h.left.views {
		if v.places == nil && !v.by.read.After(now) {
			n++
		}
	}
	return n
}

// reached is how many clusters have ever had the version that is wanted in the end.
func (h *history) reached() int {
	clusters, last := map[string]bool{}, h.truth(1<<62)
	for _, e := range h.events {
		if cluster := e.object.GetNamespace(); e.id.kind == Works && versionIn(e.object.(*manifestWork)) == last.wanted(cluster) {
			clusters[cluster] = true
		}
	}
	return len(clusters)
}
