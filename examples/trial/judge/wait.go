// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cohort-ocm/cohort/examples/trial/internal/limits"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// look finds what should have happened and did not: up to now, before what comes next.
func (o *owner) look() { o.lookAgain(false) }

// lookAgain looks in any case, however short it is since the last time.
func (o *owner) lookAgain(always bool) {
	j := o.judge
	s := o.states.now()
	if o.fault != "" || s == nil || s.deleting || len(j.listing) > 0 || !always && j.now-o.last < j.interval || j.now <= j.whole {
		return
	}
	before := o.last
	o.last = j.now
	o.lookStuck(before)
	o.lookLeft()
	patience := int64(j.Patience) + j.lag
	if s.silent && !o.saidQuiet && j.judges() && j.now-o.changed > patience && j.now-j.whole > patience && o.holds() {
		o.saidQuiet = true
		j.find(Finding{Kind: Status, Grade: Broken, Owner: o.key, Text: fmt.Sprintf("its status has said nothing for %v", time.Duration(j.now-max(o.changed, j.whole)).Round(time.Second))})
	}
}

func (o *owner) holds() bool {
	for _, m := range o.members {
		if _, has := m.has(""); has {
			return true
		}
	}
	return false
}

// lookStuck finds that a cluster could start all the time, and nothing did. Time alone opens a stage between two looks when it
// was closed at the first and is open at the second: then it is looked up since when.
func (o *owner) lookStuck(before int64) {
	j := o.judge
	cluster, full := o.open(j.now)
	if cluster == "" {
		o.isOpen, o.said = false, false
		return
	}
	if !o.isOpen || o.isFull && !full {
		o.isOpen, o.said, o.openSince = true, false, j.now
		if low := max(before+j.interval, o.started, o.changed); low < j.now && before > 0 {
			high := j.now
			for high-low > int64(100*time.Millisecond) {
				if middle := low + (high-low)/2; o.isOpenAt(middle, full) {
					high = middle
				} else {
					low = middle
				}
			}
			o.openSince = high
		}
	}
	o.isFull = full
	since := max(o.openSince, o.started, o.changed, j.whole)
	if waited := j.now - since; !o.said && waited > int64(j.Patience)+j.lag {
		o.said = true
		f := Finding{Kind: Stuck, Grade: Broken, Owner: o.key, Cluster: cluster,
			Text: fmt.Sprintf("%s could start for %v, and nothing started", cluster, time.Duration(waited).Round(time.Millisecond))}
		if o.mayCountElsewhere(o.states.now().ignoredClusters(j.IgnoreAnnotation)) {
			f.Grade = Suspicious // a deselected or moved one may block it, unless it is ignored
		}
		if full {
			f.Grade = Suspicious // it may wait until fewer are exposed
		}
		if j.Should != nil {
			f.Should = j.Should(o.moment(cluster))
		}
		j.find(f)
	}
}

// isOpenAt says whether a cluster could start at a time as everything is now, as surely as at another time.
func (o *owner) isOpenAt(now int64, full bool) bool {
	cluster, isFull := o.open(now)
	return cluster != "" && (full || !isFull)
}

// open is a cluster that could start at a time as everything is now, or nothing. Full says that as many may be exposed already as the groups
// expose one after the other.
func (o *owner) open(now int64) (cluster string, full bool) {
	var before []*fleet
	spec := o.states.now().spec
	out := o.states.now().ignoredClusters(o.judge.IgnoreAnnotation)
	for i := range spec.refs {
		r := &spec.refs[i]
		p := o.judge.placing(r.placement)
		if p.read(); p.fleet == nil {
			return "", false
		}
		st := o.stagesOf(r, p.fleet, before)
		for n, s := range st.stages {
			var waiter *member
			unsettled := false
			for _, m := range s.members {
				c := m.stands(o, r.version, &r.strategy, now, 0, leniency{exact: true})
				if c.wait {
					if waiter == nil && !m.terminates() && !out[m.cluster] {
						waiter = m
					}
					unsettled = true
				}
				unsettled = unsettled || !out[m.cluster] && !c.succeed && (!c.give || n < st.first)
			}
			if waiter != nil && len(o.forbids(r, st, waiter, out, now, 0, leniency{exact: true})) == 0 {
				return waiter.cluster, o.isFullAt(r, st, n, out, now)
			}
			if unsettled && !r.all && (r.perGroup || n < st.first) {
				break
			}
		}
		before = append(before, p.fleet)
	}
	return "", false
}

