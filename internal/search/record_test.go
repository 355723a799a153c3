// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"time"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// entry is what the owner's record has of a cluster, with ages in place of times.
type entry struct {
	as      recorded
	applied uint8
	changed uint8 // the age of what it was recorded for
	attempt uint8
	group   uint8 // none: unknown
}

// recorded is the status of an entry.
type recorded uint8

const (
	unrecorded recorded = iota
	asTimeOut
	asSilent
	asProgressing
	asFailed
	asSucceeded
	asStarted
	asValidating
)

const entryBits = 10

func (e entry) pack() uint64 {
	return uint64(e.as) | uint64(e.applied)<<3 | uint64(e.changed)<<5 | uint64(e.attempt)<<7 | uint64(e.group)<<8
}

func unpackEntry(p uint64) entry {
	return entry{as: recorded(p & 7), applied: uint8(p >> 3 & 3), changed: uint8(p >> 5 & 3), attempt: uint8(p >> 7 & 1), group: uint8(p >> 8 & 3)}
}

// older lets time pass for an entry, up to an age.
func (e *entry) older(oldest uint8) {
	if e.as == unrecorded {
		return
	}
	e.applied, e.changed = max(e.applied, min(e.applied+1, oldest)), max(e.changed, min(e.changed+1, oldest))
}

var statuses = [...]status.RolloutStatus{
	asTimeOut: status.TimeOut, asSilent: status.ToApply, asProgressing: status.Progressing, asFailed: status.Failed,
	asSucceeded: status.Succeeded, asStarted: status.Skip, asValidating: status.Validating,
}

// entryOf reads an entry of the library's.
func entryOf(l *status.DeselectedCluster) (e entry) {
	for as, is := range statuses {
		if is == l.Status {
			e.as = recorded(as)
		}
	}
	e.applied, e.attempt, e.group = uint8(now.Sub(l.Applied)/tick), uint8(l.Attempt), none
	if e.changed = e.applied; !l.LastTransitionTime.IsZero() {
		e.changed = uint8(now.Sub(l.LastTransitionTime) / tick)
	}
	if l.Group.Index >= 0 {
		e.group = uint8(l.Group.Index)
	}
	return e
}

// memory gives the record as the controller reads it, through the owner's annotation.
func (k *controller) memory(s *state) *rollout.StoredRecord {
	key := [...]uint64{uint64(s.recorded) | s.told.pack()<<2, 0}
	for i := range s.clusters {
		key[0] = key[0]<<mostLasting | uint64(s.clusters[i].toldLasts)
		key[1] = key[1]<<entryBits | s.clusters[i].told.pack()
	}
	if m := k.memories[key]; m != nil {
		return m
	}
	record := status.Record{Version: version(s.recorded)}
	for i := range s.clusters {
		e := s.clusters[i].told
		if e.as == unrecorded {
			continue
		}
		r := status.Report{Cluster: names[i], Status: statuses[e.as], Applied: now.Add(-time.Duration(e.applied) * tick), Attempt: int(e.attempt)}
		if e.as != asSilent && e.as != asStarted {
			r.LastTransitionTime = now.Add(-time.Duration(e.changed) * tick)
		}
		record.Deselected = append(record.Deselected, status.DeselectedCluster{Report: r, Group: k.keyOf(e.group)})
	}
	record.Exposed = int(s.told.exposes)
	record.Breached = k.breached(s.told, func(i int) uint8 { return s.clusters[i].toldLasts })
	owner := &metav1.ObjectMeta{}
	if _, err := (status.Records{"": record}).Note(owner); err != nil {
		panic(err)
	}
	records, err := status.RecordsOf(owner)
	if err != nil {
		panic(err)
	}
	m := &rollout.StoredRecord{Version: version(0), Record: records[""], AtOnce: k.config.atOnce}
	k.memories[key] = m
	return m
}

// breached gives the breaches that last as the record has them.
func (k *controller) breached(m memo, of func(i int) uint8) (all []status.Breached) {
	for n, l := range m.breaches {
		if !l.is {
			continue
		}
		b := status.Breached{Of: int(l.of), AllGroups: l.group == none}
		if !b.AllGroups {
			b.Group = k.keyOf(l.group)
		}
		for i := range most {
			if of(i)>>n&1 == 1 {
				b.Clusters = append(b.Clusters, names[i])
			}
		}
		all = append(all, b)
	}
	return all
}

// memoOf reads what a record of the library's says of the groups that there were.
func memoOf(r *status.Record) (m memo, lasts [most]uint8) {
	m.exposes = uint8(r.Exposed)
	for n, b := range r.Breached {
		m.breaches[n] = lasting{is: true, group: uint8(b.Group.Index), of: uint8(b.Of)}
		if b.AllGroups {
			m.breaches[n].group = none
		}
		for _, cluster := range b.Clusters {
			lasts[cluster[0]-'a'] |= 1 << n
		}
	}
	return m, lasts
}

