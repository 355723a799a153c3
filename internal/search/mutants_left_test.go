// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// leftMutants lack a rule on deselected clusters with the version, or a duty of a controller that keeps a record.
var leftMutants = []mutant{
	{name: "counts only selected clusters (R46)", world: "agents that are cut off", broken: "exposure", planner: countsSelected},
	{name: "forgets a failure when its cluster is deselected (R46)", world: "agents that are cut off from a canary", broken: "stop", planner: countsSelected},
	{name: "climbs a ramp without counting deselected clusters (R35)", world: "cut off at a pace", broken: "pace", planner: countsSelected},
	{name: "uses shares without counting deselected clusters (R57)", world: "cut off with shares", broken: "pace", planner: countsSelected},
	{name: "starts a group although a cluster deselected from the one before is in flight (R46)", world: "cut off while groups wait", broken: "order", planner: countsSelected},
	{name: "calls it done without deselected clusters (S6)", world: "agents that are cut off from a canary", broken: "ended", planner: told(
		func(in *input, r *rollout.Result) {
			if wrong, err := plan(in.ofSelected()); err == nil {
				wrong.Next, wrong.InFlight = r.Next, r.InFlight
				*r = *wrong
			}
		})},
	{name: "forgets the group of a moved cluster (R52)", world: "groups that change", broken: "order", planner: given(func(in *input) { in.previous = nil })},
	{name: "forgets the group of a deselected cluster (R47)", world: "objects that disappear at once, of groups", broken: "blocked", planner: remembered(func(in *input, l *status.DeselectedCluster) bool {
		l.Group.Index = -1
		return true
	})},
	{name: "removes before the record has it (R48)", world: "objects that disappear at once", broken: "record", planner: told(pretend)},
	{name: "removes although the record is refused (R48)", world: "objects that disappear at once", broken: "exposure", planner: told(pretend), duty: storesFirst},
	{name: "records no cluster in flight (R48)", world: "objects that disappear at once", broken: "exposure", planner: forgetting(asSilent, asProgressing)},
	{name: "records no start (R36)", late: true, world: "cut off at a pace", broken: "pace", planner: forgetting(asStarted)},
	{name: "records no success (R34)", late: true, world: "cut off while groups wait", broken: "order", planner: forgetting(asSucceeded)},
	{name: "records no failure (R48)", world: "agents that are cut off", broken: "exposure", planner: forgetting(asTimeOut, asFailed)},
	{name: "keeps deselected clusters as evidence (R7)", world: "agents that are cut off", broken: "kept", planner: told(func(in *input, r *rollout.Result) {
		r.Removed = slices.DeleteFunc(r.Removed, func(name string) bool {
			return slices.ContainsFunc(r.Deselected, func(c rollout.Cluster) bool { return c.Name == name })
		})
	})},
	{name: "ignores the record (R49)", world: "objects that disappear at once", broken: "stays", planner: remembered(func(*input, *status.DeselectedCluster) bool { return false })},
	{name: "keeps no record (duty 8)", world: "objects that disappear at once", broken: "exposure", planner: given(func(in *input) { in.memory = nil })},
	{name: "lets any report end a recorded failure (R49)", late: true, world: "agents that are cut off from a canary", broken: "deselected", planner: remembered(func(in *input, l *status.DeselectedCluster) bool {
		return !slices.ContainsFunc(in.reports, func(r status.Report) bool { return r.Cluster == l.Cluster && !r.Applied.IsZero() })
	})},
	{name: "counts the record of another version (R49)", late: true, world: "cut off by an older version", broken: "deselected", planner: given(func(in *input) {
		memory := *in.memory
		memory.Record.Version = memory.Version
		in.memory = &memory
	})},
	{name: "ignores no deselected cluster (R37)", world: "agents that are cut off", broken: "deselected", planner: without("Ignored")},
	{name: "does not report what is being deleted (duty 8)", world: "agents that are cut off", broken: "deselected", planner: given(func(in *input) {
		in.reports = slices.DeleteFunc(in.reports, func(r status.Report) bool { return r.Deleting })
	})},
	{name: "takes a cluster for done while its object is being deleted (R6)", world: "agents that are cut off from a canary", broken: "order", planner: reported(func(in *input, r *status.Report) {
		r.Deleting = r.Deleting && r.Status != status.Succeeded
	})},
	{name: "restarts without the record (duty 8)", world: "objects that disappear at once", broken: "exposure", planner: plan, duty: keepsRecord},
	{name: "does not watch deleted ManagedClusters (duty 8)", world: "objects that disappear at once", broken: "deselected", planner: plan, duty: hearsDeletions},
	{name: "starts clusters in the places of deselected or moved ones (R65)", world: "cut off and moved", broken: "places", planner: startsHeld(rollout.BlockPlaces)},
	{name: "exposes more than the groups do (R66)", world: "groups that change", broken: "pace", planner: startsHeld(rollout.BlockExposed)},
	{name: "forgets how many the groups exposed (R66)", world: "cut off and moved", broken: "blocked", planner: given(func(in *input) {
		memory := *in.memory
		memory.Record.Exposed = 0
		in.memory, in.previous = &memory, nil
	})},
	{name: "forgets a breach once the groups are cut again (R10)", world: "groups that change", broken: "breach", planner: told(func(_ *input, r *rollout.Result) {
		if r.Breach != nil && r.Breach.Lasting {
			r.Breach = nil
		}
	})},
	{name: "records no breach (R48)", world: "cut off and moved", broken: "record", planner: told(func(_ *input, r *rollout.Result) {
		r.Record.Breached = nil
	})},
	{name: "does not write a resumed cluster again (R49)", world: "objects that disappear at once, of groups", broken: "sleeps", planner: plan, duty: writesAgain},
}

