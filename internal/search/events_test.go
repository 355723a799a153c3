// SPDX-License-Identifier: Apache-2.0

package search

import clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

// event is what happens next in a world: to a cluster by its place, with a group, a condition or a set.
type event struct {
	kind    kind
	cluster uint8
	arg     uint8
}

// kind is a kind of event. The hub's kinds come first, then the controller's.
type kind uint8

const (
	begins     kind = iota
	answers         // an agent answers with the condition arg
	delivers        // the cache shows the object of a cluster as it is
	passes          // time passes, to the next tick
	joins           // a cluster joins group arg
	leaves          // a cluster is deselected
	moves           // a cluster moves to group arg
	tears           // the scheduler rewrites its decisions; the cluster is in none of them, and arg is how that looks
	mends           // the decisions are written
	renews          // another version is wanted
	renewsLate      // another version is wanted, just when an older one is written for a cluster
	returns         // the version before is wanted again
	opens           // the gate of group arg opens
	closes          // the gate of group arg closes
	pauses          // an operator pauses the rollout
	resumes         // an operator resumes it
	retries         // an operator wants failed clusters to be tried again
	aborts          // an operator rolls back
	dies            // an agent is cut off
	lives           // an agent is connected again
	drops           // a cluster with a cut off agent is taken out of the decisions
	takesBack       // a cluster with a reconnected agent is taken into them
	goes            // an agent removes the finalizer of an object that is being deleted
	ignores         // an operator ignores a deselected cluster
	deletes         // a ManagedCluster is deleted, with its namespace
	shows           // the cache shows the record as it is
	plans           // the controller plans; arg are the clusters that start
	conflicts       // it plans, and storing the record is refused
	writes          // it writes the object of a cluster
	loses           // it writes the object of a cluster, and the answer is lost
	refuses         // a write or a deletion is refused
	removes         // it deletes the object of a cluster
	crashes         // it restarts
	judges          // a validator says on a cluster what arg says
	holds           // an operator freezes a cluster, as arg says
	releases        // an operator unfreezes a cluster
	reviews         // an operator puts a cluster on the allowlist
)

// move carries out an event. It is the only place where a state changes.
func (k *controller) move(s *state, e event) {
	c := &s.clusters[e.cluster]
	switch e.kind {
	case answers:
		s.left.fails -= uint8(bit(condition(e.arg) == failed))
		c.truth.answer(condition(e.arg))
	case delivers:
		c.deliver()
	case passes:
		k.pass(s)
	case joins, moves:
		s.left.moves--
		c.group, c.shown = e.arg, e.arg
	case leaves:
		s.left.moves--
		c.group, c.shown = none, none
	case tears:
		s.left.tears--
		s.torn, s.tornAge = tear(e.arg), 0
		for i := range s.clusters {
			if uint8(i) == e.cluster || s.torn == empty {
				s.clusters[i].shown = none
			}
		}
	case mends:
		s.torn, s.tornAge = whole, 0
		for i := range s.clusters {
			s.clusters[i].shown = s.clusters[i].group
		}
	case renewsLate:
		c.write(s.attempt)
		k.renew(s, false)
	case renews, returns:
		k.renew(s, e.kind == returns)
	case opens, closes:
		s.left.turns -= min(1, s.left.turns)
		s.closed ^= 1 << e.arg
	case pauses, resumes:
		s.left.turns -= min(1, s.left.turns)
		s.paused = e.kind == pauses
	case retries:
		s.attempt = 1
	case aborts:
		s.abort()
	case dies, lives, drops, takesBack, goes, ignores, deletes:
		k.depart(s, e)
	case judges, holds, releases, reviews:
		k.decree(s, e)
	case shows:
		s.tellRecord()
	case plans, conflicts:
		k.plan(s, set(e.arg), e.kind == conflicts)
	case writes:
		c.write(s.attempt)
		c.todo = doNothing
	case loses:
		s.left.faults--
		c.write(s.attempt)
		c.todo, c.own, c.doubt = doNothing, nothing, true
	case refuses:
		s.left.faults--
		c.todo = doNothing
	case removes:
		k.remove(c)
	case crashes:
		s.left.crashes--
		for i := range s.clusters {
			if k.neglects == keepsRecord {
				s.clusters[i].entry, s.clusters[i].entryLasts, s.entry = entry{}, 0, memo{}
			}
			if k.neglects == keepsVerdicts {
				s.clusters[i].truth.verdict = verdict{}
			}
		}
		s.tellRecord()
		s.before = memo{}
		for i := range s.clusters {
			c := &s.clusters[i]
			c.todo, c.gone, c.former, c.then, c.lasts = doNothing, 0, none, none, 0
			c.deliver()
		}
	}
	if !k.config.lag {
		for i := range s.clusters {
			s.clusters[i].deliver()
		}
	}
}