// keyOf is the key of a group.
func (k *controller) keyOf(group uint8) grouping.Key {
	switch {
	case group == none:
		return grouping.Key{Index: -1}
	case k.config.order != nil:
		return grouping.Key{Index: int32(group), Name: groupName(int(group))}
	default:
		return grouping.Key{Index: int32(group)}
	}
}

// note stores the record of a plan, and the one that the rules ask for.
func (k *controller) note(s *state, d *decision, noted [most]entry, m *memos) {
	if !k.config.records {
		return
	}
	s.recorded = 0
	for i := range s.clusters {
		s.clusters[i].entry, s.clusters[i].noted = d.record[i], noted[i]
		s.clusters[i].entryLasts = m.inRecord[i]
	}
	s.entry = m.record
	if !k.config.lag {
		s.tellRecord()
	}
}

// isStored says whether the record is what a plan wants it to be.
func (s *state) isStored(d *decision) bool {
	for i := range s.clusters {
		if s.clusters[i].told != d.record[i] || s.clusters[i].toldLasts != d.lasts[i] {
			return false
		}
	}
	return s.recorded == 0 && s.told == d.memo
}

// isLate says whether the controller reads a record that is not the last one. Then the store refuses another.
func (s *state) isLate() bool {
	return s.told != s.entry || slices.ContainsFunc(s.clusters[:], func(c cluster) bool { return c.told != c.entry || c.toldLasts != c.entryLasts })
}

// tellRecord brings the record up to date that the controller reads.
func (s *state) tellRecord() {
	s.told = s.entry
	for i := range s.clusters {
		s.clusters[i].told, s.clusters[i].toldLasts = s.clusters[i].entry, s.clusters[i].entryLasts
	}
}

// relabelRecord gives the version of the record the number that it has when another is wanted.
func (s *state) relabelRecord(back bool) {
	is := s.entry != memo{}
	for i := range s.clusters {
		is = is || s.clusters[i].entry.as != unrecorded || s.clusters[i].noted.as != unrecorded
	}
	switch {
	case !is:
	case !back:
		s.recorded = min(s.recorded+1, 2)
	case s.recorded < 2:
		s.recorded = 1 - s.recorded
	}
}

// What the rules say of the record is written down here once more.

// note is what the record has to have of a cluster at present, if it is about the wanted version.
func (j *judge) note(i int) entry {
	if j.s.recorded != 0 {
		return entry{}
	}
	if j.config.lag {
		return j.s.clusters[i].told // as the controller sees it
	}
	return j.s.clusters[i].noted
}

// object is the object that an entry stands in for.
func (e entry) object() object {
	o := object{
		version: 0, observed: e.as != asSilent && e.as != asStarted, applied: e.applied, changed: e.changed, attempt: e.attempt,
		condition: [...]condition{asProgressing: progressing, asFailed: failed, asTimeOut: failed, asSucceeded: succeeded, asStarted: unknown, asValidating: succeeded}[e.as],
	}
	if e.as == asSucceeded {
		o.verdict = verdict{says: yes, age: e.changed, attempt: e.attempt} // the entry says that it was found good
	}
	return o
}

// fails says whether an entry is a failure of the attempt that is wanted.
func (j *judge) fails(e entry) bool {
	return (e.as == asTimeOut || e.as == asFailed) && e.attempt >= j.s.attempt
}

// isFlight says whether an entry stands in for an object (R49).
func (j *judge) isFlight(e entry) bool {
	return j.config.atOnce && (e.as == asSilent || e.as == asProgressing || e.as == asValidating || e.as == asSucceeded)
}

// read says how a cluster stands by its object and by the record (R49), by what, and whether that is the record.
func (j *judge) read(i int) (x standing, counts object, noted bool) {
	c, e := &j.s.clusters[i], j.note(i)
	o := c.view()
	x, about := j.config.stand(o, j.s.attempt), o.version == 0
	was, gone := j.config.stand(e.object(), j.s.attempt), c.shown == none
	if e.as == asTimeOut {
		was = timedOut
	}
	switch {
	case e.as == unrecorded || c.aside:
	case j.fails(e):
		ended := about && (j.config.isGood(o) || o.attempt > e.attempt || !gone && !o.deleting && o.observed ||
			(o.saysFailed() || j.config.isBad(o)) && o.attempt == e.attempt) // the failure that is reported counts itself
		if !ended {
			return was, e.object(), true
		}
	case about:
	case j.isFlight(e) && (gone || e.as != asSucceeded):
		return was, e.object(), true
	case gone:
		return done, e.object(), true
	}
	if x == done && o.deleting && !gone && !j.s.aborted {
		return waiting, o, false // what succeeded is on its way out (R6)
	}
	return x, o, false
}

