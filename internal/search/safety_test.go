// SPDX-License-Identifier: Apache-2.0

package search

import "fmt"

// checkStart is R9 to R12, R22 to R28, R33 to R36 and R43: which clusters may start.
func (j *judge) checkStart(start set) string {
	if start == 0 {
		return ""
	}
	for i := range most {
		switch {
		case !start.has(i):
		case !j.all.has(i):
			return fmt.Sprintf("selection: @%d starts, which is not selected", i)
		case j.s.aborted && j.s.clusters[i].truth.version != 1:
			return fmt.Sprintf("touches: @%d is written, which never had the version", i)
		case j.has(i):
			return fmt.Sprintf("twice: @%d starts, which has the version (%v by the rules)", i, j.stands[i])
		}
	}
	if held := start & j.blocked(); held != 0 {
		return "freeze: " + starts(held) + ", and is frozen or not on the allowlist"
	}
	if j.stopped != "" {
		return "stop: " + starts(start) + " " + j.stopped
	}
	for i := range most {
		if x := j.stageOf(i); start.has(i) {
			g := int(j.s.clusters[i].shown)
			if held := j.behind(x); held != "" {
				return fmt.Sprintf("order: @%d of group %d starts %s", i, g, held)
			}
			if first := j.failedBefore(x) &^ j.blocked(); first&^start != 0 && !first.has(i) {
				return fmt.Sprintf("turn: @%d rolls back before %s, which failed", i, (first &^ start).in(marks))
			}
			if j.s.closed>>g&1 == 1 {
				return fmt.Sprintf("gate: @%d starts behind the closed gate of group %d", i, g)
			}
		}
	}
	for n := range j.n {
		x := &j.stages[n]
		if places := j.places(x); (start & x.clusters).len() > places {
			return fmt.Sprintf("places: %s in %s, where [%s] keep their places", starts(start&x.clusters), x.name, j.strangers(x).in(marks))
		}
		if free, taken := j.slots(x); start&x.clusters != 0 && (start&x.clusters).len() > max(0, free) {
			return fmt.Sprintf("concurrency: %s where %s, %s at a time in %s", starts(start&x.clusters), j.tell(taken), x.limit, x.name)
		}
	}
	if free, why := j.pace(); (start & j.counted).len() > free {
		return fmt.Sprintf("pace: %s, and %s", starts(start&j.counted), why)
	}
	return ""
}

// tell gives the states of clusters.
func (j *judge) tell(clusters set) string {
	s := ""
	for i := range most {
		if clusters.has(i) {
			stands := j.stands[i].String()
			if j.stands[i] == waiting && j.has(i) {
				stands = "in flight unseen"
			}
			if s != "" {
				s += ", "
			}
			s += fmt.Sprintf("@%d is %s", i, stands)
		}
	}
	if s == "" {
		return "no cluster is in flight"
	}
	return s
}

// checkRemoved is R7, R30 and R32: no selected cluster is removed, whatever the stored decisions show.
func (j *judge) checkRemoved(d *decision) string {
	wants := j.notes()
	for i := range most {
		switch c := &j.s.clusters[i]; {
		case !d.removed.has(i):
		case c.group != none:
			return fmt.Sprintf("removal: @%d is removed, which is selected", i)
		case j.s.torn == partial || j.s.torn == empty:
			return fmt.Sprintf("removal: @%d is removed while the groups are incomplete", i)
		case j.config.grace > 0 && c.gone < j.config.grace+1:
			return fmt.Sprintf("grace: @%d is removed before its grace period is over", i)
		case j.config.records && wants[i].as != unrecorded && !j.isRecorded(i, wants[i]):
			return fmt.Sprintf("record: @%d is removed before the record has what it has to", i)
		}
	}
	if kept := j.kept(wants) &^ d.removed; kept != 0 {
		return fmt.Sprintf("kept: [%s] not selected, and not removed", kept.in(marks))
	}
	if most := j.config.maxRemoved; most > 0 && d.removed.len() > most {
		return fmt.Sprintf("removal: %d are removed at once, %d may be", d.removed.len(), most)
	}
	return ""
}

