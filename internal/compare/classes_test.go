// SPDX-License-Identifier: Apache-2.0

package compare

import (
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
)

// class is a way in which the answers differ, told by the input alone.
type class struct {
	name string
	has  func(*view) bool
}

// classes are the classes of worlds that both sides accept; worlds that one side should refuse and the like are
// inputClasses.
func classes() []class {
	return []class{
		{"over concurrency", (*view).overConcurrency},
		{"in flight left out", (*view).inFlightLeftOut},
		{"time-out left out", (*view).timeOutLeftOut},
		{"breach unseen", (*view).breachUnseen},
		{"breach behind", (*view).breachBehind},
		{"breached group started", (*view).breachedGroupStarted},
		{"generous budget read as none", (*view).generousBudget},
		{"next group too early", (*view).nextGroupTooEarly},
		{"group half started", (*view).groupHalfStarted},
		{"time-out holds the rest", (*view).timeOutHoldsRest},
		{"mandatory overtaken", (*view).mandatoryOvertaken},
		{"exposed out of turn", (*view).exposedOutOfTurn},
	}
}

// classesOf names the classes that a world is in.
func classesOf(w world) (names []string) {
	v := look(w)
	for _, c := range append(inputClasses(), classes()...) {
		if c.has(v) {
			names = append(names, c.name)
		}
	}
	return names
}

// Progressive: once the mandatory groups let it, the reference goes through the reports in the order of
// their names and stops when it has listed MaxConcurrency clusters. It lists those in flight, and those
// reported ToApply until it has come across more failures than may be.

// walk says how many of the reports the reference looks at, whether it lists one that is reported ToApply,
// and whether it comes across the failure that breaks the budget.
func (v *view) walk() (looks int, starts, breach bool) {
	slots := 0
	if !v.allMandatory() {
		rest := v.stages[len(v.stages)-1].size
		slots = count(v.config.maxConcurrency, rest)
		if slots == 0 || slots > rest {
			slots = rest
		}
	}
	budget := v.all.budget
	if v.all.generous() {
		budget = 0 // see generousBudget
	}
	listed, failures := 0, 0
	for _, r := range v.ordered {
		looks++
		if r.inFlight() || r.standing == toApply && failures <= budget {
			listed++
			starts = starts || r.standing == toApply
		}
		if r.failure() {
			failures++
		}
		if listed >= slots {
			break
		}
	}
	return looks, starts, failures > budget
}

// unseen is the reports that the reference doesn't look at, for Progressive without mandatory groups.
func (v *view) unseen() []reported {
	if v.strategy.Type != clusterv1alpha1.Progressive || v.hasMandatory() {
		return nil
	}
	looks, _, _ := v.walk()
	return v.ordered[looks:]
}

// overConcurrency: a cluster reported ToApply takes the slot of one that is in flight already and has a
// later name. R11 starts none.
func (v *view) overConcurrency() bool {
	_, starts, _ := v.walk()
	return starts && v.inFlightLeftOut()
}

// inFlightLeftOut: a cluster is in flight behind the one at which the reference stops. R3 lists it.
func (v *view) inFlightLeftOut() bool {
	return has(v.unseen(), standing.inFlight)
}

// timeOutLeftOut: a deadline has passed behind the cluster at which the reference stops. R19 lists it.
func (v *view) timeOutLeftOut() bool {
	return has(v.unseen(), func(s standing) bool { return s == expired })
}

// breachUnseen: more clusters failed than may, but not where the reference looks (R10, R11).
func (v *view) breachUnseen() bool {
	if v.stageBreached() {
		return v.stopsEarlier() || v.stopsAtTimeOut()
	}
	if v.strategy.Type != clusterv1alpha1.Progressive || !v.all.breached() {
		return false
	}
	if v.hasMandatory() && (v.mandatoryActive() || v.stopsEarlier() || v.stopsAtTimeOut()) {
		return true // it stops among the mandatory groups, where there is none
	}
	// It starts those reported ToApply before the failure that breaks the budget, and stops when full.
	_, starts, breach := v.walk()
	return starts || !breach
}

