// SPDX-License-Identifier: Apache-2.0

package rollout_test

import (
	"slices"

	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"

	"github.com/cohort-ocm/cohort/grouping"
	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// The rules on groups that are changed: R65, R66.

// strangers counts the clusters that count in some groups and are selected in none of them. R43: in a rollback those that left with the
// failed version do not matter.
func (o *oracle) strangers(groups []grouping.Key) (n int) {
	for i := range o.all {
		s := &o.all[i]
		if !s.left && !s.moved || !slices.Contains(groups, s.group) {
			continue
		}
		if o.back != nil && s.left {
			if _, has := o.back.has(s.name); has {
				continue
			}
		}
		n++
	}
	return n
}

// R65: as many of a group's waiting clusters as there are strangers have to wait until the others are settled.
func (o *oracle) r65(groups []grouping.Key) (rollout.BlockReason, int, bool) {
	if len(groups) != 1 || !slices.Contains(o.sequence(), groups[0]) {
		return rollout.BlockReason{}, 0, false
	}
	wait, unsettled, strangers := 0, false, o.strangers(groups)
	for i := range o.all {
		s := &o.all[i]
		if s.group != groups[0] || s.ignored {
			continue
		}
		if waiting(s) && !s.blocked {
			wait++
		}
		unsettled = unsettled || o.r3(s) && s.status != status.Failed
	}
	room := max(0, wait-strangers)
	return rollout.BlockReason{Type: rollout.BlockPlaces, Group: groups[0]}, room, strangers > 0 && (room > 0 || unsettled)
}

// exposedIn counts the clusters that are exposed in some groups.
func (o *oracle) exposedIn(groups []grouping.Key) (n int) {
	for i := range o.all {
		if s := &o.all[i]; !s.ignored && (o.r3(s) || r2(s)) && slices.Contains(groups, s.group) {
			n++
		}
	}
	return n
}

// stages are the groups that go one by one, and then those that are pooled.
func (o *oracle) stages() (stages [][]grouping.Key) {
	var pooled []grouping.Key
	for _, g := range o.sequence() {
		stages = append(stages, []grouping.Key{g})
	}
	for _, g := range o.groups {
		if !slices.Contains(o.sequence(), g) {
			pooled = append(pooled, g)
		}
	}
	if len(pooled) > 0 {
		stages = append(stages, pooled)
	}
	return stages
}

// soakedIn counts the clusters that soaked in some groups.
func (o *oracle) soakedIn(groups []grouping.Key) (n int) {
	for i := range o.all {
		if s := &o.all[i]; !s.ignored && s.status == status.Succeeded && !o.r5(s) && slices.Contains(groups, s.group) {
			n++
		}
	}
	return n
}

// r66Load is what a stage exposes by the current groups: how many are selected there and count, how many of these can hold slots and fail
// at most.
func (o *oracle) r66Load(groups []grouping.Key) (n, slots, failures int) {
	all, before := 0, 0
	for i := range o.all {
		s := &o.all[i]
		if s.ignored || !slices.Contains(groups, s.group) {
			continue
		}
		all++
		if s.left || s.moved {
			continue
		}
		n++
		if s.before {
			before++
		}
	}
	slots = all
	budget := 0
	switch {
	case o.kind == clusterv1alpha1.Progressive && !o.r12(groups[0]):
		slots, budget = o.r14(all, o.elsewhereIn(func(g grouping.Key) bool { return slices.Contains(groups, g) })), o.budgetOfAll()
	case o.kind == clusterv1alpha1.Progressive:
		if o.perGroup != nil { // R24
			slots = o.r24Limit(groups[0])
		}
	default:
		budget = o.budget(groups[0])
		if o.perGroup != nil {
			slots = o.r24Limit(groups[0])
		}
	}
	return n, min(slots, n), min(budget+before, n)
}

// r66Exposes is the most that some stages, one after the other, expose while the last of them are active, of which each has n clusters,
// slots and failures.
func (o *oracle) r66Exposes(complete, active [][]grouping.Key, free bool) int {
	total, without, holding := 0, 0, 0
	for i, stage := range slices.Concat(complete, active) {
		n, slots, failures := o.r66Load(stage)
		total += n
		switch isActive := i >= len(complete); {
		case free && isActive:
			without, holding = without+failures, holding+min(slots, n-failures)
		case free:
			without += failures
		case isActive:
			holding += slots
		default:
			holding += min(slots, failures)
		}
	}
	return without + min(holding, o.r35Of(total-without))
}

// r35Of is how many of n clusters that hold a slot or soaked hold one at most (R35): half, or the initial number.
func (o *oracle) r35Of(n int) int {
	if o.ramp == 0 {
		return 1 << 30
	}
	return max(o.ramp, n/2)
}

// isChain says whether each stage comes after the one before it.
func (o *oracle) isChain(stages [][]grouping.Key) bool {
	for i := 1; i < len(stages); i++ {
		if pool := len(stages[i]) > 1 || !slices.Contains(o.sequence(), stages[i][0]); !pool && !o.r33(stages[i-1][0], stages[i][0]) {
			return false
		}
	}
	return true
}

// r66Free says whether failed clusters release their slots.
func (o *oracle) r66Free() bool { return o.failedFrees || o.deadline != nil }

// r66Bounds says whether groups bound how many are exposed.
func (o *oracle) r66Bounds() bool { return o.kind != clusterv1alpha1.All && o.back == nil }

// r66InOrder is what the current groups expose, stage after stage.
func (o *oracle) r66InOrder(free bool) (most int) {
	stages := o.stages()
	passed, kept := 0, 0 // clusters of the stages before, and those of them that failed and keep their slots
	for i, stage := range stages {
		if free {
			most = max(most, o.r66Exposes(stages[:i], stages[i:i+1], free))
			continue
		}
		n, slots, failures := o.r66Load(stage)
		kept = min(kept, o.r35Of(passed+1)-1) // or none of these starts
		passed += n
		most = max(most, min(kept+slots, o.r35Of(passed)))
		kept = min(kept+min(slots, failures), o.r35Of(passed))
	}
	return most
}

// r66Before is what the result before and the record say, as long as a deselected or moved cluster counts.
func (o *oracle) r66Before() (most int) {
	if o.strangers(o.groups) == 0 {
		return 0
	}
	if o.former != nil && !o.former.half {
		most = o.former.exposes
	}
	if o.storedRecord != nil && o.storedRecord.Record.Version == o.storedRecord.Version {
		most = max(most, o.storedRecord.Record.Exposed)
	}
	return most
}

// R48, R66: what a record has of it.
func (o *oracle) r48Exposed() int {
	if len(o.out.Record.Deselected) == 0 || o.strangers(o.groups) == 0 || !o.r66Bounds() {
		return 0
	}
	return max(o.r66InOrder(o.r66Free()), o.r66Before())
}

// R66: no more are exposed than the groups expose.
func (o *oracle) r66([]grouping.Key) (rollout.BlockReason, int, bool) {
	if !o.r66Bounds() {
		return rollout.BlockReason{}, 0, false
	}
	stages := o.stages()
	budget := func(stage []grouping.Key) int {
		switch {
		case o.r12(stage[0]):
			return 0
		case o.kind == clusterv1alpha1.Progressive:
			return o.budgetOfAll()
		}
		return o.budget(stage[0])
	}
	free, out := o.r66Free(), o.strangers(o.groups) > 0
	for i := range o.all {
		free = free || o.all[i].status == status.TimeOut && !o.all[i].ignored
	}
	isComplete := func(stage []grouping.Key) bool {
		for _, g := range stage {
			if !o.r6Complete(g, budget(stage)) {
				return false
			}
		}
		return true
	}
	var complete, active [][]grouping.Key
	for i, stage := range stages {
		n, slots, failures := o.r66Load(stage)
		here, most, passed := o.exposedIn(stage), slots, min(slots, failures)
		if free {
			most, passed = failures+min(slots, n-failures), failures
		}
		waits := slices.ContainsFunc(stages[:i], func(before []grouping.Key) bool {
			return (len(stage) > 1 || !slices.Contains(o.sequence(), stage[0]) || o.r33(before[0], stage[0])) && !isComplete(before)
		})
		switch {
		case waits:
			out = out || here > 0 || o.ramp > 0 && o.soakedIn(stage) > 0
		case isComplete(stage):
			out, complete = out || here > passed, append(complete, stage)
		default:
			out, active = out || here > most, append(active, stage)
		}
	}
	reason := rollout.BlockReason{Type: rollout.BlockExposed, AllGroups: true, InFlight: o.exposedIn(o.groups), MaxConcurrency: max(o.r66InOrder(free), o.r66Before())}
	if !o.isChain(stages) {
		reason.MaxConcurrency = max(reason.MaxConcurrency, o.r66Exposes(complete, active, free))
	}
	return reason, reason.MaxConcurrency - reason.InFlight, out
}