// checkLists is R3, R4 and R19: clusters in flight are listed, and those that timed out.
func (j *judge) checkLists(d *decision) string {
	flying := j.of(j.all, standing.inFlight)
	late := j.of(j.all&^j.failed, func(x standing) bool { return x == timedOut })
	switch breach := j.breach(); {
	case d.breach != (breach != ""):
		return fmt.Sprintf("breach: the plan says %v, the rules say %q", d.breach, breach)
	case d.inFlight != flying:
		return fmt.Sprintf("in flight: the plan lists [%s], and in flight are [%s]", d.inFlight.in(marks), flying.in(marks))
	case d.timedOut != late:
		return fmt.Sprintf("deadline: the plan lists [%s], and past their deadline are [%s]", d.timedOut.in(marks), late.in(marks))
	case d.parked|d.unseen != j.blocked() || d.parked != j.blocked()&j.frozen():
		return fmt.Sprintf("freeze: the plan says that [%s] are frozen and [%s] not on the allowlist, and frozen are [%s] of [%s]", d.parked.in(marks), d.unseen.in(marks),
			j.frozen().in(marks), j.blocked().in(marks))
	case d.left != j.left:
		return fmt.Sprintf("deselected: the plan lists [%s], and of the deselected clusters [%s] count", d.left.in(marks), j.left.in(marks))
	case d.leftLate != j.of(j.left, func(x standing) bool { return x == timedOut }):
		return fmt.Sprintf("deselected: the plan says that of the deselected clusters [%s] timed out, and the rules say [%s]", d.leftLate.in(marks),
			j.of(j.left, func(x standing) bool { return x == timedOut }).in(marks))
	case d.succeeded && j.of(j.counted, func(x standing) bool { return x != done }) != 0:
		return fmt.Sprintf("ended: the rollout is called succeeded, where %s", j.tell(j.counted))
	case d.ended && (breach != "" || j.of(j.counted, func(x standing) bool { return x != done && x != timedOut }) != 0):
		return fmt.Sprintf("ended: the version is called the current one, where %s", j.tell(j.counted))
	}
	return ""
}

// starts is "a starts" or "a, b start".
func starts(clusters set) string {
	if clusters.len() == 1 {
		return clusters.in(marks) + " starts"
	}
	return clusters.in(marks) + " start"
}

// marks stand for the clusters in messages until the history gives them their names.
var marks = [most]string{"@0", "@1", "@2", "@3"}

// checkHeld finds clusters that wait for nothing.
func (j *judge) checkHeld(start set) string {
	if j.stopped != "" {
		return ""
	}
	left, _ := j.pace()
	left -= (start & j.counted).len()
	for n := range j.n {
		x := &j.stages[n]
		if j.behind(x) != "" {
			continue
		}
		open := j.waiting(x.clusters|x.aside) &^ j.blocked()
		for i := range most {
			if open.has(i) && j.s.closed>>j.s.clusters[i].shown&1 == 1 {
				open &^= 1 << i
			}
		}
		if free, _ := j.slots(x); open&x.aside&^start != 0 || left > 0 && (start&x.clusters).len() < min((open&x.clusters).len(), j.places(x), max(0, free)) {
			return fmt.Sprintf("blocked: [%s] wait in %s for nothing", (open &^ start).in(marks), x.name)
		}
	}
	return ""
}

// checkRecord is R48 and R49: the record has the deselected clusters that count, and no others.
func (j *judge) checkRecord(d *decision) string {
	if !j.config.records {
		return ""
	}
	for i, want := range j.notes() {
		if got := d.record[i]; got != want {
			return fmt.Sprintf("record: of @%d the plan wants %v, and the rules want %v", i, got, want)
		}
	}
	if m := j.memos(); d.memo != m.record || d.lasts != m.inRecord {
		return fmt.Sprintf("record: of the groups the plan wants %v with %v, and the rules want %v with %v", d.memo, d.lasts, m.record, m.inRecord)
	}
	return ""
}

// isRecorded says whether the stored record has as much of a cluster as an entry does (R48).
func (j *judge) isRecorded(i int, wants entry) bool {
	e := j.s.clusters[i].told
	return j.s.recorded == 0 && e.as != unrecorded && e.attempt == wants.attempt && e.weight(j.config.atOnce) >= wants.weight(j.config.atOnce)
}

// weight puts entries in the order of how much they count for.
func (e entry) weight(atOnce bool) int {
	switch {
	case e.as == asTimeOut || e.as == asFailed:
		return 3
	case e.as == asSucceeded:
		return 1
	case e.as != asStarted && atOnce: // in flight
		return 2
	}
	return 0
}

// kept are the clusters that have to be removed (R7, R30, R32, R48): nothing keeps their objects.
func (j *judge) kept(wants [most]entry) (due set) {
	if j.s.torn == partial || j.s.torn == empty {
		return 0
	}
	all := set(0)
	for i := range most {
		c := &j.s.clusters[i]
		switch o := c.view(); {
		case c.shown != none || o.version == absent || o.deleting:
		case j.config.grace > 0 && c.gone < j.config.grace+1:
		default:
			if all.add(i); !j.config.records || wants[i].as == unrecorded || j.isRecorded(i, wants[i]) {
				due.add(i)
			}
		}
	}
	if most := j.config.maxRemoved; most > 0 && due.len() > most {
		return 0
	}
	return due
}