// Groups one after the other: the reference lists what is in flight anywhere and then goes from group to
// group, until what it has listed outnumbers the failures so far.

// stopsEarlier: it stops at the first group, though the rules are past that one.
func (v *view) stopsEarlier() bool {
	return v.active > 0 && v.all.inFlight() > v.stages[0].failures()
}

// stopsAtTimeOut: it stops after the mandatory groups, since somewhere else a deadline has passed.
func (v *view) stopsAtTimeOut() bool {
	return v.hasMandatory() && !v.mandatoryActive() && v.all.count[expired] > 0
}

// breachBehind: a group behind the present one has more failures than it may (R10). The reference sees that only
// if it comes as far.
func (v *view) breachBehind() bool {
	if v.over <= v.active || v.over == len(v.stages) {
		return false
	}
	if v.mandatoryActive() || v.hasMandatory() && v.all.inFlight()+v.all.count[expired] > 0 {
		return true // it stops among the mandatory groups, at one that has no failure
	}
	starts, breach := v.pass()
	return starts || !breach
}

// pass says whether the reference, when it goes through the groups that are not mandatory, starts anything, and whether
// it comes to a breach.
func (v *view) pass() (starts, breach bool) {
	listed, failures := v.all.inFlight(), 0
	for _, s := range v.stages {
		if s.mandatory {
			continue
		}
		budget := s.budget
		if s.generous() {
			budget = 0 // see generousBudget
		}
		listed, failures = listed+s.waiting(), failures+s.failures()
		starts, breach = starts || s.waiting() > 0, s.failures() > budget
		if breach || listed > failures {
			break
		}
	}
	return starts, breach
}

// breachedGroupStarted: the first incomplete group has more failures than it may and clusters that wait.
// The reference reports the breach and starts them (R10: nothing starts).
func (v *view) breachedGroupStarted() bool {
	return v.stageBreached() && v.stages[v.active].waiting() > 0 && !v.stopsEarlier() && !v.stopsAtTimeOut()
}

// generousBudget: MaxFailures exceeds the clusters that it is a part of, and one of them failed (R15). The
// reference takes the default of 0.
func (v *view) generousBudget() bool {
	if v.mandatoryActive() || v.stopsAtTimeOut() {
		return false
	}
	switch v.strategy.Type {
	case clusterv1alpha1.Progressive:
		return v.all.generous() && v.all.failures() > 0 && !v.stopsEarlier()
	case clusterv1alpha1.ProgressivePerGroup:
		for i, s := range v.stages {
			if i <= v.active && s.generous() && s.failures() > 0 && (i == 0 || !v.stopsEarlier()) {
				return true
			}
		}
	}
	return false
}

// nextGroupTooEarly: no more clusters wait or are in flight than have failed so far, so that the reference
// goes past a group that R10 waits for.
func (v *view) nextGroupTooEarly() bool {
	if v.strategy.Type != clusterv1alpha1.ProgressivePerGroup || v.active == len(v.stages) ||
		v.over < len(v.stages) || v.mandatoryActive() || v.stopsEarlier() || v.stopsAtTimeOut() {
		return false
	}
	failures := 0
	for i := range v.stages[:v.active+1] {
		failures += v.stages[i].failures()
	}
	later := false
	for _, s := range v.stages[v.active+1:] {
		later = later || s.waiting() > 0 || s.generous() && s.failures() > 0
	}
	return later && v.stages[v.active].waiting()+v.all.inFlight() <= failures
}

// groupHalfStarted: clusters in flight in the first incomplete group, or behind it, hold back those of
// that group that wait, though all groups before are complete (R10, R11).
func (v *view) groupHalfStarted() bool {
	return v.mayStart() && v.stopsEarlier()
}

