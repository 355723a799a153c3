// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"
	"math/bits"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// standing is where a cluster stands by the rules, which are written down here once more, from RULES.md and not from the
// code, over the objects of the model and not over reports.
type standing uint8

const (
	waiting  standing = iota // R27: has another version, or none
	running                  // R3: has the version, and neither succeeded nor failed
	failing                  // R3: failed, within its deadline
	soaking                  // R5
	done                     // R6
	timedOut                 // R4
)

func (x standing) String() string {
	return [...]string{"waiting", "in flight", "failed", "soaking", "done", "timed out"}[x]
}

func (x standing) fails() bool    { return x == failing || x == timedOut }
func (x standing) settled() bool  { return x == done || x.fails() }
func (x standing) inFlight() bool { return x == running || x == failing || x == soaking }

// stand reads an object, where an attempt is wanted. What failed in an attempt before waits again (R39).
func (c *config) stand(o object, attempt uint8) standing {
	if x := c.ofItsAttempt(o); o.attempt >= attempt || !x.fails() {
		return x
	}
	return waiting
}

// ofItsAttempt reads an object for the attempt that it has.
func (c *config) ofItsAttempt(o object) standing {
	if o.version != 0 {
		return waiting
	}
	since := o.since()
	late := c.deadline > 0 && since >= c.deadline
	switch good := c.isGood(o); {
	case good && c.soak > 0 && c.strategy != clusterv1alpha1.All && since < c.soak:
		return soaking
	case good:
		return done
	case late:
		return timedOut
	case o.saysFailed() || c.isBad(o):
		return failing
	default:
		return running
	}
}

// saysFailed says whether the agent said of the attempt that it failed.
func (o object) saysFailed() bool {
	return o.version == 0 && o.observed && o.condition == failed && (o.attempt == 0 || o.changed < o.applied)
}

// stage is groups that go together.
type stage struct {
	name      string
	groups    set
	limit     string
	budget    int
	clusters  set // those that count
	aside     set // those that do not (R37)
	mandatory bool
	sequence  bool // it is one group, and its gate a barrier
	after     set  // the stages that have to be complete before it starts, and those before these
}

// judge is what the rules say of a state as the controller sees it.
type judge struct {
	config    *config
	s         *state
	stands    [most]standing
	counts    [most]object // what that is read from, the cluster's object or the record's
	noted     set          // those that stand by the record
	failed    set          // those of them that it has as timed out
	elsewhere set          // those that another placement removes (R50)
	all       set          // the clusters that are shown
	left      set          // those that are not, and count (R46)
	in        [most]uint8  // the group of each of these; none: no group, unknownGroup: it is unknown
	counted   set          // the ones among them that count (R37)
	past      set          // those with failures that do not count (R38)
	stages    [2*none + 1]stage
	n         int        // of the stages
	stopped   string     // why nothing starts anywhere
	lasts     []breached // the breaches that last (R10)
}

func (c *config) judge(s *state) *judge {
	j := &judge{config: c, s: s}
	for i := range s.clusters {
		var noted bool
		if j.stands[i], j.counts[i], noted = j.read(i); noted {
			j.noted.add(i)
			if j.note(i).as == asTimeOut {
				j.failed.add(i)
			}
		}
		switch o := s.clusters[i].view(); {
		case !s.aborted:
		case o.version > 1 || o.version == 0 && o.applied == ancient:
			j.stands[i] = done // it never had the version (R43)
		case o.version == 1 && s.clusters[i].shown == none:
			j.stands[i] = c.stand(object{applied: o.applied}, 0) // it rolls back since the abort, or since it got the version
		}
		j.enter(i)
		if s.clusters[i].past {
			j.past.add(i)
		}
	}
	j.divide()
	j.lasts = j.last()
	j.stopped = j.stop()
	return j
}

// unknownGroup is the group of deselected clusters with an unknown group.
const unknownGroup = none + 1

// enter puts a cluster into its group.
func (j *judge) enter(i int) {
	c := &j.s.clusters[i]
	j.in[i] = j.groupOf(i)
	switch counts := j.stands[i].inFlight() || j.stands[i].fails(); {
	case c.shown != none:
		j.all.add(i)
	case c.aside || !counts:
		j.in[i] = none
		return
	default:
		j.left.add(i)
		if j.in[i] == none {
			j.in[i] = unknownGroup
		}
	}
	if !c.aside {
		j.counted.add(i)
	}
}