// answer lets the agent say a condition of the present version. A condition that is not new keeps its time.
func (o *object) answer(c condition) {
	if o.condition != c {
		o.condition, o.changed = c, 0
	}
	o.observed = true
}

// write stores the wanted version, or notes the attempt at it, unless that is there already. An object that is being deleted
// is not written; another one comes once it has disappeared.
func (c *cluster) write(attempt uint8) {
	o := &c.truth
	switch {
	case o.deleting:
	case o.version != 0:
		o.version, o.observed, o.applied, o.attempt = 0, false, 0, attempt
		c.keeps = false
		o.verdict.overtaken()
		if o.condition == unknown {
			o.changed = 0
		}
	case o.attempt < attempt: // which changes no spec, so that no agent answers it
		o.verdict.overtaken()
		if o.applied, o.attempt = 0, attempt; o.condition == failed && o.changed > 0 {
			o.changed = ancient
		}
	}
	c.own = *o
}

// deliver brings the cache up to date.
func (c *cluster) deliver() { c.seen, c.own, c.doubt = c.truth, nothing, false }

// pass is a tick.
func (k *controller) pass(s *state) {
	oldest := k.config.oldest()
	for i := range s.clusters {
		c := &s.clusters[i]
		c.truth.older(oldest)
		c.seen.older(oldest)
		c.own.older(oldest)
		for _, e := range [...]*entry{&c.entry, &c.told, &c.noted} {
			e.older(oldest)
		}
		if c.until > 0 {
			if c.until--; c.until == 0 {
				c.hold = free
			}
		}
		if c.gone > 0 {
			c.gone = min(c.gone+1, k.config.grace+1)
		}
	}
	if s.torn == hidden {
		s.tornAge++
	}
	if s.opens > 0 {
		if s.opens--; s.opens == 0 {
			s.closed = 0
		}
	}
}

// renew has another version wanted: a new one, or again the one before. The plan that is carried out is dropped.
func (k *controller) renew(s *state, back bool) {
	s.left.versions--
	s.relabelRecord(back)
	for i := range s.clusters {
		c := &s.clusters[i]
		c.todo, c.keeps, c.proven = doNothing, false, false
		for _, o := range [...]*object{&c.truth, &c.seen, &c.own} {
			o.relabel(back)
			if !k.config.back || s.left.versions == 0 {
				o.forget(k.config.oldest())
			}
		}
	}
}

// abort has the version before wanted on those that have the present one. The plan that is carried out is dropped.
func (s *state) abort() {
	s.aborted = true
	for i := range s.clusters {
		c := &s.clusters[i]
		c.todo = doNothing
		for _, o := range [...]*object{&c.truth, &c.seen, &c.own} {
			if o.relabel(true); o.version == 0 {
				o.applied = ancient
			}
		}
	}
}

// plan begins to carry out a plan that starts some clusters.
//
// It stores the record first. If that is refused it does nothing else. A cluster in flight without an object gets it again.
func (k *controller) plan(s *state, start set, refused bool) {
	k.settle(s)
	d := k.decide(s)
	j := k.config.judge(s)
	noted, memos := j.notes(), j.memos()
	k.remember(s, d, &memos)
	switch {
	case refused:
		s.left.faults--
	case s.isLate() && !s.isStored(d):
		refused = true
	default:
		k.note(s, d, noted, &memos)
	}
	if refused && k.neglects != storesFirst {
		return
	}
	for i := range s.clusters {
		c := &s.clusters[i]
		switch {
		case d.removed.has(i):
			c.todo = remove
		case start.has(i) && !c.view().deleting, d.inFlight.has(i) && c.view().version == absent && k.neglects != writesAgain:
			c.todo = write
		}
	}
}

// settle does what a controller does before it plans: where the answer to a write was lost, it looks what became of it.
func (k *controller) settle(s *state) {
	for i := range s.clusters {
		c := &s.clusters[i]
		switch {
		case k.neglects == "own writes":
			c.own, c.doubt = nothing, false
		case c.doubt && k.neglects == "lost answers":
			c.doubt = false
		case c.doubt:
			c.own, c.doubt = c.truth, false
		}
	}
}