// timeOutHoldsRest: the mandatory groups are complete and nothing is in flight, but a deadline has passed
// since a cluster's report; while the report stays so, the reference starts nothing.
func (v *view) timeOutHoldsRest() bool {
	return v.mayStart() && v.stopsAtTimeOut() && !v.stopsEarlier()
}

// mandatoryOvertaken: a mandatory group has a cluster that was reported TimeOut; nothing of it waits, and
// nothing at all is in flight or past its deadline. The reference goes on to the other groups (R12:
// breach).
func (v *view) mandatoryOvertaken() bool {
	return v.mandatoryActive() && v.stageBreached() &&
		v.all.inFlight() == 0 && v.all.count[expired] == 0 && v.stages[v.active].waiting() == 0 && !v.breachAnyway()
}

// breachAnyway: under Progressive the reference comes to the same when it goes through all the reports.
func (v *view) breachAnyway() bool {
	_, starts, breach := v.walk()
	return v.strategy.Type == clusterv1alpha1.Progressive && breach && !starts
}

// exposedOutOfTurn: clusters behind the present stage have the version and are not done with it. Fewer may therefore start there than
// wait (R66), and the reference starts them all.
func (v *view) exposedOutOfTurn() bool {
	if v.active == len(v.stages) || v.over < len(v.stages) || v.all.breached() || !v.isExposedBehind() || v.stopsEarlier() || v.stopsAtTimeOut() {
		return false
	}
	return v.room() < v.stages[v.active].waiting()
}

// isExposedBehind says whether a cluster is exposed behind the present stage.
func (v *view) isExposedBehind() bool {
	for i := v.active + 1; i < len(v.stages); i++ {
		if v.stages[i].exposed() > 0 {
			return true
		}
	}
	return false
}

// room is how many more clusters may be exposed (R66).
func (v *view) room() int {
	deadline := v.config.ProgressDeadline != "" && v.config.ProgressDeadline != "None"
	free, passed, most := deadline || v.all.count[timeOut] > 0, 0, 0
	for _, s := range v.stages {
		slots, budget := s.size, min(s.budget, s.size)
		if v.strategy.Type == clusterv1alpha1.Progressive && !s.mandatory {
			budget = min(v.all.budget, s.size)
			if limit := count(v.config.maxConcurrency, s.size); limit > 0 {
				slots = min(limit, s.size)
			} else if v.perGroup > 0 {
				slots = min(v.perGroup, s.size)
			}
		}
		active, complete := slots, min(slots, budget)
		if free {
			active, complete = budget+min(slots, s.size-budget), budget
		}
		most, passed = max(most, passed+active), passed+complete
	}
	return max(0, most-v.all.exposed())
}

func (v *view) hasMandatory() bool { return len(v.stages) > 0 && v.stages[0].mandatory }
func (v *view) mandatoryActive() bool {
	return v.active < len(v.stages) && v.stages[v.active].mandatory
}
func (v *view) allMandatory() bool {
	return len(v.stages) == 0 || v.stages[len(v.stages)-1].mandatory
}

// stageBreached: the present stage has more failures than it may.
func (v *view) stageBreached() bool {
	return v.active < len(v.stages) && v.stages[v.active].breached()
}

// mayStart says whether the rules start anything.
func (v *view) mayStart() bool {
	if v.active == len(v.stages) || v.over < len(v.stages) || v.all.breached() || v.stages[v.active].waiting() == 0 {
		return false
	}
	if v.isExposedBehind() && v.room() == 0 {
		return false
	}
	concurrency := count(v.config.maxConcurrency, v.stages[v.active].size)
	return concurrency == 0 || v.mandatoryActive() || v.stages[v.active].inFlight() < concurrency
}

func has(reports []reported, is func(standing) bool) bool {
	for _, r := range reports {
		if is(r.standing) {
			return true
		}
	}
	return false
}