// has says whether a cluster has the version in truth, in the attempt that is wanted, and keeps it.
func (j *judge) has(i int) bool {
	c := &j.s.clusters[i]
	return c.truth.version == 0 && c.truth.attempt >= j.s.attempt && (!c.truth.deleting || j.s.aborted || j.config.stand(c.truth, j.s.attempt) != done)
}

// isComplete is R6.
func (j *judge) isComplete(x *stage) bool {
	return j.unsettled(x.clusters) == 0 && j.failures(x.clusters) <= x.budget
}

// stageOf gives the stage of a cluster; nil if it is not selected.
func (j *judge) stageOf(i int) *stage {
	for n := range j.n {
		if x := &j.stages[n]; x.clusters.has(i) || x.aside.has(i) {
			return &j.stages[n]
		}
	}
	return nil
}

// behind says what blocks a stage, apart from what stops everything (R10, R12, R23, R33); empty if nothing.
func (j *judge) behind(x *stage) string {
	for n := range j.n {
		before := &j.stages[n]
		if x.after.has(n) && !j.isComplete(before) {
			return fmt.Sprintf("before %s is complete, where %s", before.name, j.tell(j.unsettled(before.clusters)))
		}
		if (x.after.has(n) || x == before) && before.sequence && before.groups&set(j.s.closed) != 0 {
			return "behind the closed gate of " + before.name
		}
	}
	return j.wait(x)
}

// wait says whether the last success of those before a stage is too young (R34); empty if it is not.
func (j *judge) wait(x *stage) string {
	for n := range j.n {
		for i := range most {
			o := j.counts[i]
			age, in := o.since(), j.groupOf(i)
			of := j.stages[n].clusters.has(i) || j.s.clusters[i].shown == none && !j.s.clusters[i].aside && o.version == 0 &&
				(in == none || j.stages[n].groups.has(int(in)))
			if x.after.has(n) && of && j.stands[i] == done && age < j.config.wait {
				return fmt.Sprintf("%dm after the success of @%d in %s, and not %dm", age, i, j.stages[n].name, j.config.wait)
			}
		}
	}
	return ""
}

// divide makes the stages (R9 to R12).
func (j *judge) divide() {
	c := j.config
	var taken set
	add := func(x stage) {
		for i := range most {
			if g := j.in[i]; g != none && x.groups.has(int(g)) {
				x.clusters.add(i)
			}
		}
		x.clusters, x.aside = x.clusters&j.counted, x.clusters&^j.counted
		if x.mandatory && x.clusters|x.aside == 0 {
			return // skipped
		}
		taken |= x.groups
		x.after = 1<<j.n - 1
		j.stages[j.n] = x
		j.n++
	}
	pool := set(1<<none - 1)
	switch pooled := c.strategy == all || c.strategy == progressive && (len(c.mandatory) == 0 || j.s.aborted); {
	case pooled:
		pool.add(unknownGroup)
	case !j.s.aborted:
		add(stage{name: "an unknown group", groups: 1 << unknownGroup, mandatory: true, sequence: true})
	}
	perGroup := ""
	if c.groupLimit > 0 && c.strategy == clusterv1alpha1.ProgressivePerGroup {
		perGroup = fmt.Sprint(c.groupLimit)
	}
	for g := range none {
		for _, m := range c.mandatory {
			if m == g && !j.s.aborted {
				add(stage{name: fmt.Sprint("mandatory group ", g), groups: 1 << g, limit: perGroup, mandatory: true, sequence: true})
			}
		}
	}
	if j.s.aborted {
		j.turnRound(add, perGroup)
		return
	}
	switch rest := pool &^ taken; c.strategy {
	case clusterv1alpha1.ProgressivePerGroup:
		for g := range none {
			if rest.has(g) {
				add(stage{name: fmt.Sprint("group ", g), groups: 1 << g, limit: perGroup, sequence: true})
				x := &j.stages[j.n-1]
				x.budget = share(c.budget, j.home(x).len(), x.clusters.len(), 0)
			}
		}
		j.follow()
	case clusterv1alpha1.Progressive:
		add(stage{name: "all groups", groups: rest, limit: c.concurrency})
		j.stages[j.n-1].budget = most // the budget over all clusters applies instead
	default:
		add(stage{name: "all groups", groups: rest, budget: most})
	}
}

// follow has each group come after those in an order, in addition to the mandatory ones (R33).
func (j *judge) follow() {
	for i := range j.n {
		x := &j.stages[i]
		if j.config.order == nil || x.mandatory {
			continue
		}
		x.after = 0
		for n := range j.n {
			if before := &j.stages[n]; before.mandatory || j.config.order.comesAfter(x.group(), before.group()) {
				x.after.add(n)
			}
		}
	}
}