// busy says whether a plan is being carried out.
func (s *state) busy() bool {
	for i := range s.clusters {
		if s.clusters[i].todo != doNothing {
			return true
		}
	}
	return false
}

// each calls f with every event that may happen next, but for plans.
func (k *controller) each(s *state, f func(event)) {
	busy := s.busy()
	for i := range s.clusters {
		k.eachOf(s, uint8(i), f)
	}
	g := k.config
	if (g.slow || !busy) && !(s.torn == hidden && s.tornAge+1 >= g.grace) {
		f(event{kind: passes})
	}
	if s.torn != whole {
		f(event{kind: mends})
	} else if s.left.tears > 0 {
		f(event{kind: tears, arg: uint8(empty)})
	}
	if s.left.versions > 0 {
		f(event{kind: renews})
		if g.back {
			f(event{kind: returns})
		}
	}
	if g.retry && s.attempt == 0 {
		f(event{kind: retries})
	}
	if g.aborts && !s.aborted {
		f(event{kind: aborts})
	}
	if s.left.crashes > 0 {
		f(event{kind: crashes})
	}
	if s.left.turns > 0 {
		for group := range uint8(none) {
			if s.closed>>group&1 == 1 {
				f(event{kind: opens, arg: group})
			} else if g.closed>>group&1 == 1 {
				f(event{kind: closes, arg: group})
			}
		}
		if s.paused {
			f(event{kind: resumes})
		} else if g.pauses {
			f(event{kind: pauses})
		}
	}
}

// eachOf calls f with the events of one cluster.
func (k *controller) eachOf(s *state, i uint8, f func(event)) {
	c, g := &s.clusters[i], k.config
	if c.ended {
		return
	}
	k.eachDeparture(s, i, f)
	k.eachDecree(s, i, f)
	if c.truth.version == 0 && !c.dead {
		for x := progressing; x <= failed; x++ {
			if g.mayAnswer(&c.truth, x, s.left.fails) {
				f(event{answers, i, uint8(x)})
			}
		}
	}
	if g.lag && (c.seen != c.truth || c.own != nothing) {
		f(event{kind: delivers, cluster: i})
	}
	if s.torn == whole && s.left.moves > 0 && c.home == none {
		for group := range uint8(none) {
			if c.group == group || s.aborted && g.strategy == clusterv1alpha1.ProgressivePerGroup && g.goesFirst(group, c.group) {
				continue
			}
			f(event{map[bool]kind{true: joins, false: moves}[c.group == none], i, group})
		}
		if c.group != none {
			f(event{kind: leaves, cluster: i})
		}
	}
	// A scheduler hides a cluster that the controller has seen where it is.
	if s.torn == whole && s.left.tears > 0 && c.group != none && c.gone == 0 {
		f(event{tears, i, uint8(partial)})
		if g.grace > 0 {
			f(event{tears, i, uint8(hidden)})
		}
	}
	if c.todo == doNothing {
		return
	}
	if c.todo == write {
		f(event{kind: writes, cluster: i})
		if s.left.versions > 0 {
			f(event{kind: renewsLate, cluster: i})
		}
	} else {
		f(event{kind: removes, cluster: i})
	}
	if s.left.faults > 0 {
		f(event{kind: refuses, cluster: i})
		if c.todo == write && g.lag {
			f(event{kind: loses, cluster: i})
		}
	}
}

// mayAnswer says whether an agent may say a condition next.
func (c *config) mayAnswer(o *object, x condition, fails uint8) bool {
	switch {
	case o.observed && o.condition == x, x == failed && fails == 0:
		return false
	case x == progressing:
		return c.answers && (!o.observed || o.condition == failed)
	case x == failed:
		return !o.observed || o.condition == progressing || c.regress
	default:
		return true
	}
}

// goesFirst says whether a rollout comes to a group before it comes to another one. During a rollback a cluster that moves to such a group
// counts in its former group until it is done. The model does not have that: the result before is made of a plan, and in the order of a plan
// the cluster counts in the present group. TestEachClusterWithTheFailedVersionRollsBackExactlyOnceInEveryHistory of package rollout does.
func (c *config) goesFirst(group, other uint8) bool {
	if other == none {
		return false
	}
	if first := c.isMandatory(group); first != c.isMandatory(other) {
		return first
	}
	return group < other
}
