package search

import (
	"slices"

	"github.com/cohort-ocm/cohort/rollout"
	"github.com/cohort-ocm/cohort/status"
)

// leftMutants lack a rule on who left with the version, or a duty of a controller that keeps a record.
var leftMutants = []mutant{
	{name: "counts only who is selected (R46)", world: "agents that are cut off", broken: "exposure", planner: countsSelected},
	{name: "lets a failure go with its cluster (R46)", world: "agents that are cut off from a canary", broken: "stop", planner: countsSelected},
	{name: "climbs a ramp as if nobody had left (R35)", world: "cut off at a pace", broken: "pace", planner: countsSelected},
	{name: "has rights as if nobody had left (R57)", world: "cut off with rights", broken: "pace", planner: countsSelected},
	{name: "starts a group although who left the one before is in flight (R46)", world: "cut off while groups wait", broken: "order", planner: countsSelected},
	{name: "calls it done without those that left (S6)", world: "agents that are cut off from a canary", broken: "ended", planner: told(
		func(in *input, r *rollout.Result) {
			if wrong, err := plan(in.ofSelected()); err == nil {
				wrong.Next, wrong.InFlight = r.Next, r.InFlight
				*r = *wrong
			}
		})},
	{name: "forgets the group of who moved (R52)", world: "groups that change", broken: "order", planner: given(func(in *input) { in.previous = nil })},
	{name: "forgets the group of who left (R47)", world: "objects that go at once, of groups", broken: "held", planner: remembered(func(in *input, l *status.Left) bool {
		l.Group.Index = -1
		return true
	})},
	{name: "removes before the record tells of it (R48)", world: "objects that go at once", broken: "record", planner: told(pretend)},
	{name: "removes although the record is refused (R48)", world: "objects that go at once", broken: "exposure", planner: told(pretend), duty: storesFirst},
	{name: "records no flight (R48)", world: "objects that go at once", broken: "exposure", planner: forgetting(asSilent, asProgressing)},
	{name: "records no start (R36)", late: true, world: "cut off at a pace", broken: "pace", planner: forgetting(asStarted)},
	{name: "records no success (R34)", late: true, world: "cut off while groups wait", broken: "order", planner: forgetting(asSucceeded)},
	{name: "records no failure (R48)", world: "agents that are cut off", broken: "exposure", planner: forgetting(asTimeOut, asFailed)},
	{name: "keeps what left for its evidence (R7)", world: "agents that are cut off", broken: "kept", planner: told(func(in *input, r *rollout.Result) {
		r.Removed = slices.DeleteFunc(r.Removed, func(name string) bool {
			return slices.ContainsFunc(r.Left, func(c rollout.Cluster) bool { return c.Name == name })
		})
	})},
	{name: "ignores the record (R49)", world: "objects that go at once", broken: "stays", planner: remembered(func(*input, *status.Left) bool { return false })},
	{name: "keeps no record (duty 8)", world: "objects that go at once", broken: "exposure", planner: given(func(in *input) { in.memory = nil })},
	{name: "lets any report end a recorded failure (R49)", late: true, world: "agents that are cut off from a canary", broken: "left", planner: remembered(func(in *input, l *status.Left) bool {
		return !slices.ContainsFunc(in.reports, func(r status.Report) bool { return r.Cluster == l.Cluster && !r.Applied.IsZero() })
	})},
	{name: "counts the record of another version (R49)", late: true, world: "cut off by an older version", broken: "left", planner: given(func(in *input) {
		memory := *in.memory
		memory.Record.Version = memory.Version
		in.memory = &memory
	})},
	{name: "asks of nobody who left whether it is given up (R37)", world: "agents that are cut off", broken: "left", planner: without("Uncounted")},
	{name: "does not report what is being deleted (duty 8)", world: "agents that are cut off", broken: "left", planner: given(func(in *input) {
		in.reports = slices.DeleteFunc(in.reports, func(r status.Report) bool { return r.Deleting })
	})},
	{name: "takes for done what is on its way out (R6)", world: "agents that are cut off from a canary", broken: "order", planner: reported(func(in *input, r *status.Report) {
		r.Deleting = r.Deleting && r.Status != status.Succeeded
	})},
	{name: "begins anew without the record (duty 8)", world: "objects that go at once", broken: "exposure", planner: plan, duty: keepsRecord},
	{name: "does not hear that a ManagedCluster is deleted (duty 8)", world: "objects that go at once", broken: "left", planner: plan, duty: hearsDeletions},
	{name: "starts clusters in the places of those that left or moved (R65)", world: "cut off and moved", broken: "places", planner: startsHeld(rollout.HoldPlaces)},
	{name: "exposes more than the groups do (R66)", world: "groups that change", broken: "pace", planner: startsHeld(rollout.HoldExposed)},
	{name: "forgets how many the groups exposed (R66)", world: "cut off and moved", broken: "held", planner: given(func(in *input) {
		memory := *in.memory
		memory.Record.Exposed = 0
		in.memory, in.previous = &memory, nil
	})},
	{name: "forgets a breach once the groups are cut anew (R10)", world: "groups that change", broken: "breach", planner: told(func(_ *input, r *rollout.Result) {
		if r.Breach != nil && r.Breach.Lasting {
			r.Breach = nil
		}
	})},
	{name: "records no breach (R48)", world: "cut off and moved", broken: "record", planner: told(func(_ *input, r *rollout.Result) {
		r.Record.Breached = nil
	})},
	{name: "does not write again who goes on (R49)", world: "objects that go at once, of groups", broken: "sleeps", planner: plan, duty: writesAgain},
}

// ofSelected is an input without all that is known of clusters that are not selected.
func (in *input) ofSelected() input {
	other := *in
	other.memory = nil
	other.reports = slices.DeleteFunc(slices.Clone(in.reports), func(r status.Report) bool { return in.groupOf(r.Cluster) == none })
	return other
}

// countsSelected starts clusters as if nobody had left.
var countsSelected = told(func(in *input, r *rollout.Result) {
	if other, err := plan(in.ofSelected()); err == nil {
		r.Start = other.Start
	}
})

// startsHeld starts those that one reason alone holds.
func startsHeld(by rollout.HoldType) planner {
	return told(func(_ *input, r *rollout.Result) {
		for c, hold := range r.Held() {
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

// remembered makes a planner that reads the record otherwise, or leaves entries out. It does not ask the result before.
func remembered(alter func(in *input, l *status.Left) bool) planner {
	return given(func(in *input) {
		memory := *in.memory
		memory.Record.Left = nil
		for _, l := range in.memory.Record.Left {
			if alter(in, &l) {
				memory.Record.Left = append(memory.Record.Left, l)
			}
		}
		in.memory, in.previous = &memory, nil
	})
}

// forgetting makes a planner that records nothing of some kinds.
func forgetting(kinds ...recorded) planner {
	return told(func(in *input, r *rollout.Result) {
		pretend(in, r)
		r.Record.Left = slices.DeleteFunc(slices.Clone(r.Record.Left), func(l status.Left) bool { return slices.Contains(kinds, entryOf(&l).as) })
	})
}