// notes gives what the record has to have after a plan (R48).
func (j *judge) notes() (all [most]entry) {
	for i := range all {
		switch c := &j.s.clusters[i]; {
		case j.s.torn == partial || j.s.torn == empty:
			all[i] = j.note(i)
		case !c.aside:
			all[i] = j.wanted(i)
		}
	}
	return all
}

// wanted is the entry of a cluster that counts.
func (j *judge) wanted(i int) (wants entry) {
	c, e, counts, x := j.config, j.note(i), j.counts[i], j.stands[i]
	is := &j.s.clusters[i]
	o, budgeted := is.view(), c.strategy != clusterv1alpha1.All || c.shares > 0 // R57
	began := budgeted || c.ramp > 0 || c.starts > 0
	wants = entry{applied: counts.applied, changed: counts.applied, attempt: counts.attempt, group: j.groupOf(i)}
	wants.changed = counts.since()
	moved := is.shown != none && wants.group != is.shown
	switch concerned := is.shown == none || moved || o.deleting || j.noted.has(i) || c.tells(e, o) && (c.atOnce || e.as == asFailed); {
	case !concerned || counts.version != 0:
	case x == timedOut && budgeted:
		wants.as = asTimeOut
	case x.fails() && x.inFlight() && budgeted:
		wants.as = asFailed
	case x.inFlight() && began && (c.atOnce || moved || j.elsewhere.has(i)):
		wants.as = c.recorded(counts)
	case c.wait > 0 && c.isGood(counts) && !x.inFlight() && wants.changed < c.wait:
		wants.as = asSucceeded
	case j.hasStarted(i, counts):
		wants.as, wants.changed = asStarted, wants.applied
	}
	if began := e.object(); wants.as == unrecorded && o.version != 0 && e.as != unrecorded && j.hasStarted(i, began) {
		return entry{as: asStarted, applied: e.applied, changed: e.applied, attempt: e.attempt, group: e.group}
	}
	if wants.as == unrecorded {
		return entry{}
	}
	return wants
}

// tells says whether an entry says the same as an object.
func (c *config) tells(e entry, o object) bool {
	return o.version == 0 && e.as != unrecorded && e.as == c.recorded(o) && e.applied == o.applied && e.changed == o.since() && e.attempt == o.attempt
}

// recorded is the status with which the record has an object in flight.
func (c *config) recorded(o object) recorded {
	switch {
	case !o.observed:
		return asSilent
	case c.validates && o.condition == succeeded && o.judged() == no:
		return asFailed
	case c.validates && o.condition == succeeded && o.judged() != yes:
		return asValidating
	}
	return [...]recorded{unknown: asSilent, progressing: asProgressing, failed: asFailed, succeeded: asSucceeded}[o.condition]
}

// hasStarted says whether a start counts for MaxStarts (R36).
func (j *judge) hasStarted(i int, o object) bool {
	return j.config.starts > 0 && o.version == 0 && o.applied < j.config.per && !j.s.clusters[i].aside
}

// groupOf is the group of a cluster: its present one, or the one where it counts since it was deselected or moved (R47, R52); none if unknown.
func (j *judge) groupOf(i int) uint8 {
	c := &j.s.clusters[i]
	before := c.former
	if e := j.note(i); e.as != unrecorded {
		before = e.group
	}
	if c.shown == none || j.hasMoved(i, before) {
		return before
	}
	return c.shown
}

// hasMoved says whether a cluster counts in the group before, and not where it is (R52).
func (j *judge) hasMoved(i int, before uint8) bool {
	c, x, now := j.config, j.stands[i], j.s.clusters[i].shown
	switch first, second := c.isMandatory(before), c.isMandatory(now); {
	case before == none || before == now, j.s.clusters[i].aside, !x.inFlight() && !x.fails(), c.strategy == clusterv1alpha1.All:
		return false
	case c.strategy == clusterv1alpha1.Progressive:
		return !j.s.aborted && first && (!second || before < now)
	case j.s.aborted && first != second:
		return second
	case j.s.aborted && (first || c.order == nil):
		return before > now
	case j.s.aborted:
		return !c.order.comesAfter(int(now), int(before))
	case first != second:
		return first
	case first || c.order == nil:
		return before < now
	default:
		return !c.order.comesAfter(int(before), int(now))
	}
}

// isMandatory says whether a group is mandatory (R12).
func (c *config) isMandatory(group uint8) bool { return slices.Contains(c.mandatory, int(group)) }

func version(n uint8) string { return "version " + string('0'+rune(n)) }