// group is the first of the stage's.
func (x *stage) group() int { return bits.TrailingZeros8(uint8(x.groups)) }

// of counts the clusters of a set that stand as asked.
func (j *judge) of(clusters set, is func(standing) bool) (found set) {
	for i := range most {
		if clusters.has(i) && is(j.stands[i]) {
			found.add(i)
		}
	}
	return found
}

func (j *judge) waiting(clusters set) set {
	return j.of(clusters, func(x standing) bool { return x == waiting })
}
func (j *judge) unsettled(clusters set) set {
	return j.of(clusters, func(x standing) bool { return !x.settled() }) &^ j.passed()
}
func (j *judge) failures(clusters set) int { return j.of(clusters&^j.past, standing.fails).len() }

// breach says which budget is breached (R10 to R12); empty if none is.
func (j *judge) breach() string {
	for i := range j.n {
		if x := &j.stages[i]; j.failures(x.clusters) > x.budget {
			return fmt.Sprintf("%d failed in %s, %d may", j.failures(x.clusters), x.name, x.budget)
		}
	}
	if budget := j.budgetOfAll(); j.config.strategy == clusterv1alpha1.Progressive && !j.s.aborted && j.failures(j.counted) > budget {
		return fmt.Sprintf("%d failed, %d may", j.failures(j.counted), budget)
	}
	for _, b := range j.lasts {
		return fmt.Sprintf("[%s] failed as the groups were then, %d of %d may", b.clusters.in(marks), j.budgetOf(b), b.of)
	}
	return ""
}

// lacks says how the share of failures does not suffice (R57); empty if it does.
func (j *judge) lacks() string {
	if n := j.of(j.counted, standing.fails).len(); j.config.shares > 0 && n > j.config.mayFail {
		return fmt.Sprintf("%d failed, with a share of %d failures", n, j.config.mayFail)
	}
	return ""
}

// stop says why nothing starts (R10, R22, R23, R28, R57).
func (j *judge) stop() string {
	switch breach := j.breach(); {
	case j.s.torn == partial || j.s.torn == empty:
		return "while the groups are incomplete"
	case j.s.paused:
		return "while the rollout is paused or this hub has no share"
	case breach != "":
		return "past a breach: " + breach
	case j.lacks() != "":
		return "while " + j.lacks()
	}
	return ""
}

// slots says how many clusters of a stage may start, for what the controller sees and for what is so. It must not have
// forgotten what it wrote.
func (j *judge) slots(x *stage) (free int, taken set) {
	for i := range most {
		if !x.clusters.has(i) || j.stands[i] == failing && (j.config.free || j.s.aborted) {
			continue
		}
		if j.stands[i].inFlight() || j.has(i) && j.stands[i] == waiting {
			taken.add(i)
		}
	}
	return share(x.limit, j.home(x).len(), x.clusters.len(), most) - taken.len(), taken
}

// pace says how many clusters may start in all stages together, and why no more (R35, R36, R57).
func (j *judge) pace() (free int, why string) {
	free, why = j.atOnce()
	if j.config.ramp > 0 {
		soaked := j.of(j.counted, func(x standing) bool { return x == done }).len()
		var taken set
		for n := range j.n {
			_, holding := j.slots(&j.stages[n])
			taken |= holding
		}
		if left := max(0, max(j.config.ramp, soaked)-taken.len()); left < free {
			free, why = left, fmt.Sprintf("%d soaked, where %s", soaked, j.tell(taken))
		}
	}
	if shares := j.config.shares; shares > 0 {
		var taken set
		for i := range most {
			if j.counted.has(i) && (j.stands[i].inFlight() || j.has(i) && j.stands[i] == waiting) {
				taken.add(i)
			}
		}
		if left := max(0, shares-taken.len()); left < free {
			free, why = left, fmt.Sprintf("the share of concurrency is %d, where %s", shares, j.tell(taken))
		}
	}
	if j.config.starts > 0 {
		recent := 0
		for i := range most {
			e := j.note(i)
			if j.hasStarted(i, j.counts[i]) || e.as != unrecorded && j.counts[i].version != 0 && j.hasStarted(i, e.object()) {
				recent++
			}
		}
		if left := max(0, j.config.starts-recent); left < free {
			free, why = left, fmt.Sprintf("%d started a while ago, %d may within %dm", recent, j.config.starts, j.config.per)
		}
	}
	return free, why
}