// ofSelected is an input without the reports and entries of clusters that are not selected.
func (in *input) ofSelected() input {
	other := *in
	other.memory = nil
	other.reports = slices.DeleteFunc(slices.Clone(in.reports), func(r status.Report) bool { return in.groupOf(r.Cluster) == none })
	return other
}

// countsSelected starts clusters without counting deselected ones.
var countsSelected = told(func(in *input, r *rollout.Result) {
	if other, err := plan(in.ofSelected()); err == nil {
		r.Start = other.Start
	}
})

// startsHeld starts the clusters that one reason alone blocks.
func startsHeld(by rollout.BlockType) planner {
	return told(func(_ *input, r *rollout.Result) {
		for c, hold := range r.Blocked() {
			if hold.Type == by {
				r.Start = append(slices.Clip(r.Start), c)
			}
		}
	})
}

// pretend takes the record that has to be stored for one that is.
func pretend(in *input, r *rollout.Result) {
	memory := *in.memory
	memory.Record = r.Record
	stored := *in
	stored.memory = &memory
	if other, err := plan(stored); err == nil {
		r.Removed = other.Removed
	}
}

// remembered makes a planner that reads the record otherwise, or drops entries. It does not use the result before.
func remembered(alter func(in *input, l *status.DeselectedCluster) bool) planner {
	return given(func(in *input) {
		memory := *in.memory
		memory.Record.Deselected = nil
		for _, l := range in.memory.Record.Deselected {
			if alter(in, &l) {
				memory.Record.Deselected = append(memory.Record.Deselected, l)
			}
		}
		in.memory, in.previous = &memory, nil
	})
}

// forgetting makes a planner that records nothing of some kinds.
func forgetting(kinds ...recorded) planner {
	return told(func(in *input, r *rollout.Result) {
		pretend(in, r)
		r.Record.Deselected = slices.DeleteFunc(slices.Clone(r.Record.Deselected), func(l status.DeselectedCluster) bool { return slices.Contains(kinds, entryOf(&l).as) })
	})
}
