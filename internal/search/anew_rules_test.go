// SPDX-License-Identifier: Apache-2.0

package search

import (
	"fmt"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// The rules on groups that are cut again (R65, R66), and on breaches that last (R10).

// home are the clusters of a stage that are selected in it, and count.
func (j *judge) home(x *stage) (home set) {
	for i := range most {
		if shown := j.s.clusters[i].shown; x.clusters.has(i) && shown != none && x.groups.has(int(shown)) {
			home.add(i)
		}
	}
	return home
}

// strangers are those that keep a place in a stage (R65).
func (j *judge) strangers(x *stage) set {
	strangers := x.clusters &^ j.home(x)
	for i := range most {
		if j.s.aborted && j.left.has(i) && j.s.clusters[i].view().version == 1 {
			strangers &^= 1 << i
		}
	}
	return strangers
}

// isCutAnew says whether a cluster keeps a place.
func (j *judge) isCutAnew() bool {
	for n := range j.n {
		if j.strangers(&j.stages[n]) != 0 {
			return true
		}
	}
	return false
}

// places says how many clusters of a stage may start in addition to those that keep a place there (R65).
func (j *judge) places(x *stage) int {
	strangers := j.strangers(x).len()
	if !x.sequence || strangers == 0 {
		return most
	}
	open := j.waiting(x.clusters) &^ j.blocked()
	switch {
	case open.len() > strangers:
		return open.len() - strangers
	case j.of(x.clusters, func(x standing) bool { return x == running || x == soaking }) != 0:
		return 0
	default:
		return most
	}
}

// exposed are the clusters that have the version and are not done (R40), also those that the controller has not seen yet.
func (j *judge) exposed(clusters set) (exposed set) {
	for i := range most {
		if clusters.has(i) && (j.stands[i].inFlight() || j.stands[i].fails() || j.has(i) && j.stands[i] == waiting) {
			exposed.add(i)
		}
	}
	return exposed
}

// load is how many clusters are selected in a stage, how many of them may have a slot, and how many may fail.
func (j *judge) load(x *stage) (n, slots, failures int) {
	home := j.home(x)
	n = home.len()
	budget := x.budget
	if j.config.strategy == progressive && !x.mandatory {
		budget = j.budgetOfAll()
	}
	slots = share(x.limit, n, x.clusters.len(), most)
	return n, min(n, slots), min(n, budget+(home&j.past).len())
}

// holding is how many may have a slot by R35, if n have one or have soaked.
func (c *config) holding(n int) int {
	if c.ramp == 0 {
		return most
	}
	return max(c.ramp, n/2)
}

// frees says whether failures give their slots back: at once, at a deadline, or as a timeout is reported.
func (j *judge) frees() bool {
	return j.config.frees() || j.of(j.counted, func(x standing) bool { return x == timedOut }) != 0
}

func (c *config) frees() bool { return c.free || c.deadline > 0 }

// isBounded says whether R66 applies at all.
func (j *judge) isBounded() bool { return j.config.strategy != clusterv1alpha1.All && !j.s.aborted }

// sequence gives the stages in their order: each behind those that it comes after (R33).
func (j *judge) sequence() (order []*stage) {
	var taken set
	for range j.n {
		for n := range j.n {
			if x := &j.stages[n]; !taken.has(n) && x.after&^taken == 0 {
				taken.add(n)
				order = append(order, x)
				break
			}
		}
	}
	return order
}

// exposeTogether is how many some stages expose that are complete, together with some that are active (R40).
func (j *judge) exposeTogether(complete, active []*stage, frees bool) int {
	all, failed, hold := 0, 0, 0 // failed ones without a slot
	for _, x := range complete {
		n, slots, failures := j.load(x)
		if all += n; frees {
			failed += failures
		} else {
			hold += min(slots, failures)
		}
	}
	for _, x := range active {
		n, slots, failures := j.load(x)
		if all += n; frees {
			failed, hold = failed+failures, hold+min(slots, n-failures)
		} else {
			hold += slots
		}
	}
	return failed + min(hold, j.config.holding(all-failed))
}

// exposeInOrder is how many the groups of now expose, one stage after the other.
func (j *judge) exposeInOrder(frees bool) (exposed int) {
	order := j.sequence()
	passed, kept := 0, 0
	for i, x := range order {
		if frees {
			exposed = max(exposed, j.exposeTogether(order[:i], order[i:i+1], frees))
			continue
		}
		n, slots, failures := j.load(x)
		kept = min(kept, j.config.holding(passed+1)-1) // or none of these starts, as the first needs a slot, too
		passed += n
		exposed = max(exposed, min(kept+slots, j.config.holding(passed)))
		kept = min(kept+min(slots, failures), j.config.holding(passed))
	}
	return exposed
}

// ceiling is what the next result knows of how many may be exposed.
func (j *judge) ceiling() int {
	switch {
	case !j.isBounded():
		return 0
	case j.isCutAnew():
		return max(j.exposeInOrder(j.config.frees()), j.ceilingBefore())
	default:
		return j.exposeInOrder(j.config.frees())
	}
}

// ceilingBefore is what the result before and the record say.
func (j *judge) ceilingBefore() (most int) {
	if !j.isCutAnew() {
		return 0
	}
	most = int(j.s.before.exposes)
	if j.s.recorded == 0 && j.config.records {
		most = max(most, int(j.s.told.exposes))
	}
	return most
}

// bound says how many may be exposed (R66), and whether more clusters start only within that: a cluster keeps a place, or a stage is
// crowded.
func (j *judge) bound() (most int, holds bool) {
	if !j.isBounded() {
		return 0, false
	}
	frees := j.frees()
	var complete, active []*stage
	holds = j.isCutAnew()
	for _, x := range j.sequence() {
		n, slots, failures := j.load(x)
		turn := true
		for before := range j.n {
			turn = turn && !(x.after.has(before) && !j.isComplete(&j.stages[before]))
		}
		exposes := 0
		switch {
		case !turn:
			soaked := j.of(x.clusters, func(x standing) bool { return x == done })
			holds = holds || j.config.ramp > 0 && soaked != 0
		case j.isComplete(x):
			complete = append(complete, x)
			if exposes = failures; !frees {
				exposes = min(slots, failures)
			}
		default:
			active = append(active, x)
			if exposes = min(n, slots+failures); !frees {
				exposes = slots
			}
		}
		holds = holds || j.exposed(x.clusters).len() > exposes
	}
	most = max(j.exposeInOrder(frees), j.ceilingBefore())
	if j.config.order != nil {
		most = max(most, j.exposeTogether(complete, active, frees))
	}
	return most, holds
}

// atOnce says how many clusters may start in addition to the exposed ones (R66), and why no more.
func (j *judge) atOnce() (free int, why string) {
	bound, holds := j.bound()
	if !holds {
		return most, ""
	}
	exposed := j.exposed(j.counted)
	return max(0, bound-exposed.len()), fmt.Sprintf("at most %d may be exposed, where %s", bound, j.tell(exposed))
}

// breached is a breach that lasts, with its clusters.
type breached struct {
	lasting
	clusters set
}

// budgetOfAll is the budget over all clusters (R11).
func (j *judge) budgetOfAll() int {
	return share(j.config.budget, (j.counted & j.all).len(), j.counted.len(), 0)
}

// budgetOf is the budget of a breach that lasts.
func (j *judge) budgetOf(b breached) int {
	if b.group != none && j.config.isMandatory(b.group) {
		return 0
	}
	return share(j.config.budget, int(b.of), b.clusters.len(), 0)
}

// last gives the breaches that last (R10).
func (j *judge) last() (all []breached) {
	c := j.config
	if c.strategy == clusterv1alpha1.All || j.s.aborted || share(c.budget, 100, 100, 0) == 0 {
		return nil
	}
	failed := j.of(j.counted&^j.past, standing.fails)
	add := func(b breached) {
		b.clusters &= failed
		covers := func(a, b breached) bool { return b.clusters&^a.clusters == 0 && j.budgetOf(a) <= j.budgetOf(b) }
		if b.clusters.len() <= j.budgetOf(b) {
			return
		}
		var kept []breached
		for _, other := range all {
			if covers(other, b) {
				return
			}
			if !covers(b, other) {
				kept = append(kept, other)
			}
		}
		all = append(kept, b)
	}
	told := func(m memo, of func(*cluster) uint8) {
		for n, b := range m.breaches {
			clusters := set(0)
			for i := range most {
				if of(&j.s.clusters[i])>>n&1 == 1 {
					clusters.add(i)
				}
			}
			if b.is {
				add(breached{b, clusters})
			}
		}
	}
	told(j.s.before, func(c *cluster) uint8 { return c.lasts })
	if c.records && j.s.recorded == 0 {
		told(j.s.told, func(c *cluster) uint8 { return c.toldLasts })
	}
	if j.s.torn == partial || j.s.torn == empty {
		return all
	}
	for _, x := range j.sequence() {
		if x.sequence && x.group() != unknownGroup && j.failures(x.clusters) > x.budget {
			add(breached{lasting{true, uint8(x.group()), uint8(j.home(x).len())}, x.clusters})
		}
	}
	if c.strategy == progressive && c.isShare() && failed.len() > j.budgetOfAll() {
		add(breached{lasting{true, none, uint8((j.counted & j.all).len())}, failed})
	}
	return all
}