// isFullAt says whether a cluster of a later stage is exposed when a stage has its turn, and with another start more would be exposed than the
// groups expose. A controller that counts what is exposed over all groups has the others wait then.
func (o *owner) isFullAt(r *ref, st *stages, turn int, out map[string]bool, now int64) bool {
	exposed, behind := 0, false
	for n, s := range st.stages {
		for _, m := range s.members {
			if c := m.stands(o, r.version, &r.strategy, now, 0, leniency{exact: true}); !out[m.cluster] && !c.wait && !c.succeed {
				exposed, behind = exposed+1, behind || n > turn
			}
		}
	}
	return behind && exposed >= r.exposes(st)
}

// exposes is the most clusters that have the version and are not done while stages go one after the other: those that failed before and are
// tolerated, and those in flight. With a deadline, clusters that timed out free their slots.
func (r *ref) exposes(st *stages) (most int) {
	failed := 0
	for i, s := range st.stages {
		n := len(s.members)
		tolerated, slots := 0, n
		if i >= st.first && r.perGroup {
			tolerated = min(n, limits.Count(r.failures, n))
		} else if i >= st.first {
			tolerated, slots = min(n, limits.Count(r.failures, st.total)), min(n, limits.Slots(*r.limit, n, st.size))
		}
		active := slots
		if r.deadline > 0 {
			active = tolerated + min(slots, n-tolerated)
		}
		most = max(most, failed+active)
		failed += min(active, tolerated)
	}
	return most
}

func (m *member) terminates() bool {
	for _, h := range m.holders {
		if s := h.now(); s != nil && s.deleting {
			return true
		}
	}
	return false
}

// lookLeft finds objects of clusters that are not selected for too long.
func (o *owner) lookLeft() {
	j := o.judge
	spec := o.states.now().spec
	var fleets []*fleet
	for i := range spec.refs {
		p := j.placing(spec.refs[i].placement)
		if p.read(); p.fleet == nil {
			clear(o.surplus)
			return
		}
		fleets = append(fleets, p.fleet)
	}
	for cluster, m := range o.members {
		_, has := m.has("")
		if !has || slices.ContainsFunc(fleets, func(f *fleet) bool { _, is := f.groupOf[cluster]; return is }) {
			delete(o.surplus, cluster)
		} else if _, known := o.surplus[cluster]; !known {
			o.surplus[cluster] = j.now
		}
	}
	for _, cluster := range sortedKeys(o.surplus) {
		since := o.surplus[cluster]
		counted := j.countsFrom(since)
		if since < 0 || !j.judges() || j.now-counted <= int64(j.Patience+j.RemoveAfter)+j.lag {
			continue
		}
		o.surplus[cluster] = -1 // said
		id, _ := o.members[cluster].has("")
		f := Finding{Kind: Left, Grade: Broken, Owner: o.key, Cluster: cluster,
			Text: fmt.Sprintf("%s still has %s, %v after it was not selected any more", cluster, id, time.Duration(j.now-since).Round(time.Millisecond))}
		switch {
		case counted > since:
			f.Text += fmt.Sprintf(", and %v after a process of its controller began last", time.Duration(j.now-counted).Round(time.Millisecond))
		case j.RemoveAfter > 0 && len(j.Began) == 0:
			f.Grade = Suspicious
			f.Text += "; a process of its controller may have begun meanwhile, and have counted anew"
		}
		j.find(f)
	}
}

// countsFrom is from when on a controller counts the time until it removes an object that it need not keep since a time: from then, or from
// when its present process began.
func (j *judge) countsFrom(since int64) int64 {
	if j.RemoveAfter == 0 {
		return since
	}
	for _, began := range j.Began {
		if at := began.UnixNano(); at <= j.now {
			since = max(since, at)
		}
	}
	return since
}
